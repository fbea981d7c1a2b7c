"""Paired differences between two runs: standard error, interval and p, with prompts as units.

A prompt's difference is that of the means of its samples in the two runs, so that samples need not be the
same in number, nor in order. Interval and p are one method: p is the level at which the interval begins to
hold 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relfast.stats.intervals import (
    LEVEL,
    Interval,
    check_level,
    normal_cdf,
    normal_quantile,
    normal_tails,
    t_quantile,
    t_tails,
)

DifferenceMethod = Literal["bonett-price", "student", "bootstrap"]
"""Method of a difference's interval and p: Bonett and Price's for prompts that are right or wrong as a whole,
Student's over prompts, or percentiles of the paired bootstrap."""

FEW_CHANGED: Final = 8
"""Fewer prompts that differ say little about how much prompts vary: then the interval is widened."""

_CHUNK: Final = 4_000_000
_MOST_DRAWN: Final = 100_000_000
_LEAST_DRAWS: Final = 1_000


class Tested(NamedTuple):
    """The interval of a difference, and the two-sided p value of the hypothesis of no difference: p is less
    than 1 − level if and only if the interval does not hold 0. Both are None where there is nothing to
    estimate from."""

    interval: Interval | None
    p: float | None
    method: DifferenceMethod


@dataclass(frozen=True)
class Differences:
    """The paired differences of two runs, a prompt each.

    Attributes
    ----------
    values, counts
        The distinct differences a − b (float64), and the number of prompts with each.
    bounded
        Whether all values of both runs lie in 0…1, so that all differences lie in −1…1.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    bounded: bool

    @classmethod
    def of(cls, a: NDArray[np.float64], b: NDArray[np.float64]) -> Differences:
        """From each prompt's value in run ``a`` and in run ``b``."""
        # rounded, so that the order in which a prompt's samples were added up does not matter
        values, counts = np.unique(np.round(a - b, 12) + 0.0, return_counts=True)
        bounded = bool(len(a)) and min(a.min(), b.min()) >= 0 and max(a.max(), b.max()) <= 1
        return cls(values, counts.astype(np.int64), bool(bounded))

    @property
    def prompts(self) -> int:
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean difference over prompts, of which there must be at least one."""
        return math.fsum(self.values * self.counts) / self.prompts

    @property
    def changed(self) -> int:
        """Number of prompts that differ."""
        return int(self.counts[self.values != 0].sum())

    def _squares(self, mean: float) -> float:
        # fsum: the result does not depend on the order of the values
        return math.fsum(self.counts * (self.values - mean) ** 2)

    @property
    def error(self) -> float | None:
        """Standard error of `mean` (Miller 2024, arXiv 2411.00640, eq. 4 and section 3.3 on paired
        differences): for prompts with equally many samples it is that clustered by prompt, with the factor G
        / (G − 1)."""
        groups = self.prompts
        return math.sqrt(self._squares(self.mean) / groups / (groups - 1)) if groups > 1 else None

    def tested(self, level: float = LEVEL) -> Tested:
        """The closed-form interval of `mean`, and p.

        If each prompt is right or wrong as a whole it is Bonett and Price's (2012,
        doi:10.3102/1076998611411915), which adds two prompts: one that only the first run has right, and one
        that only the second has. Otherwise it is Student's, with one degree of freedom less than there are
        prompts. There the same two prompts are added with a weight of 1 where no prompt differs, less with
        each that does, and 0 from `FEW_CHANGED` on: a few prompts do not tell how much prompts vary. None
        with a single prompt, or if all differences are equal and unbounded.
        """
        tail = 0.5 + check_level(level) / 2
        if self.bounded and bool((np.abs(self.values) % 1 == 0).all()):
            center, error = self._widened(1.0)
            return self._around(
                center, normal_quantile(tail) * error, normal_tails(center / error), "bonett-price"
            )
        freedom, weight = self.prompts - 1, 0.0
        if self.bounded:
            weight = max(0.0, 1 - self.changed / FEW_CHANGED) if len(self.values) > 1 else 1.0
        center, error = self._widened(weight, corrected=True) if freedom else (self.mean, 0.0)
        if not error:
            return Tested(None, None, "student")
        return self._around(
            center, t_quantile(tail, freedom) * error, t_tails(center / error, freedom), "student"
        )

    def _widened(self, weight: float, *, corrected: bool = False) -> tuple[float, float]:
        """Mean and standard error with two more prompts of a weight: one won, one lost."""
        n = self.prompts + 2 * weight
        mean = self.mean * self.prompts / n
        squares = self._squares(mean) + weight * ((1 - mean) ** 2 + (1 + mean) ** 2)
        return mean, math.sqrt(squares / n / (n - 1 if corrected else n))

    def _around(self, center: float, half: float, p: float, method: DifferenceMethod) -> Tested:
        return Tested(self._bound(center - half, center + half), p, method)

    def _bound(self, low: float, high: float) -> Interval:
        return Interval(max(low, -1.0), min(high, 1.0)) if self.bounded else Interval(low, high)

    def bootstrap(self, draws: int, seed: int = 0, level: float = LEVEL) -> Tested | None:
        """The percentile interval of the paired bootstrap, and p: prompts are drawn with replacement.

        The percentiles are moved outward to Student's quantiles; otherwise few prompts give too narrow an
        interval (Hesterberg 2015, doi:10.1080/00031305.2015.1089789). None with a single prompt, if all
        differences are equal, or with so few prompts that the percentiles lie beyond the draws.
        """
        groups = self.prompts
        if groups < 2 or not self.error:
            return None
        stretched = math.sqrt(groups / (groups - 1))
        outer = normal_cdf(-stretched * t_quantile(0.5 + check_level(level) / 2, groups - 1))
        if outer * draws < 1:
            return None
        means = np.sort(_resampled(self, draws, np.random.default_rng(seed)))
        low, high = np.quantile(means, [outer, 1 - outer])
        # the share of means at which a percentile is 0, from the nearer end
        shares = np.linspace(0, 1, len(means))
        share = min(float(np.interp(0, *ends)) for ends in ((means, shares), (-means[::-1], shares)))
        p = t_tails(normal_quantile(min(max(share, 0.5 / len(means)), 0.5)) / stretched, groups - 1)
        return Tested(self._bound(float(low), float(high)), p, "bootstrap")


def _resampled(differences: Differences, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Means of ``draws`` bootstrap samples: as many prompts, drawn with replacement. With very many different
    values there are fewer draws, since all would take minutes."""
    groups, cells = differences.prompts, len(differences.counts)
    draws = max(_LEAST_DRAWS, min(draws, _MOST_DRAWN // cells))
    step = max(1, _CHUNK // cells)
    parts = (min(step, draws - start) for start in range(0, draws, step))
    drawn = (rng.multinomial(groups, differences.counts / groups, part) for part in parts)
    return np.concatenate([each @ differences.values for each in drawn]) / groups


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction of p values, in their order (Holm 1979, Scand. J. Statist. 6:65–70); None
    where there is none."""
    corrected: list[float | None] = [None] * len(p)
    tested = sorted((value, at) for at, value in enumerate(p) if value is not None)
    largest = 0.0
    for rank, (value, at) in enumerate(tested):
        largest = corrected[at] = max(largest, min(1.0, (len(tested) - rank) * value))
    return corrected
