"""Paired differences between two runs: standard error, interval and test, with prompts as units.

The samples of a prompt are not independent, so everything is computed from the sum of each prompt's
differences. Prompts with the same number of samples and the same sum are counted together in a cell: a
million prompts make a few hundred cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from relfast.stats.intervals import (
    LEVEL,
    Interval,
    binomial_tails,
    check_level,
    normal_cdf,
    normal_quantile,
    normal_tails,
    t_quantile,
)

DifferenceMethod = Literal["bonett-price", "student", "bootstrap"]
"""Method of a difference's interval: Bonett and Price's for paired shares, Student's over prompts, or
percentiles of the paired bootstrap."""

TestMethod = Literal["mcnemar", "permutation", "permutation-sampled", "permutation-normal"]
"""Method of a p value: McNemar's exact test, all sign flips of the prompts' differences, randomly drawn sign
flips, or their normal limit."""

FEW_CHANGED: Final = 8
"""Fewer prompts that differ say little about how much prompts vary: then the interval is widened."""

_MOST_CONVOLVED: Final = 20_000
_MOST_LISTED: Final = 14
_MOST_SAMPLED_CELLS: Final = 2_000
_DRAWS: Final = 100_000
_CHUNK: Final = 4_000_000
_MOST_PICKED: Final = 500_000_000
_LEAST_DRAWS: Final = 1_000


@dataclass(frozen=True)
class Differences:
    """The paired differences of two runs, as cells of equal prompts.

    Attributes
    ----------
    sizes, sums, counts
        For each cell: pairs of a prompt, sum of a − b over them (float64), number of such prompts.
    bounded
        Whether all values of both runs lie in 0…1, so that all differences lie in −1…1.
    """

    sizes: NDArray[np.int64]
    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    bounded: bool

    @classmethod
    def of(cls, prompts: NDArray[np.uint64], a: NDArray[np.float64], b: NDArray[np.float64]) -> Differences:
        """From pairs: the hash of each pair's prompt, and the values of run ``a`` and run ``b``."""
        _, places = np.unique(prompts, return_inverse=True)
        sizes = np.bincount(places)
        # rounded, so that the order of a prompt's samples does not matter
        sums = np.round(np.bincount(places, a - b), 12) + 0.0
        cells, counts = np.unique(np.stack([sizes.astype(np.float64), sums], 1), axis=0, return_counts=True)
        bounded = bool(len(a)) and min(a.min(), b.min()) >= 0 and max(a.max(), b.max()) <= 1
        return cls(cells[:, 0].astype(np.int64), cells[:, 1], counts.astype(np.int64), bool(bounded))

    @property
    def prompts(self) -> int:
        return int(self.counts.sum())

    @property
    def pairs(self) -> int:
        return int(self.sizes @ self.counts)

    @property
    def mean(self) -> float:
        """The difference of the runs' means over all pairs, of which there must be at least one."""
        return math.fsum(self.sums * self.counts) / self.pairs

    @property
    def changed(self) -> int:
        """Number of prompts whose differences do not add up to 0."""
        return int(self.counts[self.sums != 0].sum())

    def _squares(self, mean: float) -> float:
        # fsum: the result does not depend on the order of the cells
        return math.fsum(self.counts * (self.sums - self.sizes * mean) ** 2)

    @property
    def error(self) -> float | None:
        """Standard error of `mean`, clustered by prompt, with the factor G / (G − 1) for G prompts (Miller
        2024, arXiv 2411.00640, eq. 4 and section 3.3 on paired differences)."""
        groups = self.prompts
        if groups < 2:
            return None
        return math.sqrt(self._squares(self.mean) * groups / (groups - 1)) / self.pairs

    @property
    def _single_shares(self) -> bool:
        return self.bounded and bool((self.sizes == 1).all()) and bool((np.abs(self.sums) % 1 == 0).all())

    def interval(self, level: float = LEVEL) -> tuple[Interval | None, DifferenceMethod]:
        """The closed-form interval of `mean`, and its method.

        With one right-or-wrong pair a prompt it is Bonett and Price's (2012, doi:10.3102/1076998611411915),
        which adds two prompts: one that only the first run has right, and one that only the second has. The
        same is done if prompts have several samples but fewer than `FEW_CHANGED` prompts differ. Otherwise
        it is Student's, with one degree of freedom less than there are prompts. None with a single prompt, or
        if all differences are equal and unbounded.
        """
        groups = self.prompts
        tail = 0.5 + check_level(level) / 2
        if self._single_shares:
            return self._widened(normal_quantile(tail)), "bonett-price"
        if groups < 2:
            return None, "student"
        quantile = t_quantile(tail, groups - 1)
        if self.bounded and self.changed < FEW_CHANGED:
            return self._widened(quantile), "bonett-price"
        error = self.error
        if not error:
            return None, "student"
        return self._bound(self.mean - quantile * error, self.mean + quantile * error), "student"

    def _widened(self, quantile: float) -> Interval:
        """The interval with two more prompts of average size: one with all samples won, one with all lost."""
        size = self.pairs / self.prompts
        n = self.pairs + 2 * size
        mean = self.mean * self.pairs / n
        squares = self._squares(mean) + (size - size * mean) ** 2 + (size + size * mean) ** 2
        half = quantile * math.sqrt(squares) / n
        return self._bound(mean - half, mean + half)

    def _bound(self, low: float, high: float) -> Interval:
        return Interval(max(low, -1.0), min(high, 1.0)) if self.bounded else Interval(low, high)

    def bootstrap(self, draws: int, seed: int = 0, level: float = LEVEL) -> Interval | None:
        """The percentile interval of the paired bootstrap: prompts are resampled with all of their pairs.

        The percentiles are moved outward to Student's quantiles; otherwise few prompts give too narrow an
        interval (Hesterberg 2015, doi:10.1080/00031305.2015.1089789). None with a single prompt or if all
        differences are equal.
        """
        groups = self.prompts
        if groups < 2 or not self.error:
            return None
        quantile = t_quantile(0.5 + check_level(level) / 2, groups - 1)
        outer = normal_cdf(-math.sqrt(groups / (groups - 1)) * quantile)
        means = _resampled(self, draws, np.random.default_rng(seed))
        low, high = np.quantile(means, [outer, 1 - outer])
        return self._bound(float(low), float(high))

    def test(self, seed: int = 0) -> tuple[float, TestMethod]:
        """Two-sided p value of the hypothesis of no difference, and its method: the probability that the
        sum is as large or larger if each prompt's difference gets a random sign. With one right-or-wrong
        pair a prompt this is McNemar's exact test."""
        values, places = np.unique(np.abs(self.sums), return_inverse=True)
        counts = np.bincount(places, self.counts).astype(np.int64)
        counts, values = counts[values > 0], values[values > 0]
        observed = abs(math.fsum(self.sums * self.counts))
        if not len(values):
            return 1.0, "mcnemar" if self._single_shares else "permutation"
        if len(values) == 1:
            n = int(counts[0])
            p = binomial_tails((n + round(observed / float(values[0]))) // 2, n)
            return p, "mcnemar" if self._single_shares else "permutation"
        integers = bool((values % 1 == 0).all())
        if integers and values @ counts <= _MOST_CONVOLVED:
            return _convolved(values.astype(np.int64), counts, round(observed)), "permutation"
        # sums that are equal but for rounding must count as equal
        least = observed - 1e-9 * float(values @ counts)
        if counts.sum() <= _MOST_LISTED:
            return _listed(np.repeat(values, counts), least), "permutation"
        if len(values) <= _MOST_SAMPLED_CELLS:
            return _sampled(values, counts, least, seed), "permutation-sampled"
        return normal_tails(observed / math.sqrt(float(values**2 @ counts))), "permutation-normal"


def _convolved(values: NDArray[np.int64], counts: NDArray[np.int64], observed: int) -> float:
    """P(|Σ ±v| ≥ observed) over random signs, exact: convolves the distributions of v·Binomial(count, ½)."""
    distribution = np.ones(1)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        log = [
            math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in range(count + 1)
        ]
        spaced = np.zeros(value * count + 1)
        spaced[::value] = np.exp(np.array(log) - count * math.log(2))
        distribution = np.convolve(distribution, spaced)
    span = len(distribution) - 1
    sums = np.abs(2 * np.arange(span + 1) - span)
    return min(1.0, float(distribution[sums >= observed].sum()))


def _listed(values: NDArray[np.float64], least: float) -> float:
    """P(|Σ ±v| ≥ least), exact, by trying all choices of signs."""
    signs = 1 - 2 * (np.arange(1 << len(values))[:, None] >> np.arange(len(values)) & 1)
    return float((np.abs(signs @ values) >= least).mean())


def _sampled(values: NDArray[np.float64], counts: NDArray[np.int64], least: float, seed: int) -> float:
    """P(|Σ ±v| ≥ least) from random draws; the observed signs count as one of them (Phipson and Smyth 2010,
    doi:10.2202/1544-6115.1585)."""
    rng = np.random.default_rng(seed)
    draws = max(9_999, min(_DRAWS, 20_000_000 // len(values)) - 1)
    sums = np.zeros(draws)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        sums += value * (2 * rng.binomial(count, 0.5, draws) - count)
    return float((1 + np.count_nonzero(np.abs(sums) >= least)) / (draws + 1))


def _resampled(differences: Differences, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Means of ``draws`` bootstrap samples: as many prompts, drawn with replacement. With very many different
    prompts there are fewer draws, since all would take minutes."""
    groups, cells = differences.prompts, len(differences.counts)
    one_by_one = cells * 4 > groups >= 1000
    if one_by_one:
        draws = max(_LEAST_DRAWS, min(draws, _MOST_PICKED // groups))
    means = np.empty(draws)
    shares = differences.counts / groups
    step = max(1, _CHUNK // cells)
    for start in range(0, draws, step):
        part = min(step, draws - start)
        if not one_by_one:
            drawn = rng.multinomial(groups, shares, part)
        else:
            # most cells have a single prompt: drawing prompts is faster than a multinomial over cells
            owner = np.repeat(np.arange(cells), differences.counts)
            picks = (rng.integers(0, groups, groups) for _ in range(part))
            drawn = np.stack([np.bincount(owner[pick], minlength=cells) for pick in picks])
        means[start : start + part] = (drawn @ differences.sums) / (drawn @ differences.sizes)
    return means


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction of p values, in their order (Holm 1979, Scand. J. Statist. 6:65–70)."""
    corrected = [0.0] * len(p)
    largest = 0.0
    for rank, at in enumerate(sorted(range(len(p)), key=lambda place: p[place])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[at]))
        corrected[at] = largest
    return corrected
