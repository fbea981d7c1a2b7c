"""Intervals of clustered samples cover what they are of as often as they say.

By simulation with the tests' own seeds, and fresh ones under ``make fuzz``. Bounds are five standard errors of the
simulation below the level, and one point for what an approximation may lack.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from seeds import fresh, rounds

from relfast.stats.intervals import Interval, pass_at_k, share_interval
from relfast.stats.paired import Differences

LEVEL = 0.95
LACKING = 0.01


def generator(number: int) -> np.random.Generator:
    return np.random.default_rng(fresh(number).getrandbits(64))


def least(draws: int) -> float:
    return LEVEL - LACKING - 5 * math.sqrt(LEVEL * (1 - LEVEL) / draws)


def covers(interval: Interval | None, truth: float) -> bool:
    return interval is not None and interval.low <= truth <= interval.high


def histogram_of(right: NDArray[np.int64], samples: int) -> dict[tuple[int, int], int]:
    return {(samples, at): int(n) for at, n in enumerate(np.bincount(right)) if n}


WORLDS = [(15, 4, 0.5, 0.5), (40, 8, 2.0, 5.0), (40, 4, 0.3, 3.0), (200, 4, 0.5, 1.5), (200, 16, 8.0, 1.0)]
"""Prompts, samples of each, and the beta distribution of their difficulties."""


@pytest.mark.fuzz
@pytest.mark.parametrize("world", WORLDS)
def test_clustered_share_and_pass_at_k(world: tuple[int, int, float, float]) -> None:
    prompts, samples, a, b = world
    rng, draws = generator(51), rounds(16_000)
    hits = 0
    at = [k for k in (2, 4) if k <= samples]
    passed = dict.fromkeys(at, 0)
    for _ in range(draws):
        histogram = histogram_of(rng.binomial(samples, rng.beta(a, b, prompts)), samples)
        hits += covers(share_interval(histogram), a / (a + b))
        points = pass_at_k(histogram)
        for k in at:
            # E[1 − (1 − θ)^k] of a beta distribution
            truth = 1 - math.exp(
                math.lgamma(b + k) + math.lgamma(a + b) - math.lgamma(b) - math.lgamma(a + b + k)
            )
            passed[k] += covers(points[k].interval, truth)
    assert hits / draws >= least(draws)
    for k in at:
        assert passed[k] / draws >= least(draws), k
    assert hits / draws <= 0.99, "no wider than it need be"


@pytest.mark.fuzz
def test_prompts_with_different_numbers_of_samples() -> None:
    """Samples are lost at random: the share is then over samples, and still covered."""
    rng, draws, hits = generator(52), rounds(16_000), 0
    for _ in range(draws):
        sizes = rng.integers(1, 9, 60)
        right = rng.binomial(sizes, rng.beta(1, 2, 60))
        pairs, counts = np.unique(np.stack([sizes, right], 1), axis=0, return_counts=True)
        histogram = {(int(n), int(c)): int(count) for (n, c), count in zip(pairs, counts, strict=True)}
        hits += covers(share_interval(histogram), 1 / 3)
    assert least(draws) <= hits / draws <= 0.985


def clustered(
    rng: np.random.Generator, prompts: int, samples: int, shift: float, *, shares: bool
) -> Differences:
    """Two runs of the same prompts, the first better by ``shift`` on average but not on each."""
    base = rng.uniform(0.2, 0.6, prompts)
    theirs = base + rng.uniform(-0.2, 0.2, prompts)
    a = rng.binomial(1, (base + shift)[:, None], (prompts, samples))
    b = rng.binomial(1, theirs[:, None], (prompts, samples))
    if shares:
        # f1-like: many values
        a, b = a * rng.uniform(0.5, 1, a.shape), b * rng.uniform(0.5, 1, b.shape)
    ids = np.repeat(np.arange(prompts, dtype=np.uint64), samples)
    return Differences.of(ids, a.ravel().astype(float), b.ravel().astype(float))


@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("prompts", "samples", "shares"), [(15, 4, False), (60, 4, False), (60, 1, True), (15, 8, True)]
)
def test_difference_of_clustered_runs(prompts: int, samples: int, shares: bool) -> None:
    rng, draws = generator(55), rounds(16_000)
    truth = 0.1 * (0.75 if shares else 1)
    hits = sum(
        covers(clustered(rng, prompts, samples, 0.1, shares=shares).interval()[0], truth)
        for _ in range(draws)
    )
    assert least(draws) <= hits / draws <= 0.985


@pytest.mark.fuzz
@pytest.mark.parametrize(("prompts", "samples"), [(20, 4), (80, 1)])
def test_paired_bootstrap(prompts: int, samples: int) -> None:
    rng, draws = generator(56), rounds(8_000)
    hits = sum(
        covers(clustered(rng, prompts, samples, 0.1, shares=False).bootstrap(1000, at), 0.1)
        for at in range(draws)
    )
    assert least(draws) - LACKING <= hits / draws <= 0.99
