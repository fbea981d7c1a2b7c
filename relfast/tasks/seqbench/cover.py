"""Even coverage, as the published set's: bins of L × B × N, each maze as large as its bin needs.

A maze of fixed size has the depths that its size gives, so bins are filled evenly only when the size follows
the bin. Which size carries a bin is tried out, with seeds of its own: it depends on nothing but the bin.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Final

from relfast.errors import UsageError
from relfast.tasks.seqbench.generate import grow
from relfast.tasks.seqbench.parameters import MAX_SIDE, Parameters

MARGIN: Final = 1.2
"""Sides are taken so much longer than the smallest that will do: room for distractors."""

STEP: Final = 1.2
"""From one side that is tried to the next."""

_SMALLEST: Final = 4
_LARGE: Final = 20
"""Sides are tried up to this in any case, and to three times what a bin takes on average: a random path of m
moves needs a side of about m to the 3/4."""

_TRIES: Final = 3
_TREES: Final = 8
"""A size carries a bin if so many mazes are found in it, each within so many trees."""


def covering(variants: Iterable[Parameters]) -> list[Parameters]:
    """The variants, each that says ``cover`` replaced by one for each bin of L, of the size that it needs.

    Raises
    ------
    UsageError
        Some bins cannot be reached, and the variant does not say to leave them out (a warning names them
        then).
    """
    chosen: list[Parameters] = []
    missed: dict[tuple[int, tuple[int, int]], str] = {}
    skip = True
    for variant in variants:
        if not variant.cover:
            chosen.append(variant)
            continue
        skip = variant.skip_unreachable
        for low, high in variant.bins:
            size = _size(low, high, variant.B, variant.rows, variant.cols)
            if isinstance(size, str):
                missed[variant.B, (low, high)] = size
                continue
            rows, cols = size
            chosen.append(replace(variant, L=(low, high), rows=rows, cols=cols, cover=False))
    if missed:
        text = "; ".join(_in_words(missed))
        if not skip:
            raise UsageError(f"cannot reach {text}: ask for less, or leave them out with --skip-unreachable")
        if not chosen:
            raise UsageError(f"cannot reach {text}: nothing is left")
        warnings.warn(f"relfast: left out as unreachable: {text}", RuntimeWarning, stacklevel=2)
    return chosen


@lru_cache(maxsize=4096)
def _size(low: int, high: int, doors: int, rows: int | None, cols: int | None) -> tuple[int, int] | str:
    """Rows and columns that carry a bin, or why none do."""
    fewest = 3 + 5 * doors
    if high < fewest:
        return f"takes {fewest} actions at least"
    if rows is not None or cols is not None:
        size = rows or cols or 0, cols or rows or 0
        return (
            size
            if _carries(low, high, doors, *size)
            else f"no maze of {size[0]} × {size[1]} rooms was found to have it"
        )
    side, largest = _SMALLEST, min(MAX_SIDE, max(_LARGE, round(3 * (high - 2 - 3 * doors) ** 0.75)))
    while side <= largest:
        if _carries(low, high, doors, side, side):
            larger = min(round(side * MARGIN) + 1, largest)
            return (larger, larger) if _carries(low, high, doors, larger, larger) else (side, side)
        side = min(max(side + 1, round(side * STEP)), largest) if side < largest else side + 1
    return f"no maze of {largest} × {largest} rooms or less was found to have it"


def _carries(low: int, high: int, doors: int, rows: int, cols: int) -> bool:
    try:
        settings = Parameters(rows, cols, (low, high), doors)
        for seed in range(_TRIES):
            grow(seed, settings, trees=_TREES)
    except UsageError:
        return False
    return True


def _in_words(missed: dict[tuple[int, tuple[int, int]], str]) -> Iterator[str]:
    """Runs of bins of one B missed for one reason: ``L 10-24 with B=4 (takes 23 actions at least)``."""
    for (doors, why), cells in groupby(sorted(missed.items()), key=lambda item: (item[0][0], item[1])):
        bins = [cell[1] for cell, _ in cells]
        for first, last in _runs(bins):
            yield f"L {first}-{last} with B={doors} ({why})"


def _runs(bins: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first, last = bins[0]
    for low, high in bins[1:]:
        if low != last + 1:
            yield first, last
            first = low
        last = high
    yield first, last


def mazes_of(variants: Iterable[Parameters]) -> list[list[Parameters]]:
    """Variants by the maze that they are variants of: those that differ in noise and removed keys only share
    it, and its seed."""
    mazes: dict[object, list[Parameters]] = {}
    for variant in variants:
        mazes.setdefault((variant.size, variant.L, variant.B), []).append(variant)
    return list(mazes.values())
