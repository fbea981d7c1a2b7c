r"""Undoing the escapes of quoted strings: those of Python's string literals, and JSON's.

``\n`` and its like, ``\ooo``, ``\xhh``, ``\uxxxx``, ``\Uxxxxxxxx``; two ``\u`` that are a surrogate pair are
one character (JSON), ``\/`` is a slash (JSON), and a backslash at the end of a line joins it to the next
(Python). What is no escape stays as it is written, as in Python; so does ``\N{...}``, whose names would need
a table, and what Python refuses (``\x4``).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import hexadecimal, put_point

BACKSLASH: Final = 92
COLON: Final = 58
_NEWLINE: Final = 10
_ZERO, _SEVEN = 48, 55
_SMALL_U, _BIG_U, _SMALL_X = 117, 85, 120

_LETTERS: Final = {
    "\\": "\\", "'": "'", '"': '"', "/": "/",
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_MEANING: Final = np.zeros(256, np.uint8)
"""The byte that a backslash and one character stand for; 0: not such an escape."""
for _letter, _meant in _LETTERS.items():
    _MEANING[ord(_letter)] = ord(_meant)

_LAST_POINT: Final = 0x10FFFF
_HIGH, _LOW, _AFTER_LOW = 0xD800, 0xDC00, 0xE000
"""Where the surrogates that come first in a pair begin, those that come second, and what is none."""


@kernel
def _read_escape(text: NDArray[np.uint8], at: int, end: int) -> tuple[int, int]:
    """The code point that the escape at ``at`` stands for, and how many bytes it takes.

    -1 for a code point: it stands for nothing (a joined line), or, with one byte, is no escape.
    """
    after = int(text[at + 1])
    if _MEANING[after] != 0:
        return int(_MEANING[after]), 2
    if after == _NEWLINE:
        return -1, 2
    point = -1
    length = 1
    if _ZERO <= after <= _SEVEN:
        point = 0
        while length < 4 and at + length < end and _ZERO <= text[at + length] <= _SEVEN:
            point = point * 8 + int(text[at + length]) - _ZERO
            length += 1
    elif after == _SMALL_X:
        point = hexadecimal(text, at + 2, end, 2)
        length = 4
    elif after == _BIG_U:
        point = hexadecimal(text, at + 2, end, 8)
        length = 10
    elif after == _SMALL_U:
        point = hexadecimal(text, at + 2, end, 4)
        length = 6
        if _HIGH <= point < _LOW and at + 7 < end and text[at + 6] == BACKSLASH and text[at + 7] == _SMALL_U:
            low = hexadecimal(text, at + 8, end, 4)
            if _LOW <= low < _AFTER_LOW:
                point = 0x10000 + ((point - _HIGH) << 10) + low - _LOW
                length = 12
    return (point, length) if 0 <= point <= _LAST_POINT else (-1, 1)


@kernel
def undo_escapes(text: NDArray[np.uint8], begin: int, end: int, to: int) -> tuple[int, int]:
    """Write the string text[begin:end] at ``to`` without its escapes.

    No escape is shorter than what it stands for, so it takes ``end - begin`` bytes at most.

    Returns
    -------
    (end, colon)
        Where it ends there, and its first colon (-1: none).
    """
    colon = -1
    at = begin
    while at < end:
        byte = int(text[at])
        length = 1
        if byte == BACKSLASH and at + 1 < end:
            point, length = _read_escape(text, at, end)
            if point < 0 and length > 1:
                at += length
                continue
            if point >= 0x80:
                to = put_point(text, to, point)
                at += length
                continue
            if point >= 0:
                byte = point
        if byte == COLON and colon < 0:
            colon = to
        text[to] = byte
        to += 1
        at += length
    return to, colon
