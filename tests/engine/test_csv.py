"""CSV in and out: the same rows as of JSON lines, whatever stands in a cell."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import relfast
from relfast.cli.main import main

GOLD = '{"target": 3}'
RECORDS = [
    {"id": "001", "task": "REL-A1", "answer": GOLD, "response": "Answer: 4"},
    {"id": "a,b", "task": "REL-A1", "answer": GOLD, "response": 'multi\r\nline, "quoted"\n\\boxed{4}'},
    {"id": "é\u2028", "task": "REL-A1", "answer": GOLD, "response": ""},
    {"task": "REL-A1", "answer": "torn {", "response": "=1+1"},
]


def table(path: Path, delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(RECORDS[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(RECORDS)
    return path


@pytest.mark.parametrize("name", ["dump.csv", "dump.tsv"])
def test_scores_are_those_of_json_lines(name: str, tmp_path: Path) -> None:
    lines = tmp_path / "dump.jsonl"
    lines.write_text("".join(f"{json.dumps(record)}\n" for record in RECORDS))
    path = table(tmp_path / name, "\t" if name.endswith("tsv") else ",")
    relfast.score_file(str(lines), workers=0)
    relfast.score_file(str(path), workers=0)
    assert Path(f"{path}.scored.jsonl").read_bytes() == Path(f"{lines}.scored.jsonl").read_bytes()


@pytest.mark.slow
def test_rows_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path / "dump.csv")
    for suffix in ("jsonl", "csv"):
        relfast.score_file(str(path), tmp_path / f"rows.{suffix}", workers=0)
    read: dict[str, list[Any]] = {
        s: list(relfast.read_rows(tmp_path / f"rows.{s}")) for s in ("jsonl", "csv")
    }
    assert read["csv"] == read["jsonl"]
    # a finished table is known again, and one that lost a row is made again
    rows = (tmp_path / "rows.csv").read_bytes()
    for content in (rows, rows[: rows.rindex(b"\n", 0, -1) + 1]):
        (tmp_path / "rows.csv").write_bytes(content)
        relfast.score_file(str(path), tmp_path / "rows.csv", workers=0, resume=True)
        assert (tmp_path / "rows.csv").read_bytes() == rows
    for command in (["compare", "rows.csv", "rows.jsonl"], ["report", "rows.csv", "-o", "report"]):
        with pytest.raises(SystemExit) as left:
            main([command[0], *(str(tmp_path / text) if text[0] != "-" else text for text in command[1:])])
        assert not left.value.code, capsys.readouterr().err


def test_a_block_that_breaks_has_its_row(tmp_path: Path) -> None:
    path = table(tmp_path / "dump.csv")
    path.write_bytes(path.read_bytes() + b"b,REL-A1,x,\xff\n")
    relfast.score_file(str(path), workers=0)
    rows = [json.loads(line) for line in Path(f"{path}.scored.jsonl").read_bytes().splitlines()]
    assert rows[-1]["error"]["type"] == "DamagedInput"
    assert "invalid UTF8" in rows[-1]["error"]["message"]
