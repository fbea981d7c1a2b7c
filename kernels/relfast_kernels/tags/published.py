"""The tags of a text as the published scorer finds them."""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.tags.kinds import KINDS, NEWLINE, TAG, WHITE, opens
from relfast_kernels.text.find import copy, find_byte


@kernel
def read_published(data: Any, start: int, end: int, one: bool, out: Any, to: int) -> Any:
    """Write the tags of data[start:end], as the published scorer finds them, to ``out``, a newline behind
    each.

    ``one``: no more than the first. Returns how many there are, -1 where only Python can say, and where the
    next byte goes.
    """
    n = 0
    at = start
    while True:
        at = find_byte(data, at, end, 60)
        if at >= end:
            return n, to
        kind = opens(data, at, end)
        if kind < 0:
            return -1, to
        at += 1
        if kind == 0:
            continue
        at += len(TAG) - 1
        first = at
        blank = False
        while first < end and KINDS[data[first]] & WHITE:
            blank |= data[first] != 10 and data[first] != 13
            first += 1
        last = first
        while last < end and data[last] != 60 and data[last] != 10 and data[last] != 13:
            if data[last] > 127:
                return -1, to
            last += 1
        at = last
        if last == first and not blank:
            continue
        while last > first and KINDS[data[last - 1]] & WHITE:
            last -= 1
        to = copy(data, first, last, out, to)
        out[to] = NEWLINE
        to += 1
        n += 1
        if one:
            return n, to
