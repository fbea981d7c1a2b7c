"""Honest answers in documented forms score full marks under ``strict``, whatever stands before them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import honest
import pytest
from corpora import REL_FILES, rel_records, solutions

import relfast

HERE = Path(__file__).parent
RECORDS = [json.loads(line) for line in (HERE / "rel_records.jsonl").read_text("utf-8").splitlines()]


def full_marks(record: dict[str, Any], response: str, **options: Any) -> bool:
    """Whether the response is right and its reward at its best, whatever metric makes the reward."""
    result = relfast.evaluate_response(
        record["question"], record["answer"], response, record["task"], policy="strict", **options
    )
    best = result.get("overlap_metric", result.get("f1", 1.0))
    return bool(result["correct"]) and best in (1.0, -1)


@pytest.mark.parametrize("record", RECORDS, ids=[record["id"] for record in RECORDS])
def test_sample(record: dict[str, Any]) -> None:
    rng = random.Random(record["id"])
    for _ in range(60 if "C3" not in record["task"] else 4):
        response = honest.response(record, rng)
        assert full_marks(record, response), response


@pytest.mark.slow
def test_published_records(capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(2)
    tried, lost = 0, []
    for task in REL_FILES:
        every = 4 if task == "REL-C3" else 1  # up to 92 molecules each
        for record in rel_records(task)[::every]:
            response = honest.response(record, rng)
            tried += 1
            if not full_marks(record, response):
                lost.append(f"{record['id']} {record['answer']!r:.80}: {response[-200:]!r}")
    with capsys.disabled():
        print(f"\nhonest answers under strict: {tried - len(lost)} of {tried} score full marks", end="")
    assert tried >= 2_000
    assert not lost, "\n".join(lost)


def test_after_real_reasoning(capsys: pytest.CaptureFixture[str]) -> None:
    """Before the answer stands a real model's solution of another problem, with an answer of its own."""
    texts = [row["llm_solution"] for row in solutions()]
    rng = random.Random(3)
    tried, lost = 0, []
    for task in ("REL-A1", "REL-A2", "REL-A3", "REL-A4", "REL-B1", "REL-C1", "REL-C2"):
        for record in rel_records(task)[:250]:
            solution = rng.choice(texts)
            response = solution[: rng.choice([300, 1_000, None])] + "\n\n" + honest.answer(record, rng)
            tried += 1
            if not full_marks(record, response):
                lost.append(response[-160:])
    with capsys.disabled():
        print(f"\nafter real reasoning: {tried - len(lost)} of {tried} score full marks", end="")
    assert not lost, "\n".join(map(repr, lost))


def test_tautomers_joined() -> None:
    for record in RECORDS:
        if record["task"] in ("REL-C2", "REL-C3"):
            response = honest.answer(record, random.Random(4))
            assert full_marks(record, response, tautomers="joined")
