"""Words and white space of a response, as Python's patterns have them, in the bytes of a JSON string."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.characters import LETTER, classify, decode
from relfast_kernels.text.find import find_byte
from relfast_kernels.text.json_scan import BACKSLASH, is_digit, is_escaped


@kernel
def has_digit(data: Any, start: int, end: int) -> bool:
    """Whether there is an ASCII digit."""
    hits = False
    for at in range(np.uint64(start), np.uint64(end)):
        hits |= (data[at] >= 48) & (data[at] <= 57)
    return hits


@kernel
def find_letter(data: Any, at: int, end: int, lower: int) -> int:
    """Index of a letter in either case from ``at`` on, or ``end``."""
    found = find_byte(data, at, end, lower)
    return find_byte(data, at, found, lower - 32)


@kernel
def is_word(data: Any, at: int, start: int) -> bool:
    """Whether the character that has a byte at ``at`` is a letter, digit or underscore.

    The letter of an escape (the ``n`` of a line end) is none.
    """
    byte = data[at]
    if byte >= 0x80:
        first = at
        while first > start and data[first] & 0xC0 == 0x80:
            first -= 1
        point, _ = decode(data, first, len(data))
        return classify(point) == LETTER
    if byte == 95 or is_digit(byte):
        return True
    if 65 <= byte <= 90 or 97 <= byte <= 122:
        return not (at > start and data[at - 1] == BACKSLASH and is_escaped(data, at, start))
    return False


@kernel
def skip_white(data: Any, at: int, end: int) -> int:
    r"""Index after white space as ``\s`` has it: blanks, and ``\n \t \r \f`` as escapes."""
    while at < end:
        if data[at] == 32:
            at += 1
        elif data[at] == BACKSLASH and (
            data[at + 1] == 110 or data[at + 1] == 116 or data[at + 1] == 114 or data[at + 1] == 102
        ):
            at += 2
        else:
            break
    return at
