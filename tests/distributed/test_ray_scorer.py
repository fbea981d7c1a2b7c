"""`RayScorer` on tables, without a cluster."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from engine_runs import honest

import relfast
from relfast.distributed import RayScorer
from relfast.errors import UsageError


def records(n: int = 40) -> list[dict[str, Any]]:
    broken = [{**record, "answer": None} for record in honest(2, 9)]
    return [*honest(n, 5), *broken]


def as_numpy(rows: list[dict[str, Any]]) -> dict[str, Any]:
    batch: dict[str, Any] = {}
    for name in rows[0]:
        batch[name] = np.empty(len(rows), object)
        batch[name][:] = [row[name] for row in rows]
    return batch


MAKE = {"numpy": as_numpy, "pandas": pandas.DataFrame, "arrow": pyarrow.Table.from_pylist}


def column(batch: Any, name: str) -> list[Any]:
    values = batch[name]
    return list(values.to_pylist() if hasattr(values, "to_pylist") else values)


@pytest.mark.parametrize("kind", MAKE)
def test_a_batch_comes_back_with_its_scores(kind: str) -> None:
    rows = records()
    batch = MAKE[kind](rows)
    scorer = pickle.loads(pickle.dumps(RayScorer(policy="reference")))
    try:
        given = scorer(batch)
    finally:
        scorer.close()
    assert type(given) is type(batch)
    expected = relfast.score(rows)
    assert column(given, "response") == [row["response"] for row in rows]
    assert column(given, "status") == [score.status for score in expected]
    assert column(given, "correct") == [score.correct for score in expected]
    rewards = [np.nan if score.reward is None else score.reward for score in expected]
    np.testing.assert_array_equal(np.array(column(given, "reward"), float), rewards)
    assert [json.loads(text) for text in column(given, "metrics")] == [dict(s.metrics) for s in expected]
    assert {"ok", "invalid_record"} <= set(column(given, "status"))


def test_what_cannot_be_used_is_said() -> None:
    with pytest.raises(UsageError, match="policy"):
        RayScorer(policy="lenient")  # type: ignore[arg-type]
    scorer = RayScorer(workers=0)
    with pytest.raises(UsageError, match="'reward' already: choose a prefix"):
        scorer({"task": ["REL-C2"], "reward": [1.0]})
    with pytest.raises(UsageError, match="not list"):
        scorer([{"task": "REL-C2"}])
    row = honest(1)[0]
    with pytest.raises(UsageError, match="row 0 has several samples"):
        scorer({name: [value] if name != "response" else [["a", "b"]] for name, value in row.items()})
    prefixed = RayScorer(workers=0, prefix="rel_")({**{k: [v] for k, v in row.items()}, "reward": [1.0]})
    assert list(prefixed["rel_status"]) == ["ok"]


def test_an_empty_batch() -> None:
    given = RayScorer(workers=0)(pyarrow.table({"task": pyarrow.array([], pyarrow.string())}))
    assert given.num_rows == 0
    assert given.column_names == ["task", "status", "correct", "reward", "metrics", "error"]
