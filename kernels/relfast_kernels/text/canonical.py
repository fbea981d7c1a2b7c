"""JSON strings as orjson would write them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import copy, copy_until
from relfast_kernels.text.json_strings import BACKSLASH, LETTER, MEANING, QUOTE, put_point, read_point

_HEXADECIMAL: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_U00: Final = np.frombuffer(b"\\u00", np.uint8)


@kernel
def put_ascii(out: Any, to: int, byte: int) -> int:
    """Write an ASCII character of a JSON string; where the next one goes."""
    if LETTER[byte] != 0:
        out[to] = BACKSLASH
        out[to + 1] = LETTER[byte]
        return to + 2
    if byte < 0x20:
        to = copy(_U00, 0, 4, out, to)
        out[to] = _HEXADECIMAL[byte >> 4]
        out[to + 1] = _HEXADECIMAL[byte & 15]
        return to + 2
    out[to] = byte
    return to + 1


@kernel
def put_json(data: Any, start: int, end: int, out: Any, to: int) -> int:
    """Write a JSON string whose escapes are valid as orjson would write it, in quotes; where it ends.

    It takes no more bytes than it had. Up to `WIDTH` bytes after the end are overwritten.
    """
    out[to] = QUOTE
    to += 1
    at = start
    while at < end:
        stop, to = copy_until(data, at, end, BACKSLASH, out, to)
        if stop >= end:
            break
        if data[stop + 1] == 117:
            point, length = read_point(data, stop, end)
            at = stop + length
        else:
            point = np.int64(MEANING[data[stop + 1]])
            at = stop + 2
        to = put_point(out, to, point) if point >= 0x80 else put_ascii(out, to, point)
    out[to] = QUOTE
    return to + 1
