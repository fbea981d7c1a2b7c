"""The demo dump: published records, every kind of response, scored quickly with and without workers."""

from __future__ import annotations

import gzip
import json
from typing import Any

from corpora import REL_FILES, ROOT, rel_records

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
