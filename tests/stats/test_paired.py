"""Paired differences against scipy and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from relfast.stats import paired
from relfast.stats.paired import Differences, holm

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
def test_clustered_error_against_statsmodels(prompts: Samples) -> None:
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
@settings(max_examples=150, deadline=None)
def test_mcnemar_against_statsmodels(prompts: Samples) -> None:
    _, a, b = columns(prompts)
    table = [[int(((a == i) & (b == j)).sum()) for j in (1, 0)] for i in (1, 0)]
    p, method = of(prompts).test()
    assert method == "mcnemar"
    assert p == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-9)


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
    assert interval is not None
    assert interval.low <= of(prompts).mean <= interval.high


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
        theirs = stats.permutation_test(
            (sums, np.zeros(len(sums))),
            lambda x, y: (x - y).sum(),
            permutation_type="samples",
            n_resamples=np.inf,
        )
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


def test_a_million_prompts_take_no_longer() -> None:
    """Cells are counted, so that a histogram of a million prompts is tested like one of a hundred."""
    cells = Differences(
        np.array([1, 1, 1]), np.array([-1.0, 0.0, 1.0]), np.array([100_000, 799_000, 101_000]), True
    )
    p, method = cells.test()
    assert method == "mcnemar"
    assert p == pytest.approx(stats.binomtest(101_000, 201_000).pvalue, rel=1e-6)
    drawn, (closed, _) = cells.bootstrap(5_000), cells.interval()
    assert drawn == pytest.approx(closed, abs=3e-5)


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
