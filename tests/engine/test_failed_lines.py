"""Requests that failed: their rows, among others, are those of the ordinary way."""

from __future__ import annotations

import json
from typing import Any

from corpora import rel_records
from mutated_corpus import ways_of

Json = dict[str, Any]

RECORD = {"id": "a", "task": "REL-A1", "answer": {"target": 3}}


def encoded(rows: list[Json]) -> list[bytes]:
    return [
        json.dumps(row, ensure_ascii=number % 2 == 0).encode("utf-8", "surrogatepass")
        for number, row in enumerate(rows)
    ]


def test_the_task_is_the_one_that_the_ordinary_way_shows(gold: str) -> None:
    ids = ["unknown", rel_records("REL-A1")[0]["id"], rel_records("REL-C2")[0]["id"], None]
    rows: list[dict[str, Any]] = []
    for task in ("REL-A3", "rel-b1", "REL-C1", "REL-C2", "rel-c3", "ReAlign", "SEQBENCH", None, "x", 3):
        named = {} if task is None else {"task": task}
        for answer in ({"label": "Yes"}, {"target": 3}, '{"target": 3}', "{}", [], None, {"smiles": "C"}):
            rows += [{"id": id, **named, "answer": answer, "response": None, "error": "no"} for id in ids]
        rows += [{"id": id, **named, "status_code": 500} for id in ids]
    for kind in ("plain", "joined", "failed, of one task", "task"):
        ways_of(kind, gold).same(encoded(rows))


def test_failures_beyond_all_room(gold: str) -> None:
    said = [None, [{"role": "user"}]] * 6_000
    error = {"type": "T" * 900, "message": "\x01" * 700}
    rows = [
        {**RECORD, "response": said, "error": error},
        {**RECORD, "response": [None] * 9_000, "error": error},
    ]
    ways_of("plain", gold).same(encoded(rows))
