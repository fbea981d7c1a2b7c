"""UTF-8 as bytes: is it well-formed, and what are its characters to the published patterns?"""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel

CHUNK = 128
"""Bytes that are looked at together: nearly all chunks are printable ASCII, and one vector loop says so."""

SYMBOL, LETTER, OTHER = 0, 1, 2
"""Classes of non-ASCII characters."""


@kernel
def is_printable(data: Any, start: int, end: int) -> bool:
    """Whether all bytes are printable ASCII."""
    bad = False
    for at in range(np.uint64(start), np.uint64(end)):
        bad |= (data[at] < 32) | (data[at] > 126)
    return not bad


@kernel
def classify(point: int) -> int:
    r"""What a non-ASCII character is to the published patterns.

    ``SYMBOL``: punctuation, no ``\w``, ``\s`` or ``\d``. ``LETTER``: ``\w`` but no ``\d``. ``OTHER``:
    white space, digits, letters that fold to ASCII ones, or a block nobody looked at; text that has
    any of them takes the exact way. Held against Python's tables for every code point by a test.
    """
    if point < 0xC0:
        if point <= 0xA0 or point == 0xAA or point == 0xB5 or point == 0xBA:
            return OTHER
        return OTHER if point == 0xB2 or point == 0xB3 or point == 0xB9 or 0xBC <= point <= 0xBE else SYMBOL
    if point == 0xD7 or point == 0xF7:
        return SYMBOL
    if point < 0x2C0:
        # dotted capital I, dotless i and long s match ASCII letters where case is ignored
        return OTHER if point == 0x130 or point == 0x131 or point == 0x17F else LETTER
    if 0x391 <= point <= 0x3C9:
        return LETTER if point != 0x3A2 else OTHER
    if 0x400 <= point <= 0x481:
        return LETTER
    if 0x2010 <= point <= 0x2027 or 0x2030 <= point <= 0x205E:
        return SYMBOL
    if 0x2190 <= point <= 0x2426 or 0x2500 <= point <= 0x2775 or 0x2794 <= point <= 0x2BFF:
        return SYMBOL if not (0x2B74 <= point <= 0x2B75) else OTHER
    if 0x4E00 <= point <= 0x9FA5:
        return LETTER
    if 0x3001 <= point <= 0x3003 or 0x3008 <= point <= 0x3020:
        return SYMBOL
    if 0x1F300 <= point <= 0x1F64F or 0x1F680 <= point <= 0x1F6C5 or 0x1F900 <= point <= 0x1F9FF:
        return SYMBOL
    return OTHER


@kernel
def decode(data: Any, at: int, end: int) -> Any:
    """Code point and length of the UTF-8 sequence at ``at``; length 0 where it is none."""
    first = np.int64(data[at])
    if first < 0xC2 or first > 0xF4:
        return 0, 0
    length = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if at + length > end:
        return 0, 0
    point = first & (0x1F if length == 2 else 0x0F if length == 3 else 0x07)
    for k in range(1, length):
        byte = np.int64(data[at + k])
        if byte & 0xC0 != 0x80:
            return 0, 0
        point = point << 6 | byte & 0x3F
    # overlong forms, surrogates, beyond Unicode
    if (length == 3 and point < 0x800) or (length == 4 and (point < 0x10000 or point > 0x10FFFF)):
        return 0, 0
    if 0xD800 <= point <= 0xDFFF:
        return 0, 0
    return point, length


@kernel
def is_utf8(data: Any, start: int, end: int) -> bool:
    """Whether bytes without ASCII control characters are UTF-8."""
    at = start
    while at < end:
        stop = min(at + CHUNK, end)
        if is_printable(data, at, stop):
            at = stop
            continue
        while at < stop:
            byte = data[at]
            if byte < 0x80:
                if byte < 32 or byte > 126:
                    return False
                at += 1
                continue
            _, length = decode(data, at, end)
            if length == 0:
                return False
            at += length
    return True


@kernel
def is_tame(data: Any, start: int, end: int) -> bool:
    """Whether no character of UTF-8 text is `OTHER`."""
    at = start
    while at < end:
        stop = min(at + CHUNK, end)
        if is_printable(data, at, stop):
            at = stop
            continue
        while at < stop:
            if data[at] < 0x80:
                at += 1
                continue
            point, length = decode(data, at, end)
            if classify(point) == OTHER:
                return False
            at += length
    return True
