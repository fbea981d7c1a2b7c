"""Intervals for shares and means that hold at small n and never leave where the number can be.

A share's interval is Wilson's score interval (Wilson 1927, doi:10.1080/01621459.1927.10502953). Samples of
one prompt are not independent: for them Wilson's formula is given the effective number of samples (Korn and
Graubard 1998; Franco et al. 2019, doi:10.1093/jssam/smy019), and Student's quantile instead of the normal
one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from relfast.stats.special import beta_quantile, normal_quantile, t_quantile

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


def jeffreys(right: float, n: float, level: float = LEVEL) -> Interval:
    """The equal-tailed interval of the posterior under Jeffreys' prior Beta(½, ½), with the ends opened to 0
    and 1 where nothing or everything is right (Brown, Cai and DasGupta 2001, doi:10.1214/ss/1009213286)."""
    tail = (1 - check_level(level)) / 2
    low = 0.0 if right <= 0 else beta_quantile(tail, right + 0.5, n - right + 0.5)
    high = 1.0 if right >= n else beta_quantile(1 - tail, right + 0.5, n - right + 0.5)
    return Interval(low, high)


def clopper_pearson(right: float, n: float, level: float = LEVEL) -> Interval:
    """The exact interval: it covers at least at its level whatever the share (Clopper and Pearson 1934,
    doi:10.1093/biomet/26.4.404)."""
    tail = (1 - check_level(level)) / 2
    low = 0.0 if right <= 0 else beta_quantile(tail, right, n - right + 1)
    high = 1.0 if right >= n else beta_quantile(1 - tail, right + 1, n - right)
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
