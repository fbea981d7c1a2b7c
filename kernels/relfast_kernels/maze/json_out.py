"""Text as a JSON string, as orjson writes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel

_LETTER = np.zeros(256, np.uint8)
"""The character behind a backslash that stands for a byte; 117 (u): with four digits; 0: it is itself."""
_LETTER[:32] = 117
for _byte, _after in {8: "b", 9: "t", 10: "n", 12: "f", 13: "r", 34: '"', 92: "\\"}.items():
    _LETTER[_byte] = ord(_after)


@kernel
def put_json_text(text: Any, start: int, end: int, out: Any, at: int) -> int:
    """Write text[start:end] (UTF-8) with quotes and escapes; where the next byte goes."""
    out[at] = 34
    at += 1
    for place in range(start, end):
        byte = text[place]
        letter = _LETTER[byte]
        if letter == 0:
            out[at] = byte
            at += 1
            continue
        out[at] = 92
        out[at + 1] = letter
        at += 2
        if letter == 117:
            low = byte & 15
            out[at] = out[at + 1] = 48
            out[at + 2] = 48 + (byte >> 4)
            out[at + 3] = 48 + low if low < 10 else 87 + low
            at += 4
    out[at] = 34
    return at + 1
