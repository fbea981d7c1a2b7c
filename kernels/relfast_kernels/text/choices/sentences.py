"""A sentence as symbols and code points, without markup: `relfast.tasks.rel_a.markup.clean`.

What is not followed here (circled digits, struck-out text) is left to the extractor.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import CHOICES_WORK
from relfast_kernels.text.characters import decode
from relfast_kernels.text.choices.data import COLONS, SPACES, SWAPS
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP, number_of, search
from relfast_kernels.text.patterns.plain import find
from relfast_kernels.text.patterns.symbols import UNREADABLE, constant, symbol_of

MAX_SENTENCE: Final = 2_000
"""Bytes of a sentence that is read here."""
_ROOM: Final = 4_096
"""Characters that one may become by what is written instead of markup, twice over."""
SENTENCE_BYTES: Final = 2 * _ROOM
"""Work space (uint8) of a sentence's symbols: as it is, and from `WITHOUT_MARKUP` on without markup."""
WITHOUT_MARKUP: Final = 1_024
MAX_POINTS: Final = _ROOM
POINTS: Final = constant(CHOICES_WORK)
"""So many code points, of the sentence that is read, and where they are in the work space."""
END_OF_POINTS: Final = CHOICES_WORK + _ROOM

_SPACE, _COLON = np.uint8(32), np.uint8(58)
_KEYCAP: Final = 0x20E3
_THEREFORE: Final = 0x2234
_TILDE: Final = constant(126)

_SWAP: Final = np.array([number_of(f"A_SWAP_{n:02}") for n in range(len(SWAPS))], np.int64)
_BY_SYMBOLS: Final = np.concatenate(
    [np.array([ord(c) if c.isascii() else symbol_of(ord(c)) for c in by], np.uint8) for _, by in SWAPS]
)
_BY_POINTS: Final = np.array([ord(c) for _, by in SWAPS for c in by], np.int64)
_BY: Final = np.cumsum([0] + [len(by) for _, by in SWAPS])
_MARKS: Final = "<\\[&*_!>(n"
"""What a swap needs at least one of; others are looked for where a sign of comparison is."""
_SEEN: Final = np.zeros(256, np.int64)
for _n, _c in enumerate(_MARKS):
    _SEEN[ord(_c)] |= 1 << _n
_COMPARES: Final = 1 << len(_MARKS)
for _c in "<>~":
    _SEEN[ord(_c)] |= _COMPARES
_TILDES: Final = 1 << (len(_MARKS) + 1)
_SEEN[126] |= _TILDES
for _c in "≤≥≈":
    _SEEN[symbol_of(ord(_c))] |= _COMPARES
_NEEDS: Final = np.array(
    [_COMPARES if not mark else 1 << _MARKS.index(mark[0]) for mark, _ in SWAPS], np.int64
)
_IS_TILDE: Final = np.array([number == number_of("A_SWAP_04") for number in _SWAP], np.uint8)
if SWAPS[4] != ("\\", " "):
    raise ValueError("the swap of tildes is elsewhere")

_AS: Final = np.arange(256, dtype=np.uint8)
"""Symbols of ASCII characters as they are written."""
for _c in SPACES:
    if _c.isascii():
        _AS[ord(_c)] = 32
_WIDE_SPACES: Final = np.array(sorted(ord(c) for c in SPACES if not c.isascii()), np.int64)
_WIDE_COLONS: Final = np.array(sorted(ord(c) for c in COLONS), np.int64)


@kernel
def _is_in(point: int, points: Any) -> bool:
    for k in range(len(points)):
        if points[k] == point:
            return True
    return False


@kernel
def open_sentence(text: Any, start: int, end: int, out: Any, low: int, work: Any) -> int:
    """Write a sentence's symbols to ``out`` from ``low`` on, and its code points to the work space; where the
    symbols end, or -1: it cannot be read here."""
    if end - start > MAX_SENTENCE or low + SENTENCE_BYTES > len(out):
        return -1
    work[HAS_GIVEN_UP] = 0
    to = low
    at = start
    while at < end:
        if to - low >= WITHOUT_MARKUP - 8:
            return -1
        byte = text[at]
        if byte < 0x80:
            out[to] = byte
            work[POINTS + to - low] = byte
            at += 1
        else:
            point, length = decode(text, at, end)
            if length == 0:
                return -1
            symbol = symbol_of(point)
            if symbol == UNREADABLE or point == _KEYCAP or point == _THEREFORE:
                return -1
            out[to] = symbol
            work[POINTS + to - low] = point
            at += length
        to += 1
    return to


@kernel
def _swap(n: int, text: Any, low: int, end: int, work: Any) -> int:
    """`substitute` in the symbols and the code points; the new end, or -1: there is no room."""
    number = _SWAP[n]
    at = search(number, text, low, low, end, work)
    if at < 0:
        return end
    shift = POINTS - low
    read, to = low, end
    while at >= 0:
        if to + (at - read) + 16 > low + _ROOM:
            return -1
        for k in range(read, at):
            text[to] = text[k]
            work[to + shift] = work[k + shift]
            to += 1
        for k in range(_BY[n], _BY[n + 1]):
            text[to] = _BY_SYMBOLS[k]
            work[to + shift] = _BY_POINTS[k]
            to += 1
        read = work[1]
        at = search(number, text, low, read, end, work)
    if to + (end - read) > low + _ROOM:
        return -1
    for k in range(read, end):
        text[to] = text[k]
        work[to + shift] = work[k + shift]
        to += 1
    for k in range(to - end):
        text[low + k] = text[end + k]
        work[low + k + shift] = work[end + k + shift]
    return low + to - end


@kernel
def _has_struck(text: Any, low: int, end: int) -> bool:
    """Whether markup may strike text out."""
    at = find(text, low, end, 60)
    while at >= 0:
        # "<s>", "<strike>", "<del>"
        first, second = (text[at + 1], text[at + 2]) if at + 2 < end else (np.uint8(0), np.uint8(0))
        if (first == 115 and second == 62) or (first == 100 and second == 101):
            return True
        if first == 115 and second == 116 and not (at + 4 < end and text[at + 4] == 111):
            return True  # and not "<strong>"
        at = find(text, at + 1, end, 60)
    for at in range(low, end - 1):
        if text[at] == 126 and text[at + 1] == 126:
            return True
    return False


@kernel
def clean(out: Any, start: int, end: int, low: int, work: Any) -> int:
    """Write the symbols that `open_sentence` has written once more from ``low`` on, without markup; where
    they end, or -1: it cannot be followed here. The code points become those of what is left."""
    to = low
    seen = np.int64(0)
    for at in range(start, end):
        out[to] = out[at]
        seen |= _SEEN[out[at]]
        to += 1
    if seen & (1 | _TILDES) and _has_struck(out, low, to):
        return -1
    if seen:
        for n in range(len(_SWAP)):
            # what is written instead can be what another needs
            if not seen & _NEEDS[n] or (_IS_TILDE[n] != 0 and not seen & _TILDES):
                continue
            to = _swap(n, out, low, to, work)
            if to < 0 or work[HAS_GIVEN_UP] != 0:
                return -1
            for k in range(_BY[n], _BY[n + 1]):
                seen |= _SEEN[_BY_SYMBOLS[k]]
    for at in range(low, to):
        symbol = out[at]
        if symbol < 0x80:
            out[at] = _AS[symbol]
            if _AS[symbol] != symbol:
                work[POINTS + at - low] = _AS[symbol]
        else:
            point = work[POINTS + at - low]
            if _is_in(point, _WIDE_SPACES):
                out[at], work[POINTS + at - low] = _SPACE, 32
            elif _is_in(point, _WIDE_COLONS):
                out[at], work[POINTS + at - low] = _COLON, 58
    return to
