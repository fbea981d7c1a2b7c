"""Intervals of shares and paired differences against statsmodels and scipy; simulated, they cover what they say."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

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
from relfast.stats.intervals import (
    Interval,
    clustered_mean,
    mean_interval,
    pass_at_k,
    share_interval,
    t_quantile,
    wilson,
)
from relfast.stats.paired import FEW_CHANGED, Differences, holm

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


@given(t=st.floats(0, 9), freedom=st.floats(1, 1e8))
@settings(max_examples=200, deadline=None)
def test_student_tails(t: float, freedom: float) -> None:
    assert special.t_tails(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-4, abs=1e-15)


# paired differences, against scipy and statsmodels


Values = list[tuple[float, float]]
"""Per prompt the values of both runs."""


def of(prompts: Values) -> Differences:
    a, b = np.array(prompts, float).T
    return Differences.of(a, b)


def pairs(values: st.SearchStrategy[float], most: int = 60) -> st.SearchStrategy[Values]:
    return st.lists(st.tuples(values, values), min_size=2, max_size=most)


RIGHT = st.sampled_from([0.0, 1.0])
SHARES = st.sampled_from([0.0, 0.125, 1 / 3, 0.5, 0.7, 1.0])
COUNTS = st.sampled_from([0.0, 1.0, 2.5, 7.0])


@given(prompts=st.integers(2, 30), samples=st.integers(1, 5), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_error_against_statsmodels(prompts: int, samples: int, seed: int) -> None:
    """The cluster-robust covariance of a regression of all samples' differences on a constant; its correction for few
    clusters is G / (G − 1) · (n − 1) / (n − 1)."""
    rng = np.random.default_rng(seed)
    a, b = rng.choice([0, 0.25, 1], (2, prompts, samples))
    model = sm.OLS((a - b).ravel(), np.ones(a.size)).fit(
        cov_type="cluster",
        cov_kwds={
            "groups": np.repeat(np.arange(prompts), samples),
            "use_correction": True,
            "df_correction": True,
        },
    )
    ours = Differences.of(a.mean(1), b.mean(1))
    assert ours.mean == pytest.approx(float(model.params[0]), abs=1e-9)
    assert ours.error is not None
    assert ours.error**2 == pytest.approx(float(model.bse[0]) ** 2, rel=1e-6, abs=1e-15)


@given(prompts=pairs(RIGHT))
@settings(max_examples=100, deadline=None)
def test_bonett_price_written_out(prompts: Values) -> None:
    """Bonett and Price 2012, eq. 8: one added to both kinds of discordant pairs."""
    a, b = np.array(prompts).T
    n, only_a, only_b = len(a), int((a > b).sum()), int((a < b).sum())
    first, second = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    error = math.sqrt((first + second - (first - second) ** 2) / (n + 2))
    half = stats.norm.ppf(0.975) * error
    interval, p, method = of(prompts).tested()
    assert method == "bonett-price"
    expected = (max(-1, first - second - half), min(1, first - second + half))
    assert interval == pytest.approx(expected, abs=1e-12)
    assert p == pytest.approx(2 * stats.norm.sf(abs(first - second) / error), abs=1e-12)


@given(prompts=pairs(COUNTS) | st.lists(st.tuples(SHARES, SHARES.map(lambda x: x / 3 + 0.01)), min_size=20))
@settings(max_examples=100, deadline=None)
def test_student_against_scipy(prompts: Values) -> None:
    """Of counts, and of shares where enough prompts differ."""
    a, b = np.array(prompts).T
    run = of(prompts)
    tested = run.tested()
    narrow = len(run.values) > 1 and (run.changed >= FEW_CHANGED or not run.bounded)
    if narrow and tested.method == "student" and tested.p is not None:
        theirs = stats.ttest_rel(a, b)
        assert tested.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-9)
        assert tested.interval == pytest.approx(np.clip(theirs.confidence_interval(0.95), -99, 99), abs=1e-9)


@given(
    prompts=pairs(RIGHT) | pairs(SHARES) | pairs(COUNTS) | pairs(st.floats(-3, 3)) | pairs(RIGHT | SHARES, 9),
    level=LEVELS,
    draws=st.sampled_from([None, 1000]),
)
@settings(max_examples=400, deadline=None)
def test_p_and_interval_say_the_same(prompts: Values, level: float, draws: int | None) -> None:
    run = of(prompts)
    tested = run.tested(level) if draws is None else run.bootstrap(draws, 1, level)
    if tested is None:
        return
    assert (tested.interval is None) == (tested.p is None)
    if tested.interval is not None and tested.p is not None and abs(tested.p - (1 - level)) > 1e-9:
        assert (tested.p < 1 - level) == (not tested.interval.low <= 0 <= tested.interval.high)


def test_widening_fades() -> None:
    """One more prompt that differs never makes the interval jump."""
    n, widths = 60, []
    for changed in range(16):
        values = [(0.5, 0.25)] * (changed // 2) + [(0.25, 0.5)] * (changed - changed // 2)
        low, high = of(values + [(0.5, 0.5)] * (n - changed)).tested().interval or (0, 0)
        widths.append(high - low)
    assert all(abs(one - other) < 0.02 for one, other in itertools.pairwise(widths)), widths


def test_bootstrap_against_scipy() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.random(300), rng.random(300)
    ours = Differences.of(a, b).bootstrap(20_000, 1)
    assert ours is not None
    theirs = stats.bootstrap(
        (a - b,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert ours.interval == pytest.approx((theirs.low, theirs.high), abs=0.003)
    # prompt by prompt and as counts of equal differences
    many = Differences.of(rng.random(2000), rng.random(2000))
    drawn, alone = many.bootstrap(2_000, 3), many.tested()
    assert drawn is not None
    assert drawn.interval == pytest.approx(alone.interval, abs=0.004)
    assert drawn.p == pytest.approx(alone.p, abs=0.05)


# few: statsmodels collects garbage in each call
@given(p=st.lists(st.floats(0, 1) | st.just(0.01), min_size=1, max_size=40))
@settings(max_examples=6, deadline=None)
def test_holm_against_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist())
    assert holm([None, *p, None])[1:-1] == holm(p)


def test_nothing_differs() -> None:
    same = of([(0.5, 0.5)] * 20)
    assert same.bootstrap(1000) is None
    interval, p, method = same.tested()
    assert method == "bonett-price"
    assert p == 1
    assert interval is not None
    assert interval.low == pytest.approx(-interval.high)
    assert 0 < interval.high < 0.35
    assert of([(7.0, 7.0)] * 20).tested() == (None, None, "student")
    assert of([(0.75, 0.5)]).tested() == (None, None, "student")
    assert of([(1.0, 0.0)]).error is None


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
    a = rng.binomial(1, (base + shift)[:, None], (prompts, samples)).astype(float)
    b = rng.binomial(1, theirs[:, None], (prompts, samples)).astype(float)
    if shares:
        # f1-like: many values
        a, b = a * rng.uniform(0.5, 1, a.shape), b * rng.uniform(0.5, 1, b.shape)
    return Differences.of(a.mean(1), b.mean(1))


@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("prompts", "samples", "shares"), [(15, 4, False), (60, 4, False), (60, 1, True), (15, 8, True)]
)
def test_difference_of_clustered_runs(prompts: int, samples: int, shares: bool) -> None:
    rng, draws = generator(55), rounds(16_000)
    truth = 0.1 * (0.75 if shares else 1)
    runs = (clustered(rng, prompts, samples, 0.1, shares=shares) for _ in range(draws))
    hits = sum(covers(run.tested().interval, truth) for run in runs)
    assert least(draws) <= hits / draws <= 0.985


def beta(a: float, b: float) -> Callable[[np.random.Generator, int], NDArray[np.float64]]:
    return lambda rng, n: rng.beta(a, b, n)


SAME: dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "all of one difficulty": lambda rng, n: np.full(n, 0.5),
    "most always right": lambda rng, n: np.full(n, 0.9),
    "most always right or always wrong": beta(0.2, 0.2),
    "all kinds": beta(1, 1),
}
"""Difficulties of prompts for two runs that do not differ."""


@pytest.mark.fuzz
@pytest.mark.parametrize("prompts", [5, 7, 20, 100])
@pytest.mark.parametrize("samples", [1, 2, 8])
@pytest.mark.parametrize("world", SAME)
def test_level_of_the_test(
    world: str, samples: int, prompts: int, record_property: Callable[[str, object], None]
) -> None:
    """Two runs that do not differ are called different in no more than 5 % of cases, for p under 0.05."""
    rng, draws = generator(57), rounds(2_000)
    found = 0
    for _ in range(draws):
        chance = SAME[world](rng, prompts)
        a, b = (rng.binomial(samples, chance) / samples for _ in range(2))
        p = Differences.of(a, b).tested().p
        found += p is not None and p < 1 - LEVEL
    record_property("level", found / draws)
    print(f"level {found / draws:.4f}: {prompts} prompts, {samples} samples, {world}")
    assert found / draws <= 1 - least(draws)


@pytest.mark.fuzz
@pytest.mark.parametrize(("prompts", "samples"), [(20, 4), (80, 1)])
def test_paired_bootstrap(prompts: int, samples: int) -> None:
    rng, draws = generator(56), rounds(8_000)
    runs = (clustered(rng, prompts, samples, 0.1, shares=False) for _ in range(draws))
    drawn = [run.bootstrap(1000, at) for at, run in enumerate(runs)]
    hits = sum(tested is not None and covers(tested.interval, 0.1) for tested in drawn)
    assert least(draws) - LACKING <= hits / draws <= 0.99
