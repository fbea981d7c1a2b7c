"""Intervals of shares and paired differences against statsmodels and scipy; simulated, they cover what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from seeds import fresh, rounds
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

import relfast
from relfast.stats import intervals as special
from relfast.stats import paired
from relfast.stats.intervals import (
    Interval,
    clustered_mean,
    mean_interval,
    pass_at_k,
    share_interval,
    t_quantile,
    wilson,
)
from relfast.stats.paired import Differences, holm

LEVELS = st.sampled_from([0.5, 0.9, 0.95, 0.99])
HISTOGRAMS = st.dictionaries(
    st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    st.integers(1, 40),
    min_size=1,
    max_size=12,
)


@given(n=st.integers(1, 5000), level=LEVELS, data=st.data())
@settings(max_examples=200, deadline=None)
def test_against_statsmodels(n: int, level: float, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, n))
    theirs = proportion_confint(right, n, 1 - level, "wilson")
    assert wilson(right, n, level) == pytest.approx(theirs, rel=1e-9, abs=1e-12)


@pytest.mark.slow
@given(histogram=HISTOGRAMS, level=LEVELS)
@settings(max_examples=300, deadline=None)
def test_no_interval_leaves_where_the_number_can_be(
    histogram: dict[tuple[int, int], int], level: float
) -> None:
    mean, _ = clustered_mean(histogram)
    interval = share_interval(histogram, level)
    assert interval is not None
    assert mean is not None
    assert 0 <= interval.low <= mean <= interval.high <= 1
    assert interval.low < interval.high
    for value, _, (low, high) in pass_at_k(histogram, level).values():
        assert -1e-12 <= low <= value + 1e-12
        assert value - 1e-12 <= high <= 1


def test_one_prompt_one_sample_and_a_mean() -> None:
    assert share_interval({(1, 0): 30, (1, 1): 12}) == wilson(12, 42)
    low, high = share_interval({(8, 5): 1}) or (0, 0)
    # what one prompt says is what one sample says
    assert high - low > 0.7
    half = 0.5 * t_quantile(0.975, 9)
    assert mean_interval(3.0, 0.5, 10) == pytest.approx((3 - half, 3 + half))
    assert mean_interval(3.0, None, 1) is share_interval({}) is None
    with pytest.raises(relfast.UsageError, match="between 0 and 1"):
        wilson(1, 2, 95)


@given(p=st.floats(0.0005, 0.9995), freedom=st.floats(1, 1e6))
@settings(max_examples=200, deadline=None)
def test_student(p: float, freedom: float) -> None:
    assert special.t_quantile(p, freedom) == pytest.approx(stats.t.ppf(p, freedom), rel=1e-6, abs=1e-7)


@given(n=st.integers(1, 200_000), data=st.data())
@settings(max_examples=200, deadline=None)
def test_sign_test(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    # scipy gives 0 from 1e-299 down
    assert special.binomial_tails(k, n) == pytest.approx(stats.binomtest(k, n).pvalue, rel=1e-6, abs=1e-290)


# paired differences, against scipy and statsmodels


Samples = list[list[tuple[float, float]]]
"""Per prompt the values of both runs."""


def columns(prompts: Samples) -> tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.float64]]:
    flat = [(number, a, b) for number, group in enumerate(prompts) for a, b in group]
    ids, a, b = zip(*flat, strict=True)
    return np.array(ids, np.uint64), np.array(a, float), np.array(b, float)


def of(prompts: Samples) -> Differences:
    return Differences.of(*columns(prompts))


RIGHT = st.sampled_from([0.0, 1.0])
SHARES = st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 0.7, 1.0])


def samples(values: st.SearchStrategy[float], most: int, prompts: int) -> st.SearchStrategy[Samples]:
    pairs = st.lists(st.tuples(values, values), min_size=1, max_size=most)
    return st.lists(pairs, min_size=2, max_size=prompts)


@given(prompts=samples(SHARES, 5, 30))
@settings(max_examples=150, deadline=None)
def test_difference_error_against_statsmodels(prompts: Samples) -> None:
    """The cluster-robust covariance of a regression on a constant; its correction for few clusters is
    G / (G − 1) · (n − 1) / (n − 1)."""
    ids, a, b = columns(prompts)
    model = sm.OLS(a - b, np.ones(len(a))).fit(
        cov_type="cluster",
        cov_kwds={"groups": ids.astype(np.int64), "use_correction": True, "df_correction": True},
    )
    ours = of(prompts)
    assert ours.mean == pytest.approx(float(model.params[0]), abs=1e-9)
    assert ours.error is not None
    assert ours.error**2 == pytest.approx(float(model.bse[0]) ** 2, rel=1e-6, abs=1e-15)


@given(prompts=samples(RIGHT, 1, 60))
@settings(max_examples=100, deadline=None)
def test_bonett_price_written_out(prompts: Samples) -> None:
    """Bonett and Price 2012, eq. 8: one added to both kinds of discordant pairs."""
    _, a, b = columns(prompts)
    n, only_a, only_b = len(a), int((a > b).sum()), int((a < b).sum())
    first, second = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    half = stats.norm.ppf(0.975) * math.sqrt((first + second - (first - second) ** 2) / (n + 2))
    interval, method = of(prompts).interval()
    assert method == "bonett-price"
    expected = (max(-1, first - second - half), min(1, first - second + half))
    assert interval == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0, 0.25, 0.5, 1.0]])
def test_permutation_against_scipy(values: list[float]) -> None:
    rng = np.random.default_rng(5)
    for _ in range(12):
        prompts: Samples = [
            [(rng.choice(values), rng.choice(values)) for _ in range(rng.integers(1, 5))] for _ in range(9)
        ]
        ids, a, b = columns(prompts)
        sums = np.bincount(ids.astype(np.int64), a - b)
        ours, method = of(prompts).test()
        sides, how = (sums, np.zeros(len(sums))), {"permutation_type": "samples", "n_resamples": np.inf}
        theirs = stats.permutation_test(sides, lambda x, y: (x - y).sum(), **how)
        assert method == "permutation"
        assert ours == pytest.approx(theirs.pvalue, abs=1e-12)


def test_ways_to_permute_agree() -> None:
    """The listed, sampled and normal p of many prompts are about what the convolution gives exactly."""
    rng = np.random.default_rng(8)
    sums = rng.integers(-4, 6, 400)
    exact, method = Differences(np.full(400, 8), sums.astype(float), np.ones(400, np.int64), True).test()
    assert method == "permutation"
    values, counts = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    observed = abs(float(sums.sum()))
    draws = 99_999
    sampled = paired._sampled(values.astype(float), counts, observed - 1e-6, 0)
    assert sampled == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / draws) + 1 / draws)
    # halves: no integers, and far too many to list
    moved = Differences(np.full(400, 8), sums / 3, np.ones(400, np.int64), True)
    again, method = moved.test()
    assert method == "permutation-sampled"
    assert again == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / draws) + 1 / draws)
    fine = rng.normal(0.02, 1, 3000)
    p, method = Differences(np.ones(3000, np.int64), fine, np.ones(3000, np.int64), False).test()
    assert method == "permutation-normal"
    assert p == pytest.approx(stats.ttest_1samp(fine, 0).pvalue, abs=0.01)


def test_bootstrap_against_scipy() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.random(300), rng.random(300)
    ours = Differences.of(np.arange(300, dtype=np.uint64), a, b).bootstrap(20_000, 1)
    theirs = stats.bootstrap(
        (a - b,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.003)
    # prompt by prompt and as counts of cells
    many = Differences.of(np.arange(2000, dtype=np.uint64), rng.random(2000), rng.random(2000))
    alone, _ = many.interval()
    assert many.bootstrap(2_000, 3) == pytest.approx(alone, abs=0.004)


# few: statsmodels collects garbage in each call
@given(p=st.lists(st.floats(0, 1) | st.just(0.01), min_size=1, max_size=40))
@settings(max_examples=6, deadline=None)
def test_holm_against_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_nothing_differs() -> None:
    same = of([[(1.0, 1.0), (0.0, 0.0)]] * 20)
    assert same.test() == (1.0, "permutation")
    assert same.bootstrap(1000) is None
    interval, method = same.interval()
    assert method == "bonett-price"
    assert interval is not None
    assert interval.low == pytest.approx(-interval.high)
    assert 0 < interval.high < 0.35
    unbounded = of([[(7.0, 7.0)]] * 20)
    assert unbounded.interval() == (None, "student")
    assert of([[(1.0, 0.0)] * 5]).error is None


# by simulation, with the tests' own seeds and fresh ones under `make fuzz`; bounds are five standard errors of it below
# the level, and one point for what an approximation may lack


LEVEL = 0.95
LACKING = 0.01


def generator(number: int) -> np.random.Generator:
    return np.random.default_rng(fresh(number).getrandbits(64))


def least(draws: int) -> float:
    return LEVEL - LACKING - 5 * math.sqrt(LEVEL * (1 - LEVEL) / draws)


def covers(interval: Interval | None, truth: float) -> bool:
    return interval is not None and interval.low <= truth <= interval.high


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
        right = np.bincount(rng.binomial(samples, rng.beta(a, b, prompts)))
        histogram = {(samples, correct): int(n) for correct, n in enumerate(right) if n}
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
    runs = (clustered(rng, prompts, samples, 0.1, shares=shares) for _ in range(draws))
    hits = sum(covers(run.interval()[0], truth) for run in runs)
    assert least(draws) <= hits / draws <= 0.985


@pytest.mark.fuzz
@pytest.mark.parametrize(("prompts", "samples"), [(20, 4), (80, 1)])
def test_paired_bootstrap(prompts: int, samples: int) -> None:
    rng, draws = generator(56), rounds(8_000)
    runs = (clustered(rng, prompts, samples, 0.1, shares=False) for _ in range(draws))
    hits = sum(covers(run.bootstrap(1000, at), 0.1) for at, run in enumerate(runs))
    assert least(draws) - LACKING <= hits / draws <= 0.99
