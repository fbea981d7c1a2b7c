"""The words and numbers of a sentence: `relfast.tasks.rel_a.words.tokens`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import WORD_FACTOR
from relfast_kernels.text.choices.chinese import (
    ORDINAL,
    is_han,
    nth_in_chinese,
    point_at,
    same_points,
    value_of,
)
from relfast_kernels.text.choices.data import (
    AFTER_NUMBER,
    PHRASES,
    SCRIPTS,
    SIGNS,
    STEMS,
    WORDS,
)
from relfast_kernels.text.choices.sentences import END_OF_POINTS, POINTS
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP, match, number_of
from relfast_kernels.text.patterns.programs import beginnings
from relfast_kernels.text.patterns.symbols import IS_LETTER, IS_WORD, KIND, constant
from relfast_kernels.text.vectors import lowest

KIND_OF, VALUE, SETS, IS_NAME = map(constant, range(4))
"""Columns of a token: the letter of its kind, its number, the sets its word is in, whether it is a word."""
COLUMNS: Final = constant(4)
MAX_TOKENS: Final = 240
TOKENS: Final = constant(END_OF_POINTS)
"""Where tokens are in the work space."""
_END: Final = END_OF_POINTS + 4 * MAX_TOKENS
OTHER_TOKENS: Final = constant(_END)
END_OF_TOKENS: Final = _END + 4 * MAX_TOKENS

SET_COLON, SET_TWO_DOTS = 1 << 30, 1 << 31
"""Signs that rules ask for: `=` and colons; the colon alone."""

_A, _P, _C, _W, _G, _NTH = (constant(ord(kind)) for kind in "APCWG#")
_SLOTS: Final = 1 << 11
_NUMBER_SHIFT, _NAME_SHIFT, _OPENS_SHIFT, _ENDS_SHIFT, _SETS_SHIFT = 8, 12, 13, 14, 16
_KNOWN: Final = 1 << 15
_FACTOR, _SHIFT = np.uint64(WORD_FACTOR), np.uint64(40)
_EIGHT: Final = np.uint64(8)
_NOUGHT, _BIT = np.uint64(0), np.uint64(1)


def _packed_word(word: str) -> tuple[int, int]:
    data = word.encode().ljust(16, b"\0")
    first, second = (int.from_bytes(data[k : k + 8], "little") for k in (0, 8))
    return first, second


def _table() -> Any:
    table = np.zeros((_SLOTS, 3), np.uint64)
    for (kind, number, is_name, sets, opens, ends), words in WORDS.items():
        about = _KNOWN | (ord(kind) if kind else 0) | number << _NUMBER_SHIFT | sets << _SETS_SHIFT
        about |= is_name << _NAME_SHIFT | opens << _OPENS_SHIFT | ends << _ENDS_SHIFT
        for word in words.split():
            if len(word.encode()) > 16:
                continue  # it has marks that are no letters
            first, second = _packed_word(word)
            mixed = ((first * WORD_FACTOR & 2**64 - 1 ^ second) * WORD_FACTOR & 2**64 - 1) >> 40
            at = mixed % _SLOTS
            while table[at, 2]:
                at = (at + 1) % _SLOTS
            table[at] = first, second, about
    return table


_TABLE: Final = _table()
_STEMS: Final = np.array([_packed_word(stem) for stem in STEMS], np.uint64)
_STEM_KINDS: Final = np.array([ord(kind) for kind in STEMS.values()], np.int64)
_STEM_LETTERS: Final = 6
_SCRIPT: Final = np.array([ord(c) for _, part in SCRIPTS for c in part], np.int64)
_SCRIPT_ENDS: Final = np.cumsum([0] + [len(part) for _, part in SCRIPTS])
_SCRIPT_KINDS: Final = np.array([ord(kind) for kind, _ in SCRIPTS], np.int64)
_AFTER: Final = np.array([ord(c) for part in AFTER_NUMBER for c in part], np.int64)
_AFTER_ENDS: Final = np.cumsum([0] + [len(part) for part in AFTER_NUMBER])
_ANSWER_IN_HINDI: Final = np.array([ord(c) for c in "उत्तर"], np.int64)
_JOINED: Final = np.array([ord(c) for c in "answeroptionchoicepanel"], np.int64)
_JOINED_ENDS: Final = np.array([0, 6, 12, 18, 23], np.int64)
_KINDS_OF_SIGNS: Final = {
    c: kind for kind, characters in SIGNS.items() if kind != "CIRCLED" for c in characters
} | {c: kind for kind, c in (("N", "¬"), ("K", "&"))}
_SIGN_POINTS: Final = np.array(sorted(map(ord, _KINDS_OF_SIGNS)), np.int64)
_SIGN_KINDS: Final = np.array([ord(_KINDS_OF_SIGNS[chr(point)]) for point in _SIGN_POINTS], np.int64)
_ASCII_SIGNS: Final = np.zeros(128, np.int64)
for _c, _kind in _KINDS_OF_SIGNS.items():
    if _c.isascii():
        _ASCII_SIGNS[ord(_c)] = ord(_kind)

_PHRASE: Final = np.array([number_of(f"A_PHRASE_{n:02}") for n in range(len(PHRASES))], np.int64)
_PHRASE_FIRST, _PHRASE_SECOND = beginnings(_PHRASE)
_PHRASE_KINDS: Final = np.array([ord(kind) for kind, _ in PHRASES], np.int64)
_PHRASE_SETS: Final = np.array([sets for _, sets in PHRASES], np.int64)
_EXPRESSION, _VALUE, _DASH = map(number_of, ("A_EXPRESSION", "A_VALUE", "A_DASH"))
_NUMBER_SIGNS: Final = np.array(sorted(map(ord, "-+−.,±√")), np.int64)


@kernel
def _packed(low: int, start: int, end: int, work: Any) -> Any:
    """A word as two numbers of eight bytes of UTF-8; (0, 0) if it is longer."""
    first = second = np.uint64(0)
    n = 0
    for at in range(start, end):
        point = work[POINTS + at - low]
        size = 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4
        if n + size > 16:
            return np.uint64(0), np.uint64(0)
        for k in range(size):
            if size == 1:
                byte = point
            elif k == 0:
                byte = (0xC0 if size == 2 else 0xE0 if size == 3 else 0xF0) | point >> (6 * (size - 1))
            else:
                byte = 0x80 | point >> (6 * (size - 1 - k)) & 0x3F
            if n < 8:
                first |= np.uint64(byte) << (_EIGHT * np.uint64(n))
            else:
                second |= np.uint64(byte) << (_EIGHT * np.uint64(n - 8))
            n += 1
    return first, second


@kernel
def about_word(low: int, start: int, end: int, work: Any) -> Any:
    """What the table has of a word; 0: it is not there."""
    first, second = _packed(low, start, end, work)
    at = np.int64((first * _FACTOR ^ second) * _FACTOR >> _SHIFT) & (_SLOTS - 1)
    while _TABLE[at, 2] != 0:
        if _TABLE[at, 0] == first and _TABLE[at, 1] == second:
            return np.int64(_TABLE[at, 2])
        at = (at + 1) & (_SLOTS - 1)
    return np.int64(0)


@kernel
def stem_kind(low: int, start: int, end: int, work: Any) -> Any:
    """The kind of a word by how it begins."""
    first, second = _packed(low, start, min(end, start + _STEM_LETTERS), work)
    if first != 0:
        for k in range(len(_STEM_KINDS)):
            if _STEMS[k, 0] == first and _STEMS[k, 1] == second:
                return _STEM_KINDS[k]
    return _W


@kernel
def kind_alone(text: Any, low: int, start: int, end: int, work: Any) -> Any:
    """`relfast.tasks.rel_a.words.kind_of`; 0 for ""."""
    if start >= end:
        return np.int64(0)
    for at in range(start, end):
        if KIND[text[at]] & IS_LETTER == 0:
            return np.int64(0)
    about = about_word(low, start, end, work)
    if about & (1 << _OPENS_SHIFT | 1 << _ENDS_SHIFT):
        return np.int64(0)
    if about != 0:
        return about & 255
    return stem_kind(low, start, end, work)


@kernel
def _is_letter(symbol: Any, point: int) -> bool:
    """Whether a word can begin with a character."""
    if point < 0x80:
        return bool(97 <= point <= 122 or 65 <= point <= 90)
    if KIND[symbol] & IS_WORD == 0:
        return False
    return not (
        0x2460 <= point <= 0x2468
        or 0x2776 <= point <= 0x2792
        or 0x3040 <= point <= 0x30FF
        or 0x4E00 <= point <= 0x9FFF
        or 0xAC00 <= point <= 0xD7AF
    )


@kernel
def _is_word(text: Any, at: int, end: int) -> bool:
    return bool(at < end and KIND[text[at]] & IS_WORD != 0)


@kernel
def _put(n: int, kind: Any, value: Any, sets: Any, is_name: Any, work: Any) -> int:
    place = TOKENS + n * COLUMNS
    work[place + KIND_OF], work[place + VALUE] = kind, value
    work[place + SETS], work[place + IS_NAME] = sets, is_name
    return n + 1


@kernel
def _is_ordinal(text: Any, k: int, end: int) -> bool:
    """Whether "st", "nd", "rd" or "th" stands there, and ends a word."""
    if k + 1 >= end or _is_word(text, k + 2, end):
        return False
    a, b = text[k], text[k + 1]
    is_end = (a == 115 and b == 116) or (a == 116 and b == 104)
    return bool(is_end or (b == 100 and (a == 110 or a == 114)))


@kernel
def _ordinal_end(text: Any, low: int, at: int, end: int) -> int:
    """Where "4th" ends, or -1."""
    if at > low and (KIND[text[at - 1]] & IS_WORD != 0 or text[at - 1] == 46 or text[at - 1] == 44):
        return -1
    k = at
    while k < end and k < at + 9 and is_digit(text[k]):
        k += 1
    return k + 2 if _is_ordinal(text, k, end) else -1


@kernel
def _attached_end(text: Any, low: int, at: int, end: int, work: Any) -> int:
    """Where digits end that go on as a word, "4x"; -1: they do not."""
    k = at
    while k < end and is_digit(text[k]):
        k += 1
    if k >= end or not _is_word(text, k, end):
        return -1
    if _is_ordinal(text, k, end) or is_han(point_at(low, k, end, work)):
        return -1
    for n in range(len(_AFTER_ENDS) - 1):
        if same_points(_AFTER, _AFTER_ENDS[n], _AFTER_ENDS[n + 1], low, k, end, work):
            return -1
    while _is_word(text, k, end):
        k += 1
    return k


@kernel
def _number(text: Any, low: int, at: int, end: int, n: int, work: Any) -> Any:
    """The token of a digit's place and where it ends; (0, 0): there is none."""
    stop = match(_EXPRESSION, text, low, at, end, work)
    if stop >= 0:
        return _put(n, _W, 0, 0, 0, work), stop
    stop = _ordinal_end(text, low, at, end)
    if stop >= 0:
        return _put(n, _NTH, value_of(text, at, stop - 2), 0, 1, work), stop
    stop = match(_VALUE, text, low, at, end, work)
    if stop < 0:
        stop = _attached_end(text, low, at, end, work)
    if stop >= 0:
        return _put(n, _W, 0, 0, 0, work), stop
    if at > low and (text[at - 1] == 46 or text[at - 1] == 44 or is_digit(text[at - 1])):
        return n, -1
    stop = at
    while stop < end and is_digit(text[stop]):
        stop += 1
    if text[at] == 48 and stop - at > 1:
        return _put(n, _W, 0, 0, 0, work), stop
    return _put(n, _G, value_of(text, at, stop), 0, 0, work), stop


@kernel
def _word(text: Any, low: int, at: int, end: int, n: int, work: Any) -> Any:
    """The token of a word or phrase that begins at ``at``, and where it ends."""
    stop = at + 1
    while stop < end and (is_digit(text[stop]) or _is_letter(text[stop], work[POINTS + stop - low])):
        stop += 1
    quoted = False
    if (
        stop + 1 < end
        and text[stop] == 39
        and _is_word(text, stop + 1, end)
        and not (text[stop + 1] == 115 and not _is_word(text, stop + 2, end))
    ):
        quoted = True
        stop += 1
        while _is_word(text, stop, end):
            stop += 1
    about = about_word(low, at, stop, work)
    if quoted or about & (1 << _OPENS_SHIFT):
        left = _PHRASE_FIRST[text[at]]
        if at + 1 < end:
            left &= _PHRASE_SECOND[text[at + 1] & 63]
        while left != _NOUGHT:
            k = lowest(left)
            left &= left - _BIT
            last = match(_PHRASE[k], text, low, at, end, work)
            if last >= 0:
                return _put(n, _PHRASE_KINDS[k], 0, _PHRASE_SETS[k], 0, work), last
    if about & 255 != 0:
        value, is_name = about >> _NUMBER_SHIFT & 15, about >> _NAME_SHIFT & 1
        return _put(n, about & 255, value, about >> _SETS_SHIFT, is_name, work), stop
    return _put(n, stem_kind(low, at, stop, work), 0, 0, 0, work), stop


@kernel
def _sign_kind(point: int) -> Any:
    if point < 0x80:
        return _ASCII_SIGNS[point]
    for k in range(len(_SIGN_POINTS)):
        if _SIGN_POINTS[k] == point:
            return _SIGN_KINDS[k]
    return np.int64(0)


@kernel
def tokens(text: Any, low: int, end: int, work: Any) -> int:
    """Write the tokens of a sentence without markup; how many, or -1: they are too many."""
    n = 0
    at = low
    while at < end:
        if n >= MAX_TOKENS - 2 or work[HAS_GIVEN_UP] != 0:
            return -1
        symbol, point = text[at], work[POINTS + at - low]
        if symbol == 32:
            at += 1
            continue
        if _is_letter(symbol, point):
            if point > 0x900 and same_points(_ANSWER_IN_HINDI, 0, 5, low, at, end, work):
                n = _put(n, _A, 0, 0, 0, work)
                at += 5
                continue
            if symbol == 97 or symbol == 111 or symbol == 99 or symbol == 112:
                joined = -1
                for k in range(4):
                    stop = at + _JOINED_ENDS[k + 1] - _JOINED_ENDS[k]
                    if (
                        stop < end
                        and is_digit(text[stop])
                        and same_points(_JOINED, _JOINED_ENDS[k], _JOINED_ENDS[k + 1], low, at, end, work)
                    ):
                        joined = k
                        n = _put(n, _P if k == 3 else _A, 0, 0, 0, work)
                        at = stop
                        break
                if joined >= 0:
                    continue
            n, at = _word(text, low, at, end, n, work)
            continue
        if symbol == 39 and at + 1 < end and text[at + 1] == 115 and not _is_word(text, at + 2, end):
            n = _put(n, _C, 0, 0, 0, work)
            at += 2
            continue
        if is_digit(symbol):
            n, stop = _number(text, low, at, end, n, work)
            at = stop if stop > at else at + 1
            continue
        is_sign = False
        for k in range(len(_NUMBER_SIGNS)):
            is_sign = is_sign or _NUMBER_SIGNS[k] == point
        if is_sign:
            stop = match(_VALUE, text, low, at, end, work)
            if stop >= 0:
                n = _put(n, _W, 0, 0, 0, work)
                at = stop
                continue
        kind = _sign_kind(point)
        # signs stand before dashes in the order of rules, but for the colons and question marks
        if kind != 0:
            sets = 0
            if kind == 67:
                sets = SET_COLON | (SET_TWO_DOTS if point == 58 else 0)
            n = _put(n, kind, 0, sets, 0, work)
            at += 1
            continue
        if point == 45 or 0x2013 <= point <= 0x2015:
            stop = match(_DASH, text, low, at, end, work)
            if stop >= 0:
                n = _put(n, 45, 0, 0, 0, work)
                at = stop
                continue
        if point >= 0x3000:
            if point == ORDINAL:
                value, stop = nth_in_chinese(text, low, at, end, work)
                if stop >= 0:
                    n = _put(n, _G, value, 0, 0, work)
                    at = stop
                    continue
            found = -1
            for k in range(len(_SCRIPT_KINDS)):
                if same_points(_SCRIPT, _SCRIPT_ENDS[k], _SCRIPT_ENDS[k + 1], low, at, end, work):
                    found = k
                    break
            if found >= 0:
                n = _put(n, _SCRIPT_KINDS[found], 0, 0, 0, work)
                at += _SCRIPT_ENDS[found + 1] - _SCRIPT_ENDS[found]
                continue
            if is_han(point) and (n == 0 or work[TOKENS + (n - 1) * COLUMNS + KIND_OF] != _W):
                n = _put(n, _W, 0, 0, 0, work)
        at += 1
    return n
