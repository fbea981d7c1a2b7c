"""The choice that a response to REL-A settles on by the rule of `relfast.tasks.rel_a.strict`.

Most end with a line that is nothing but an answer, which the extractor's own pattern tells, or begin with
one. What others state last is found by what single sentences say (`relfast_kernels.text.rel_a_ending`), or
by reading all of them (`relfast_kernels.text.choices.walk`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    SAYS_NAMES,
    SAYS_OR,
    UNKNOWN,
)
from relfast_kernels.text.choices.opening import opening_stands
from relfast_kernels.text.choices.walk import walk_back
from relfast_kernels.text.find import find_byte
from relfast_kernels.text.patterns.machine import GAVE_UP, HAS_GIVEN_UP, fullmatch, number_of
from relfast_kernels.text.patterns.symbols import constant, to_symbols
from relfast_kernels.text.proofs import (
    IF_NAMELESS,
    IF_PLAIN,
    NAMED,
    NAMELESS,
    NOT_OR,
    PLAIN_WORDS,
    look,
)
from relfast_kernels.text.prose import (
    count,
    last_is_tame,
    line_before,
    lowered,
    tamed,
)
from relfast_kernels.text.rel_a_ending import MAX_PLAIN, final_choice
from relfast_kernels.text.rel_a_memo import MISSED, ZERO, Room, says_of
from relfast_kernels.text.words import is_blank

MAX_TEXT: Final = 60_000
_MAX_FIRST: Final = 100
ALL, END = map(constant, (0, 1))
"""What `read_choice` gets: all of a text, or its end."""
_PLAIN: Final = number_of("A_PLAIN")


@kernel
def may_be_plain(text: Any, start: int, end: int, words: Any) -> bool:
    """Whether a line has one digit, and no words but those of a bare answer."""
    n = 0
    for at in range(start, end):
        n += (text[at] >= 48) & (text[at] <= 57)
    return n == 1 and look(text, start, end, words, IF_PLAIN) & PLAIN_WORDS != 0


@kernel
def _plain(text: Any, start: int, end: int, scratch: Any, to: int, patterns: Any) -> Any:
    """The choice of a line that is nothing but an answer; 0: it is not; `MISSED`: cannot be said."""
    stop = to_symbols(text, start, end, scratch, to)
    if stop < 0:
        return np.int64(MISSED)
    patterns[HAS_GIVEN_UP] = 0
    found = fullmatch(_PLAIN, scratch, to, stop, patterns)
    if found == GAVE_UP:
        return np.int64(MISSED)
    return np.int64(scratch[patterns[2]]) - ZERO if found >= 0 else np.int64(0)


@kernel
def read_choice(
    text: Any, start: int, end: int, part: Any, tables: Any, scratch: Any, to: int, patterns: Any
) -> Any:
    """The choice of text[start:end], UTF-8 of tame characters (`relfast_kernels.text.characters`) without
    reasoning, not all white space.

    Parameters
    ----------
    part
        `ALL`; or `END`: more lines stand before it, the first of which is no answer. What they decide is
        unknown.
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
    if end - start > MAX_TEXT:
        # the beginning of what is left may be anywhere in a line
        return UNKNOWN, 0
    stop = lowered(text, start, end, scratch, to)
    text, start, end = scratch, to, stop
    whole_end = end
    while end > start and is_blank(text[end - 1]):
        end -= 1
    if end == start:
        return UNKNOWN, 0
    if text[end - 1] >= 0x80 and not last_is_tame(text, start, end):
        return UNKNOWN, 0

    begin = line_before(text, start, end)
    if not tamed(text, begin, end):
        return UNKNOWN, 0
    room = Room(scratch, whole_end, patterns)
    # a last line that is nothing but an answer counts if the line above it names none
    plain: Any = np.int64(0)
    above: Any = 1
    if count(text, begin, end) <= MAX_PLAIN and may_be_plain(text, begin, end, words):
        plain = _plain(text, begin, end, scratch, whole_end, patterns)
        if plain == MISSED:
            return UNKNOWN, 0
        if plain != 0:
            above = _above_names(text, start, begin, part, tables, room)
            if above == 0:
                return plain - 1, 0
    # a first line that is nothing but an answer
    last = min(whole_end, start + 4 * _MAX_FIRST)
    first = find_byte(text, start, last, 10)
    may_open = part == ALL and start < first < last and count(text, start, first) < _MAX_FIRST
    if may_open and may_be_plain(text, start, first, words):
        opened = _plain(text, start, first, scratch, whole_end, patterns)
        if opened == MISSED or (opened != 0 and not tamed(text, start, whole_end)):
            return UNKNOWN, 0
        if opened != 0:
            stands = opening_stands(text, start, first, whole_end, opened, scratch, whole_end, patterns)
            if stands < 0:
                return UNKNOWN, 0
            if stands > 0:
                return opened - 1, 0
    missed, missed_end = tables.missed[0], tables.missed[1]
    number, reason = final_choice(text, start, end, part, tables, room)
    if above == MISSED and number != plain - 1:
        # what the line above says would settle it
        if missed_end != 0:
            tables.missed[0], tables.missed[1] = missed, missed_end
        return UNKNOWN, 0
    if number == UNKNOWN and part == ALL:
        return walk_back(text, start, end, whole_end, words, scratch, whole_end, patterns)
    return number, reason


@kernel
def _above_names(text: Any, start: int, begin: int, part: Any, tables: Any, room: Any) -> int:
    """Whether the line above an answer's, which begins at ``begin``, names a choice or is "or" (1) or not
    (0), or that cannot be said (`MISSED`)."""
    above = begin
    while above > start and is_blank(text[above - 1]):
        above -= 1
    if above == start:
        return MISSED if part != ALL else 0
    line = line_before(text, start, above)
    if not tamed(text, line, above):
        return MISSED
    if count(text, line, above) > MAX_PLAIN:
        return 0
    proved = look(text, line, above, tables.words, IF_NAMELESS)
    if proved & NAMED:
        return 1
    if proved & NAMELESS and proved & NOT_OR:
        return 0
    bits = says_of(text, line, above, tables, room)
    if bits == MISSED:
        return MISSED
    return 1 if bits & (SAYS_NAMES | SAYS_OR) else 0
