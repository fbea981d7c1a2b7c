"""A text as a renderer shows it, byte for byte at its own place (``strict``): plain quotes and marks, blanks
for what is struck out and for characters without width."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.words import struck_end

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


@kernel
def fold(text: Any, begin: int, end: int, ascii_only: bool) -> None:
    """Fold text[begin:end] in its place."""
    at = tilde = angle = begin
    while at < end:
        byte = text[at]
        if byte == 126 or byte == 60:
            stop = at
            if at >= (tilde if byte == 126 else angle):
                stop, looked = struck_end(text, at, end)
                if byte == 126:
                    tilde = looked
                else:
                    angle = looked
            for k in range(at, stop):
                if text[k] != _NEWLINE:
                    text[k] = 32
            while at < end and text[at] == byte:
                at += 1
            at = max(at, stop)
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
