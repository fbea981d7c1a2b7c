"""Words and values of an undressed paragraph: where a word begins and ends and what it means; and whether
what stands beside a choice, a yes or a no makes it part of a longer word, a number, an expression or a
question."""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes
from relfast_kernels.text.dress import is_alnum
from relfast_kernels.text.find import BLANKS, DIGITS, LETTERS, LF, byte_set, listed, skip
from relfast_kernels.text.vectors import equal, load, within
from relfast_kernels.text.words import (
    COUNTS,
    ENDS,
    NO,
    NOUN,
    OPERATOR,
    ORDINAL,
    ORDINAL_SHIFT,
    POWER,
    YES,
    flags_of,
)

ZERO, NINE, POINT, SLASH, UNDERSCORE, BACKSLASH, ROUND_OPENING = map(ord, "09./_\\(")
_A, _E, _F, _H, _I, _N, _O, _S, _T, _Y, _Z = map(ord, "aefhinostyz")

CLOSERS: Final = byte_set(" )]}\"'>")
"""What may stand between a value and the end of its line, or a question mark."""
_SUFFIXES: Final = np.frombuffer(b"th\nst\nnd\nrd\n", np.uint8)
"""Endings of ordinals."""
_SIGNS: Final = byte_set("+-*/^=<")
_BEFORE_OPERAND: Final = byte_set(" +-*/([{|")
"""Operators; and what may stand between an operator and a number, a command or a variable."""
_NAME: Final = byte_set(f"{ascii_letters}{digits}_")
OPENERS: Final = byte_set(' "([')
STOPS: Final = byte_set(".!:;,|")
"""What may stand before a value; and what ends one."""

CHOICE, VERDICT, CLAIM = range(3)
"""Kinds of values: one of eight; yes or no; yes with taxa, or no."""


@kernel
def is_wordy(byte: int) -> bool:
    """Whether a byte belongs to a word: to a letter (any beyond ASCII), a digit, or an underscore."""
    return is_alnum(byte) or byte == 95 or byte >= 0x80


@kernel
def is_wide(text: Bytes, at: int) -> bool:
    """Whether the character that ends before ``at`` is one of three bytes: Chinese, Japanese, Korean."""
    return (
        at >= 3
        and 0x80 <= text[at - 1] < 0xC0
        and 0x80 <= text[at - 2] < 0xC0
        and 0xE3 <= text[at - 3] < 0xF0
    )


@kernel
def word_before(text: Bytes, low: int, at: int) -> Any:
    """Start and flags of the word that ends before ``at``. In a script without blanks: of the longest word
    of the table, or of one character."""
    if at - low >= 3 and is_wide(text, at):
        for size in (18, 15, 12, 9, 6, 3):
            if at - size >= low and text[at - size] >= 0xE3:
                flags = flags_of(text, at - size, at)
                if flags != 0:
                    return at - size, flags
        return at - 3, 0
    first = at
    while (
        first > low
        and (is_wordy(text[first - 1]) or (text[first - 1] == 39 and first < at))
        and not (first - low >= 3 and is_wide(text, first))
    ):
        first -= 1
        if at - first > 40:
            return first, 0
    while first < at and text[first] == 39:
        first += 1
    return first, flags_of(text, first, at)


@kernel
def word_end(text: Bytes, at: int, end: int) -> int:
    """Where the word that begins at ``at`` ends."""
    first = at
    while (
        at < end
        and at - first < 40
        and (
            is_alnum(text[at])
            or text[at] == 95
            or text[at] == 39
            or 0xC0 <= text[at] < 0xE0
            or (0x80 <= text[at] < 0xC0 and at > first)
        )
    ):
        at += 1
    while at > first and text[at - 1] == 39:
        at -= 1
    return at


@kernel
def flags_at(text: Bytes, at: int, end: int) -> int:
    """The flags of the word that begins at ``at``: in a script without blanks, of the longest of the
    table."""
    if at < end and text[at] >= 0xE3:
        for size in (12, 9, 6, 3):
            flags = flags_of(text, at, at + size) if at + size <= end else 0
            if flags != 0:
                return flags
        return 0
    return flags_of(text, at, word_end(text, at, end))


@kernel
def _is_odd(text: Bytes, at: int, end: int) -> bool:
    """Whether a character beyond ASCII makes a value beside it part of something else: letters of an
    alphabet, superscript digits, fractions, mathematical signs."""
    byte = int(text[at])
    if byte < 0xE0:
        return True
    if byte != 0xE2 or at + 1 >= end:
        return False
    after = int(text[at + 1])
    return after == 0x81 or after == 0x82 or after == 0x85 or 0x88 <= after <= 0x8B


@kernel
def _stands_left(text: Bytes, low: int, at: int) -> bool:
    """Whether what begins at ``at`` is not the end of a longer word, number or expression."""
    if at == low:
        return True
    byte = int(text[at - 1])
    if byte >= 0x80:
        first = at - 1
        while first > low and text[first] & 0xC0 == 0x80:
            first -= 1
        return not _is_odd(text, first, at)
    if is_alnum(byte) or byte == 95 or byte == 94 or byte == 92 or byte == 64:
        return False
    before = int(text[at - 2]) if at - 2 >= low else 32
    if byte == 45 or byte == 43:  # a sign
        return False
    if byte == 47 or byte == 42 or byte == 46 or byte == 37 or byte == 126:
        return byte == 46 and not is_wordy(before) and before != 46 and before != 32 and at - 2 >= low
    if byte == 44 or byte == 58 or byte == 39:
        return not 48 <= before <= 57 or byte == 44
    return byte != 36


@kernel
def _stands_right(text: Bytes, at: int, end: int) -> bool:
    """Whether what ends at ``at`` is no beginning of a longer word, number or expression, and no
    question."""
    if at >= end:
        return True
    byte = int(text[at])
    after = int(text[at + 1]) if at + 1 < end else 10
    if byte >= 0x80:
        return not _is_odd(text, at, end)
    if is_alnum(byte) or byte == 95 or byte == 94 or byte == 37 or byte == 64 or byte == 36:
        return False
    if byte == 92:
        return not (97 <= after <= 122)
    if byte == 47 or byte == 45 or byte == 43 or byte == 42:
        return not (is_wordy(after) or after == 40 or after == 123 or after == 92 or after == 60) or (
            byte == 45 and after == 62
        )
    if (byte == 46 or byte == 58) and 48 <= after <= 57:
        return False
    if byte == 44 and skip(text, at + 1, end, DIGITS) - at > 3:
        return False
    if byte == 39 and is_alnum(after):
        return False
    # an operator behind a blank
    here = skip(text, at, end, BLANKS)
    if here < end:
        mark = int(text[here])
        if mark == 37:
            return False
        if _SIGNS[mark] and _is_operand(text, here + 1, end):
            return mark == SLASH and _is_digit_alone(text, here + 1, end)
        if mark >= 0x80 and _is_operator(text, here, end):
            return False
        if mark == 92 and here > at and begins_command(text, here, end):
            return False
        if 97 <= mark <= 122 and here > at:
            stop = word_end(text, here, end)
            flags = flags_of(text, here, stop)
            if flags & POWER or (flags & COUNTS and _is_operand(text, stop, end)):
                return False
    # brackets and quotation marks may close before the question mark
    while here < end and CLOSERS[text[here]] and text[here] != 62:
        here += 1
    return not (here < end and text[here] == 63)


@kernel
def _word_ends(text: Bytes, at: int, end: int) -> bool:
    """Whether a yes or no that ends at ``at`` is a whole word, and no question."""
    if at < end:
        byte = int(text[at])
        if (
            (byte == 47 or byte == 45 or byte == 39)
            and at + 1 < end
            and is_wordy(text[at + 1])
            and not 48 <= text[at + 1] <= 57
        ):
            return False
        if byte >= 0x80 and _is_odd(text, at, end):
            return False
    at = skip(text, at, end, CLOSERS)
    return not (at < end and text[at] == 63)


@kernel
def begins_command(text: Bytes, at: int, end: int) -> bool:
    """Whether a TeX command that is an operator, or begins a part of an expression, begins at ``at``."""
    stop = skip(text, at + 1, min(at + 20, end), LETTERS)
    return stop > at + 1 and flags_of(text, at + 1, stop) & OPERATOR != 0


@kernel
def _is_operand(text: Bytes, at: int, end: int) -> bool:
    """Whether what follows an operator is part of an expression: behind brackets and signs a number, a
    command or a single letter that ends it, but no words: "- 5", "+ (-1)", "- x", not "- the third row"."""
    at = skip(text, at, end, _BEFORE_OPERAND)
    if at == end:
        return False
    byte = int(text[at])
    if 48 <= byte <= 57:
        return True
    if byte == 92:
        return begins_command(text, at, end)
    if byte >= 0x80:
        return _is_odd(text, at, end)
    stop = skip(text, at, end, _NAME)
    if stop == at or not (stop == at + 1 or text[at + 1] == 95 or 48 <= text[at + 1] <= 57):
        return False
    behind = skip(text, stop, end, BLANKS)
    if behind == end or not is_wordy(text[behind]):
        return True
    return flags_at(text, behind, end) & ENDS != 0


@kernel
def _is_digit_alone(text: Bytes, at: int, end: int) -> bool:
    """Whether one digit, and no more of an expression, follows a slash: "4 / 6" are two values."""
    at = skip(text, at, end, OPENERS)
    if at == end or not DIGITS[text[at]] or (at + 1 < end and is_wordy(text[at + 1])):
        return False
    behind = skip(text, at + 1, end, CLOSERS)
    if behind == end:
        return True
    point = text[behind] == POINT and behind + 1 < end and DIGITS[text[behind + 1]]
    return not (point or _SIGNS[text[behind]] or text[behind] == BACKSLASH)


@kernel
def _is_operator(text: Bytes, at: int, end: int) -> bool:
    """Whether the character beyond ASCII at ``at`` is an operator: × and ÷; ·, ±, and mathematical signs
    before what is part of an expression."""
    if text[at] == 0xC3:
        return at + 1 < end and (text[at + 1] == 0x97 or text[at + 1] == 0xB7)
    if text[at] == 0xC2:
        return (
            at + 1 < end and (text[at + 1] == 0xB7 or text[at + 1] == 0xB1) and _is_operand(text, at + 2, end)
        )
    return text[at] == 0xE2 and _is_odd(text, at, end) and _is_operand(text, at + 3, end)


@kernel
def _skip_zeros(text: Bytes, at: int, end: int) -> int:
    """The offset after a decimal point and zeros ("4.0" is 4), else ``at``."""
    stop = at + 1
    while stop < end and text[stop] == ZERO:
        stop += 1
    return stop if at < end and text[at] == 46 and stop > at + 1 else at


@kernel
def whole_number_end(text: Bytes, low: int, at: int, end: int) -> int:
    """Where an integer ends that begins at ``at`` and is no part of something else, nor begins with a zero
    that says nothing; else ``at``."""
    if not _stands_left(text, low, at):
        return at  # asked first: within a long row of digits no place looks to its end
    stop = skip(text, at, end, DIGITS)
    if stop == at or (text[at] == ZERO and stop > at + 1):
        return at
    stop = _skip_zeros(text, stop, end)
    return stop if _stands_right(text, stop, end) else at


@kernel
def beginnings(text: Bytes, low: int, at: int, kind: int) -> Any:
    """A bit for each place of the block at ``at`` where a value, or an integer that is none, can begin: a
    digit, or two letters of an ordinal, a yes or a no, behind no letter or digit."""
    block, second = load(text, at), load(text, at + 1)
    if kind == CHOICE:
        firsts = equal(block, _E) | equal(block, _F) | equal(block, _S) | equal(block, _T)
        seconds = equal(second, _E) | equal(second, _H) | equal(second, _I) | equal(second, _O)
        places = (firsts & seconds) | within(block, ZERO, NINE)
    else:
        places = (equal(block, _N) & equal(second, _O)) | (equal(block, _Y) & equal(second, _E))
    within_word = (within(block, ZERO, NINE) | within(block, _A, _Z)) << np.uint64(1)
    if at > low and is_alnum(text[at - 1]):
        within_word |= np.uint64(1)
    return places & ~within_word


@kernel
def value_at(text: Bytes, low: int, at: int, end: int, kind: int) -> Any:
    """The value that begins at ``at`` (a choice from 1; 1 for no and 2 for yes; 0: none), where it ends, and
    whether a noun follows it ("4th option")."""
    byte = int(text[at])
    if kind == CHOICE:
        if 49 <= byte <= 56 and _stands_left(text, low, at):
            whole = _skip_zeros(text, at + 1, end)
            if _stands_right(text, whole, end):
                return byte - 48, whole, False
            stop = min(at + 3, end)
            is_ordinal = listed(text, at + 1, stop, _SUFFIXES, True) > at + 1
            if is_ordinal and not (stop < end and is_wordy(text[stop])):
                stop = _noun_end(text, stop, end)
                if stop > 0:
                    return byte - 48, stop, True
        elif 101 <= byte <= 116 and (at == low or not is_wordy(text[at - 1])):
            stop = word_end(text, at, end)
            flags = flags_of(text, at, stop) if 5 <= stop - at <= 7 else 0
            if flags & ORDINAL:
                behind = _noun_end(text, stop, end)
                if behind > 0:
                    return (flags & ORDINAL) >> ORDINAL_SHIFT, behind, True
        return 0, at, False
    if (byte == 121 or byte == 110) and _stands_left(text, low, at):
        stop = word_end(text, at, end)
        flags = flags_of(text, at, stop) if stop - at <= 3 else 0
        if flags & (YES | NO) and _word_ends(text, stop, end):
            return 2 if flags & YES else 1, stop, False
    return 0, at, False


@kernel
def _noun_end(text: Bytes, at: int, end: int) -> int:
    """Where the noun after an ordinal ends; 0: there is none, or a question mark follows."""
    at = skip(text, at, end, BLANKS)
    stop = word_end(text, at, end)
    if stop > at and flags_of(text, at, stop) & NOUN:
        behind = skip(text, stop, end, BLANKS)
        return 0 if behind < end and text[behind] == 63 else stop
    return 0


@kernel
def ends_value(text: Bytes, at: int, end: int) -> bool:
    """Whether what follows a value is not read: it is none of its words, but punctuation, something in
    brackets, or a word of the table ("12 because …")."""
    behind = skip(text, at, end, CLOSERS)
    if behind == end or text[behind] == LF or (text[behind] == ROUND_OPENING and behind > at):
        return True
    if STOPS[text[behind]]:
        return True
    return flags_at(text, behind, end) & ENDS != 0
