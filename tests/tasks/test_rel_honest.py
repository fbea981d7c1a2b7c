"""Honest answers in documented forms score full marks under ``strict``, whatever stands before them."""

from __future__ import annotations

import random
from typing import Any

import honest
import pytest
from corpora import REL_FILES, rel_records

import relfast


def full_marks(record: dict[str, Any], response: str, **options: Any) -> bool:
    """Whether the response is right and its reward at its best, whatever metric makes the reward."""
    result = relfast.evaluate_response(
        record["question"], record["answer"], response, record["task"], policy="strict", **options
    )
    best = result.get("overlap_metric", result.get("f1", 1.0))
    return bool(result["correct"]) and best in (1.0, -1)


@pytest.mark.slow
def test_published_records(capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(2)
    tried, lost = 0, []
    for task in REL_FILES:
        every = 4 if task == "REL-C3" else 1  # up to 92 molecules each
        for record in rel_records(task)[::every]:
            response = honest.response(record, rng)
            tried += 1
            if not full_marks(record, response, tautomers=rng.choice(("apart", "joined"))):
                lost.append(f"{record['id']} {record['answer']!r:.80}: {response[-200:]!r}")
    with capsys.disabled():
        print(f"\nhonest answers under strict: {tried - len(lost)} of {tried} score full marks", end="")
    assert tried >= 2_000
    assert not lost, "\n".join(lost)
