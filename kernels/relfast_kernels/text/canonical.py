"""JSON strings brought into one form: plain UTF-8 to be read, and the JSON that orjson would write."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import copy, copy_until
from relfast_kernels.text.json_scan import BACKSLASH, QUOTE, hexadecimal

_MEANING: Final = np.zeros(256, np.uint8)
"""The byte that a backslash and one character stand for."""
_LETTER: Final = np.zeros(256, np.uint8)
"""The character that stands for a byte after a backslash, as orjson writes it; 0: there is none."""
for _after, _meant in {'"': '"', "\\": "\\", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}.items():
    _MEANING[ord(_after)] = ord(_meant)
    _LETTER[ord(_meant)] = ord(_after)
_MEANING[ord("/")] = ord("/")

_HEXADECIMAL: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_U00: Final = np.frombuffer(b"\\u00", np.uint8)


@kernel
def _put_point(out: Any, at: int, point: int) -> int:
    """Write a code point from 0x80 on as UTF-8; returns where the next one goes."""
    if point < 0x800:
        out[at] = 0xC0 | point >> 6
        out[at + 1] = 0x80 | point & 0x3F
        return at + 2
    if point < 0x10000:
        out[at] = 0xE0 | point >> 12
        out[at + 1] = 0x80 | point >> 6 & 0x3F
        out[at + 2] = 0x80 | point & 0x3F
        return at + 3
    out[at] = 0xF0 | point >> 18
    out[at + 1] = 0x80 | point >> 12 & 0x3F
    out[at + 2] = 0x80 | point >> 6 & 0x3F
    out[at + 3] = 0x80 | point & 0x3F
    return at + 4


@kernel
def _read_point(data: Any, at: int, end: int) -> Any:
    r"""Code point and length of the valid ``\u`` escape at ``at``, of a pair of them where it is one."""
    point = hexadecimal(data, at + 2, end)
    if 0xD800 <= point < 0xDC00:
        low = hexadecimal(data, at + 8, end)
        return 0x10000 + ((point - 0xD800) << 10) + low - 0xDC00, 12
    return point, 6


@kernel
def unescape(data: Any, start: int, end: int, out: Any, to: int) -> int:
    """Write a JSON string whose escapes are valid at ``to`` without them; where it ends there.

    No escape is shorter than what it stands for. Up to seven bytes after the end are overwritten.
    """
    at = start
    while at < end:
        stop, to = copy_until(data, at, end, BACKSLASH, out, to)
        if stop >= end:
            break
        if data[stop + 1] == 117:
            point, length = _read_point(data, stop, end)
            at = stop + length
            if point < 0x80:
                out[to] = point
                to += 1
            else:
                to = _put_point(out, to, point)
        else:
            out[to] = _MEANING[data[stop + 1]]
            to += 1
            at = stop + 2
    return to


@kernel
def put_json(data: Any, start: int, end: int, out: Any, to: int) -> int:
    """Write a JSON string whose escapes are valid as orjson would write it, in quotes; where it ends.

    It takes no more bytes than it had. Up to seven bytes after the end are overwritten.
    """
    out[to] = QUOTE
    to += 1
    at = start
    while at < end:
        stop, to = copy_until(data, at, end, BACKSLASH, out, to)
        if stop >= end:
            break
        if data[stop + 1] == 117:
            point, length = _read_point(data, stop, end)
            at = stop + length
        else:
            point = np.int64(_MEANING[data[stop + 1]])
            at = stop + 2
        if point >= 0x80:
            to = _put_point(out, to, point)
        elif _LETTER[point] != 0:
            out[to] = BACKSLASH
            out[to + 1] = _LETTER[point]
            to += 2
        elif point < 0x20:
            to = copy(_U00, 0, 4, out, to)
            out[to] = _HEXADECIMAL[point >> 4]
            out[to + 1] = _HEXADECIMAL[point & 15]
            to += 2
        else:
            out[to] = point
            to += 1
    out[to] = QUOTE
    return to + 1
