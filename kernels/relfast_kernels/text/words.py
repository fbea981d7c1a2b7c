"""Words, white space and what is struck out in a response, as Python's patterns have them, in UTF-8."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.characters import LETTER, SPACE, classify, decode
from relfast_kernels.text.json_scan import is_digit

_NEWLINE: Final = 10
_MARKS: Final = np.frombuffer(b"~~\n~~\n<del>\n</del>\n<s>\n</s>\n<strike>\n</strike>\n<!--\n-->\n", np.uint8)
"""What strikes out, and where that ends."""
_MOST: Final = 2_000
"""Bytes that are struck out at once: a hundred thousand marks without an end take no square of that time."""


@kernel
def _stop(text: Any, at: int, end: int, mark: int) -> int:
    """Where the mark ends that stands in `_MARKS` from ``mark`` on, or -1."""
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
    """Where what is struck out from ``at`` on ends, ``at`` where nothing is; and to where no mark of the same
    letter has to be looked at. No mark reaches across a blank line. ``text[at]`` is ``~`` or ``<``."""
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
def has_digit(data: Any, start: int, end: int) -> bool:
    """Whether there is an ASCII digit."""
    hits = False
    for at in range(np.uint64(start), np.uint64(end)):
        hits |= (data[at] >= 48) & (data[at] <= 57)
    return hits


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
    r"""Bytes of the ``\s`` at ``at``; 0 if there is none."""
    if at >= end:
        return 0
    if data[at] < 0x80:
        return 1 if is_blank(data[at]) else 0
    point, length = decode(data, at, end)
    return length if length > 0 and classify(point) == SPACE else 0


@kernel
def skip_white(data: Any, at: int, end: int) -> int:
    r"""Index after white space as ``\s`` has it."""
    while True:
        length = white_length(data, at, end)
        if length == 0:
            return at
        at += length
