"""The Python face: functions, `ScoreBatch`, public names."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_runs import write_dump

import relfast

PUBLIC = [
    "Comparison", "InputError", "MissingExtraError", "OutputError", "RelfastError", "ResumeMismatchError", "Score", "ScoreBatch", "Scorer", "Summary",
    "UnknownTaskError", "UnscoredError", "UsageError", "WorkerError", "__version__", "areward", "ascore", "compare", "evaluate_response", "read_rows", "same_answer", "score", "score_batch", "score_file",
]  # fmt: skip

GOOD = {"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4"}


def test_public_names() -> None:
    assert sorted(relfast.__all__) == PUBLIC
    assert set(PUBLIC) <= set(dir(relfast))
    for name in PUBLIC:
        assert name == "__version__" or inspect.getdoc(getattr(relfast, name)), name
    with pytest.raises(AttributeError, match="module 'relfast' has no attribute 'nothing'"):
        relfast.nothing  # noqa: B018 -- asking is the test


def test_evaluate_response_is_the_published_dict() -> None:
    """An example of the benchmark's own description; `tests/tasks/test_rel_parity.py` has all published ones."""
    for more in ({}, {"n_attr": 5, "n_return": 2}):
        flat = relfast.evaluate_response("", {"target": 0}, "Answer 1", "REL-A1", **more)
        assert flat == {"correct": True, "pred": 0, "gold": 0}


@pytest.mark.parametrize(
    ("answer", "task", "error"),
    [
        ({"foo": 1}, None, "Could not infer task from answer structure"),
        (None, None, "Could not infer task from answer structure"),
        ({"target": 1}, "REL-Z1", "Unknown task: REL-Z1"),
        ({"target": 1}, " REL-A1", "Unknown task:  REL-A1"),
    ],
)
def test_evaluate_response_without_a_task(answer: Any, task: str | None, error: str) -> None:
    assert relfast.evaluate_response("", answer, "1", task) == {"error": error, "correct": False}


def test_score() -> None:
    scores = relfast.score(iter([GOOD, {**GOOD, "response": "1"}]))
    assert [score.correct for score in scores] == [True, False]
    row = {
        "index": 0, "id": "a", "task": "REL-A1", "sample": 0, "status": "ok", "correct": True, "reward": 1.0, "metrics": {}, "error": None,
    }  # fmt: skip
    assert [*scores[0].to_row().items()] == [*row.items()]
    assert relfast.score([]) == []


ANSWERS = [
    {"target": 3},
    {"missing_smiles": ["C", "N"]},
    {"target": "x"},
    {"label": "yes", "taxa": [3]},
    {"foo": 1},
]
RESPONSES = ["Answer 4", "<smiles>C</smiles>", "1", "", "1"]


def test_score_batch() -> None:
    batch = relfast.score_batch(None, ANSWERS, RESPONSES, policy="strict")
    assert batch.correct.dtype == np.float64
    assert np.array_equal(batch.correct, [1, 0, np.nan, 0, np.nan], equal_nan=True)
    assert np.nanmean(batch.correct) == pytest.approx(1 / 3)  # failures are in no mean
    assert batch.reward.dtype == np.float64
    assert batch.reward[:2].tolist() == [1.0, pytest.approx(2 / 3)]
    assert [math.isnan(value) for value in batch.reward] == [False, False, True, False, True]
    assert list(batch.status) == ["ok", "ok", "invalid_record", "no_answer", "invalid_record"]
    assert all(len(column) == 5 for column in batch.metrics.values())
    assert np.array_equal(batch.metrics["f1"], [np.nan, 2 / 3, np.nan, 0, np.nan], equal_nan=True)
    assert batch.metrics["reason"].tolist() == [None, None, None, "empty", None]
    assert [row["index"] for row in batch.to_dicts()] == list(range(5))
    assert [row["correct"] for row in batch.to_dicts()] == [True, False, None, False, None]
    assert batch[4].error == {"type": "UnknownTask", "message": "task cannot be inferred from answer"}


def test_lengths_of_a_batch() -> None:
    with pytest.raises(
        relfast.UsageError, match="lengths differ: 2 tasks, 1 answers, 2 responses, 2 questions"
    ):
        relfast.score_batch("REL-A1", [{"target": 1}], ["1", "2"])
    with pytest.raises(relfast.UsageError, match="3 questions"):
        relfast.score_batch("REL-A1", [{"target": 1}], ["1"], questions=["a", "b", "c"])
    empty = relfast.score_batch("REL-A1", [], [])
    assert (len(empty), empty.correct.dtype, empty.to_arrow().num_rows) == (0, np.float64, 0)


def test_to_arrow() -> None:
    import pyarrow

    batch = relfast.score_batch(None, ANSWERS, RESPONSES, policy="strict")
    table = batch.to_arrow()
    assert isinstance(table, pyarrow.Table)
    assert table["status"].to_pylist() == batch.status.tolist()
    assert table["correct"].to_pylist() == [True, False, None, False, None]
    assert table["metrics.f1"].to_pylist() == [None, pytest.approx(2 / 3), None, 0, None]
    assert table["metrics.reason"].to_pylist() == [None, None, None, "empty", None]
    # golds of several tasks are of several kinds
    answers = {"target": 3}, {"label": "Yes"}, {"missing_smiles": ["CC"]}
    mixed = relfast.score_batch(None, answers, ["1", "<Yes>", ""], details=True).to_arrow()
    assert mixed["metrics.gold"].to_pylist() == ["3", '"Yes"', '["CC"]']


def test_progress_of_a_file(tmp_path: Path) -> None:
    dump, calls = write_dump(tmp_path / "dump.jsonl", [GOOD]), []
    summary = relfast.score_file(dump, workers=0, progress=calls.append)
    assert (summary.output, summary.rows, calls[-1].rows) == (f"{dump}.scored.jsonl", 1, 1)


def test_errors_are_one_tree() -> None:
    for name in PUBLIC:
        value = getattr(relfast, name)
        if name.endswith("Error"):
            assert issubclass(value, relfast.RelfastError)
    assert str(relfast.InputError("bad", file="a.jsonl", line=3, field="id")) == "a.jsonl:3: bad (field 'id')"
    assert (
        str(relfast.MissingExtraError("reading .zst", "zstd"))
        == "reading .zst needs an optional package: pip install '.[zstd]' in a clone of relfast, or pip install 'zstandard>=0.22'"
    )
    assert relfast.OutputError("o", "full").path == "o"
