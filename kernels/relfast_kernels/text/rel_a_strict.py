"""The choice that a response to REL-A settles on by the rule of `relfast.tasks.rel_a.strict`.

Most end with a line that is nothing but an answer, which the extractor's own pattern tells. What other lines
and sentences say is looked up: `Tables.memo` has it from the extractor itself. Here stands how a response is
taken apart, what its last statement needs of the sentences before it, and which of those cannot matter,
whatever they say. A sentence that nothing is known of is handed back, and known the next time; with it those
that differ in nothing but the digit of a choice.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    FORM_DIGIT,
    FORM_LEAST,
    FORM_MOST,
    MEMO_BITS,
    MEMO_END,
    MEMO_HASH,
    MEMO_START,
    NO_PANEL,
    REASONS,
    SAYS_BOXED,
    SAYS_CONCLUDES,
    SAYS_CORRECTS,
    SAYS_DESCRIBED,
    SAYS_FINAL,
    SAYS_FORM,
    SAYS_KNOWN,
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
from relfast_kernels.text.choices.kept import keep, kept
from relfast_kernels.text.choices.opening import opening_stands
from relfast_kernels.text.choices.saying import NOT_READ, says
from relfast_kernels.text.choices.skimming import has_number_word
from relfast_kernels.text.choices.walk import walk_back
from relfast_kernels.text.find import find_byte, hash_text, same_bytes
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.patterns.machine import GAVE_UP, HAS_GIVEN_UP, fullmatch, number_of
from relfast_kernels.text.patterns.symbols import to_symbols
from relfast_kernels.text.proofs import (
    FAR,
    IF_NAMELESS,
    IF_OTHER,
    IF_PLAIN,
    NAMED,
    NAMELESS,
    NOT_OR,
    PLAIN_WORDS,
    QUIET,
    WORDY,
    look,
)
from relfast_kernels.text.prose import (
    can_be_cut,
    count,
    ends_blank,
    last_is_tame,
    line_before,
    lowered,
    row_of,
    sentence_start,
    tamed,
    without_bullet,
)
from relfast_kernels.text.words import is_blank

_MAX_TEXT: Final = 60_000
_MAX_PLAIN: Final = 80
_MAX_NEIGHBOURS: Final = 6
_MAX_FIRST: Final = 100
MAX_KEY: Final = 240
"""Bytes of a line or sentence that is looked up."""
_MAX_ROW: Final = 4_000
"""Bytes of a line that is taken apart."""
_MAX_SENTENCE: Final = 2_000
"""Longer ones are read in pieces."""
_MAX_QUIET: Final = 12

_NO_ANSWER: Final = REASONS.index("no_answer")
_SEVERAL: Final = REASONS.index("several_answers")
_OUT_OF_RANGE: Final = REASONS.index("out_of_range")
_BEYOND: Final = 15
"""A number that is no choice's, in place of a value."""

_MISSED: Final = -1
_PLAIN: Final = number_of("A_PLAIN")
_ZERO: Final = 48


class Tables(NamedTuple):
    """What is known of words and of texts: ``words`` as `relfast_kernels.text.word_table` has them; ``memo``
    (MEMO_SLOTS, MEMO_COLUMNS, int64) with texts in ``memo_text`` (uint8); ``missed`` (2, int64) is filled
    with where a text that should be known stands in the work space."""

    words: Any
    memo: Any
    memo_text: Any
    missed: Any


class Room(NamedTuple):
    """Work space: ``scratch`` (uint8) from ``to`` on, and ``work`` (`PATTERN_WORK` int64)."""

    scratch: Any
    to: Any
    work: Any


@kernel
def _find(text: Any, start: int, end: int, form: int, tables: Any) -> Any:
    """What the memo has of a text, or of a form of texts (``form`` `SAYS_FORM`); 0 where it is not there."""
    value = np.int64(hash_text(text, start, end))
    memo = tables.memo
    mask = memo.shape[0] - 1
    at = (value ^ (value >> 32)) & mask
    while memo[at, MEMO_END] != 0:
        if memo[at, MEMO_HASH] == value and same_bytes(
            text, start, end, tables.memo_text, memo[at, MEMO_START], memo[at, MEMO_END]
        ):
            bits = memo[at, MEMO_BITS]
            if bits & SAYS_KNOWN and bits & SAYS_FORM == form:
                return bits
        at = (at + 1) & mask
    return np.int64(0)


@kernel
def _lone_digit(text: Any, start: int, end: int) -> int:
    """Where the only digit of a text is, if it is one that a form stands for; or -1."""
    place = -1
    for at in range(start, end):
        if is_digit(text[at]):
            if place >= 0:
                return -1
            place = at
    return place if place >= 0 and FORM_LEAST <= text[place] <= FORM_MOST else -1


@kernel
def _of_digit(bits: Any, digit: int) -> Any:
    """What is said of a text, by what is of its form."""
    return bits + (digit - FORM_DIGIT) if bits & SAYS_VALUE == FORM_DIGIT - _ZERO else bits


@kernel
def _says(text: Any, start: int, end: int, tables: Any, room: Any) -> Any:
    """What is known of a text, or what it says, or `_MISSED`; then the place is noted."""
    if end - start > MAX_KEY:
        bits = says(text, start, end, room.scratch, room.to, room.work)
        return bits if bits != NOT_READ else np.int64(_MISSED)
    work = room.work
    place = _lone_digit(text, start, end)
    digit: Any = np.int64(0)
    if place >= 0:
        digit = np.int64(text[place])
        text[place] = FORM_DIGIT
        bits = _find(text, start, end, SAYS_FORM, tables)
        if bits == 0:
            bits = kept(text, start, end, work)
            if not bits & SAYS_FORM:
                bits = np.int64(0)
        text[place] = digit
        if bits != 0:
            return _of_digit(bits, digit)
    bits = _find(text, start, end, 0, tables)
    if bits == 0:
        bits = kept(text, start, end, work)
        if bits & SAYS_FORM:
            bits = np.int64(0)
    if bits != 0:
        return bits
    bits = says(text, start, end, room.scratch, room.to, work)
    if bits == NOT_READ:
        tables.missed[0], tables.missed[1] = start, end
        return np.int64(_MISSED)
    stop = room.to + count(text, start, end)
    if place >= 0 and not has_number_word(room.scratch, room.to, stop, work) and work[HAS_GIVEN_UP] == 0:
        form = bits | SAYS_FORM
        if bits & SAYS_VALUE == digit - _ZERO:
            form += FORM_DIGIT - digit
        text[place] = FORM_DIGIT
        keep(text, start, end, form, work)
        text[place] = digit
    else:
        keep(text, start, end, bits, work)
    return bits


@kernel
def _may_be_plain(text: Any, start: int, end: int, words: Any) -> bool:
    """Whether a line has one digit, and no words but those of a bare answer."""
    n = 0
    for at in range(start, end):
        n += (text[at] >= 48) & (text[at] <= 57)
    return n == 1 and look(text, start, end, words, IF_PLAIN) & PLAIN_WORDS != 0


@kernel
def _plain(text: Any, start: int, end: int, scratch: Any, to: int, patterns: Any) -> Any:
    """The choice of a line that is nothing but an answer; 0: it is not; `_MISSED`: cannot be said."""
    stop = to_symbols(text, start, end, scratch, to)
    if stop < 0:
        return np.int64(_MISSED)
    patterns[HAS_GIVEN_UP] = 0
    found = fullmatch(_PLAIN, scratch, to, stop, patterns)
    if found == GAVE_UP:
        return np.int64(_MISSED)
    return np.int64(scratch[patterns[2]]) - _ZERO if found >= 0 else np.int64(0)


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
def read_choice(text: Any, start: int, end: int, tables: Any, scratch: Any, to: int, patterns: Any) -> Any:
    """The choice of text[start:end], UTF-8 of tame characters (`relfast_kernels.text.characters`) without
    reasoning, not all white space.

    Parameters
    ----------
    tables : Tables
        ``missed`` is filled where a text is not known.
    scratch : uint8
        Work space from ``to`` on: twice the bytes of the text, and 512; to read sentences, `SENTENCE_BYTES`.
    patterns : int64
        `PATTERN_WORK` more.

    Returns
    -------
    (number, reason)
        The panel, 0-based, and 0; or `NO_PANEL` and the place in `REASONS` of why there is none; or `UNKNOWN`
        and 0: only Python can say.
    """
    words = tables.words
    tables.missed[0] = tables.missed[1] = 0
    if end - start > _MAX_TEXT:
        # the beginning of what is left may be anywhere in a line
        return UNKNOWN, 0
    stop = lowered(text, start, end, scratch, to)
    text, start, end = scratch, to, stop
    whole_end = end
    while end > start and is_blank(text[end - 1]):
        end -= 1
    if text[end - 1] >= 0x80 and not last_is_tame(text, start, end):
        return UNKNOWN, 0

    begin = line_before(text, start, end)
    if not tamed(text, begin, end):
        return UNKNOWN, 0
    room = Room(scratch, whole_end, patterns)
    # a last line that is nothing but an answer counts if the line above it names none
    plain: Any = np.int64(0)
    above: Any = 1
    if count(text, begin, end) <= _MAX_PLAIN and _may_be_plain(text, begin, end, words):
        plain = _plain(text, begin, end, scratch, whole_end, patterns)
        if plain == _MISSED:
            return UNKNOWN, 0
        if plain != 0:
            above = _above_names(text, start, begin, tables, room)
            if above == 0:
                return plain - 1, 0
    # a first line that is nothing but an answer
    last = min(whole_end, start + 4 * _MAX_FIRST)
    first = find_byte(text, start, last, 10)
    may_open = start < first < last and count(text, start, first) < _MAX_FIRST
    if may_open and _may_be_plain(text, start, first, words):
        opened = _plain(text, start, first, scratch, whole_end, patterns)
        if opened == _MISSED or (opened != 0 and not tamed(text, start, whole_end)):
            return UNKNOWN, 0
        if opened != 0:
            stands = opening_stands(text, start, first, whole_end, opened, scratch, whole_end, patterns)
            if stands < 0:
                return UNKNOWN, 0
            if stands > 0:
                return opened - 1, 0
    missed, missed_end = tables.missed[0], tables.missed[1]
    number, reason = _walk(text, start, end, tables, room)
    if above == _MISSED and number != plain - 1:
        # what the line above says would settle it
        if missed_end != 0:
            tables.missed[0], tables.missed[1] = missed, missed_end
        return UNKNOWN, 0
    if number == UNKNOWN:
        return walk_back(text, start, end, whole_end, words, scratch, whole_end, patterns)
    return number, reason


@kernel
def _above_names(text: Any, start: int, begin: int, tables: Any, room: Any) -> int:
    """Whether the line above an answer's, which begins at ``begin``, names a choice or is "or" (1) or not
    (0), or that cannot be said (`_MISSED`)."""
    above = begin
    while above > start and is_blank(text[above - 1]):
        above -= 1
    if above == start:
        return 0
    line = line_before(text, start, above)
    if not tamed(text, line, above):
        return _MISSED
    if count(text, line, above) > _MAX_PLAIN:
        return 0
    proved = look(text, line, above, tables.words, IF_NAMELESS)
    if proved & NAMED:
        return 1
    if proved & NAMELESS and proved & NOT_OR:
        return 0
    bits = _says(text, line, above, tables, room)
    if bits == _MISSED:
        return _MISSED
    return 1 if bits & (SAYS_NAMES | SAYS_OR) else 0


@kernel
def _walk(text: Any, start: int, end: int, tables: Any, room: Any) -> Any:
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
                bits = _says(text, unit, unit_end, tables, room)
                if bits == _MISSED:
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
        bits = _says(text, unit, unit_end, tables, room)
        if bits == _MISSED:
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
    return _lines_before(text, start, above, final, panel_first, tables, room)


@kernel
def _lines_before(
    text: Any, start: int, line_end: int, final: int, panel_first: bool, tables: Any, room: Any
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
        if other or count(text, after, row_end) > _MAX_PLAIN:
            if unsure_end == 0:
                unsure, unsure_end = begin, row_end
            continue
        if begin < 0:
            return UNKNOWN, 0
        bits = _says(text, after, row_end, tables, room)
        if bits == _MISSED:
            return UNKNOWN, 0
        done = _beside(bits, final, panel_first, False)
        if done == 2 and unsure_end != 0:
            if unsure < 0:
                return UNKNOWN, 0
            bits = _says(text, unsure, unsure_end, tables, room)
            if bits == _MISSED or _beside(bits, final, panel_first, False) & 1:
                return UNKNOWN, 0
            return _answer(value)
        if done == 2:
            return _answer(0)
        if done == 0:
            return _answer(value)
        if done < 0:
            return UNKNOWN, 0
    return _answer(value)


@kernel
def _is_item(text: Any, start: int, end: int, before_more: bool) -> bool:
    """Whether a piece is the number of a list's item in the middle of a line."""
    if not before_more or end - start < 2 or end - start > 3 or text[end - 1] != 46:
        return False
    return is_digit(text[start]) and is_digit(text[end - 2])
