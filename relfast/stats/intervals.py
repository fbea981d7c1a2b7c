"""Estimates from samples (means with clustered errors, pass@k, majority votes), and intervals for shares and
means that hold at small n and never leave where the number can be.

A share's interval is Wilson's score interval (Wilson 1927, doi:10.1080/01621459.1927.10502953). Samples of
one prompt are not independent: for them Wilson's formula is given the effective number of samples (Korn and
Graubard 1998; Franco et al. 2019, doi:10.1093/jssam/smy019), and Student's quantile instead of the normal
one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

_TINY: Final = 1e-300
_STEPS: Final = 100_000


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), a, b > 0 (NIST DLMF 8.17; Lentz's continued
    fraction)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x > (a + 1) / (a + b + 2):
        return 1.0 - math.exp(log_front) * _fraction(b, a, 1 - x) / b
    return math.exp(log_front) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """DLMF 8.17.22, which converges in about √max(a, b) steps."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 + term * d
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = 1 + term / c
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


@lru_cache(maxsize=4096)
def beta_quantile(p: float, a: float, b: float) -> float:
    """Where I_x(a, b) is ``p``, by halving down to neighbouring doubles."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if incomplete_beta(a, b, middle) < p:
            low = middle
        else:
            high = middle
    return middle


@lru_cache(maxsize=4096)
def t_quantile(p: float, freedom: float) -> float:
    """Student's quantile; ``freedom`` > 0."""
    if p < 0.5:
        return -t_quantile(1 - p, freedom)
    if freedom > 1e7:
        return normal_quantile(p)
    # P(|T| > t) = I_x(ν/2, ½) at x = ν / (ν + t²)
    x = beta_quantile(2 * (1 - p), freedom / 2, 0.5)
    return math.sqrt(freedom * (1 - x) / x) if x > 0 else math.inf


@lru_cache(maxsize=256)
def normal_quantile(p: float) -> float:
    """Quantile of the standard normal distribution."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def normal_cdf(z: float) -> float:
    """Distribution function of the standard normal distribution."""
    return math.erfc(-z / math.sqrt(2)) / 2


def normal_tails(z: float) -> float:
    """P(|Z| ≥ |z|) of a standard normal Z."""
    return math.erfc(abs(z) / math.sqrt(2))


def binomial_tails(k: int, n: int) -> float:
    """P(|X − n/2| ≥ |k − n/2|) for X ~ Binomial(n, ½): the exact two-sided sign test."""
    few = min(k, n - k)
    if 2 * few == n:
        return 1.0
    # P(X ≤ few) = I_½(n − few, few + 1)
    return min(1.0, 2 * incomplete_beta(n - few, few + 1, 0.5))


LEVEL: Final = 0.95


class Interval(NamedTuple):
    """Bounds of a confidence interval, in the unit of the number it is of."""

    low: float
    high: float


def check_level(level: float) -> float:
    """A confidence level strictly between 0 and 1. Raises ValueError."""
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, not at {level!r}")
    return level


def wilson(right: float, n: float, level: float = LEVEL) -> Interval:
    """Wilson's interval of a share: ``right`` of ``n`` > 0 (both may be effective numbers)."""
    return _score_interval(right / n, n, normal_quantile(0.5 + check_level(level) / 2))


def _score_interval(share: float, n: float, z: float) -> Interval:
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(max(0.0, share * (1 - share) / n) + (z / (2 * n)) ** 2)
    scale = 1 + z * z / n
    # at the ends the formula gives the end itself, up to rounding
    low = 0.0 if share <= 0 else max(0.0, (middle - half) / scale)
    high = 1.0 if share >= 1 else min(1.0, (middle + half) / scale)
    return Interval(low, high)


def share_interval(histogram: Mapping[tuple[int, int], int], level: float = LEVEL) -> Interval | None:
    """The interval of the share of right samples, clustered by prompt.

    ``histogram`` counts prompts by (samples, right samples). One sample a prompt gives Wilson's interval as
    it is. None without samples.
    """
    check_level(level)
    prompts = sum(histogram.values())
    n = sum(size * count for (size, _), count in histogram.items())
    if not n:
        return None
    right = sum(right * count for (_, right), count in histogram.items())
    if n == prompts:
        return wilson(right, n, level)
    share = right / n
    squares = math.fsum(count * (right - size * share) ** 2 for (size, right), count in histogram.items())
    return effective_share_interval(share, squares / n**2, prompts, n, level)


def effective_share_interval(
    share: float, variance: float, units: int, most: float, level: float = LEVEL
) -> Interval:
    """Wilson's interval with the n that would give the share this variance.

    Parameters
    ----------
    share
        A mean of values in 0…1.
    variance
        Its variance as estimated over ``units`` independent units, without a small-sample factor.
    most
        The most that the effective n can be: what chance makes of few units must not pass for knowledge. It
        is no less than ``units``, which it is where nothing varies.
    """
    spread = share * (1 - share)
    if variance <= 0:
        # all units alike: neither 0 nor 100 % is known more closely than so many draws tell
        effective = float(units) if spread <= 0 else float(most)
    else:
        effective = min(max(spread / variance, units), most)
    if units < 2:
        effective, quantile = float(units), normal_quantile(0.5 + level / 2)
    else:
        quantile = t_quantile(0.5 + level / 2, units - 1)
    return _score_interval(share, effective, quantile)


def mean_interval(mean: float, error: float | None, units: int, level: float = LEVEL) -> Interval | None:
    """Student's interval of a mean with a standard error over ``units`` independent units; None without
    one."""
    if error is None or units < 2:
        return None
    half = t_quantile(0.5 + check_level(level) / 2, units - 1) * error
    return Interval(mean - half, mean + half)


PASS_AT: Final = (1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1000, 1024)
"""The k for which pass@k is reported, as far as any prompt has k samples."""


class AtK(NamedTuple):
    """pass@k, avg@k or maj@k: its value, the number of prompts that it is a mean over, and its interval."""

    value: float
    prompts: int
    interval: Interval


def winners(votes: Sequence[int], correct: Sequence[int]) -> tuple[int, int]:
    """How many answers are the most frequent, and how many of them are right; (0, 0) without votes."""
    counts = Counter(vote for vote in votes if vote)
    if not counts:
        return 0, 0
    most = max(counts.values())
    is_right = dict(zip(votes, correct, strict=True))
    chosen = [vote for vote, n in counts.items() if n == most]
    return len(chosen), sum(is_right[vote] for vote in chosen)


def clustered_mean(histogram: Mapping[tuple[int, int], int]) -> tuple[float | None, float | None]:
    """Mean of ``correct`` over samples and its standard error clustered by prompt.

    Samples of one prompt are not independent: the squared sums of each prompt's deviations are added,
    with the small-sample factor G / (G − 1) for G prompts (Miller 2024, arXiv 2411.00640, eq. 4). One
    prompt has no error.
    """
    groups = sum(histogram.values())
    total = sum(n * count for (n, _), count in histogram.items())
    if not total:
        return None, None
    mean = sum(right * count for (_, right), count in histogram.items()) / total
    if groups < 2:
        return mean, None
    # exact sums: the same whatever order the prompts were counted in
    squares = math.fsum(count * (right - n * mean) ** 2 for (n, right), count in histogram.items())
    return mean, math.sqrt(squares * groups / (groups - 1)) / total


def pass_at_k(histogram: Mapping[tuple[int, int], int], level: float = LEVEL) -> dict[int, AtK]:
    """Unbiased pass@k (Chen et al. 2021, arXiv 2107.03374), each over the prompts that have k samples or
    more: a prompt that lost a sample must neither hide the others' pass@k nor count as a failure. For its
    interval each prompt's estimate is a draw, and prompts are independent."""
    result = {}
    for k in PASS_AT:
        estimates = [
            (1 - math.comb(n - right, k) / math.comb(n, k), count)
            for (n, right), count in sorted(histogram.items())
            if n >= k
        ]
        prompts = sum(count for _, count in estimates)
        if not prompts:
            break
        mean = math.fsum(value * count for value, count in estimates) / prompts
        squares = math.fsum(count * (value - mean) ** 2 for value, count in estimates)
        most = sum(count * n for (n, _), count in histogram.items() if n >= k)
        interval = effective_share_interval(mean, squares / prompts**2, prompts, most, level)
        result[k] = AtK(mean, prompts, interval)
    return result


def avg_at_k(histogram: Mapping[tuple[int, int], int], level: float = LEVEL) -> dict[int, AtK]:
    """avg@k: the mean share of right samples over the prompts that have exactly k samples, by each such k >
    1."""
    result = {}
    for k in sorted({n for n, _ in histogram if n > 1}):
        of_k = {key: count for key, count in histogram.items() if key[0] == k}
        prompts, right = sum(of_k.values()), sum(right * count for (_, right), count in of_k.items())
        interval = share_interval(of_k, level)
        if interval is not None:
            result[k] = AtK(right / (k * prompts), prompts, interval)
    return result


def maj_at_k(majority: Mapping[int, Sequence[float]], level: float = LEVEL) -> dict[int, AtK]:
    """maj@k of (prompts, sum of majority scores) by the prompts' number of samples, k. What a tie shares
    varies less than a draw of 0 or 1: its interval is no narrower than it should be."""
    return {
        k: AtK(total / n, int(n), wilson(total, n, level)) for k, (n, total) in sorted(majority.items()) if n
    }
