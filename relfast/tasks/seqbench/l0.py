"""L0: how fast success decays with logical depth, P(L) = exp(-L / L0).

The law and its name are SeqBench's (arXiv 2509.16866). It is fitted by maximum likelihood to the single
outcomes, with a profile-likelihood interval, and for comparison by least squares to binned success rates.

This module also makes the tables of Pass@1 and progress by L, B and N.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relfast.tasks.base import ShownTable

CHI2_95: Final = 3.841458820694124
"""The 95 % quantile of chi-squared with one degree of freedom."""

BIN_WIDTH: Final = 5
"""Width of the bins of logical depth, as on the dataset card."""

_SLOWEST, _FASTEST = 1e-9, 1e3  # range of decay rates 1/L0: L0 from a thousandth of an action to 10^9
_HALVINGS: Final = 100  # bisections of an interval of log rates: down to the last bit of a double


@dataclass(frozen=True, slots=True)
class L0Fit:
    """L0 with its 95 % interval, in actions.

    ``l0`` is the maximum likelihood estimate: 0 if nothing is correct, infinite if everything is. ``low``
    and ``high`` bound the values whose log-likelihood is at most `CHI2_95` / 2 below the maximum.
    ``least_squares`` is fitted to the success rates of bins ``bin_width`` actions wide, with equal weights;
    NaN if everything or nothing is correct. ``n`` is the number of outcomes, ``n_correct`` of which are
    correct.
    """

    l0: float
    low: float
    high: float
    least_squares: float
    bin_width: int
    n: int
    n_correct: int

    def to_dict(self) -> dict[str, Any]:
        """The fields, with None for infinite values and NaN, which JSON cannot hold."""
        return {name: value if math.isfinite(value) else None for name, value in asdict(self).items()}


def fit_l0(
    L: ArrayLike, correct: ArrayLike, n: ArrayLike | None = None, *, bin_width: int = BIN_WIDTH
) -> L0Fit:
    """Fit P(L) = exp(-L / L0).

    Parameters
    ----------
    L
        Logical depth of each problem, in actions, positive.
    correct
        Whether each problem was solved, same length; with ``n``, how often.
    n
        How often each problem was tried, if outcomes are counted; by default once.

    Raises
    ------
    ValueError
        The lengths differ, there is no outcome, or a depth is not positive.
    """
    depths = np.asarray(L, np.float64).ravel()
    solved = np.asarray(correct).ravel().astype(bool if n is None else np.int64).astype(np.int64)
    tried = np.ones(len(solved), np.int64) if n is None else np.asarray(n, np.int64).ravel()
    if not len(depths) == len(solved) == len(tried):
        raise ValueError(f"{len(depths)} depths and {len(solved)} outcomes: the lengths differ")
    if not tried.sum():
        raise ValueError("no outcomes to fit L0 to")
    if (solved < 0).any() or (solved > tried).any():
        raise ValueError("more problems solved than tried")
    if not (depths > 0).all() or not np.isfinite(depths).all():
        raise ValueError("every logical depth must be a positive number")
    gain = float((depths * solved).sum())
    failed = tried > solved
    missed, places = np.unique(depths[failed], return_inverse=True)
    counts = np.bincount(places, (tried - solved)[failed])

    def log_likelihood(rate: float) -> float:
        return float(-rate * gain + (counts * np.log(-np.expm1(-rate * missed))).sum())

    def slope(rate: float) -> float:
        with np.errstate(over="ignore"):
            return float(-gain + (counts * missed / np.expm1(rate * missed)).sum())

    # the log-likelihood is concave in the rate; without failures it falls from rate 0 on, without successes
    # it rises without bound
    if not len(missed):
        best, least = 0.0, 0.0
    elif gain == 0:
        best, least = math.inf, 0.0
    else:
        best = _root(slope, _SLOWEST, _FASTEST)
        least = log_likelihood(best)
    drop = least - CHI2_95 / 2

    def excess(rate: float) -> float:
        return log_likelihood(rate) - drop

    slowest = 0.0 if best == 0.0 else _root(lambda rate: -excess(rate), _SLOWEST, min(best, _FASTEST))
    fastest = math.inf if best == math.inf else _root(excess, max(best, _SLOWEST), _FASTEST)
    return L0Fit(
        l0=_inverse(best),
        low=_inverse(fastest),
        high=_inverse(slowest),
        least_squares=_least_squares(depths, solved, tried, bin_width),
        bin_width=bin_width,
        n=int(tried.sum()),
        n_correct=int(solved.sum()),
    )


def _inverse(rate: float) -> float:
    return math.inf if rate == 0 else 1 / rate


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a function that is positive below and negative above it, by bisection of log rates."""
    low, high = math.log(low), math.log(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if function(math.exp(middle)) > 0:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)


def _least_squares(
    depths: NDArray[np.float64], solved: NDArray[np.int64], tried: NDArray[np.int64], bin_width: int
) -> float:
    """The L0 of the least-squares fit of the curve to success rates of bins, at their mean depths."""
    if not 0 < solved.sum() < tried.sum():
        return math.nan
    depths, solved, tried = depths[tried > 0], solved[tried > 0], tried[tried > 0]
    _, bins = np.unique(depths // bin_width, return_inverse=True)
    sizes = np.bincount(bins, tried)
    centres = np.bincount(bins, depths * tried) / sizes
    rates = np.bincount(bins, solved) / sizes

    def misfit(log_rate: float) -> float:
        return float(((rates - np.exp(-math.exp(log_rate) * centres)) ** 2).sum())

    # first a coarse grid, since the sum of squares is flat at both ends; then golden-section search
    grid = np.linspace(math.log(_SLOWEST), math.log(_FASTEST), 600)
    curves = np.exp(-np.exp(grid)[:, None] * centres)
    at = int(np.argmin(((rates - curves) ** 2).sum(axis=1)))
    low, high = float(grid[max(at - 1, 0)]), float(grid[min(at + 1, len(grid) - 1)])
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if misfit(left) < misfit(right):
            high = right
        else:
            low = left
    return math.exp(-(low + high) / 2)


class Cells(NamedTuple):
    """A run's cells as columns: logical depth, backtracking and noise (NaN if a record does not state it);
    number of rows, and sums of exact_match and progress_ratio."""

    depth: NDArray[np.float64]
    doors: NDArray[np.float64]
    noise: NDArray[np.float64]
    tried: NDArray[np.float64]
    solved: NDArray[np.float64]
    progress: NDArray[np.float64]

    @classmethod
    def of(cls, cells: Mapping[str, Sequence[float]]) -> Cells:
        """The columns of the cells of a `relfast.tasks.base.Breakdown`."""
        rows = [
            [*(float(part or "nan") for part in name.split("/")), *values] for name, values in cells.items()
        ]
        return cls(*np.array(rows, np.float64).reshape(-1, 6).T)

    @property
    def settings(self) -> list[tuple[float, float]]:
        """The pairs of backtracking and noise that occur, sorted."""
        known = np.isfinite(self.doors) & np.isfinite(self.noise)
        return sorted(set(zip(self.doors[known].tolist(), self.noise[known].tolist(), strict=True)))

    def fit(
        self, doors: float | None = None, noise: float | None = None, *, bin_width: int = BIN_WIDTH
    ) -> L0Fit | None:
        """L0 of all responses with a known L, or of those of one setting; None if there are none."""
        here = self.depth > 0
        if doors is not None:
            here &= (self.doors == doors) & (self.noise == noise)
        if not here.any():
            return None
        return fit_l0(self.depth[here], self.solved[here], self.tried[here], bin_width=bin_width)


def aggregate(cells: Mapping[str, Sequence[float]], *, bin_width: int = BIN_WIDTH) -> dict[str, Any]:
    """SeqBench's aggregates: Pass@1 and progress by logical depth, backtracking and noise, and L0.

    Parameters
    ----------
    cells
        ``"L/B/N"`` (a part is empty if the record does not state it) → number of rows, and sums of
        exact_match and progress_ratio.

    Returns
    -------
    dict
        JSON-able. ``by_L`` (bins ``"0-4"``, ``"5-9"``, …), ``by_B``, ``by_N``: per value ``n``,
        ``pass_at_1``, ``progress_ratio``; ``l0``: `L0Fit.to_dict` of all responses with a known L, or None
        without any; ``l0_by_B_N``: the same per ``"B=2,N=0.0"``, the form in which L0 is published.
    """
    columns = Cells.of(cells)
    depth, doors, noise, tried, solved, progress = columns

    def table(values: NDArray[np.float64], name: Callable[[float], str]) -> dict[str, dict[str, Any]]:
        rows = {}
        for value in np.unique(values[np.isfinite(values)]).tolist():
            here = values == value
            count = int(tried[here].sum())
            rows[name(value)] = {
                "n": count,
                "pass_at_1": float(solved[here].sum() / count),
                "progress_ratio": float(progress[here].sum() / count),
            }
        return rows

    def fit(*setting: float) -> dict[str, Any] | None:
        found = columns.fit(*setting, bin_width=bin_width)
        return None if found is None else found.to_dict()

    return {
        "by_L": table(depth // bin_width, lambda at: f"{int(at) * bin_width}-{int(at + 1) * bin_width - 1}"),
        "by_B": table(doors, lambda value: f"{value:g}"),
        "by_N": table(noise, str),
        "l0": fit(),
        "l0_by_B_N": {f"B={b:g},N={n}": fit(b, n) for b, n in columns.settings},
    }


MAX_ROWS: Final = 12
"""Most bins of L in a table; if there are more, bins are widened. The summary has all bins."""

_WIDTHS: Final = (BIN_WIDTH, 10, 20, 50, 100, 200, 500, 1000)

_RESULTS: Final = ("rows", "Pass@1", "progress")
_L0: Final = ("L0", "95 % low", "high", "least squares", "rows")


def tables(cells: Mapping[str, Sequence[float]]) -> Iterator[ShownTable]:
    """The tables of a run's cells (`relfast.tasks.base.Breakdown`)."""
    depths = [float(name.split("/")[0]) for name in cells if name.split("/")[0]]
    width = next(
        (width for width in _WIDTHS if len({depth // width for depth in depths}) <= MAX_ROWS), _WIDTHS[-1]
    )
    shown = aggregate(cells)
    by_depth = shown if width == BIN_WIDTH else aggregate(cells, bin_width=width)
    for what, key, results in (
        ("L (actions)", "by_L", by_depth),
        ("B (doors)", "by_B", shown),
        ("N (noise)", "by_N", shown),
    ):
        if results[key]:
            rows = [
                [name, f"{one['n']:,}", f"{one['pass_at_1']:.3f}", f"{one['progress_ratio']:.3f}"]
                for name, one in results[key].items()
            ]
            yield ShownTable(f"by {what}", (what, *_RESULTS), rows)
    fits = [("all", shown["l0"])]
    several = [item for item in shown["l0_by_B_N"].items() if item[1] is not None]
    if 1 < len(several) <= MAX_ROWS:
        fits += several
    if shown["l0"] is not None:
        title = "L0, where P(L) = exp(-L/L0)"
        yield ShownTable(title, ("L0 of", *_L0), [[name, *_fit(fit)] for name, fit in fits])


def _fit(fit: Mapping[str, Any]) -> list[str]:
    # None is infinite (everything was right); for least squares it means that there was nothing to fit
    infinite = {name: math.inf if fit[name] is None else fit[name] for name in ("l0", "low", "high")}
    squares = fit["least_squares"]
    return [
        *(f"{value:.1f}" for value in infinite.values()),
        "–" if squares is None else f"{squares:.1f}",
        f"{fit['n']:,}",
    ]
