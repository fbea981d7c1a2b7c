"""``relfast score`` on ReAlign's own result rows: workers, caches and what no record is to blame for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from corpora import solutions

from relfast.cli.main import main


def score(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main(["score", *map(str, arguments)])
    return int(left.value.code or 0)


def write(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.slow
def test_rows_are_the_same_for_any_workers_and_caches(
    tiny_auto: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = write(tmp_path / "dump.jsonl", solutions()[::97])
    outputs = []
    for number, (workers, cache) in enumerate([(0, ""), (2, ""), (1, "1"), (0, "1")]):
        monkeypatch.setenv("RELFAST_EMBED_CACHE", cache)
        out = tmp_path / f"out{number}.jsonl"
        assert score(dump, "-o", out, "--workers", workers, "-q", "--details", "--timeout", 0) == 0
        outputs.append(out.read_bytes())
    assert set(outputs) == {outputs[0]}
    rows = [json.loads(line) for line in outputs[0].splitlines()]
    assert len(rows) == len(solutions()[::97])
    assert {row["status"] for row in rows} == {"ok"}
    assert rows[0]["metrics"]["alignment"][0]["type"] in ("match", "skip_benchmark", "skip_llm")


@pytest.mark.parametrize("workers", [0, 1])
def test_a_model_that_is_not_here_stops_the_run(
    tiny_auto: str, tmp_path: Path, workers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = write(tmp_path / "dump.jsonl", [{"benchmark_solution": "a b", "llm_solution": "c d"}] * 3)
    out = tmp_path / "out.jsonl"
    assert score(dump, "-o", out, "--workers", workers, "-q", "--embedder", "bge-small") != 0
    assert "relfast embedder add bge-small" in capsys.readouterr().err
    assert not out.exists()
