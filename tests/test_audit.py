"""What blind strategies earn: over all tasks, on records and on dumps with responses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from contract_records import gold
from corpora import rel_records

from relfast.audit import RIGHT, WRONG, audit
from relfast.cli.main import cli
from relfast.tasks import TASKS


@pytest.mark.parametrize("task", TASKS)
def test_every_strategy_answers_any_question(task: str) -> None:
    record, _ = gold(task)[0]
    import random

    for name, respond in TASKS[task].blind_strategies().items():
        for question in (record["question"], "", None, "Panel 0:\n[1, 2\n>taxon_1\nRoom A and B"):
            response = respond({"id": None, "task": task, "question": question}, random.Random(0))
            assert isinstance(response, str), name


def test_the_published_leak_is_found_and_responses_are_told_apart() -> None:
    rows: list[dict[str, Any]] = []
    for at, record in enumerate(rel_records("REL-A2")[:20]):
        right = record["answer"]["target"] + 1
        rows.append({**record, "response": f"Answer {right if at % 2 else right % 8 + 1}"})
    found = {finding.strategy: finding for finding in audit(rows, workers=0)}
    assert found["shortest choice"].rewards["strict"] == 1.0
    assert found[RIGHT].n == found[WRONG].n == 10
    assert (found[RIGHT].rewards["strict"], found[WRONG].rewards["strict"]) == (1.0, 0.0)
    blind = [finding.rewards["strict"] for finding in found.values()][2:]
    assert blind == sorted(blind, reverse=True)


def test_the_same_seed_gives_the_same_numbers() -> None:
    rows = rel_records("REL-B1")[:12]
    assert audit(rows, seed=3, workers=0) == audit(rows, seed=3, workers=0)
    assert all(finding.n == 5 for finding in audit(rows, limit=5, workers=0))


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text("{broken\n" + "".join(json.dumps(row) + "\n" for row in rel_records("REL-C1")[:4]))
    shown = CliRunner().invoke(cli, ["audit", str(path)])
    assert shown.exit_code == 0
    assert "REL-C1" in shown.stdout
    assert f"1 of 5 lines passed over; the first: {path}:1: not JSON" in shown.stderr
    printed = CliRunner().invoke(cli, ["audit", str(path), "--json"])
    assert {row["task"] for row in json.loads(printed.stdout)} == {"REL-C1"}
