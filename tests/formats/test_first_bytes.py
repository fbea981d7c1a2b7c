"""What a file is, seen from its first bytes: a list of records over lines, gzip, or text of another name."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from corpora import ROOT
from engine_runs import rows_of

import relfast

RECORDS = [
    json.loads(line)
    for line in (ROOT / "tests" / "data" / "dumps" / "records.jsonl").read_text("utf-8").splitlines()
]


def packed(data: bytes, suffix: str) -> bytes:
    if suffix == ".zst":
        return zstandard.compress(data)
    return gzip.compress(data) if suffix == ".gz" else data


def piped(data: bytes, tmp_path: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "relfast", "score", "-", "-o", str(tmp_path / "rows.jsonl")]
    return subprocess.run(command, input=data, capture_output=True, check=False)


def own(tmp_path: Path) -> dict[str, Any]:
    """What the records come to, one a line."""
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), "utf-8")
    return relfast.score_file(path, workers=0, overwrite=True).tasks["REL-C1"].to_dict()


@pytest.mark.parametrize("name", ["run.json", "run.jsonl", "run.jsonl.gz", "run.jsonl.zst"])
@pytest.mark.parametrize("between", [",\n ", ", \n ", "\n,", ",\n\n"])
def test_a_list_whose_first_line_has_a_record_is_a_document(name: str, between: str, tmp_path: Path) -> None:
    """As PostgreSQL's json_agg writes it: read as lines, the last record alone would be scored."""
    expected = own(tmp_path)
    text = "[" + between.join(map(json.dumps, RECORDS)) + "\n]\n"
    path = tmp_path / name
    path.write_bytes(packed(text.encode(), path.suffix))
    summary = relfast.score_file(path, tmp_path / "rows.jsonl", workers=0)
    assert summary.tasks["REL-C1"].to_dict() == expected
    assert not summary.unusable


def test_lines_that_are_lists_stay_lines(tmp_path: Path) -> None:
    path, output = tmp_path / "run.jsonl", tmp_path / "rows.jsonl"
    path.write_text('[{"id": "a"}]\n' + json.dumps(RECORDS[0]) + "\n", "utf-8")
    relfast.score_file(path, output, workers=0)
    assert [row["status"] == "invalid_record" for row in rows_of(output)][:2] == [True, False]


def test_a_gzipped_document_that_ends_early_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json.gz"
    path.write_bytes(gzip.compress(json.dumps(RECORDS, indent=2).encode())[:-9])
    with pytest.raises(relfast.InputError, match=r"run\.json\.gz: .*ends early"):
        relfast.score_file(path, tmp_path / "rows.jsonl", workers=0)


@pytest.mark.parametrize(
    ("head", "suffix"),
    [("[{", ""), ("[{", ".gz"), ("[{", ".zst"), ("[\n{", ""), ("[      {", ""), ("\ufeff[\r\n{", "")],
)
def test_a_list_cannot_come_through_a_pipe(head: str, suffix: str, tmp_path: Path) -> None:
    done = piped(packed((head + '"id": "a"},\n {"id": "b"}\n]\n').encode(), suffix), tmp_path)
    assert done.returncode == 2
    assert b"a JSON array cannot be read from a pipe: name the file" in done.stderr


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_indented_document_cannot_come_through_a_pipe(end: str, suffix: str, tmp_path: Path) -> None:
    text = json.dumps({"results": RECORDS}, indent=2).replace("\n", end)
    done = piped(packed(text.encode(), suffix), tmp_path)
    assert done.returncode == 2
    assert b"indented JSON cannot be read from a pipe: name the file" in done.stderr


def test_a_pipe_that_comes_in_drops_is_read(tmp_path: Path) -> None:
    """The first bytes alone say nothing, and are no line either."""
    command = [sys.executable, "-m", "relfast", "score", "-", "-o", "-", "--workers", "0", "-q"]
    line = json.dumps(RECORDS[0]).encode() + b"\n"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        for byte in line[:3]:
            process.stdin.write(bytes([byte]))
            process.stdin.flush()
        output, _ = process.communicate(line[3:])
    assert {json.loads(row)["id"] for row in output.splitlines()} == {RECORDS[0]["id"]}


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
