"""Sums that are the same in whatever order they are made: over blocks, workers, shards.

Added up as whole numbers of 2⁻⁶⁰, which every double from 2⁻⁸ on is and a smaller one is cut to: sums of
floats would depend on their order in the last digits, and a mean of shards on how the run was cut.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, MutableMapping
from typing import Final, Self, TypeVar

K = TypeVar("K")

_BITS: Final = 60
_ONE: Final = 1 << _BITS
SCALE: Final = float(_ONE)
LARGE: Final = 1e15
"""Units of a float, and a number from which on what stands behind the point is not counted."""


def units_of(value: float) -> int | None:
    """A number in units of 2⁻⁶⁰; None for one that is not finite, which no mean can hold."""
    if isinstance(value, int):
        return value << _BITS
    if abs(value) < LARGE:
        return int(value * SCALE)
    return int(value) << _BITS if math.isfinite(value) else None


class ExactSum(float):
    """A sum as a float that adds up exactly with others of its kind."""

    __slots__ = ("units",)
    units: int

    @classmethod
    def of(cls, units: int) -> Self:
        made = cls(units / _ONE)
        made.units = units
        return made

    @classmethod
    def from_number(cls, value: float) -> Self:
        """Of a number that was added up elsewhere."""
        return cls.of(value.units if isinstance(value, ExactSum) else units_of(value) or 0)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Of what `to_text` wrote."""
        return cls.of(int(text, 16))

    def to_text(self) -> str:
        """The units in hexadecimal: JSON numbers lose the digits that matter here."""
        return f"{self.units:x}"

    def __add__(self, other: float) -> Self:
        return type(self).of(self.units + type(self).from_number(other).units)

    __radd__ = __add__

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return type(self).of, (self.units,)


def add_counts(mine: MutableMapping[K, int], theirs: Mapping[K, int]) -> None:
    """Add whole numbers under the same names."""
    for name, n in theirs.items():
        mine[name] = mine.get(name, 0) + n


def rounded(value: float) -> float:
    """To where the order of summation, and so the number of workers, no longer shows."""
    return float(f"{value:.12g}")
