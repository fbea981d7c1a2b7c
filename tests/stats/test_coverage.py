"""Intervals cover what they are of as often as they say, and tests reject what is true as seldom.

By simulation with the tests' own seeds (fresh ones and four times as many draws under ``make fuzz``), by counting
out all outcomes where there are few. Bounds are five standard errors of the simulation below the level, and one
point for what an approximation may lack.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from seeds import fresh, rounds

from relfast.stats.intervals import Interval, pass_at_k, share_interval, wilson
from relfast.stats.paired import Differences

LEVEL = 0.95
LACKING = 0.01


def generator(number: int) -> np.random.Generator:
    return np.random.default_rng(fresh(number).getrandbits(64))


def least(draws: int) -> float:
    return LEVEL - LACKING - 5 * math.sqrt(LEVEL * (1 - LEVEL) / draws)


def covers(interval: Interval | None, truth: float) -> bool:
    return interval is not None and interval.low <= truth <= interval.high


def covered(make: Callable[[float, float], Interval], n: int, share: float) -> float:
    """The exact probability that the interval of a binomial share holds it."""
    weights = stats.binom.pmf(np.arange(n + 1), n, share)
    return float(sum(weight for right, weight in enumerate(weights) if covers(make(right, n), share)))


@pytest.mark.parametrize("n", [5, 20, 100])
def test_binomial(n: int) -> None:
    """All shares: Wilson's covers on average, and by 0.83 at the worst (Brown, Cai and DasGupta 2001)."""
    found = [covered(wilson, n, share) for share in np.linspace(0.001, 0.999, 199)]
    assert LEVEL - 0.012 <= np.mean(found) <= LEVEL + 0.025
    assert min(found) >= 0.82


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


@pytest.mark.fuzz
def test_majority() -> None:
    """maj@5 of two possible answers: right where three samples or more are."""
    rng, draws, hits = generator(53), rounds(16_000), 0
    a, b, samples, prompts = 1.0, 1.5, 5, 50
    truth = float(stats.betabinom.sf(2, samples, a, b))
    for _ in range(draws):
        right = rng.binomial(samples, rng.beta(a, b, prompts)) >= 3
        hits += covers(wilson(float(right.sum()), prompts), truth)
    assert hits / draws >= least(draws)


def singles(rng: np.random.Generator, prompts: int, only_a: float, only_b: float) -> Differences:
    ties, wins, losses = rng.multinomial(prompts, [1 - only_a - only_b, only_a, only_b])
    counts = np.array([losses, ties, wins])
    kept = counts > 0
    return Differences(
        np.ones(int(kept.sum()), np.int64),
        np.array([-1.0, 0.0, 1.0])[kept],
        counts[kept].astype(np.int64),
        True,
    )


@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("prompts", "only_a", "only_b"),
    [(20, 0.1, 0.1), (20, 0.4, 0.05), (50, 0.02, 0.02), (50, 0.3, 0.2), (400, 0.05, 0.01), (400, 0.2, 0.2)],
)
def test_difference_of_paired_shares(prompts: int, only_a: float, only_b: float) -> None:
    rng, draws = generator(54), rounds(32_000)
    hits = sum(
        covers(singles(rng, prompts, only_a, only_b).interval()[0], only_a - only_b) for _ in range(draws)
    )
    assert hits / draws >= least(draws)


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


@pytest.mark.fuzz
@pytest.mark.parametrize(("prompts", "samples", "shares"), [(12, 1, False), (40, 4, False), (14, 2, True)])
def test_p_under_no_difference(prompts: int, samples: int, shares: bool) -> None:
    """Exact tests reject no more often than they say, and with many outcomes about as often."""
    rng, draws = generator(57), rounds(8_000 if not shares else 1_600)
    p = [clustered(rng, prompts, samples, 0.0, shares=shares).test(at)[0] for at in range(draws)]
    for level in (0.05, 0.2):
        share = float(np.mean(np.array(p) <= level))
        noise = 5 * math.sqrt(level * (1 - level) / draws)
        assert share <= level + noise
        if samples > 1:
            assert share >= level / 2 - noise


def test_pass_at_k_truth() -> None:
    """What the simulation above takes for the truth is what the estimate is unbiased for."""
    rng = generator(58)
    a, b, samples = 0.5, 1.5, 8
    histogram = histogram_of(rng.binomial(samples, rng.beta(a, b, 200_000)), samples)
    truth = 1 - math.exp(math.lgamma(b + 4) + math.lgamma(a + b) - math.lgamma(b) - math.lgamma(a + b + 4))
    assert pass_at_k(histogram)[4].value == pytest.approx(truth, abs=0.005)
