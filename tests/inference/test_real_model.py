"""A real language model, tiny and random, behind llama.cpp's server: asked, scored and reported end to end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_runs import exit_code, rows_of
from tiny_server import ALIAS, tiny_server

pytestmark = pytest.mark.slow

MAX_TOKENS = 12


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with tiny_server(tmp_path_factory.mktemp("model")) as url:
        yield url


def test_from_a_models_name_to_a_report(api: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = f"--limit 3 --max-tokens {MAX_TOKENS} --workers 0 -q"
    arguments = [f"{ALIAS}@{api}", "-o", tmp_path, *options.split()]
    assert exit_code("bench", *arguments, "--concurrency", 2) == 0
    table = capsys.readouterr().err
    folder = tmp_path / ALIAS
    for name in ("rel", "seqbench", "realign"):
        assert f"{name} " in table
        rows, scored = rows_of(folder / f"{name}.jsonl"), rows_of(folder / f"{name}.scored.jsonl")
        assert len(rows) == len(scored) == 3
        for row, score in zip(rows, scored, strict=True):
            about = row["generation"]
            assert about["server_model"] == ALIAS
            assert about["finish_reason"] in ("length", "stop")
            assert 0 < about["usage"]["completion_tokens"] <= MAX_TOKENS
            assert about["usage"]["prompt_tokens"] > 100
            if row["error"] is not None:
                # nothing but half a character came
                assert row["error"]["type"] == "TruncatedError"
            assert (row["error"] is None) == (score["status"] in ("ok", "no_answer"))
    page = (folder / "report" / "index.html").read_text("utf-8")
    for task in ("REL-A1", "SeqBench", "ReAlign"):
        assert task in page
    results = json.loads((tmp_path / "results.json").read_text())
    assert [result["run"]["made"]["server_models"] for result in results] == [[ALIAS]] * 3
    before = answered(folder)
    assert len(before) > 5
    assert exit_code("bench", *arguments, "--concurrency", 2) == 2, "an existing run needs a word"
    assert exit_code("bench", *arguments, "--concurrency", 1, "--resume") in (0, 1)
    assert answered(folder) >= before


def answered(folder: Path) -> set[str]:
    """The rows that hold a response, as they stand in their files."""
    found = set()
    for name in ("rel", "seqbench", "realign"):
        lines = (folder / f"{name}.jsonl").read_text("utf-8").split("\n")
        found |= {line for line in lines if line and json.loads(line)["error"] is None}
    return found


def test_fields_of_ones_own_reach_the_server(api: str, tmp_path: Path) -> None:
    """A grammar that lets the model say one thing only: what it says is right, and so is its score."""
    records, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [
        {"id": n, "task": "REL-A1", "question": "Which panel?", "answer": {"target": n}} for n in range(3)
    ]
    records.write_text("".join(json.dumps(row) + "\n" for row in rows))
    grammar = json.dumps({"grammar": 'root ::= "Answer 2 and more"', "temperature": None})
    asked = ["--api", api, "--model", ALIAS, "-o", output, "--extra-body", grammar, "--stop", " and"]
    assert exit_code("run", records, *asked, "--samples", 2, "--seed", 3, "-q") == 0
    assert [row["response"] for row in rows_of(output)] == [["Answer 2", "Answer 2"]] * 3
    assert exit_code("score", output, "-o", tmp_path / "rows.jsonl", "--workers", 0, "-q") == 0
    scored = rows_of(tmp_path / "rows.jsonl")
    assert [row["correct"] for row in scored] == [False, False, True, True, False, False]
