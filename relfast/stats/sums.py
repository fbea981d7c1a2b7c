"""Sums that do not depend on the order of addition, over blocks, workers and shards.

Numbers are added as integers in units of 2⁻⁶⁰. Every double of 2⁻⁸ or more is a multiple of that; smaller
ones are truncated to it. The last digits of a sum of floats would depend on the order, and so the mean over
shards on how the run was cut.
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
"""From this size on the fractional part of a number is dropped."""


def units_of(value: float) -> int | None:
    """A number in units of 2⁻⁶⁰; None if it is not finite, since it would spoil any mean."""
    if isinstance(value, int):
        return value << _BITS
    if abs(value) < _LARGE:
        return int(value * _ONE)
    return int(value) << _BITS if math.isfinite(value) else None


def number_of(units: int) -> float:
    """The number for an amount of units."""
    return units / _ONE


def numbers_of(columns: Mapping[K, Sequence[int]]) -> dict[K, list[float]]:
    """Name → (n, sum as a number), from name → (n, sum in units)."""
    return {name: [n, number_of(units)] for name, (n, units) in columns.items()}


def add_counts(mine: MutableMapping[K, int], theirs: Mapping[K, int]) -> None:
    """Add the counts of ``theirs`` to those of ``mine``, name by name."""
    for name, n in theirs.items():
        mine[name] = mine.get(name, 0) + n


def add_columns(mine: MutableMapping[K, list[N]], theirs: Mapping[K, Sequence[N]], times: int = 1) -> None:
    """Add ``times`` the rows of ``theirs`` to those of ``mine``, name by name and column by column."""
    for name, row in theirs.items():
        before = mine.get(name) or [0] * len(row)
        mine[name] = [n + more * times for n, more in zip(before, row, strict=True)]


def rounded(value: float) -> float:
    """A float rounded to 12 digits, so that neither the order of summation nor the workers' number shows."""
    return float(f"{value:.12g}")
