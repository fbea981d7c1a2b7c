"""Quantiles and tails of the normal, Student's, beta and binomial distributions, without scipy.

A summary is printed after every run, where importing scipy would take longer than scoring did.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

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
