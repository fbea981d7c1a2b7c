"""A text as a renderer shows it, byte for byte at its own place (``strict``): plain quotes and marks, blanks
for what is struck out and for characters without width."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel

_NEWLINE: Final = 10
_FOLDED: Final = {
    '"': "“”„‟«»「」『』＂",
    "'": "‘’‚‛＇",
    " ": "\u200b\u200c\u200d\u2060\ufeff\u00ad\u00a0\u2007\u202f\u3000\ufe0f",
    ".": "\u20e3",
    **dict(zip(":,()[]_;,", "：，（）［］＿；、", strict=True)),
    "[": "［【",
    "]": "］】",
}
_TABLE: Final = np.zeros(0x10000, np.uint8)
"""What a character becomes: an ASCII letter, or 0."""
for _meant, _written in _FOLDED.items():
    for _one in _written:
        _TABLE[ord(_one)] = ord(_meant)

_MARKS: Final = np.frombuffer(b"~~\n~~\n<del>\n</del>\n<s>\n</s>\n<strike>\n</strike>\n<!--\n-->\n", np.uint8)
"""What strikes out, and where that ends."""


_MOST_STRUCK: Final = 4_000
"""Bytes that are struck out at once: a hundred thousand marks without an end take no square of that time."""


@kernel
def _is_at(text: Any, at: int, end: int, mark: int) -> int:
    """Where the mark ends that stands in `_MARKS` from ``mark`` on, or -1."""
    while _MARKS[mark] != _NEWLINE:
        if at == end or (text[at] | 32 if 65 <= text[at] <= 90 else text[at]) != _MARKS[mark]:
            return -1
        at += 1
        mark += 1
    return at


@kernel
def _next_mark(mark: int) -> int:
    while _MARKS[mark] != _NEWLINE:
        mark += 1
    return mark + 1


@kernel
def _strike(text: Any, at: int, end: int) -> int:
    """Write blanks over what is struck out from ``at`` on; where to go on. No mark reaches across a blank
    line."""
    mark = 0
    if text[at] == 126 and (at + 2 >= end or text[at + 2] == 126 or text[at + 2] <= 32):
        # a fence, or the end of what is struck out
        while at < end and text[at] == 126:
            at += 1
        return at
    while mark < len(_MARKS):
        closing = _next_mark(mark)
        inside = _is_at(text, at, end, mark)
        if inside >= 0:
            k = inside
            blank = False
            while k < end and k - inside < _MOST_STRUCK:
                if text[k] == _NEWLINE:
                    if blank:
                        return inside
                    blank = True
                elif text[k] > 32:
                    blank = False
                    stop = _is_at(text, k, end, closing)
                    if stop >= 0 and k > inside:
                        for place in range(at, stop):
                            if text[place] != _NEWLINE:
                                text[place] = 32
                        return stop
                k += 1
            return inside
        mark = _next_mark(closing)
    return at + 1


@kernel
def fold(text: Any, begin: int, end: int, ascii_only: bool) -> None:
    """Fold text[begin:end] in its place."""
    at = begin
    while at < end:
        byte = text[at]
        if byte == 126 or byte == 60:
            at = _strike(text, at, end)
        elif byte < 0xC2 or ascii_only:
            at += 1
        else:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            if length < 4 and at + length <= end:
                point = (byte & 0x1F) << 6 | text[at + 1] & 0x3F
                if length == 3:
                    point = (byte & 0x0F) << 12 | (text[at + 1] & 0x3F) << 6 | text[at + 2] & 0x3F
                meant = _TABLE[point]
                if meant:
                    text[at] = meant
                    for k in range(at + 1, at + length):
                        text[k] = 32
            at += length
