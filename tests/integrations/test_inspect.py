"""Tasks and scorer inside inspect_ai, from ``eval`` to the log, and ``score`` on a log: ``make test-trainers``."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from contract_records import gold

import relfast
from relfast.errors import UsageError

pytestmark = [pytest.mark.trainers, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def inspect_ai() -> Iterator[Any]:
    yield pytest.importorskip("inspect_ai")
    gc.collect()  # its streams warn when they are collected, which should not be in another tool's test


def _model(texts: list[str]) -> Any:
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for output in outputs:
        output.usage = ModelUsage()  # or it is counted with a vocabulary from the net
    return get_model("mockllm/model", custom_outputs=outputs)


def _eval(inspect_ai: Any, task: Any, texts: list[str], tmp_path: Path) -> Any:
    (log,) = inspect_ai.eval(
        task, model=_model(texts), log_dir=str(tmp_path / "logs"), display="none", max_samples=1
    )
    assert log.status == "success", log.error
    return log


def _means(log: Any) -> dict[str, float]:
    return {score.name: score.metrics["mean"].value for score in log.results.scores}


def test_records_of_a_file_with_one_that_has_no_score(inspect_ai: Any, tmp_path: Path) -> None:
    from relfast.integrations.inspect import relfast_task

    pairs = [gold(task)[0] for task in ("REL-A1", "REL-B1", "REL-C1", "REL-C2", "SeqBench", "ReAlign")]
    records = [record for record, _ in pairs]
    texts = [response for _, response in pairs]
    texts[2] = "neither"
    records.append({"task": "REL-C2", "question": "q", "answer": {"smiles": 5}})
    texts.append("<smiles>CCO</smiles>")
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    log = _eval(inspect_ai, relfast_task(file=str(path), policy="strict"), texts, tmp_path)
    dumped = [{**record, "response": text} for record, text in zip(records, texts, strict=True)]
    rows = relfast.score(dumped, policy="strict", workers=0)
    known = [row for row in rows if row.correct is not None]
    assert len(known) == 6
    assert _means(log) == {
        "correct": pytest.approx(sum(bool(row.correct) for row in known) / 6),
        "reward": pytest.approx(sum(row.reward or 0.0 for row in known) / 6),
    }
    shown = [sample.scores["relfast_scorer"] for sample in log.samples]
    (lost,) = [score for score in shown if score.metadata["status"] == "invalid_record"]
    assert lost.value != lost.value
    assert log.results.scores[0].scored_samples == 6
    assert log.results.scores[0].unscored_samples == 1


def test_what_has_no_score_in_the_log_has_none_inside(inspect_ai: Any, tmp_path: Path) -> None:
    """A filtered response, and one that failed: `relfast score` of the log and the scorer give the same numbers."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from relfast.integrations.inspect import relfast_task

    record, right = gold("REL-C1")[0]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps({**record, "id": f"r{n}"}) + "\n" for n in range(4)), encoding="utf-8")
    ways: list[tuple[str, Any, str | None]] = [
        (right, "stop", None), ("neither", "stop", None), ("", "content_filter", None), ("", "stop", "429 Too Many Requests"),
    ]  # fmt: skip
    outputs = [
        ModelOutput.from_content("mockllm/model", text, stop_reason=why, error=e) for text, why, e in ways
    ]
    for output in outputs:
        output.usage = ModelUsage()
    (log,) = inspect_ai.eval(
        relfast_task(file=str(path)), model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(tmp_path / "logs"), display="none", max_samples=1,
    )  # fmt: skip
    summary = relfast.score_file(next((tmp_path / "logs").glob("*.eval")), tmp_path / "rows.jsonl", workers=0)
    of_log = summary.tasks["REL-C1"]
    assert _means(log) == {"correct": pytest.approx(of_log.mean), "reward": pytest.approx(of_log.mean_reward)}
    assert (
        (log.results.scores[0].scored_samples, log.results.scores[0].unscored_samples)
        == (of_log.scored, 2)
        == (2, 2)
    )
    messages = [sample.scores["relfast_scorer"].explanation for sample in log.samples]
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()]
    assert messages[2:] == [row["error"]["message"] for row in rows[2:]]


def test_new_problems_and_a_log_scored_again(inspect_ai: Any, tmp_path: Path) -> None:
    from relfast.integrations.inspect import relfast_scorer, relfast_task

    task = relfast_task(benchmark="REL-C2", n=4, seed=2)
    texts = [
        f"<think><smiles>{sample.metadata['answer']['smiles']}</smiles></think>" for sample in task.dataset
    ]
    log = _eval(inspect_ai, task, texts, tmp_path)
    assert _means(log)["correct"] == 1.0  # as published
    again = inspect_ai.score(log, relfast_scorer(policy="strict"), action="overwrite", display="none")
    assert _means(again)["correct"] == 0.0


def test_what_to_ask_must_be_said(inspect_ai: Any) -> None:
    from relfast.integrations.inspect import relfast_task

    for given in ({}, {"file": "x", "benchmark": "REL-C2"}):
        with pytest.raises(UsageError, match="say file=PATH or benchmark=TASK"):
            relfast_task(**given)
