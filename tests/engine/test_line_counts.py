"""Large files whose lines workers count: the rows are those of files whose lines were counted before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine_runs import HANG, rows_of

from relfast import score_file
from relfast.engine.io import reader
from relfast.engine.io.commit_log import CommitLog
from relfast.engine.io.line_counts import count_lines
from relfast.engine.io.sources import Source

BLOCK = 1 << 16
MAX_LINE = 1 << 17


@pytest.fixture(autouse=True)
def _small_large_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LARGE_BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(reader, "LARGE_FILE_BYTES", 2 * BLOCK)


def _line(number: int, size: int = 1_000) -> bytes:
    record: dict[str, Any] = {
        "id": f"r{number}",
        "task": "REL-A1",
        "answer": {"target": number % 8},
        "response": "x " * (size // 2) + f"Answer {number % 5 + 1}",
    }
    return json.dumps(record).encode() + b"\n"


def _first_file(path: Path) -> Path:
    """Long lines and many short ones, blank ones, a line that is too long, one that is no JSON."""
    lines = [_line(n) for n in range(150)]
    lines[70:70] = [b"\n", b"no JSON" + b" " * 2_000 + b"\n"]
    lines += [b"{}\n"] * 9_000 + [_line(n) for n in range(150)]
    lines += [_line(0, 2 * MAX_LINE), *(_line(n) for n in range(90))]
    path.write_bytes(b"".join(lines))
    return path


def _second_file(path: Path, *, hangs: bool) -> Path:
    lines = [_line(n) for n in range(300)]
    if hangs:
        lines[200] = json.dumps({"id": "hang", **HANG}).encode() + b"\n"
    path.write_bytes(b"".join(lines)[:-1])
    return path


@pytest.mark.slow
def test_rows_are_numbered_as_if_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [_first_file(tmp_path / "a.jsonl"), _second_file(tmp_path / "b.jsonl", hangs=True)]
    many: dict[str, Any] = {"workers": 2, "timeout": 1, "max_line_bytes": MAX_LINE}
    told, counted = tmp_path / "told.jsonl", tmp_path / "counted.jsonl"
    summary = score_file(files, told, **many)
    blocks = list(reader.blocks([Source(str(file), "plain", seekable=True) for file in files], MAX_LINE))
    assert all(block.first_index >= 0 for block in blocks)
    n_lines = sum(block.n_lines for block in blocks)
    monkeypatch.setattr(reader, "LARGE_FILE_BYTES", 1 << 40)
    score_file(files, counted, **many)
    # whether a busy machine is blamed for a timeout is a matter of luck
    rows, rows_counted = rows_of(told), rows_of(counted)
    hung, hung_too = rows.pop(-100), rows_counted.pop(-100)
    assert rows == rows_counted
    assert (hung["id"], hung["status"], hung["index"]) == ("hang", "timeout", n_lines - 100)
    assert hung_too["index"] == hung["index"]
    # where a cause came first is said by file and line
    first = {cause.kind: cause.first[0] for cause in summary.unusable}
    assert first["InvalidJSON"] == f"{files[0]}:72"


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    files = [_first_file(tmp_path / "a.jsonl"), _second_file(tmp_path / "b.jsonl", hangs=False)]
    many: dict[str, Any] = {"workers": 1, "max_line_bytes": MAX_LINE}
    out, journal = tmp_path / "out.jsonl", tmp_path / "out.jsonl.journal"
    score_file(files, out, **many)
    whole, entries = out.read_bytes(), journal.read_bytes().splitlines(keepends=True)
    with journal.open("rb") as lines:
        commits = CommitLog.read(iter(lines.readlines())).commits
    assert len({commit.position.source for commit in commits}) == 2
    for at in (1, len(commits) - 1):
        journal.write_bytes(b"".join(entries[: at + 1]))
        score_file(files, out, resume=True, **many)
        assert out.read_bytes() == whole
        assert journal.read_bytes() == b"".join(entries)


def test_blocks_end_where_lines_do(tmp_path: Path) -> None:
    path = _first_file(tmp_path / "a.jsonl")
    data = path.read_bytes()
    found = list(reader.blocks([Source(str(path), "plain", seekable=True)], MAX_LINE, counted=False))
    at = 0
    for block in found:
        assert block.start == at
        assert data[block.end - 1 : block.end] == b"\n"
        lines = data[block.start : block.end].count(b"\n")
        assert block.n_lines in (-1, lines)
        if not block.faults:
            assert count_lines(str(path), block.start, block.end) == lines
        at = block.end
    assert at == len(data)
    known = [block.n_lines >= 0 for block in found]
    assert True in known
    assert False in known
    assert [block.first_index for block in found[1:]] == [-1] * (len(found) - 1)
    (fault,) = [block for block in found if block.faults]
    assert list(fault.faults) == [0]
