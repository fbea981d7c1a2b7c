"""The demo dump: published records, every kind of response, scored quickly with and without workers."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from corpora import REL_FILES, ROOT, rel_records

import relfast

DEMO = ROOT / "relfast" / "data" / "rel_demo.jsonl.gz"


def records() -> list[dict[str, Any]]:
    with gzip.open(DEMO, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_size_and_kinds() -> None:
    found = records()
    assert 200 <= len(found) <= 600
    assert DEMO.stat().st_size < 700_000
    assert {record["task"] for record in found} >= set(REL_FILES)
    assert all(record["metadata"]["source"] for record in found)
    assert sum(isinstance(record["response"], list) for record in found) > 10
    assert len({record["id"] for record in found}) == len(found)


def test_questions_and_gold_are_the_published_ones() -> None:
    published = {record["id"]: record for task in REL_FILES for record in rel_records(task)}
    for record in records():
        if record["task"] in REL_FILES:
            original = published[record["id"]]
            assert (record["question"], record["answer"]) == (original["question"], original["answer"])


def test_every_kind_of_row_occurs(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    summary = relfast.score_file(DEMO, out, workers=0)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert (
        len(rows)
        == summary.rows
        == sum(len(r["response"]) if isinstance(r["response"], list) else 1 for r in records())
    )
    statuses = Counter(row["status"] for row in rows)
    assert min(statuses["ok"], statuses["no_answer"], statuses["invalid_record"]) > 0
    for name, task in summary.tasks.items():
        shown = task.to_dict()
        assert 0.05 < shown["correct"] < 0.95, name
        assert shown["parsed"] < 1 or shown["correct"] < 1


@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_workers_change_nothing(policy: str, tmp_path: Path) -> None:
    outputs = []
    for workers in (0, 2):
        out = tmp_path / f"{workers}.jsonl"
        relfast.score_file(DEMO, out, workers=workers, policy=policy)
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1]
