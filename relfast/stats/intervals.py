"""Estimates from samples (means with clustered errors, pass@k, majority votes), and confidence intervals for
shares and means that hold for small n. Intervals of shares never leave 0…1.

The interval of a share is Wilson's score interval (Wilson 1927, doi:10.1080/01621459.1927.10502953). Samples
of one prompt are not independent: with several samples a prompt, Wilson's formula gets the effective number
of samples (Korn and Graubard 1998; Franco et al. 2019, doi:10.1093/jssam/smy019), and Student's quantile in
place of the normal one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from relfast.errors import UsageError

_TINY: Final = 1e-300
_STEPS: Final = 100_000


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), a, b > 0 (NIST DLMF 8.17; Lentz's method)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x > (a + 1) / (a + b + 2):
        return 1.0 - math.exp(log_front) * _fraction(b, a, 1 - x) / b
    return math.exp(log_front) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction DLMF 8.17.22, which converges in about √max(a, b) steps."""
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
    """The x at which I_x(a, b) = ``p``, found by bisection down to neighbouring doubles."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if incomplete_beta(a, b, middle) < p:
            low = middle
        else:
            high = middle
    return middle


@lru_cache(maxsize=4096)
def t_quantile(p: float, freedom: float) -> float:
    """The ``p`` quantile of Student's t distribution with ``freedom`` > 0 degrees of freedom."""
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


def t_tails(t: float, freedom: float) -> float:
    """P(|T| ≥ |t|) of Student's T with ``freedom`` > 0 degrees of freedom."""
    if freedom > 1e7:
        return normal_tails(t)
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


LEVEL: Final = 0.95


class Interval(NamedTuple):
    """Bounds of a confidence interval, in the unit of the estimate."""

    low: float
    high: float


def check_level(level: float) -> float:
    """``level``, if it lies strictly between 0 and 1; else raises `UsageError`."""
    if not 0 < level < 1:
        raise UsageError(f"level {level!r} is not between 0 and 1")
    return level


def wilson(right: float, n: float, level: float = LEVEL) -> Interval:
    """Wilson's interval of the share of ``right`` among ``n`` > 0 samples (both may be effective numbers)."""
    return _score_interval(right / n, n, normal_quantile(0.5 + check_level(level) / 2))


def _score_interval(share: float, n: float, z: float) -> Interval:
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(max(0.0, share * (1 - share) / n) + (z / (2 * n)) ** 2)
    scale = 1 + z * z / n
    # for a share of 0 or 1 the formula gives exactly that bound, but for rounding
    low = 0.0 if share <= 0 else max(0.0, (middle - half) / scale)
    high = 1.0 if share >= 1 else min(1.0, (middle + half) / scale)
    return Interval(low, high)


def share_interval(histogram: Mapping[tuple[int, int], int], level: float = LEVEL) -> Interval | None:
    """The interval of the share of right samples, clustered by prompt.

    ``histogram`` counts prompts by (samples, right samples). With one sample a prompt this is Wilson's plain
    interval. None without samples.
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
    """Wilson's interval with the effective n: the number of independent draws that give this variance.

    Parameters
    ----------
    share
        A mean of values in 0…1.
    variance
        The variance of ``share``, estimated over ``units`` independent units without a small-sample factor.
    units
        Number of independent units (prompts); the least that the effective n can be.
    most
        The most that the effective n can be (samples): among few units the variance may be small by chance.
    """
    spread = share * (1 - share)
    if variance <= 0:
        # all units are equal: a share of 0 or 1 is known only as well as from ``units`` draws
        effective = float(units) if spread <= 0 else float(most)
    else:
        effective = min(max(spread / variance, units), most)
    if units < 2:
        effective, quantile = float(units), normal_quantile(0.5 + level / 2)
    else:
        quantile = t_quantile(0.5 + level / 2, units - 1)
    return _score_interval(share, effective, quantile)


def mean_interval(mean: float, error: float | None, units: int, level: float = LEVEL) -> Interval | None:
    """Student's interval of a mean whose standard ``error`` was estimated over ``units`` independent units;
    None without an error or with a single unit."""
    if error is None or units < 2:
        return None
    half = t_quantile(0.5 + check_level(level) / 2, units - 1) * error
    return Interval(mean - half, mean + half)


PASS_AT: Final = (1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1000, 1024)
"""The k for which pass@k is reported, up to the largest number of samples of a prompt."""


class AtK(NamedTuple):
    """A value of pass@k, avg@k or maj@k: the mean, the number of prompts it is over, and its interval."""

    value: float
    prompts: int
    interval: Interval


def winners(votes: Sequence[int], correct: Sequence[int]) -> tuple[int, int]:
    """The number of answers that share the highest number of votes, and how many of these are right; (0, 0)
    without votes. ``votes`` are hashes of answers, 0 for none."""
    counts = Counter(vote for vote in votes if vote)
    if not counts:
        return 0, 0
    most = max(counts.values())
    is_right = dict(zip(votes, correct, strict=True))
    chosen = [vote for vote, n in counts.items() if n == most]
    return len(chosen), sum(is_right[vote] for vote in chosen)


def clustered_mean(histogram: Mapping[tuple[int, int], int]) -> tuple[float | None, float | None]:
    """Mean of ``correct`` over samples and its standard error clustered by prompt.

    Samples of one prompt are not independent: the variance is the sum over prompts of the squared sum of
    their deviations, with the small-sample factor G / (G − 1) for G prompts (Miller 2024, arXiv 2411.00640,
    eq. 4). With a single prompt the error is None; without samples both are.
    """
    groups = sum(histogram.values())
    total = sum(n * count for (n, _), count in histogram.items())
    if not total:
        return None, None
    mean = sum(right * count for (_, right), count in histogram.items()) / total
    if groups < 2:
        return mean, None
    # fsum: the result does not depend on the order in which prompts were counted
    squares = math.fsum(count * (right - n * mean) ** 2 for (n, right), count in histogram.items())
    return mean, math.sqrt(squares * groups / (groups - 1)) / total


def pass_at_k(histogram: Mapping[tuple[int, int], int], level: float = LEVEL) -> dict[int, AtK]:
    """Unbiased pass@k (Chen et al. 2021, arXiv 2107.03374) by k, each over the prompts with k samples or
    more, so that a prompt that lost a sample neither hides the pass@k of the others nor counts as a
    failure. The interval takes each prompt's estimate as one draw; prompts are independent."""
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
    """avg@k: the mean share of right samples of the prompts with exactly k samples, for each such k > 1."""
    result = {}
    for k in sorted({n for n, _ in histogram if n > 1}):
        of_k = {key: count for key, count in histogram.items() if key[0] == k}
        prompts, right = sum(of_k.values()), sum(right * count for (_, right), count in of_k.items())
        interval = share_interval(of_k, level)
        if interval is not None:
            result[k] = AtK(right / (k * prompts), prompts, interval)
    return result


def maj_at_k(majority: Mapping[int, Sequence[float]], level: float = LEVEL) -> dict[int, AtK]:
    """maj@k from ``majority``: k, the number of samples of a prompt → (prompts, sum of majority scores). A
    tie gives a prompt a score between 0 and 1, which varies less than draws of 0 or 1: the interval is rather
    too wide than too narrow."""
    return {
        k: AtK(total / n, int(n), wilson(total, n, level)) for k, (n, total) in sorted(majority.items()) if n
    }
