"""What stands in Chinese for a choice's number: 第4个, 第四个选项."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.choices.data import BEHIND_ITEM, COUNTERS, HAN, ITEMS, NUMERALS
from relfast_kernels.text.choices.sentences import POINTS
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.patterns.symbols import constant

_FIRST_HAN, _LAST_HAN = map(constant, map(ord, HAN))
ORDINAL: Final = constant(ord("第"))
"""What makes a number an ordinal."""
_NUMERALS, _COUNTERS, _BEHIND_ITEM, _NUMBER_MARKS = (
    np.array([ord(c) for c in some], np.int64) for some in (NUMERALS, COUNTERS, BEHIND_ITEM, "号號")
)
_ITEMS: Final = np.array([ord(c) for part in ITEMS for c in part], np.int64)
_ITEM_ENDS: Final = np.cumsum([0] + [len(part) for part in ITEMS])
_HUGE: Final = constant(10**9)


@kernel
def same_points(points: Any, first: int, last: int, low: int, at: int, end: int, work: Any) -> bool:
    """Whether the code points from a place on are points[first:last]."""
    if at + last - first > end:
        return False
    for k in range(last - first):
        if work[POINTS + at - low + k] != points[first + k]:
            return False
    return True


@kernel
def value_of(text: Any, start: int, end: int) -> Any:
    """The number that digits write; a billion for more than nine."""
    if end - start >= 10:
        return _HUGE
    value = np.int64(0)
    for at in range(start, end):
        value = 10 * value + np.int64(text[at]) - 48
    return value


@kernel
def point_at(low: int, at: int, end: int, work: Any) -> Any:
    """The code point of a place; 0 beyond the end."""
    return work[POINTS + at - low] if at < end else np.int64(0)


@kernel
def is_han(point: Any) -> bool:
    return bool(_FIRST_HAN <= point <= _LAST_HAN)


@kernel
def _place_in(point: Any, points: Any) -> int:
    """Where a code point is among some, or -1."""
    for k in range(len(points)):
        if points[k] == point:
            return k
    return -1


@kernel
def _item_end(low: int, at: int, end: int, work: Any) -> int:
    """Where a noun for a choice ends that begins there, or -1."""
    for n in range(len(_ITEM_ENDS) - 1):
        if same_points(_ITEMS, _ITEM_ENDS[n], _ITEM_ENDS[n + 1], low, at, end, work):
            return at + int(_ITEM_ENDS[n + 1] - _ITEM_ENDS[n])
    return -1


@kernel
def nth_in_chinese(text: Any, low: int, at: int, end: int, work: Any) -> Any:
    """The choice that 第4个 or 第四个选项 names, and where that ends; (0, -1): none."""
    k = at + 1
    if k < end and text[k] == 32:
        k += 1
    value: Any = np.int64(0)
    if k < end and is_digit(text[k]):
        first = k
        while k < end and k < first + 9 and is_digit(text[k]):
            k += 1
        if text[first] == 48:
            return value, -1
        value = value_of(text, first, k)
    else:
        numeral = _place_in(point_at(low, k, end, work), _NUMERALS)
        if numeral < 0:
            return value, -1
        value += numeral + 1
        k += 1
    if k < end and text[k] == 32:
        k += 1
    if _place_in(point_at(low, k, end, work), _COUNTERS) >= 0:
        k += 1
        noun = _item_end(low, k + 1 if k < end and text[k] == 32 else k, end, work)
        if noun >= 0:
            k = noun
    else:
        if _place_in(point_at(low, k, end, work), _NUMBER_MARKS) >= 0:
            k += 1
        k = _item_end(low, k, end, work)
        if k < 0:
            return value, -1
    behind = point_at(low, k, end, work)
    if is_han(behind) and _place_in(behind, _BEHIND_ITEM) < 0:
        return value, -1
    return value, k
