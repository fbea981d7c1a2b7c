"""Intervals of shares against statsmodels, and that none leaves 0…1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from relfast.stats import intervals as special
from relfast.stats.intervals import (
    Interval,
    clustered_mean,
    effective_share_interval,
    mean_interval,
    pass_at_k,
    share_interval,
    t_quantile,
    wilson,
)

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
    alpha = 1 - level
    assert wilson(right, n, level) == pytest.approx(
        proportion_confint(right, n, alpha, "wilson"), rel=1e-9, abs=1e-12
    )


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


def test_one_sample_a_prompt_is_wilsons() -> None:
    assert share_interval({(1, 0): 30, (1, 1): 12}) == wilson(12, 42)


def test_samples_that_agree_count_as_one() -> None:
    """Ten samples of a prompt that always agree say no more than one; independent ones say ten times as much."""
    agreeing = share_interval({(10, 10): 40, (10, 0): 60})
    alone = effective_share_interval(0.4, 0.4 * 0.6 / 100, 100, 1000)
    assert agreeing == pytest.approx(alone)
    rng = np.random.default_rng(3)
    right, counts = np.unique(rng.binomial(10, 0.4, 1000), return_counts=True)
    apart = share_interval({(10, int(c)): int(n) for c, n in zip(right, counts, strict=True)})
    assert apart is not None
    assert apart.high - apart.low == pytest.approx(2 * 1.96 * math.sqrt(0.24 / 10_000), rel=0.08)


def test_pass_at_one_is_the_mean() -> None:
    """With as many samples everywhere pass@1 is the mean, and so is its interval."""
    histogram = {(4, 0): 20, (4, 1): 10, (4, 3): 15, (4, 4): 9}
    assert pass_at_k(histogram)[1].interval == pytest.approx(share_interval(histogram))


def test_a_mean() -> None:
    interval = mean_interval(3.0, 0.5, 10)
    assert interval == pytest.approx((3 - 0.5 * t_quantile(0.975, 9), 3 + 0.5 * t_quantile(0.975, 9)))
    assert mean_interval(3.0, None, 1) is None
    assert share_interval({}) is None
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson(1, 2, 95)


def test_one_prompt() -> None:
    interval = share_interval({(8, 5): 1})
    assert isinstance(interval, Interval)
    # what one prompt says is what one sample says
    assert interval.high - interval.low > 0.7


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
