"""What a file is, seen from its first bytes: a list of records over lines, gzip, or text of another name."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from corpora import ROOT

import relfast

RECORDS = [
    json.loads(line)
    for line in (ROOT / "tests" / "data" / "dumps" / "records.jsonl").read_text("utf-8").splitlines()
]


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def own(tmp_path: Path) -> dict[str, Any]:
    """What the records come to, one a line."""
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), "utf-8")
    return relfast.score_file(path, workers=0, overwrite=True).tasks["REL-C1"].to_dict()


@pytest.mark.parametrize("name", ["run.json", "run.jsonl", "run.jsonl.gz"])
@pytest.mark.parametrize("between", [",\n ", ", \n ", "\n,", ",\n\n"])
def test_a_list_whose_first_line_has_a_record_is_a_document(name: str, between: str, tmp_path: Path) -> None:
    """As PostgreSQL's json_agg writes it: read as lines, the last record alone would be scored."""
    expected = own(tmp_path)
    text = "[" + between.join(map(json.dumps, RECORDS)) + "\n]\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    summary = relfast.score_file(path, tmp_path / "rows.jsonl", workers=0)
    assert summary.tasks["REL-C1"].to_dict() == expected
    assert not summary.unusable


def test_lines_that_are_lists_stay_lines(tmp_path: Path) -> None:
    path, output = tmp_path / "run.jsonl", tmp_path / "rows.jsonl"
    path.write_text('[{"id": "a"}]\n' + json.dumps(RECORDS[0]) + "\n", "utf-8")
    relfast.score_file(path, output, workers=0)
    assert [row["status"] == "invalid_record" for row in written(output)][:2] == [True, False]


def test_a_gzipped_document_that_ends_early_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json.gz"
    path.write_bytes(gzip.compress(json.dumps(RECORDS, indent=2).encode())[:-9])
    with pytest.raises(relfast.InputError, match=r"run\.json\.gz: .*ends early"):
        relfast.score_file(path, tmp_path / "rows.jsonl", workers=0)


@pytest.mark.parametrize("head", ["[{", "[\n{", "[ {"])
def test_a_list_cannot_come_through_a_pipe(head: str, tmp_path: Path) -> None:
    text = head + '"id": "a"},\n {"id": "b"}\n]\n'
    command = [sys.executable, "-m", "relfast", "score", "-", "-o", str(tmp_path / "rows.jsonl")]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "a JSON array cannot be read from a pipe: name the file" in done.stderr


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_name_that_is_wrong_about_the_codec_is_not_believed(suffix: str, tmp_path: Path) -> None:
    expected = own(tmp_path)
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    texts = [lines, "\ufeff" + lines, json.dumps(RECORDS, indent=2)]
    for n, data in enumerate([*(text.encode() for text in texts), gzip.compress(lines.encode())]):
        path = tmp_path / f"{n}.jsonl{suffix}"
        path.write_bytes(data)
        for workers in (0, 1):
            summary = relfast.score_file(path, overwrite=True, workers=workers)
            assert summary.tasks["REL-C1"].to_dict() == expected
