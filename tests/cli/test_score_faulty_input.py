"""Faulty inputs of ``relfast score``, each with its promise: more rows of the project's fault table."""

from __future__ import annotations

import gzip
import json
import resource
from pathlib import Path
from typing import Any

import pytest
from engine_runs import (
    honest,
    relfast,
    rows_of,
    scored_here,
    statuses,
    write_dump,
)

QUIET = "-q"


# torn last line, bad UTF-8, BOM, CRLF, NUL, deep nesting


# line over --max-line-bytes


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["plain", "gz", "stdin"])
def test_line_too_long(codec: str, tmp_path: Path) -> None:
    """Skipped by streaming: 300 MB of one line need no 300 MB."""
    good = json.dumps(honest(1)[0]).encode() + b"\n"
    dump = tmp_path / ("dump.jsonl.gz" if codec == "gz" else "dump.jsonl")
    opened: Any = gzip.open(dump, "wb", 1) if codec == "gz" else open(dump, "wb")  # noqa: SIM115 -- closed below
    with opened as file:
        file.write(good)
        for _ in range(300):
            file.write(b"x" * (1 << 20))
        file.write(b"\n" + good)
    limit = 400 << 20
    with open(dump, "rb") as stdin:
        done = relfast(
            "-" if codec == "stdin" else dump, "-o", tmp_path / "rows.jsonl", QUIET, "--workers", 1,
            stdin=stdin, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "rows.jsonl")
    assert [row["status"] for row in rows] == ["ok", "invalid_record", "ok"]
    assert rows[1]["error"] == {
        "type": "LineTooLong",
        "message": "line is longer than 16777216 bytes (--max-line-bytes)",
    }


def test_a_small_limit_holds_too(tmp_path: Path) -> None:
    records = honest(5)
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    longest = max(map(len, lines)) - 1
    dump = write_dump(tmp_path / "dump.jsonl", [*lines[:3], b" " * longest + lines[3], lines[4]])
    scored_here(dump, tmp_path / "rows.jsonl", "--max-line-bytes", longest)
    assert statuses(tmp_path / "rows.jsonl")[3] == "invalid_record"
    assert "invalid_record" not in [s for at, s in enumerate(statuses(tmp_path / "rows.jsonl")) if at != 3]


# truncated gz, decompression bomb


@pytest.mark.slow
def test_truncated_gz(tmp_path: Path) -> None:
    """All whole records are scored, then a row says where the stream broke."""
    records = honest(3000)
    plain = write_dump(tmp_path / "dump.jsonl", records)
    expected = scored_here(plain, tmp_path / "whole.jsonl").splitlines(keepends=True)
    packed = gzip.compress(plain.read_bytes(), 6)
    dump = tmp_path / "dump.jsonl.gz"
    dump.write_bytes(packed[: len(packed) // 2])
    out = tmp_path / "rows.jsonl"
    done = relfast(dump, "-o", out, QUIET, "--fail-on-error")
    assert done.returncode == 3, done.stderr
    *whole, broken = out.read_bytes().splitlines(keepends=True)
    assert whole == expected[: len(whole)]
    assert 0.3 * len(records) < len(whole) < 0.8 * len(records)
    error = json.loads(broken)["error"]
    assert error["type"] == "DamagedInput"
    assert "ends early; the lines before it were scored" in error["message"]
    shards = []
    for number in range(3):
        shard = tmp_path / f"shard{number}.jsonl"
        scored_here(dump, shard, "--shard", f"{number}/3")
        shards.append(shard.read_bytes())
    assert b"".join(shards) == out.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["gz", "zst"])
def test_decompression_bomb(codec: str, tmp_path: Path) -> None:
    good = json.dumps(honest(1)[0]).encode() + b"\n"
    if codec == "gz":
        bomb = gzip.compress(good + b"0" * (1 << 28), 9)
    else:
        import zstandard

        bomb = zstandard.ZstdCompressor(3).compress(good + b"0" * (1 << 29))
    dump = tmp_path / f"dump.jsonl.{codec}"
    dump.write_bytes(bomb)
    limit = 400 << 20
    done = relfast(
        dump, "-o", tmp_path / "rows.jsonl", QUIET, "--fail-on-error", "--workers", 1,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    rows = rows_of(tmp_path / "rows.jsonl")
    assert [row["status"] for row in rows] == ["ok", "invalid_record"]
    assert "expands more than 1000 times" in rows[1]["error"]["message"]


# duplicate ids


@pytest.mark.slow
def test_duplicate_ids(tmp_path: Path) -> None:
    records = honest(20)
    records[7]["id"] = records[3]["id"]
    records[7]["task"], records[7]["answer"] = records[3]["task"], records[3]["answer"]
    dump = write_dump(tmp_path / "dump.jsonl", records)
    done = relfast(dump, "-o", tmp_path / "rows.jsonl", "--summary", tmp_path / "summary.json")
    assert [row["id"] for row in rows_of(tmp_path / "rows.jsonl")].count("r3") == 2
    assert done.stderr.decode().count("1 id occurs on more than one line") == 1
    notes = json.loads((tmp_path / "summary.json").read_bytes())["notes"]
    assert len(notes) == 1
    # samples of one line are no duplicates
    samples = [{**records[0], "response": ["<Yes>", "Answer 1", "?"]}]
    done = relfast(write_dump(tmp_path / "samples.jsonl", samples), "-o", tmp_path / "samples.rows.jsonl")
    assert b"more than one line" not in done.stderr
