"""Words and white space of a response, as Python's patterns have them, in UTF-8."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.characters import LETTER, SPACE, classify, decode
from relfast_kernels.text.json_scan import is_digit


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
