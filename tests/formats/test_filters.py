"""lm-evaluation-harness writes a row per filter: the responses of one of them are scored, once."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tool_rows
from engine_runs import exit_code, rows_of, write_dump

import relfast
from relfast.engine.files import inputs
from relfast.engine.files.io import reader

N_DOCS = 60
REPEATS = 4
N_RESPONSES = N_DOCS * REPEATS


def samples_rows(*names: str | None, task: str = "REL-A1") -> list[dict[str, Any]]:
    """What ``lm_eval --log_samples`` writes: all documents of a filter, then all of the next."""
    rows = []
    for name in names:
        for n in range(N_DOCS):
            record = {"id": f"q{n}", "task": task, "question": "Which?", "answer": {"target": n % 8}}
            resps = [f"So: Answer {(n * 3 + k * k) % 8 + 1}" for k in range(REPEATS)]
            row = tool_rows.lm_eval(record, resps, n) | {"filter": name}
            row["filtered_resps"] = [resps[-1] if name == "strict-match" else "[invalid]"]
            if name is None:
                del row["filter"]
            rows.append(row)
    return rows


TWO = samples_rows("strict-match", "flexible-extract")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_dump(tmp_path / "samples_rel_2026-11-01T00-00-00.000000.jsonl", TWO)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK_BYTES", 5_000)


def test_each_response_counts_once(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    summary = relfast.score_file(dump, out, workers=0)
    assert [(row["index"], row["sample"]) for row in rows_of(out)] == [
        (n, k) for n in range(N_DOCS) for k in range(REPEATS)
    ]
    task = summary.tasks["REL-A1"].to_dict()
    assert (task["records"], task["prompts"], task["samples_per_prompt"]["max"]) == (N_RESPONSES, N_DOCS, 4)
    assert list(task["pass@k"]) == ["1", "2", "4"]
    assert " | filter strict-match | " in summary.signature
    assert summary.notes == ["lm-eval filter 'strict-match' was scored, no other (--filter chooses)"]
    # the same responses without any filter: the same numbers
    one = write_dump(tmp_path / "one.jsonl", samples_rows(None))
    plain = relfast.score_file(one, workers=0)
    assert plain.tasks["REL-A1"].to_dict() == task
    assert (plain.notes, "filter" in plain.signature) == ([], False)
    pq.write_table(pa.Table.from_pylist(TWO), tmp_path / "samples.parquet")
    assert relfast.score_file(tmp_path / "samples.parquet", workers=0).rows == N_RESPONSES


def test_another_filter(dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    relfast.score_file(dump, first, workers=0, filter="strict-match")
    assert exit_code("score", dump, "-o", second, "--filter", "flexible-extract", "--workers", 0) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "note: lm-eval filter 'flexible-extract' was scored, no other" in said
    assert [row["index"] for row in rows_of(second)] == [row["index"] + N_DOCS for row in rows_of(first)]
    assert [row["correct"] for row in rows_of(second)] == [row["correct"] for row in rows_of(first)]
    before = sorted(tmp_path.iterdir())
    assert exit_code("score", dump, "--filter", "strict", "--workers", 0) == 2
    assert "no row has the filter 'strict'; the first one is 'strict-match'" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


def test_workers_blocks_streams_and_shards_agree(
    dump: Path, tmp_path: Path, small_blocks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(input: object = dump, **options: Any) -> bytes:
        out = tmp_path / "rows.jsonl"
        summary = relfast.score_file(input, out, overwrite=True, **{"workers": 0, **options})  # type: ignore[arg-type]
        assert " | filter strict-match | " in summary.signature
        return out.read_bytes()

    whole = rows()
    assert whole.count(b"\n") == N_RESPONSES
    assert rows(workers=2) == whole
    # all rows of the second half are of the other filter: a shard may have none
    assert [rows(shard=(number, 2)) for number in (0, 1)] == [whole, b""]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(dump.read_bytes())))
    assert rows("-") == whole
    monkeypatch.setattr(reader, "BLOCK_BYTES", 1 << 20)
    assert rows() == whole


def test_a_resumed_run_keeps_its_filter(dump: Path, tmp_path: Path, small_blocks: None) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    summary = relfast.score_file(dump, whole, workers=0)

    def stop(progress: Any) -> None:
        if progress.rows > N_RESPONSES // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        relfast.score_file(dump, cut, workers=0, progress=stop)
    assert 0 < len(rows_of(cut)) < N_RESPONSES
    with pytest.raises(relfast.ResumeMismatchError, match="filter was not set and is flexible-extract"):
        relfast.score_file(dump, cut, workers=0, resume=True, filter="flexible-extract")
    resumed = relfast.score_file(dump, cut, workers=0, resume=True)
    assert cut.read_bytes() == whole.read_bytes()
    assert (resumed.signature, resumed.notes) == (summary.signature, summary.notes)


def test_each_file_has_its_own_first(dump: Path, tmp_path: Path) -> None:
    other = write_dump(tmp_path / "samples_z.jsonl", samples_rows("none", "maj@4", task="REL-A2"))
    summary = relfast.score_file([dump, other], tmp_path / "rows.jsonl", workers=0)
    assert {name: task.rows for name, task in summary.tasks.items()} == {
        "REL-A1": N_RESPONSES,
        "REL-A2": N_RESPONSES,
    }
    assert " | filter strict-match,none | " in summary.signature


def test_a_head_that_names_no_filter(
    dump: Path, tmp_path: Path, small_blocks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later rows are not guessed at: they say what to do, from a file as from a stream."""
    record = {"task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4", "note": '"filter"'}
    mixed = write_dump(tmp_path / "mixed.jsonl", [record] * 3 + TWO)
    assert relfast.score_file(mixed, tmp_path / "all.jsonl", workers=0).rows == 3 + N_RESPONSES
    monkeypatch.setattr(inputs, "FILTER_BYTES", len(json.dumps(record)) * 3 + 100)
    summary = relfast.score_file(mixed, tmp_path / "rows.jsonl", workers=0)
    assert (summary.count("ok"), summary.count("invalid_record")) == (3, 2 * N_DOCS)
    assert "--filter NAME" in rows_of(tmp_path / "rows.jsonl")[-1]["error"]["message"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(mixed.read_bytes())))
    relfast.score_file("-", tmp_path / "stdin.jsonl", workers=0)
    assert (tmp_path / "stdin.jsonl").read_bytes() == (tmp_path / "rows.jsonl").read_bytes()
    named = relfast.score_file(mixed, tmp_path / "named.jsonl", workers=0, filter="strict-match")
    assert named.count("ok") == 3 + N_RESPONSES


def test_records_in_python() -> None:
    assert len(relfast.score(TWO, workers=0)) == N_RESPONSES
    assert {score.index for score in relfast.score(TWO, workers=0, filter="flexible-extract")} == set(
        range(N_DOCS, 2 * N_DOCS)
    )
    assert relfast.score(TWO, workers=0, filter="none") == []
    # a field of that name means nothing elsewhere
    record = {"task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4", "filter": "x"}
    assert len(relfast.score([*TWO, record], workers=0)) == N_RESPONSES + 1
