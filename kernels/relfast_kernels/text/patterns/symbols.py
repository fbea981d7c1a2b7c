"""Text as one small number a character, in lower case: what the patterns of the ``strict`` policy tell apart.

ASCII is itself. Characters that a pattern or a table names have symbols of their own; all others are a
letter, a figure ("²", "₃", "½"), a blank or a symbol. What is none of these for certain (`UNREADABLE`) takes
the exact way.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.characters import CHUNK, CLASSES, OTHER, decode, is_ascii, two_stages
from relfast_kernels.text.characters import LETTER as ANY_LETTER
from relfast_kernels.text.characters import SPACE as ANY_SPACE
from relfast_kernels.text.patterns.sources import DELETED, REPLACED, SOURCES
from relfast_kernels.text.vectors import WIDTH, first_outside


def constant(value: int) -> int:
    """A number that numba takes as any int64: for each plain one it may compile a kernel anew."""
    return np.int64(value)  # type: ignore[return-value]


LETTER, BLANK, SIGN, UNREADABLE, FIGURE = 128, 129, 130, 131, 132
_FIRST_NAMED: Final = 133
N_SYMBOLS: Final = 256

IS_WORD, IS_BLANK, IS_LETTER, IS_ALNUM = map(constant, (1, 2, 4, 8))
"""Bits of `KIND`: what ``\\w``, ``\\s``, ``str.isalpha`` and ``str.isalnum`` say of a symbol."""

NAMED: Final = sorted(
    {
        c
        for source in (*(text for text, _ in SOURCES.values()), DELETED, *REPLACED, "…")
        for c in source
        if ord(c) >= 0x80
    }
)
"""Characters beyond ASCII that have symbols of their own."""
if _FIRST_NAMED + len(NAMED) > N_SYMBOLS:
    raise ValueError(f"{len(NAMED)} named characters are more than fit")

SYMBOL_OF: Final = {chr(point): point for point in range(128)} | {
    c: _FIRST_NAMED + number for number, c in enumerate(NAMED)
}


def _kind(c: str) -> int:
    return (
        (c.isalnum() or c == "_") * IS_WORD
        + c.isspace() * IS_BLANK
        + c.isalpha() * IS_LETTER
        + c.isalnum() * IS_ALNUM
    )


KIND: Final = np.zeros(N_SYMBOLS, np.uint8)
for _c, _symbol in SYMBOL_OF.items():
    KIND[_symbol] = _kind(_c)
KIND[LETTER] = _kind("λ")
KIND[BLANK] = _kind("\u2003")

_LOWER: Final = np.arange(128, dtype=np.uint8)
_LOWER[65:91] += 32

_FIGURES: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
"""Alphanumeric to `str.isalnum`, no letters to `str.isalpha`, no digits to `re`: exponents, indices."""
KIND[FIGURE] = _kind("²")
for _c in _FIGURES:
    if _kind(_c) != KIND[FIGURE] or _c in SYMBOL_OF or re.match(r"\d", _c):
        raise ValueError(f"{_c} is no figure")

# non-ASCII code points with a symbol of their own, sorted: the characters, and what becomes them in lower
# case. Letters that are none to `str.isalpha` (①, Ⅷ) are unreadable, but for figures.
_exceptions: dict[int, int] = {}
for _point in range(0x80, 0x20000):
    _c = chr(_point)
    if _c.isalnum() and not _c.isalpha():
        _exceptions[_point] = FIGURE if _c in _FIGURES else UNREADABLE
    _lowered = _c.lower()
    if len(_lowered) == 1 and _lowered in SYMBOL_OF and not _lowered.isascii():
        _exceptions[_point] = SYMBOL_OF[_lowered]
_all: Final = np.full(len(CLASSES), SIGN, np.uint8)
for _class, _symbol in ((OTHER, UNREADABLE), (ANY_LETTER, LETTER), (ANY_SPACE, BLANK)):
    _all[_class == CLASSES] = _symbol
_all[sorted(_exceptions)] = [_exceptions[point] for point in sorted(_exceptions)]
_SYMBOLS, _PAGES = two_stages(_all)

DELETE: Final = 255
"""In `PLAIN`: the symbol is left out."""
if _FIRST_NAMED + len(NAMED) > DELETE:
    raise ValueError("no symbol is left for what is deleted")
PLAIN: Final = np.arange(N_SYMBOLS, dtype=np.uint8)
for _c in DELETED:
    PLAIN[SYMBOL_OF[_c]] = DELETE
for _c, _as in REPLACED.items():
    PLAIN[SYMBOL_OF[_c]] = SYMBOL_OF[_as]
ELLIPSIS: Final = SYMBOL_OF["…"]


@kernel
def symbol_of(point: int) -> int:
    """The symbol of a non-ASCII character in lower case."""
    return int(_SYMBOLS[np.int64(_PAGES[point >> 8]) * 256 + (point & 255)])


@kernel
def _copy_lower(data: Any, at: int, out: Any, to: int, n: int) -> None:
    """Write ``n`` bytes, ASCII in lower case."""
    first, place = np.uint64(at), np.uint64(to)
    for k in range(np.uint64(n)):
        byte = data[first + k]
        out[place + k] = byte + (np.uint8(32) if (byte >= 65) & (byte <= 90) else np.uint8(0))


@kernel
def to_symbols(data: Any, start: int, end: int, out: Any, to: int) -> int:
    """Write the symbols of UTF-8 text; where they end, or -1: a character is unreadable, or no UTF-8.

    What follows them may be overwritten too, as far as the text's bytes would reach.
    """
    at = start
    while at < end:
        stop = min(at + CHUNK, end)
        if is_ascii(data, at, stop):
            _copy_lower(data, at, out, to, stop - at)
            to += stop - at
            at = stop
            continue
        while at < stop:
            if data[at] < 0x80:
                if at + WIDTH <= end:
                    # the whole vector, of which what stands before the next character beyond ASCII is kept
                    _copy_lower(data, at, out, to, WIDTH)
                    place = first_outside(data, at, 0, 127)
                    at += place
                    to += place
                    continue
                out[to] = _LOWER[data[at]]
                at += 1
            else:
                point, length = decode(data, at, end)
                if length == 0:
                    return -1
                symbol = symbol_of(point)
                if symbol == UNREADABLE:
                    return -1
                out[to] = symbol
                at += length
            to += 1
    return to
