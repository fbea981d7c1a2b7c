"""A real model and the real clock: one response that takes too long, in a call, in files, over HTTP.

The model needs seconds for what has one, and milliseconds for its neighbours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_server import live_server
from tiny_bert import make_checkpoint

import relfast
from relfast.embed.adding import add

GOLD = {"benchmark_solution": "First 2 + 2 = 4.\nThen 4 + 1 = 5.\nSo \\boxed{5}."}
LONG = "\n".join(f"step {k} is " + "equal to " * 30 for k in range(2000))
"""96,000 tokens; 2·10¹² operations of the model below, for one thread."""

RESPONSES = ["2 + 2 = 4\n\\boxed{5}", LONG, "so it is 5", "so \\boxed{4}"]
STATUSES = ["ok", "timeout", "ok", "ok"]
ROWS = [{"id": at, "task": "ReAlign", "answer": GOLD, "response": text} for at, text in enumerate(RESPONSES)]
TIMEOUT = 1.0


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """MiniLM's size with random weights, under the name that `auto` takes."""
    home = tmp_path_factory.mktemp("slow_model")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_CACHE_DIR", str(home / "cache"))
        patch.setenv("RELFAST_EMBED_THREADS", "1")
        patch.delenv("RELFAST_EMBED_CACHE", raising=False)
        add(str(make_checkpoint(home / "checkpoint", hidden=384, heads=12, layers=6)), "bge-large")
        yield "bge-large"


def neighbours(model: str) -> list[dict[str, Any]]:
    """What they get without it."""
    scores = relfast.score([ROWS[0], *ROWS[2:]], timeout=0, workers=0)
    return [{**score.to_row(), "index": row} for score, row in zip(scores, (0, 2, 3), strict=True)]


def check(rows: list[dict[str, Any]], model: str) -> None:
    assert [row["status"] for row in rows] == STATUSES
    message = "scoring it took longer than 1 s and was stopped"
    assert (rows[1]["reward"], rows[1]["error"]) == (None, {"type": "Timeout", "message": message})
    assert [rows[0], *rows[2:]] == neighbours(model)


@pytest.mark.slow
def test_in_calls(model: str) -> None:
    with relfast.Scorer(timeout=TIMEOUT, on_error=-1.0) as scorer:
        check([score.to_row() for score in scorer.score(ROWS)], model)
        assert scorer.reward("ReAlign", GOLD, LONG + "\nand again") == -1.0
        assert scorer.stats()["workers_replaced"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_in_files(model: str, workers: int, tmp_path: Path) -> None:
    dump, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    dump.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    summary = relfast.score_file(dump, out, timeout=TIMEOUT, workers=workers)
    check([json.loads(line) for line in out.read_text().splitlines()], model)
    assert summary.count("timeout") == 1


@pytest.mark.slow
def test_over_http(model: str) -> None:
    pytest.importorskip("fastapi", reason="the server needs the extra `serve`")
    with live_server("--timeout", str(TIMEOUT)) as server:
        status, answer = server.ask("/score", {"records": ROWS, "policy": "reference"})
        assert status == 200
        check(answer["rows"], model)
        labels = [{"task": "ReAlign", "answer": GOLD}] * len(RESPONSES)
        queries = [f"q\n{text}\nand again" for text in RESPONSES]
        body = {"query": queries, "prompts": ["q\n"] * len(queries), "labels": labels}
        status, answer = server.ask("/get_reward", body)
        assert status == 200
        # strict: so many steps are turned down before anything is embedded
        assert (answer["rewards"][1], answer["extra_logs"]["unscored"]) == (0.0, 0.0)
        assert server.stop() == 0
