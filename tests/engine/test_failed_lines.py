"""Requests that failed: their rows, among others, are those of the ordinary way."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from corpora import rel_records
from dump_lines import PIECES
from failed_rows import ERRORS, ODD, REASONS, STATUSES
from mutated_corpus import JOBS, Ways, lines_for

from benchmarks.workloads_dumps import DUMPS

Json = dict[str, Any]

RECORD = {"id": "a", "task": "REL-A1", "answer": {"target": 3}}
WITH_FAILURES = [name for name, dump in DUMPS.items() if dump.failed is not None]


def held(ways: Ways, lines: list[bytes]) -> int:
    """How many lines of a block the kernel takes, all of whose rows and counts are those of the ordinary way."""
    written, tally, n_fast = ways.rows(lines, fast=True)
    assert (written, tally) == ways.rows(lines, fast=False)[:2], ways.narrowed(lines)[:3]
    return n_fast


def encoded(rows: list[Json]) -> list[bytes]:
    return [
        json.dumps(row, ensure_ascii=number % 2 == 0).encode("utf-8", "surrogatepass")
        for number, row in enumerate(rows)
    ]


@pytest.mark.parametrize("name", WITH_FAILURES)
def test_what_clients_and_servers_write_is_read(name: str, gold: str) -> None:
    dump = DUMPS[name]
    assert dump.failed is not None
    rng = random.Random(7)
    rows = [dump.row(*each, number) for number, each in enumerate(dump._responses(60, 2))]
    lines = encoded([dump.failed[1](row, rng) for row in rows])
    kinds = ["joined", "joined with details"] if dump.options[:1] == ("--data",) else ["plain", "joined"]
    for kind in kinds:
        held(Ways.of(kind, gold), lines)


def test_every_error_is_shown_as_it_was(gold: str) -> None:
    rows = [{**RECORD, "response": None, "error": error} for error in ERRORS]
    ways = Ways.of("plain", gold)
    held(ways, encoded(rows))
    odd: list[Json] = []
    for error in (*ODD, *PIECES, *(f"{a} {b}" for a, b in zip(PIECES, PIECES[7:], strict=False))):
        odd += (
            {**RECORD, "response": said, "error": error}
            for said in (None, "Answer 4", [None, "Answer 4"], [])
        )
        odd += (
            {**RECORD, "error": [error, None], "response": ["Answer 4", None]},
            {**RECORD, "error": error},
        )
        odd.append({**RECORD, "response": None, "error": {"type": error, "message": "m", "error": error}})
    held(ways, encoded(odd))


def test_every_status_and_reason_is_shown_as_it_was(gold: str) -> None:
    rows: list[Json] = []
    for status in STATUSES:
        rows.append({**RECORD, "response": "Answer 4", "status_code": status})
        for reason in REASONS:
            choices = [
                {"message": {"content": said}, "finish_reason": reason} for said in (None, "", "Answer 4")
            ]
            choices.append({"text": None, "finish_reason": reason})
            rows += (
                {"custom_id": record["id"], "error": None, "response": {"status_code": status, "body": {"choices": some}}}
                for record in rel_records("REL-A1")[:2]
                for some in (choices[:1], choices[1:2], choices, choices[3:])
            )  # fmt: skip
    held(Ways.of("joined", gold), encoded(rows))


def test_the_task_is_the_one_that_the_ordinary_way_shows(gold: str) -> None:
    ids = ["unknown", rel_records("REL-A1")[0]["id"], rel_records("REL-C2")[0]["id"], None]
    rows: list[dict[str, Any]] = []
    for task in ("REL-A3", "rel-b1", "REL-C1", "REL-C2", "rel-c3", "ReAlign", "SEQBENCH", None, "x", 3):
        named = {} if task is None else {"task": task}
        for answer in ({"label": "Yes"}, {"target": 3}, '{"target": 3}', "{}", [], None, {"smiles": "C"}):
            rows += [{"id": id, **named, "answer": answer, "response": None, "error": "no"} for id in ids]
        rows += [{"id": id, **named, "status_code": 500} for id in ids]
    for kind in ("plain", "joined", "failed, of one task", "task"):
        held(Ways.of(kind, gold), encoded(rows))


def test_samples_that_failed_stand_among_others(gold: str) -> None:
    record = rel_records("REL-B1")[0]
    row = {name: record[name] for name in ("id", "task", "answer")}
    said = [
        "Yes. taxon_3, taxon_7",
        None,
        "No",
        [{"role": "user", "content": "?"}],
        "Yes",
        [{"role": "assistant"}],
    ]
    rows = [{**row, "response": said[at:] + said[:at]} for at in range(len(said))]
    for kind in ("plain", "details", "strict", "strict with details"):
        held(Ways.of(kind, gold), encoded(rows))


def test_failures_beyond_all_room(gold: str) -> None:
    said = [None, [{"role": "user"}]] * 6_000
    error = {"type": "T" * 900, "message": "\x01" * 700}
    rows = [
        {**RECORD, "response": said, "error": error},
        {**RECORD, "response": [None] * 9_000, "error": error},
    ]
    held(Ways.of("plain", gold), encoded(rows))


def test_failures_stand_among_lines_that_are_judged(gold: str) -> None:
    rows: list[Json] = []
    for number, record in enumerate(rel_records("REL-C2")[:40]):
        row: Json = {name: record[name] for name in ("id", "task", "answer")}
        failed = {"response": None, "error": ERRORS[number % len(ERRORS)]}
        rows.append({**row, **(failed if number % 5 == 2 else {"response": "<smiles>CC</smiles>"})})
    rows.insert(7, {**rows[0], "response": 7})
    assert held(Ways.of("plain", gold), encoded(rows)) >= 30


@pytest.mark.parametrize("kind", [kind for kind in JOBS if kind.startswith("mapped ")])
def test_rows_of_tools_are_mapped(kind: str, gold: str) -> None:
    lines = [line for line in lines_for(kind) if b"REL-C2" not in line and b"smiles" not in line][:200]
    held(Ways.of(kind, gold), lines)
