"""Sums that are the same in whatever order they are made: over blocks, workers, shards.

Added up as whole numbers of 2⁻⁶⁰, which every double from 2⁻⁸ on is and a smaller one is cut to: sums of
floats would depend on their order in the last digits, and a mean of shards on how the run was cut.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Final, TypeVar

K = TypeVar("K")
N = TypeVar("N", int, float)

_BITS: Final = 60
_ONE: Final = 1 << _BITS
_LARGE: Final = 1e15
"""A number from which on what stands behind the point is not counted."""


def units_of(value: float) -> int | None:
    """A number in units of 2⁻⁶⁰; None for one that is not finite, which no mean can hold."""
    if isinstance(value, int):
        return value << _BITS
    if abs(value) < _LARGE:
        return int(value * _ONE)
    return int(value) << _BITS if math.isfinite(value) else None


def number_of(units: int) -> float:
    """The number that so many units are."""
    return units / _ONE


def numbers_of(columns: Mapping[K, Sequence[int]]) -> dict[K, list[float]]:
    """Of sums by name, each with what it is of: their numbers."""
    return {name: [n, number_of(units)] for name, (n, units) in columns.items()}


def add_counts(mine: MutableMapping[K, int], theirs: Mapping[K, int], times: int = 1) -> None:
    """Add whole numbers under the same names."""
    for name, n in theirs.items():
        mine[name] = mine.get(name, 0) + n * times


def add_columns(mine: MutableMapping[K, list[N]], theirs: Mapping[K, Sequence[N]], times: int = 1) -> None:
    """Add rows of numbers under the same names."""
    for name, row in theirs.items():
        before = mine.get(name) or [0] * len(row)
        mine[name] = [n + more * times for n, more in zip(before, row, strict=True)]


def rounded(value: float) -> float:
    """To where the order of summation, and so the number of workers, no longer shows."""
    return float(f"{value:.12g}")
