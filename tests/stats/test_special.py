"""Quantiles and tails against scipy's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import betainc

from relfast.stats import intervals as special

SHAPES = st.floats(0.5, 1e6)


@given(a=SHAPES, b=SHAPES, x=st.floats(0, 1))
@settings(max_examples=300, deadline=None)
def test_incomplete_beta(a: float, b: float, x: float) -> None:
    assert special.incomplete_beta(a, b, x) == pytest.approx(betainc(a, b, x), rel=1e-7, abs=1e-12)


@given(p=st.floats(0.001, 0.999), a=st.floats(0.5, 1e5), b=st.floats(0.5, 1e5))
@settings(max_examples=100, deadline=None)
def test_beta_quantile(p: float, a: float, b: float) -> None:
    assert special.beta_quantile(p, a, b) == pytest.approx(stats.beta.ppf(p, a, b), rel=1e-6)


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


@pytest.mark.parametrize("z", [-8.0, -1.0, 0.0, 0.5, 1.96, 30.0])
def test_normal(z: float) -> None:
    assert special.normal_cdf(z) == pytest.approx(stats.norm.cdf(z), rel=1e-12)
    assert special.normal_tails(z) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12)
    if abs(z) < 8:
        assert special.normal_quantile(special.normal_cdf(z)) == pytest.approx(z, abs=1e-9)


def test_ends() -> None:
    assert special.incomplete_beta(2, 3, 0.0) == 0
    assert special.incomplete_beta(2, 3, 1.0) == 1
    assert special.t_quantile(0.5, 3) == pytest.approx(0, abs=1e-7)
    assert special.t_quantile(0.975, 1e9) == pytest.approx(special.normal_quantile(0.975))
    assert special.binomial_tails(0, 2000) == pytest.approx(2.0**-1999, rel=1e-9, abs=0)
    assert math.isfinite(special.t_quantile(0.975, 1))
