"""What a line or sentence says: what REL-A's memo has of it, or was read before, or is read now."""

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
    SAYS_FORM,
    SAYS_KNOWN,
    SAYS_VALUE,
)
from relfast_kernels.text.choices.kept import keep, kept
from relfast_kernels.text.choices.saying import NOT_READ, says
from relfast_kernels.text.choices.skimming import has_number_word
from relfast_kernels.text.find import hash_text, same_bytes
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP
from relfast_kernels.text.patterns.symbols import FIGURE
from relfast_kernels.text.prose import (
    count,
)

MAX_KEY: Final = 240
"""Bytes of a line or sentence that is looked up."""
MISSED: Final = -1
ZERO: Final = 48


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
def _find(value: Any, text: Any, start: int, end: int, form: int, tables: Any) -> Any:
    """What the memo has of a text, whose hash is ``value``, or of a form of texts (``form`` `SAYS_FORM`); 0
    where it is not there."""
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
    return bits + (digit - FORM_DIGIT) if bits & SAYS_VALUE == FORM_DIGIT - ZERO else bits


@kernel
def says_of(text: Any, start: int, end: int, tables: Any, room: Any) -> Any:
    """What is known of a text, or what it says, or `MISSED`; then the place is noted."""
    if end - start > MAX_KEY:
        bits = says(text, start, end, room.scratch, room.to, room.work)
        return bits if bits != NOT_READ else np.int64(MISSED)
    work = room.work
    place = _lone_digit(text, start, end)
    digit: Any = np.int64(0)
    form_value: Any = np.int64(0)
    if place >= 0:
        digit = np.int64(text[place])
        text[place] = FORM_DIGIT
        form_value = np.int64(hash_text(text, start, end))
        bits = _find(form_value, text, start, end, SAYS_FORM, tables)
        if bits == 0:
            bits = kept(form_value, text, start, end, work)
            if not bits & SAYS_FORM:
                bits = np.int64(0)
        text[place] = digit
        if bits != 0:
            return _of_digit(bits, digit)
    value = np.int64(hash_text(text, start, end))
    bits = _find(value, text, start, end, 0, tables)
    if bits == 0:
        bits = kept(value, text, start, end, work)
        if bits & SAYS_FORM:
            bits = np.int64(0)
    if bits != 0:
        return bits
    bits = says(text, start, end, room.scratch, room.to, work)
    if bits == NOT_READ:
        tables.missed[0], tables.missed[1] = start, end
        return np.int64(MISSED)
    stop = room.to + count(text, start, end)
    for k in range(room.to, stop):
        if room.scratch[k] == FIGURE:
            place = -1  # another number
    if place >= 0 and not has_number_word(room.scratch, room.to, stop, work) and work[HAS_GIVEN_UP] == 0:
        form = bits | SAYS_FORM
        if bits & SAYS_VALUE == digit - ZERO:
            form += FORM_DIGIT - digit
        text[place] = FORM_DIGIT
        keep(form_value, text, start, end, form, work)
        text[place] = digit
    else:
        keep(value, text, start, end, bits, work)
    return bits
