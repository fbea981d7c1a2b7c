"""UTF-8 as bytes: whether it is valid, and its letters, white space and struck-out text as the published
patterns (`re`) have them."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import find_outside
from relfast_kernels.text.json_scan import is_digit

SYMBOL, LETTER, SPACE, OTHER = 0, 1, 2, 3
"""Classes of non-ASCII characters, as `_classes` defines them."""

_N_POINTS: Final = 0x110000
_PAGE: Final = 256
_ALL_CASED: Final = 0x20000
"""From here on no code point has a case; a test checks each of them."""


def _classes() -> Any:
    r"""The class of every code point, from this Python's own tables (uint8).

    ``SYMBOL``: not ``\w``, ``\s`` or ``\d``. ``LETTER``: ``\w`` but not ``\d``. ``SPACE``: ``\s``. ``OTHER``:
    digits, surrogates, and what matches an ASCII letter if case is ignored, or becomes another class
    or another number of characters in lower case; a text that has any of them is left to Python.
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
    """A two-stage table: the distinct pages of 256 code points, and for each page its number among them."""
    places: dict[bytes, int] = {}
    numbers = [places.setdefault(page.tobytes(), len(places)) for page in classes.reshape(-1, _PAGE)]
    return np.frombuffer(b"".join(places), classes.dtype).copy(), np.array(numbers, np.uint16)


CLASSES: Final = _classes()
"""The class of every code point, shape (1,114,112,)."""
_CLASSES, _PAGES = two_stages(CLASSES)


@kernel
def classify(point: int) -> int:
    """The class of a non-ASCII character: see `_classes`."""
    return int(_CLASSES[np.int64(_PAGES[point >> 8]) * 256 + (point & 255)])


@kernel
def decode(data: Any, at: int, end: int) -> Any:
    """Code point and length of the UTF-8 sequence at ``at``; length 0 if it is invalid."""
    first = np.int64(data[at])
    if first < 0xC2 or first > 0xF4:
        return 0, 0
    length = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if at + length > end:
        return 0, 0
    # unrolled: the end of a loop over one to three bytes is unpredictable
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
    """Whether data[start:end] is valid UTF-8 without ASCII control characters."""
    at = find_outside(data, start, end, 32, 126)
    while at < end:
        _, length = decode(data, at, end)
        if length == 0:
            return False
        at = find_outside(data, at + length, end, 32, 126)
    return True


@kernel
def is_tame(data: Any, start: int, end: int) -> bool:
    """Whether UTF-8 text has no character of the class `OTHER`."""
    at = find_outside(data, start, end, 0, 127)
    while at < end:
        point, length = decode(data, at, end)
        if length == 0 or classify(point) == OTHER:
            return False
        at = find_outside(data, at + length, end, 0, 127)
    return True


_NEWLINE: Final = 10
_MARKS: Final = np.frombuffer(b"~~\n~~\n<del>\n</del>\n<s>\n</s>\n<strike>\n</strike>\n<!--\n-->\n", np.uint8)
"""Marks that strike text out, each followed by the one that ends it."""
_MOST: Final = 2_000
"""The most bytes struck out at once, so that a hundred thousand unclosed marks do not take quadratic time."""


@kernel
def _stop(text: Any, at: int, end: int, mark: int) -> int:
    """The offset after the mark of `_MARKS` from ``mark`` on if it stands at ``at``, or -1."""
    while _MARKS[mark] != _NEWLINE:
        if at == end or (text[at] | 32 if 65 <= text[at] <= 90 else text[at]) != _MARKS[mark]:
            return -1
        at += 1
        mark += 1
    return at


@kernel
def _following(mark: int) -> int:
    while _MARKS[mark] != _NEWLINE:
        mark += 1
    return mark + 1


@kernel
def struck_end(text: Any, at: int, end: int) -> Any:
    """Where what is struck out from ``at`` on ends (``at``: nothing is), and up to where no mark with the
    same first character needs a look. No mark reaches across a blank line. ``text[at]`` is ``~`` or ``<``."""
    if text[at] == 126 and (
        at + 2 >= end or text[at + 1] != 126 or text[at + 2] == 126 or text[at + 2] <= 32
    ):
        return at, at  # a fence, or where nothing is struck out
    mark = 0
    while mark < len(_MARKS):
        closing = _following(mark)
        inside = _stop(text, at, end, mark)
        if inside >= 0:
            blank = False
            for k in range(inside, min(end, inside + _MOST)):
                if text[k] == _NEWLINE:
                    if blank:
                        return at, k
                    blank = True
                elif text[k] > 32:
                    blank = False
                    stop = _stop(text, k, end, closing)
                    if stop >= 0:
                        return stop, stop
            return at, min(end, inside + _MOST)
        mark = _following(closing)
    return at, at


@kernel
def is_word(data: Any, at: int, start: int) -> bool:
    """Whether the character that has a byte at ``at`` is a letter, digit or underscore."""
    byte = data[at]
    if byte >= 0x80:
        first = at
        while first > start and data[first] & 0xC0 == 0x80:
            first -= 1
        point, _ = decode(data, first, len(data))
        return classify(point) == LETTER
    return byte == 95 or is_digit(byte) or 65 <= byte <= 90 or 97 <= byte <= 122


@kernel
def is_blank(byte: Any) -> Any:
    r"""Whether an ASCII character is white space to ``\s`` and ``str.strip``."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


@kernel
def white_length(data: Any, at: int, end: int) -> int:
    r"""Bytes of the white space character (``\s``) at ``at``; 0 if there is none."""
    if at >= end:
        return 0
    if data[at] < 0x80:
        return 1 if is_blank(data[at]) else 0
    point, length = decode(data, at, end)
    return length if length > 0 and classify(point) == SPACE else 0


@kernel
def skip_white(data: Any, at: int, end: int) -> int:
    r"""Index after white space (``\s``)."""
    while True:
        length = white_length(data, at, end)
        if length == 0:
            return at
        at += length
