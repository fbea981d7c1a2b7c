"""L0 from simulated outcomes, its interval, and the aggregates."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from relfast.tasks.seqbench.l0 import CHI2_95, aggregate, fit_l0

L0S = [2, 5, 10, 20, 40.2, 85.7, 150, 200]


def simulate(l0: float, n: int, seed: int) -> tuple[Any, Any]:
    """Depths as the dataset spreads them (3 up to a few L0, at least 60), outcomes by the law."""
    rng = np.random.default_rng(seed)
    depths = rng.integers(3, max(60, int(3 * l0)), n)
    return depths, rng.random(n) < np.exp(-depths / l0)


@pytest.mark.parametrize("l0", L0S)
def test_recovered_within_its_interval(l0: float) -> None:
    """95 of 100 intervals hold the truth; fewer than 85 have a chance of 1 in 10,000."""
    inside = 0
    for seed in range(100):
        fit = fit_l0(*simulate(l0, 600, seed))
        assert fit.low < fit.l0 < fit.high
        inside += fit.low <= l0 <= fit.high
    assert 85 <= inside <= 100
    large = fit_l0(*simulate(l0, 40_000, 7))
    assert large.l0 == pytest.approx(l0, rel=0.1)
    assert large.least_squares == pytest.approx(l0, rel=0.1)
    assert large.high / large.low < 1.3


def log_likelihood(l0: float, depths: Any, solved: Any) -> float:
    p = np.exp(-np.asarray(depths) / l0)
    return float(np.where(solved, np.log(p), np.log1p(-p)).sum())


@pytest.mark.parametrize("l0", [3.0, 40.0])
def test_maximum_and_interval_by_another_optimizer(l0: float) -> None:
    depths, solved = simulate(l0, 400, 3)
    fit = fit_l0(depths, solved)
    best = minimize_scalar(
        lambda x: -log_likelihood(math.exp(x), depths, solved), bounds=(-1, 9), method="bounded",
        options={"xatol": 1e-9},
    )  # fmt: skip
    assert fit.l0 == pytest.approx(math.exp(best.x), rel=1e-5)
    for edge in (fit.low, fit.high):
        drop = 2 * (log_likelihood(fit.l0, depths, solved) - log_likelihood(edge, depths, solved))
        assert drop == pytest.approx(CHI2_95, abs=1e-6)


def test_least_squares_by_another_optimizer() -> None:
    depths, solved = simulate(30, 3_000, 5)
    bins = depths // 5
    rates = [(depths[bins == b].mean(), solved[bins == b].mean()) for b in np.unique(bins)]
    best = minimize_scalar(
        lambda x: sum((rate - math.exp(-depth / x)) ** 2 for depth, rate in rates), bounds=(1, 300),
        method="bounded", options={"xatol": 1e-9},
    )  # fmt: skip
    assert fit_l0(depths, solved).least_squares == pytest.approx(best.x, rel=1e-4)


def test_all_or_nothing() -> None:
    perfect = fit_l0([10, 20], [True, True])
    assert perfect.l0 == perfect.high == math.inf
    assert perfect.low == pytest.approx(30 / (CHI2_95 / 2))
    hopeless = fit_l0([10, 20], [False, False])
    assert hopeless.l0 == hopeless.low == 0
    assert 0 < hopeless.high < math.inf
    assert perfect.to_dict()["l0"] is None
    assert hopeless.to_dict()["least_squares"] is None
    json.dumps([perfect.to_dict(), hopeless.to_dict()], allow_nan=False)


@given(st.lists(st.tuples(st.integers(1, 800), st.booleans()), min_size=1, max_size=40))
def test_any_outcomes(outcomes: list[tuple[int, bool]]) -> None:
    depths, solved = zip(*outcomes, strict=True)
    fit = fit_l0(depths, solved)
    assert 0 <= fit.low <= fit.l0 <= fit.high
    assert (fit.n, fit.n_correct) == (len(outcomes), sum(solved))
    assert fit == fit_l0(depths[::-1], solved[::-1]) or fit.l0 == pytest.approx(
        fit_l0(depths[::-1], solved[::-1]).l0
    )


@pytest.mark.parametrize(
    ("depths", "solved", "message"),
    [([], [], "no outcomes"), ([1], [1, 0], "differ"), ([0], [1], "positive"), ([math.nan], [1], "positive")],
)
def test_what_cannot_be_fitted(depths: list[float], solved: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_l0(depths, solved)


def test_aggregates() -> None:
    tables = aggregate(
        {"3/0/0.0": [1, 1, 1.0], "4/0/0.2": [1, 0, 0.5], "12/1/0.0": [1, 0, 0.25], "14/1/0.0": [1, 1, 1.0],
         "/1/": [1, 1, 1.0]}
    )  # fmt: skip
    assert tables["by_L"] == {
        "0-4": {"n": 2, "pass_at_1": 0.5, "progress_ratio": 0.75},
        "10-14": {"n": 2, "pass_at_1": 0.5, "progress_ratio": 0.625},
    }
    assert tables["by_B"]["1"] == {"n": 3, "pass_at_1": pytest.approx(2 / 3), "progress_ratio": 0.75}
    assert set(tables["by_N"]) == {"0.0", "0.2"}
    assert tables["l0"] == fit_l0([3, 4, 12, 14], [1, 0, 0, 1]).to_dict()
    assert set(tables["l0_by_B_N"]) == {"B=0,N=0.0", "B=0,N=0.2", "B=1,N=0.0"}
    assert tables["l0_by_B_N"]["B=1,N=0.0"] == fit_l0([12, 14], [0, 1]).to_dict()
    json.dumps(tables, allow_nan=False)


def test_counted_outcomes_are_outcomes() -> None:
    depths, solved = simulate(20, 500, 1)
    unique = np.unique(depths)
    right = [int(solved[depths == depth].sum()) for depth in unique]
    tried = [int((depths == depth).sum()) for depth in unique]
    counted, single = fit_l0(unique, right, tried), fit_l0(depths, solved)
    assert counted.to_dict() == pytest.approx(single.to_dict())
    with pytest.raises(ValueError, match="more problems"):
        fit_l0([1], [2], [1])


def test_aggregates_of_nothing() -> None:
    assert aggregate({}) == {"by_L": {}, "by_B": {}, "by_N": {}, "l0": None, "l0_by_B_N": {}}
    assert aggregate({"//": [1, 1, 1.0]})["l0"] is None
