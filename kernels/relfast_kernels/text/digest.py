"""Digests that only this process knows how to make: equal for equal bytes, and else by a chance of 2⁻⁶⁴.

Eight bytes times eight, the product's halves folded into one another, as wyhash does; four such chains side
by side read a line faster than memory brings it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import load8
from relfast_kernels.text.vectors import fold

_FIRST, _SECOND = np.uint64(0xA0761D6478BD642F), np.uint64(0xE7037ED1A0B428DB)
_THIRD, _FOURTH = np.uint64(0x8EBC6AF09C88C6E3), np.uint64(0x589965CC75374CC3)


@kernel
def _rest(data: Any, at: int, end: int) -> Any:
    """Up to eight bytes as a number, zeros after the end."""
    if at + 8 <= end:
        return load8(data, at)
    word = np.uint64(0)
    for k in range(max(end - at, 0)):
        word |= np.uint64(data[at + k]) << np.uint64(8 * k)
    return word


@kernel
def digest(data: Any, start: int, end: int, seed: Any, value: Any) -> Any:
    """A digest (uint64) of data[start:end] and of ``value``, by a ``seed`` that nobody can guess."""
    one = fold(seed ^ _FIRST, value ^ seed)
    two, three, four = one ^ _SECOND, one ^ _THIRD, one ^ _FOURTH
    first, second = fold(seed ^ _SECOND, _THIRD), fold(seed ^ _FOURTH, _FIRST)
    at = start
    while at + 64 <= end:
        one = fold(load8(data, at) ^ first, load8(data, at + 8) ^ one)
        two = fold(load8(data, at + 16) ^ second, load8(data, at + 24) ^ two)
        three = fold(load8(data, at + 32) ^ first, load8(data, at + 40) ^ three)
        four = fold(load8(data, at + 48) ^ second, load8(data, at + 56) ^ four)
        at += 64
    one = fold(one ^ two, first) ^ fold(three ^ four ^ seed, second ^ two)
    while at < end:
        one = fold(_rest(data, at, end) ^ first, _rest(data, at + 8, end) ^ one)
        at += 16
    return fold(one ^ second, np.uint64(end - start) ^ first)
