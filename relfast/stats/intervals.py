"""Intervals for shares and means that hold at small n and never leave where the number can be.

A share's interval is Wilson's score interval (Wilson 1927, doi:10.1080/01621459.1927.10502953). Samples of
one prompt are not independent: for them Wilson's formula is given the effective number of samples (Korn and
Graubard 1998; Franco et al. 2019, doi:10.1093/jssam/smy019), and Student's quantile instead of the normal
one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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


def _solve(function: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where an increasing function reaches ``target``, by halving down to neighbouring doubles."""
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return middle
        if function(middle) < target:
            low = middle
        else:
            high = middle


@lru_cache(maxsize=4096)
def beta_quantile(p: float, a: float, b: float) -> float:
    """Where I_x(a, b) is ``p``."""
    return _solve(lambda x: incomplete_beta(a, b, x), p, 0.0, 1.0)


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
