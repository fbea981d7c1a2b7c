"""SeqBench's results as tables: Pass@1 and progress by L, B and N, and L0 with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from relfast.tasks.breakdown import ShownTable
from relfast.tasks.seqbench.l0 import BIN_WIDTH, aggregate, aggregate_of

MAX_ROWS: Final = 12
"""Bins of L in a table: with more, the bins are widened. The summary has them all."""

_WIDTHS: Final = (BIN_WIDTH, 10, 20, 50, 100, 200, 500, 1000)

_RESULTS: Final = ("rows", "Pass@1", "progress")
_L0: Final = ("L0", "95% low", "high", "least squares", "rows")


def tables(cells: Mapping[str, Sequence[float]]) -> Iterator[ShownTable]:
    """The tables of a run's cells (`relfast.tasks.facts.Breakdown`)."""
    depths = [float(name.split("/")[0]) for name in cells if name.split("/")[0]]
    width = next(
        (width for width in _WIDTHS if len({depth // width for depth in depths}) <= MAX_ROWS), _WIDTHS[-1]
    )
    shown = aggregate(cells)
    by_depth = shown if width == BIN_WIDTH else aggregate_of(cells, bin_width=width)
    for what, key, results in (
        ("L (actions)", "by_L", by_depth),
        ("B (doors)", "by_B", shown),
        ("N (noise)", "by_N", shown),
    ):
        if results[key]:
            rows = [[name, *_results(result)] for name, result in results[key].items()]
            yield ShownTable(f"by {what}", (what, *_RESULTS), rows)
    fits = [("all", shown["l0"])]
    several = [item for item in shown["l0_by_B_N"].items() if item[1] is not None]
    if 1 < len(several) <= MAX_ROWS:
        fits += several
    if shown["l0"] is not None:
        title = "L0, where P(L) = exp(-L/L0)"
        yield ShownTable(title, ("L0 of", *_L0), [[name, *_fit(fit)] for name, fit in fits])


def _results(result: Mapping[str, Any]) -> list[str]:
    return [f"{result['n']:,}", f"{result['pass_at_1']:.3f}", f"{result['progress_ratio']:.3f}"]


def _fit(fit: Mapping[str, Any]) -> list[str]:
    # null is infinite where all were right; of the least squares it says that there was nothing to fit
    infinite = {name: math.inf if fit[name] is None else fit[name] for name in ("l0", "low", "high")}
    squares = fit["least_squares"]
    return [
        *(f"{value:.1f}" for value in infinite.values()),
        "–" if squares is None else f"{squares:.1f}",
        f"{fit['n']:,}",
    ]
