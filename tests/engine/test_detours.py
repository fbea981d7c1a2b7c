"""A quicker way that fails is told of by ``-v``: rows do not show it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from relfast.engine.file_run.files import score_files
from relfast.engine.job import Job
from relfast.engine.segments import Detours
from relfast.tasks import get_task

FIRST = [f"the first failure \x1b[2J {n}" for n in range(3)]


def test_the_first_of_each_is_kept() -> None:
    here, there = Detours(), Detours()
    for said in FIRST:
        here.add("a batch", ValueError(said))
    there.add("a batch", KeyError("later"))
    there.add("gold", KeyError("x" * 1_000))
    here.merge(there.take())
    assert list(there.lines()) == []
    # nothing in it reaches the terminal as it is
    batch, gold = here.lines()
    assert batch == f"left to the ordinary way: a batch, 4 times, first: ValueError({FIRST[0]!r})"
    assert gold.startswith("left to the ordinary way: gold, once: KeyError('xxx")
    assert len(gold) < 300


def test_a_batch_that_fails_where_its_records_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = tmp_path / "dump.jsonl"
    record = {"task": "REL-A1", "answer": {"target": 3}, "response": "Answer 3"}
    dump.write_text("".join(json.dumps({"id": n, **record}) + "\n" for n in range(5)))
    told: list[str] = []
    score_files([str(dump)], str(tmp_path / "sound.jsonl"), Job(), workers=0, tell=told.append)
    assert not any("left to the ordinary way" in line for line in told)
    scorer: Any = get_task("REL-A1").scorer
    score = scorer.score

    def broken(batch: Sequence[object], options: object) -> Any:
        if len(batch) > 1:
            raise IndexError("a bug")
        return score(batch, options)

    monkeypatch.setattr(scorer, "score", broken)
    score_files([str(dump)], str(tmp_path / "broken.jsonl"), Job(), workers=0, tell=told.append)
    assert (tmp_path / "broken.jsonl").read_bytes() == (tmp_path / "sound.jsonl").read_bytes()
    assert "left to the ordinary way: a batch of REL-A1, once: IndexError('a bug')" in told
