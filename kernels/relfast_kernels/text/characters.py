"""UTF-8 as bytes: is it well-formed, and what are its characters to the published patterns?"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.vectors import WIDTH, first_outside

CHUNK = 128
"""Bytes that are looked at together: nearly all chunks are printable ASCII, and one vector loop says so."""

SYMBOL, LETTER, SPACE, OTHER = 0, 1, 2, 3
"""Classes of non-ASCII characters."""

_N_POINTS: Final = 0x110000
_PAGE: Final = 256
_ALL_CASED: Final = 0x20000
"""Beyond it nothing has a case; a test looks at every code point."""


def _classes() -> Any:
    r"""The class of every code point, from this Python's own tables (uint8).

    ``SYMBOL``: no ``\w``, ``\s`` or ``\d``. ``LETTER``: ``\w`` but no ``\d``. ``SPACE``: ``\s``. ``OTHER``:
    digits, surrogates, and what matches an ASCII letter where case is ignored, or becomes another class
    or another number of characters in lower case; text that has any of them takes the exact way.
    """
    text = "".join(map(chr, range(_N_POINTS)))
    classes = np.zeros(_N_POINTS, np.uint8)
    for pattern, kind in ((r"\w+", LETTER), (r"\s+", SPACE), (r"\d+", OTHER), ("[\ud800-\udfff]+", OTHER)):
        for found in re.finditer(pattern, text):
            classes[found.start() : found.end()] = kind
    for found in re.finditer("[a-z]", text, re.IGNORECASE):
        if found.start() >= 0x80:
            classes[found.start()] = OTHER
    for point in range(0x80, _ALL_CASED):
        lower = chr(point).lower()
        if lower != text[point] and (
            len(lower) > 1 or lower.isascii() or classes[ord(lower)] != classes[point]
        ):
            classes[point] = OTHER
    return classes


def two_stages(classes: Any) -> tuple[Any, Any]:
    """A table of pages of 256 code points each, equal ones once, and each page's place in it."""
    places: dict[bytes, int] = {}
    numbers = [places.setdefault(page.tobytes(), len(places)) for page in classes.reshape(-1, _PAGE)]
    return np.frombuffer(b"".join(places), classes.dtype).copy(), np.array(numbers, np.uint16)


CLASSES: Final = _classes()
"""The class of every code point, shape (1,114,112,)."""
_CLASSES, _PAGES = two_stages(CLASSES)


@kernel
def is_printable(data: Any, start: int, end: int) -> bool:
    """Whether all bytes are printable ASCII."""
    bad = False
    for at in range(np.uint64(start), np.uint64(end)):
        bad |= (data[at] < 32) | (data[at] > 126)
    return not bad


@kernel
def is_ascii(data: Any, start: int, end: int) -> bool:
    """Whether all bytes are ASCII."""
    bad = False
    for at in range(np.uint64(start), np.uint64(end)):
        bad |= data[at] > 127
    return not bad


@kernel
def classify(point: int) -> int:
    """What a non-ASCII character is to the published patterns: see `_classes`."""
    return int(_CLASSES[np.int64(_PAGES[point >> 8]) * 256 + (point & 255)])


@kernel
def decode(data: Any, at: int, end: int) -> Any:
    """Code point and length of the UTF-8 sequence at ``at``; length 0 where it is none."""
    first = np.int64(data[at])
    if first < 0xC2 or first > 0xF4:
        return 0, 0
    length = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if at + length > end:
        return 0, 0
    # written out: a loop over one to three bytes ends where nobody foresees it
    second = np.int64(data[at + 1])
    if second & 0xC0 != 0x80:
        return 0, 0
    if length == 2:
        return (first & 0x1F) << 6 | second & 0x3F, 2
    third = np.int64(data[at + 2])
    if third & 0xC0 != 0x80:
        return 0, 0
    if length == 3:
        point = (first & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F
        # overlong forms, surrogates
        return (0, 0) if point < 0x800 or 0xD800 <= point <= 0xDFFF else (point, 3)
    fourth = np.int64(data[at + 3])
    if fourth & 0xC0 != 0x80:
        return 0, 0
    point = (first & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | fourth & 0x3F
    # overlong forms, beyond Unicode
    return (0, 0) if point < 0x10000 or point > 0x10FFFF else (point, 4)


@kernel
def is_utf8(data: Any, start: int, end: int) -> bool:
    """Whether bytes are UTF-8 without ASCII control characters."""
    at = start
    while at < end:
        if at + WIDTH <= end:
            place = first_outside(data, at, 32, 126)
            if place == WIDTH:
                at += WIDTH
                continue
            at += place
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
        if data[at] < 0x80:
            if at + WIDTH > end:
                at += 1
                continue
            place = first_outside(data, at, 0, 127)
            # two steps: the next vector need not wait for this one's place
            if place == WIDTH:
                at += WIDTH
                continue
            at += place
        point, length = decode(data, at, end)
        if length == 0 or classify(point) == OTHER:
            return False
        at += length
    return True
