"""The final statement of a response to REL-A, by what its sentences say, and whether those before it matter.

Here stands how a response is taken apart, and which of its sentences cannot matter, whatever they say.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    NO_PANEL,
    REASONS,
    SAYS_BOXED,
    SAYS_CONCLUDES,
    SAYS_CORRECTS,
    SAYS_DESCRIBED,
    SAYS_FINAL,
    SAYS_NAMES,
    SAYS_NO_MORE,
    SAYS_OR,
    SAYS_PLACE,
    SAYS_PLAIN,
    SAYS_QUIET,
    SAYS_REPLACES,
    SAYS_SKIMMED,
    SAYS_STATED,
    SAYS_VALUE,
    UNKNOWN,
)
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.proofs import (
    FAR,
    IF_NAMELESS,
    IF_OTHER,
    NAMELESS,
    NOT_OR,
    QUIET,
    WORDY,
    look,
)
from relfast_kernels.text.prose import (
    can_be_cut,
    count,
    ends_blank,
    line_before,
    row_of,
    sentence_start,
    without_bullet,
)
from relfast_kernels.text.rel_a_memo import MISSED, says_of

MAX_PLAIN: Final = 80
_MAX_NEIGHBOURS: Final = 6
_MAX_ROW: Final = 4_000
"""Bytes of a line that is taken apart."""
_MAX_SENTENCE: Final = 2_000
"""Longer ones are read in pieces."""
_MAX_QUIET: Final = 12
_SEVERAL: Final = REASONS.index("several_answers")
_OUT_OF_RANGE: Final = REASONS.index("out_of_range")
_BEYOND: Final = 15
"""A number that is no choice's, in place of a value."""


@kernel
def _beside(bits: int, final: int, panel_first: bool, same_line: bool) -> int:
    """What a sentence before the final one does to it: 1 it goes on, 0 nothing more, 2 both state a choice,
    -1 cannot be said."""
    stays = 1 if same_line else 0
    if not bits & SAYS_NAMES:
        if same_line:
            return -1 if not bits & SAYS_QUIET else 1
        return 1 if bits & SAYS_OR else 0
    if bits & SAYS_SKIMMED:
        return stays
    if bits & SAYS_PLACE and final & SAYS_PLAIN and panel_first:
        return -1
    if not bits & SAYS_STATED:
        return stays
    value, chosen = bits & SAYS_VALUE, final & SAYS_VALUE
    if value == chosen:
        return -1 if value == _BEYOND else 1
    if bits & SAYS_NO_MORE or value == _BEYOND:
        return 0
    if bits & SAYS_DESCRIBED:
        return -1
    if not same_line and (not bits & SAYS_PLAIN or (bits & SAYS_BOXED != 0) != (final & SAYS_BOXED != 0)):
        return 0
    if final & SAYS_REPLACES and not (bits & SAYS_CONCLUDES and final & SAYS_CONCLUDES):
        return 0
    if final & SAYS_CONCLUDES and not bits & SAYS_CONCLUDES:
        return 0
    return 2


@kernel
def _answer(value: int) -> Any:
    if value == 0:
        return NO_PANEL, _SEVERAL
    if value == _BEYOND:
        return NO_PANEL, _OUT_OF_RANGE
    return value - 1, 0


@kernel
def final_choice(text: Any, start: int, end: int, part: Any, tables: Any, room: Any) -> Any:
    """The choice that is stated last, as `read_choice` gives it."""
    words = tables.words
    final: Any = np.int64(0)
    stop = end
    line_end = end
    n_quiet = 0
    row = row_end = 0
    # the final statement
    while final == 0:
        line = line_before(text, start, line_end)
        row, row_end = row_of(text, line, line_end)
        if row == row_end:
            if line == start:
                return UNKNOWN, 0
            line_end = line - 1
            continue
        if row_end - row > _MAX_ROW or not can_be_cut(text, row, row_end):
            return UNKNOWN, 0
        row = without_bullet(text, row, row_end)
        stop = row_end
        while stop > row:
            begin = sentence_start(text, row, stop)
            if begin < 0:
                return UNKNOWN, 0
            unit, unit_end = row_of(text, begin, stop)
            if unit_end == unit or _is_item(text, unit, unit_end, stop < row_end):
                stop = begin
                continue
            if unit_end - unit > _MAX_SENTENCE:
                return UNKNOWN, 0
            proved = look(text, unit, unit_end, words, IF_NAMELESS)
            if not (proved & NAMELESS and proved & QUIET):
                bits = says_of(text, unit, unit_end, tables, room)
                if bits == MISSED:
                    return UNKNOWN, 0
                if bits & SAYS_FINAL:
                    final = bits
                    break
                if not bits & SAYS_QUIET:
                    return UNKNOWN, 0
            n_quiet += 1
            if n_quiet > _MAX_QUIET:
                return UNKNOWN, 0
            stop = begin
        if final != 0:
            break
        if line == start:
            return UNKNOWN, 0
        line_end = line - 1

    begin = sentence_start(text, row, stop)
    unit, unit_end = row_of(text, begin, stop)
    value = final & SAYS_VALUE
    whole = begin == row and stop == row_end
    if final & SAYS_CORRECTS or (final & SAYS_CONCLUDES and not whole):
        return _answer(value)
    panel_first = (
        unit_end - unit >= 5 and text[unit] == 112 and text[unit + 1] == 97 and text[unit + 2] == 110
    )
    # what stands before it on its line
    sure = True
    n = 0
    while begin > row and n < _MAX_NEIGHBOURS:
        stop = begin
        begin = sentence_start(text, row, stop)
        if begin < 0:
            return UNKNOWN, 0
        unit, unit_end = row_of(text, begin, stop)
        if unit_end == unit or _is_item(text, unit, unit_end, True):
            continue
        n += 1
        proved = look(text, unit, unit_end, words, IF_NAMELESS)
        if proved & NAMELESS:
            sure = sure and proved & QUIET != 0
            continue
        bits = says_of(text, unit, unit_end, tables, room)
        if bits == MISSED:
            return UNKNOWN, 0
        done = _beside(bits, final, panel_first, True)
        if done == 0:
            return _answer(value)
        if done < 0 or (done == 2 and not sure):
            return UNKNOWN, 0
        if done == 2:
            return _answer(0)
    if not (whole and final & SAYS_PLAIN):
        return _answer(value)
    above = line_before(text, start, line_end) - 1
    return _lines_before(text, start, above, part, final, panel_first, tables, room)


@kernel
def _lines_before(
    text: Any, start: int, line_end: int, part: Any, final: int, panel_first: bool, tables: Any, room: Any
) -> Any:
    """The choice of a final statement that is all of its line, by the lines that end before ``line_end``."""
    value = final & SAYS_VALUE
    # the first sentence that may be the end of what belongs to the statement
    unsure = unsure_end = 0
    n = 0
    while line_end > start and n < _MAX_NEIGHBOURS:
        line = line_before(text, start, line_end)
        row, row_end = row_of(text, line, line_end)
        line_end = line - 1
        if row == row_end:
            continue
        n += 1
        after = without_bullet(text, row, row_end)
        if ends_blank(text, row, row_end):
            return UNKNOWN, 0
        begin = -1
        if row_end - row <= _MAX_ROW and can_be_cut(text, row, row_end):
            begin = sentence_start(text, after, row_end)
        proved = look(text, after if begin < 0 else begin, row_end, tables.words, IF_OTHER)
        ends = (proved & NAMELESS and proved & NOT_OR) or (proved & FAR and value <= 8)
        if begin >= 0 and row_end - begin <= _MAX_SENTENCE and ends:
            return _answer(value)
        # what is not all of a short line, or more than an answer, states nothing beside the statement
        other = proved & (NAMELESS | WORDY) != 0 or begin > after
        if other or count(text, after, row_end) > MAX_PLAIN:
            if unsure_end == 0:
                unsure, unsure_end = begin, row_end
            continue
        if begin < 0:
            return UNKNOWN, 0
        bits = says_of(text, after, row_end, tables, room)
        if bits == MISSED:
            return UNKNOWN, 0
        done = _beside(bits, final, panel_first, False)
        if done == 2 and unsure_end != 0:
            if unsure < 0:
                return UNKNOWN, 0
            bits = says_of(text, unsure, unsure_end, tables, room)
            if bits == MISSED or _beside(bits, final, panel_first, False) & 1:
                return UNKNOWN, 0
            return _answer(value)
        if done == 2:
            return _answer(0)
        if done == 0:
            return _answer(value)
        if done < 0:
            return UNKNOWN, 0
    if part != 0 and n < _MAX_NEIGHBOURS:
        return UNKNOWN, 0
    return _answer(value)


@kernel
def _is_item(text: Any, start: int, end: int, before_more: bool) -> bool:
    """Whether a piece is the number of a list's item in the middle of a line."""
    if not before_more or end - start < 2 or end - start > 3 or text[end - 1] != 46:
        return False
    return is_digit(text[start]) and is_digit(text[end - 2])
