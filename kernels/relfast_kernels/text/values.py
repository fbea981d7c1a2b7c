"""Words and values of an undressed paragraph: where a word begins and ends and what it means; and whether
what stands beside a choice, a yes or a no makes it part of a longer word, a number, an expression or a
question."""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Final

import numpy as np

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes
from relfast_kernels.text.ascii import (
    BLANKS,
    DIGITS,
    LETTERS,
    SMALL_LETTERS,
    byte_set,
    continues,
    is_alnum,
    is_wordy,
)
from relfast_kernels.text.find import begins_with, listed, skip
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

CLOSERS: Final = byte_set(" )]}\"'>")
"""What may stand between a value and the end of its line, or a question mark."""
_SUFFIXES: Final = np.frombuffer(b"th\nst\nnd\nrd\n", np.uint8)
"""Endings of ordinals."""
_SIGNS: Final = byte_set("+-*/^=<")
_BEFORE_OPERAND: Final = byte_set(" +-*/([{|")
"""Operators; and what may stand between an operator and a number, a command or a variable."""
_NAME: Final = byte_set(f"{ascii_letters}{digits}_")
_IN_WORD: Final = byte_set(f"{ascii_letters}{digits}_'")
_HOLDS_LEFT: Final = byte_set(f"{ascii_letters}{digits}_^\\@-+/*%~$")
_HOLDS_RIGHT: Final = byte_set(f"{ascii_letters}{digits}_^%@$")
"""What makes a value beside it part of a longer word, number or expression."""
_OPERATORS, _OPENS_OPERAND = byte_set("/-+*"), byte_set("({\\<")
_TIMES, _DIVIDED, _MIDDLE_DOT, _PLUS_MINUS = (np.frombuffer(sign.encode(), np.uint8) for sign in "×÷·±")
_ODD_SIGNS: Final = np.zeros(256, np.bool_)
for _sign in "⁰₀⅓∀≠⊂⋅":  # one of each 64 superscripts, subscripts, fractions, mathematical signs
    _ODD_SIGNS[_sign.encode()[1]] = True
_MAX_WORD: Final = 40
OPENERS: Final = byte_set(' "([')
STOPS: Final = byte_set(".!:;,|")
"""What may stand before a value; and what ends one."""

CHOICE, VERDICT, CLAIM = range(3)
"""Kinds of values: one of eight; yes or no; yes with taxa, or no."""


@kernel
def is_wide(text: Bytes, at: int) -> bool:
    """Whether the character that ends before ``at`` is one of three bytes: Chinese, Japanese, Korean."""
    return (
        at >= 3
        and continues(text[at - 1])
        and continues(text[at - 2])
        and ascii.WIDE <= text[at - 3] < ascii.FOUR_BYTES
    )


@kernel
def word_before(text: Bytes, low: int, at: int) -> tuple[int, int]:
    """Start and flags of the word that ends before ``at``. In a script without blanks: of the longest word
    of the table, or of one character."""
    if at - low >= 3 and is_wide(text, at):
        for size in (18, 15, 12, 9, 6, 3):
            if at - size >= low and text[at - size] >= ascii.WIDE:
                flags = flags_of(text, at - size, at)
                if flags != 0:
                    return at - size, flags
        return at - 3, 0
    first = at
    while (
        first > low
        and (is_wordy(text[first - 1]) or (text[first - 1] == ascii.APOSTROPHE and first < at))
        and not (first - low >= 3 and is_wide(text, first))
    ):
        first -= 1
        if at - first > _MAX_WORD:
            return first, 0
    while first < at and text[first] == ascii.APOSTROPHE:
        first += 1
    return first, flags_of(text, first, at)


@kernel
def word_end(text: Bytes, at: int, end: int) -> int:
    """Where the word that begins at ``at`` ends."""
    first = at
    while (
        at < end
        and at - first < _MAX_WORD
        and (
            _IN_WORD[text[at]]
            or ascii.TWO_BYTES <= text[at] < ascii.THREE_BYTES
            or (continues(text[at]) and at > first)
        )
    ):
        at += 1
    while at > first and text[at - 1] == ascii.APOSTROPHE:
        at -= 1
    return at


@kernel
def flags_at(text: Bytes, at: int, end: int) -> int:
    """The flags of the word that begins at ``at``: in a script without blanks, of the longest of the
    table."""
    if at < end and text[at] >= ascii.WIDE:
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
    if text[at] < ascii.THREE_BYTES:
        return True
    return text[at] == ascii.SIGNS and at + 1 < end and bool(_ODD_SIGNS[text[at + 1]])


@kernel
def _stands_left(text: Bytes, low: int, at: int) -> bool:
    """Whether what begins at ``at`` is not the end of a longer word, number or expression."""
    if at == low:
        return True
    byte = int(text[at - 1])
    if byte >= ascii.BEYOND_ASCII:
        first = at - 1
        while first > low and continues(text[first]):
            first -= 1
        return not _is_odd(text, first, at)
    if _HOLDS_LEFT[byte]:
        return False
    before = int(text[at - 2]) if at - 2 >= low else ascii.BLANK
    if byte == ascii.DOT:
        return not is_wordy(before) and before != ascii.DOT and before != ascii.BLANK
    return not ((byte == ascii.COLON or byte == ascii.APOSTROPHE) and DIGITS[before])


@kernel
def _stands_right(text: Bytes, at: int, end: int) -> bool:
    """Whether what ends at ``at`` is no beginning of a longer word, number or expression, and no
    question."""
    if at >= end:
        return True
    byte = int(text[at])
    after = int(text[at + 1]) if at + 1 < end else ascii.LF
    if byte >= ascii.BEYOND_ASCII:
        return not _is_odd(text, at, end)
    if _HOLDS_RIGHT[byte]:
        return False
    if byte == ascii.BACKSLASH:
        return not SMALL_LETTERS[after]
    if _OPERATORS[byte]:
        return not (is_wordy(after) or _OPENS_OPERAND[after])
    if (byte == ascii.DOT or byte == ascii.COLON) and DIGITS[after]:
        return False
    if byte == ascii.COMMA and skip(text, at + 1, end, DIGITS) - at > 3:
        return False
    if byte == ascii.APOSTROPHE and is_alnum(after):
        return False
    # an operator behind a blank
    here = skip(text, at, end, BLANKS)
    if here < end:
        mark = int(text[here])
        if mark == ascii.PERCENT:
            return False
        if _SIGNS[mark] and _is_operand(text, here + 1, end):
            return mark == ascii.SLASH and _is_digit_alone(text, here + 1, end)
        if mark >= ascii.BEYOND_ASCII and _is_operator(text, here, end):
            return False
        if mark == ascii.BACKSLASH and here > at and begins_command(text, here, end):
            return False
        if SMALL_LETTERS[mark] and here > at:
            stop = word_end(text, here, end)
            flags = flags_of(text, here, stop)
            if flags & POWER or (flags & COUNTS and _is_operand(text, stop, end)):
                return False
    # brackets and quotation marks may close before the question mark
    while here < end and CLOSERS[text[here]] and text[here] != ascii.GREATER:
        here += 1
    return not (here < end and text[here] == ascii.QUESTION)


@kernel
def _word_ends(text: Bytes, at: int, end: int) -> bool:
    """Whether a yes or no that ends at ``at`` is a whole word, and no question."""
    if at < end:
        byte = int(text[at])
        if (
            (byte == ascii.SLASH or byte == ascii.HYPHEN or byte == ascii.APOSTROPHE)
            and at + 1 < end
            and is_wordy(text[at + 1])
            and not DIGITS[text[at + 1]]
        ):
            return False
        if byte >= ascii.BEYOND_ASCII and _is_odd(text, at, end):
            return False
    at = skip(text, at, end, CLOSERS)
    return not (at < end and text[at] == ascii.QUESTION)


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
    if DIGITS[byte]:
        return True
    if byte == ascii.BACKSLASH:
        return begins_command(text, at, end)
    if byte >= ascii.BEYOND_ASCII:
        return _is_odd(text, at, end)
    stop = skip(text, at, end, _NAME)
    if stop == at or not (stop == at + 1 or text[at + 1] == ascii.UNDERSCORE or DIGITS[text[at + 1]]):
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
    point = text[behind] == ascii.DOT and behind + 1 < end and DIGITS[text[behind + 1]]
    return not (point or _SIGNS[text[behind]] or text[behind] == ascii.BACKSLASH)


@kernel
def _is_operator(text: Bytes, at: int, end: int) -> bool:
    """Whether the character beyond ASCII at ``at`` is an operator: × and ÷; ·, ±, and mathematical signs
    before what is part of an expression."""
    if begins_with(text, at, end, _TIMES) or begins_with(text, at, end, _DIVIDED):
        return True
    if begins_with(text, at, end, _MIDDLE_DOT) or begins_with(text, at, end, _PLUS_MINUS):
        return _is_operand(text, at + 2, end)
    return text[at] == ascii.SIGNS and _is_odd(text, at, end) and _is_operand(text, at + 3, end)


@kernel
def _skip_zeros(text: Bytes, at: int, end: int) -> int:
    """The offset after a decimal point and zeros ("4.0" is 4), else ``at``."""
    stop = at + 1
    while stop < end and text[stop] == ascii.ZERO:
        stop += 1
    return stop if at < end and text[at] == ascii.DOT and stop > at + 1 else at


@kernel
def whole_number_end(text: Bytes, low: int, at: int, end: int) -> int:
    """Where an integer ends that begins at ``at`` and is no part of something else, nor begins with a zero
    that says nothing; else ``at``."""
    if not _stands_left(text, low, at):
        return at  # asked first: within a long row of digits no place looks to its end
    stop = skip(text, at, end, DIGITS)
    if stop == at or (text[at] == ascii.ZERO and stop > at + 1):
        return at
    stop = _skip_zeros(text, stop, end)
    return stop if _stands_right(text, stop, end) else at


@kernel
def beginnings(text: Bytes, low: int, at: int, kind: int) -> np.uint64:
    """A bit for each place of the block at ``at`` where a value, or an integer that is none, can begin: a
    digit, or two letters of an ordinal, a yes or a no, behind no letter or digit."""
    block, second = load(text, at), load(text, at + 1)
    if kind == CHOICE:
        firsts = (
            equal(block, ascii.LOWER_E)
            | equal(block, ascii.LOWER_F)
            | equal(block, ascii.LOWER_S)
            | equal(block, ascii.LOWER_T)
        )
        seconds = (
            equal(second, ascii.LOWER_E)
            | equal(second, ascii.LOWER_H)
            | equal(second, ascii.LOWER_I)
            | equal(second, ascii.LOWER_O)
        )
        places = (firsts & seconds) | within(block, ascii.ZERO, ascii.NINE)
    else:
        places = (equal(block, ascii.LOWER_N) & equal(second, ascii.LOWER_O)) | (
            equal(block, ascii.LOWER_Y) & equal(second, ascii.LOWER_E)
        )
    within_word = (
        within(block, ascii.ZERO, ascii.NINE) | within(block, ascii.LOWER_A, ascii.LOWER_Z)
    ) << np.uint64(1)
    if at > low and is_alnum(text[at - 1]):
        within_word |= np.uint64(1)
    return places & ~within_word


@kernel
def value_at(text: Bytes, low: int, at: int, end: int, kind: int) -> tuple[int, int, bool]:
    """The value that begins at ``at`` (a choice from 1; 1 for no and 2 for yes; 0: none), where it ends, and
    whether a noun follows it ("4th option")."""
    byte = int(text[at])
    if kind == CHOICE:
        if ascii.ONE <= byte <= ascii.EIGHT and _stands_left(text, low, at):
            whole = _skip_zeros(text, at + 1, end)
            if _stands_right(text, whole, end):
                return byte - ascii.ZERO, whole, False
            stop = min(at + 3, end)
            is_ordinal = listed(text, at + 1, stop, _SUFFIXES, True) > at + 1
            if is_ordinal and not (stop < end and is_wordy(text[stop])):
                stop = _noun_end(text, stop, end)
                if stop > 0:
                    return byte - ascii.ZERO, stop, True
        elif ascii.LOWER_E <= byte <= ascii.LOWER_T and (at == low or not is_wordy(text[at - 1])):
            stop = word_end(text, at, end)
            flags = flags_of(text, at, stop) if 5 <= stop - at <= 7 else 0
            if flags & ORDINAL:
                behind = _noun_end(text, stop, end)
                if behind > 0:
                    return (flags & ORDINAL) >> ORDINAL_SHIFT, behind, True
        return 0, at, False
    if (byte == ascii.LOWER_Y or byte == ascii.LOWER_N) and _stands_left(text, low, at):
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
        return 0 if behind < end and text[behind] == ascii.QUESTION else stop
    return 0


@kernel
def ends_value(text: Bytes, at: int, end: int) -> bool:
    """Whether what follows a value is not read: it is none of its words, but punctuation, something in
    brackets, or a word of the table ("12 because …")."""
    behind = skip(text, at, end, CLOSERS)
    if behind == end or text[behind] == ascii.LF or (text[behind] == ascii.ROUND_OPEN and behind > at):
        return True
    if STOPS[text[behind]]:
        return True
    return flags_at(text, behind, end) & ENDS != 0
