"""Gold in which the published rule finds no answer (GSM8K's ``#### 132``): what is said of it, and that it makes no
quadrant; and MATH's own rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_runs import exit_code, rows_of, write_dump

import relfast
from relfast.records import Record
from relfast.report.scored_rows import read_scored
from relfast.tasks.display import Shown
from relfast.tasks.realign.display import exhibit, mistake

SAYS = "of 5 {} the published rule finds no gold answer"


def gsm8k(n: int, **more: Any) -> dict[str, Any]:
    solution = f"She sold {n} and {n} clips.\nThat is {2 * n} in all.\n#### {2 * n}"
    return {
        "id": f"g{n}",
        "task": "ReAlign",
        "question": f"How many clips are {n} and {n}?",
        "answer": {"solution": solution},
        **more,
    }


RECORDS = [
    *map(gsm8k, range(3, 6)),
    {**gsm8k(7), "answer": {"solution": "So \\boxed{14}"}},
    gsm8k(8, llm_correct=True),
]


def test_it_is_told_of_and_makes_no_quadrant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [{**record, "response": f"In all:\n\\boxed{{{2 * int(record['id'][1:])}}}"} for record in RECORDS]
    dump, out = write_dump(tmp_path / "dump.jsonl", said), tmp_path / "rows.jsonl"
    assert exit_code("score", dump, "-o", out, "--workers", 0) == 0
    assert f"for 3 {SAYS.format('responses')}" in " ".join(capsys.readouterr().err.split())
    rows = rows_of(out)
    # a judge's verdict in the row decides as well as gold
    assert [row["metrics"]["quadrant"] is None for row in rows] == [True, True, True, False, False]
    assert [row["correct"] for row in rows] == [False, False, False, True, True]
    # the page: from the rows alone, merged from shards, and on a record
    run = read_scored([str(out)])
    assert any(f"for 3 {SAYS.format('responses')}" in note for note in run.summary.notes)
    assert sum(run.summary.tasks["ReAlign"].labels["quadrant"].values()) == 2
    assert run.counted.drawn["ReAlign"]["quadrant"].tolist()[3:] == [1, 1]
    assert "finds no answer" in mistake(rows[0]["metrics"], None)
    record = Record(0, "g3", "ReAlign", RECORDS[0]["answer"], said[0]["response"], RECORDS[0]["question"])
    shown = exhibit(Shown(record, False, rows[0]["metrics"], False, "none"))
    assert "no answer in the reference" in shown.why
    assert exit_code("validate", write_dump(tmp_path / "records.jsonl", RECORDS)) == 0
    assert f"in 3 {SAYS.format('records')}" in capsys.readouterr().err
    # which strict reads
    assert relfast.score_file(dump, workers=0, policy="strict", overwrite=True).tasks["ReAlign"].mean == 1


def test_maths_own_rows_are_read(tmp_path: Path) -> None:
    row = {
        "problem": "What is 1+1?",
        "level": "Level 1",
        "type": "Algebra",
        "solution": "We add: $\\boxed{2}$",
    }
    rows = relfast.score(
        [{**row, "response": "It is \\boxed{2}"}, {**row, "response": "\\boxed{3}"}], workers=0
    )
    assert [(score.task, score.correct) for score in rows] == [("ReAlign", True), ("ReAlign", False)]
    # rows of ours with the same members are not
    ours = {**row, "answer": {"target": 3}, "task": "REL-A1", "response": "Answer 4"}
    assert [score.task for score in relfast.score([ours], workers=0)] == ["REL-A1"]
