"""Corners of the published scorers where ours once differed, by every way in that computes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import relfast
from relfast.rewards.verl import make_compute_score


class Corner(NamedTuple):
    task: str
    answer: dict[str, Any]
    response: str
    correct: bool
    reward: float
    metrics: dict[str, Any]


FACTS = "Room A1 and B1 are connected by an open door. Bob is in room A1. Alice is in room B1."
PLAN = {"actions": ["start: A1", "move_to: B1", "rescue: Alice"]}
EXACT = {"exact_match": True, "valid": True, "n_actions": 3}
UNDEFINED = {"precision": -1, "recall": -1, "f1": -1}

CORNERS = [
    Corner("REL-B1", {"label": "yes", "taxa": ["A", "a", 1]}, "yes 1", True, 1.0, {"recall": 0.5, "f1": 2 / 3}),
    Corner("REL-B1", {"label": "no", "taxa": None}, "no", True, 1.0, UNDEFINED),
    Corner("REL-B1", {"label": "no", "taxa": 3}, "no 3", False, 0.0, UNDEFINED),
    Corner("REL-B1", {"label": "yes", "taxa": None}, "no", False, 0.0, UNDEFINED),
    Corner("REL-C2", {"smiles": "CC"}, "<smiles>CC\ud800</smiles>", False, 0.0, {"overlap_metric": 0.0}),
    Corner(
        "REL-C3", {"missing_smiles": ["CC"]}, "<smiles>CC</smiles><smiles>\ud800</smiles>", False, 2 / 3, {"tp": 1, "fp": 1, "fn": 0}
    ),
    Corner("SeqBench", PLAN, "[[('start', 'A1'), ('move_to', 'B1'), ('rescue', 'Alice')]]", True, 1.0, EXACT),
    Corner("SeqBench", PLAN, r"['start:\tA1', 'move_to: \x421\n', '\u0072escue: Alic\145']", True, 1.0, EXACT),
]  # fmt: skip


def records() -> list[dict[str, Any]]:
    return [
        {"id": at, "task": c.task, "question": FACTS, "answer": c.answer, "response": c.response}
        for at, c in enumerate(CORNERS)
    ]


def check(corner: Corner, correct: Any, reward: Any, metrics: Any) -> None:
    assert (correct, reward) == (corner.correct, corner.reward), corner
    assert {name: metrics[name] for name in corner.metrics} == corner.metrics, corner


@pytest.mark.parametrize("corner", CORNERS)
def test_one_call(corner: Corner) -> None:
    result = relfast.evaluate_response(FACTS, corner.answer, corner.response, corner.task)
    check(corner, result["correct"], corner.reward, result)


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_calls_and_rewards(workers: int) -> None:
    with relfast.Scorer(workers=workers) as scorer:
        together = scorer.score(records())
        singly = [scorer.score([record])[0] for record in records()]
    for corner, *scores in zip(CORNERS, together, singly, strict=True):
        for score in scores:
            assert (score.status, score.error) == ("ok", None)
            check(corner, score.correct, score.reward, score.metrics)
    reward = make_compute_score(policy="reference", workers=workers)
    extra = {"question": FACTS}
    for corner in CORNERS:
        result = reward(corner.task, corner.response, corner.answer, extra)
        assert (result["score"], result["acc"]) == (corner.reward, float(corner.correct))


@pytest.mark.parametrize("workers", [0, 1])
def test_files(tmp_path: Path, workers: int) -> None:
    dump, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    dump.write_text("".join(f"{json.dumps(record)}\n" for record in records()))
    relfast.score_file(dump, out, workers=workers)
    for corner, line in zip(CORNERS, out.read_text().splitlines(), strict=True):
        row = json.loads(line)
        assert row["status"] == "ok"
        check(corner, row["correct"], row["reward"], row["metrics"])
