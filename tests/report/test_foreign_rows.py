"""Scored rows that are damaged, or that another program wrote: read, reported on and compared.

The oracle is the file without them: no number may differ.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from engine_runs import exit_code, write_dump

import relfast
from relfast.engine.files.io.scored import UNUSABLE
from relfast.report.scored import read_models
from relfast.report.scored_rows import read_scored


def row(index: int, **changed: Any) -> dict[str, Any]:
    metrics = {"precision": 0.5, "recall": index % 3 / 2, "f1": 0.25}
    made = {"index": index, "id": f"p{index}", "task": "REL-B1", "sample": 0, "status": "ok", "error": None,
            "correct": index % 3 == 0, "reward": index % 3 / 2, "metrics": metrics}  # fmt: skip
    return {**made, **changed}


GOOD = [row(index) for index in range(12)]
BAD = 5
"""The place of the row that is replaced."""

UNUSABLE_FIELDS = [
    *((name, value) for name in ("reward", "metrics.precision") for value in
      (float("nan"), float("inf"), float("-inf"), 1e308, 10**400, "1.0", "", [], {}, [1.0])),
    ("reward", True),
    *(("correct", value) for value in (None, "true", 1, 0.0, float("nan"), [], "yes")),
    *(("status", value) for value in ("fine", "OK", None, 3, [], {}, "ok ")),
    *(("index", value) for value in (-1, "5", 5.0, None, 2**63, True)),
    *(("sample", value) for value in (-1, "0", 0.5, None, 2**32, False)),
    *(("task", value) for value in (1, [], {}, False)),
    *(("metrics", value) for value in (None, [], 3, "{", "[1]", "text")),
    *(("metrics.reason", value) for value in (1, [], {"a": 1})),
    *(("error", value) for value in (3, [], False, {"type": 1}, {"type": "T", "message": None})),
    ("status", "timeout"),  # with a score
]  # fmt: skip
LINES = ("{", "nonsense", "[1]", "3", '"text"', '{"a": 1', "{}", '{"index": 5}', "\x00", "\ud800", "null")


def line(field: str, value: Any) -> str:
    made = row(BAD)
    name, _, metric = field.partition(".")
    made[name] = {**made["metrics"], metric: value} if metric else value
    return json.dumps(made)


def write(path: Path, bad: str | None) -> Path:
    lines = [json.dumps(each) for each in GOOD]
    lines[BAD : BAD + 1] = [] if bad is None else [bad]
    path.write_text("\n".join(lines) + "\n", "utf-8", "surrogatepass")
    return path


def numbers(path: Path) -> dict[str, Any]:
    """Everything that is told of a file's rows, but how many have no score."""
    summary = read_scored([str(path)]).summary
    task = summary.tasks["REL-B1"].to_dict()
    return {name: task[name] for name in task.keys() - {"records", "responses", "statuses"}}


@pytest.mark.parametrize("bad", [*(line(*each) for each in UNUSABLE_FIELDS), *LINES])
def test_a_row_that_cannot_be_used_is_counted_and_told_and_in_no_mean(bad: str, tmp_path: Path) -> None:
    without, path = write(tmp_path / "without.jsonl", None), write(tmp_path / "with.jsonl", bad)
    batch = relfast.read_rows(path)
    (told,) = [score.error for score in batch.rows if score.error is not None]
    assert told["type"] == UNUSABLE
    assert told["message"].startswith(f"{path}:{BAD + 1}: ")
    assert len(batch) == len(GOOD)
    assert int(batch.scored.sum()) == len(GOOD) - 1
    read = read_scored([str(path)])
    assert read.summary.rows == len(GOOD)
    assert any(
        f"1 row cannot be used and is in no mean: {path}:{BAD + 1}: " in each for each in read.summary.notes
    )
    assert numbers(path) == numbers(without)
    for metric in ("correct", "reward", "precision"):
        result, expected = (
            relfast.compare(each, without, metric=metric)
            for each in (path, write(tmp_path / "x.jsonl", None))
        )
        assert [item.to_dict() | {"a": "", "left_out": ""} for item in result.tasks] == [
            item.to_dict() | {"a": "", "left_out": ""} for item in expected.tasks
        ]
        assert any(f"{path}:{BAD + 1}: " in note for note in result.notes)


def test_rows_that_repeat_one_count_once(tmp_path: Path) -> None:
    """A file written twice, in another order, and a sample that was scored again: the first is used."""
    once = write_dump(tmp_path / "once.jsonl", GOOD)
    other = row(3, correct=False, reward=0.0)
    for more in ([GOOD[4]], GOOD, GOOD[::-1], [other]):
        twice = write_dump(tmp_path / "twice.jsonl", [*GOOD, *more])
        assert numbers(twice) == numbers(once)
        errors = [score.error["message"] for score in relfast.read_rows(twice).rows if score.error]
        assert len(errors) == len(more)
        assert f"twice.jsonl:13: repeats line {GOOD.index(row(more[0]['index'])) + 1} (record 'p" in errors[0]
    # rows in another order, and samples of one record, repeat nothing
    shuffled = [*GOOD[6:], *GOOD[:6], *(row(index, sample=1) for index in range(12))]
    assert not any(
        score.error for score in relfast.read_rows(write_dump(tmp_path / "s.jsonl", shuffled)).rows
    )


def test_what_is_foreign_but_usable(tmp_path: Path) -> None:
    """A plain text as error; nothing but what must be there; an empty task; metrics that no mean takes."""
    lost = {"status": "timeout", "correct": None, "reward": None, "metrics": {}}
    bare = {
        "id": ["a", float("nan")],
        "status": "ok",
        "correct": True,
        "metrics": {"mine": float("nan"), "more": {"x": [float("inf")]}, "pred": 10**400},
    }
    path = write_dump(tmp_path / "a.jsonl", [*GOOD, row(12, **lost, error="plain string"), bare, row(14, task="Mine", metrics={"speed": 3})])  # fmt: skip
    rows = relfast.read_rows(path).scores
    assert rows[12].error == {"type": "Error", "message": "plain string"}
    assert (rows[13].index, rows[13].id, rows[13].metrics) == (
        13,
        ["a", None],
        {"mine": None, "more": {"x": [None]}, "pred": None},
    )
    assert relfast.read_rows(path).to_pandas()["metrics.pred"].isna().all()
    notes = " ".join(read_scored([str(path)]).summary.notes)
    assert "2 rows have a task that relfast does not know" in notes
    assert "metrics that relfast does not know are not averaged: speed" in notes
    ids = [GOOD[0], row(1, id="p\u202e1"), *GOOD[2:]]
    write_dump(path, [*ids, *(row(index, **lost, error="plain string") for index in range(20, 22)), bare])
    assert exit_code("report", f"m\u202e={path}", "-o", tmp_path / "report") == 0
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    assert ">m\ufffd</th>" in page
    assert "\u202e" not in page
    packed = re.findall(r'<script type="text/plain" id="[^"]+">([^<]+)</script>', page)
    assert len(packed) == 2  # the list of records, and their texts
    for each in packed:
        orjson.loads(
            gzip.decompress(base64.b64decode(each))
        )  # as browsers, it takes neither NaN nor Infinity


def test_files_beside_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = write_dump(tmp_path / "one.jsonl", GOOD[:6]), write_dump(tmp_path / "other.jsonl", GOOD[6:])
    (tmp_path / "empty.scored.jsonl").touch()
    how: dict[str, Any] = {"dump": (), "shards": False, "records": 0}
    (merged,) = read_models([str(one), str(other), str(tmp_path / "empty.scored.jsonl")], **how)
    assert merged.name == "one + 2 files"
    notes = " ".join(merged.summary.notes)
    assert f"{one}, {other} have no record in common and are added up as one run; NAME=FILE" in notes
    assert f"{tmp_path / 'empty.scored.jsonl'} has no rows" in notes
    # a folder's empty file, and one whose first line is damaged, are no other files
    one.write_text("{\n" + one.read_text())
    (merged,) = read_models([str(tmp_path)], **how)
    assert merged.summary.rows == 13
    assert "has no rows" in " ".join(merged.summary.notes)
    # files of two models are no parts of one run, whatever they were asked
    for path, model in ((one, "m1"), (other, "m2")):
        Path(f"{path}.run.json").write_text(json.dumps({"model": model}))
    assert [run.name for run in read_models([str(one), str(other)], **how)] == ["m1", "m2"]


def test_a_file_of_nothing_usable_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_dump(tmp_path / "a.jsonl", [row(1, status="fine"), row(2, correct=None)])
    for command in (
        ("report", path, "-o", tmp_path / "report"),
        ("compare", path, path.with_name("b.jsonl")),
    ):
        write_dump(tmp_path / "b.jsonl", GOOD)
        assert exit_code(*command) == 2
        assert f'{path}:1: status is "fine", none of ok, no_answer, ' in capsys.readouterr().err
