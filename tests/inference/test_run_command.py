"""``relfast run``: records to responses against a server that fails, killed and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_runs import exit_code, rows_of, write_dump
from openai_server import Server, running
from patience import PATIENCE

RECORDS = [
    {"id": f"r{n}", "task": "REL-A1", "question": f"What is {n} + 1?", "answer": {"target": 0}}
    for n in range(40)
]


def solve(prompt: str) -> str:
    return f"<answer>{prompt}</answer>"


def options(server: Server, output: Path) -> list[object]:
    # what never answers is asked again soon; what does may take its time
    timeout = 1 if server.failing else PATIENCE
    return ["--api", server.url, "--model", "m", "-o", output, "--backoff", 0.01, "--timeout", timeout, "-q"]


def responses(path: Path) -> list[Any]:
    return [row["response"] for row in rows_of(path)]


def test_each_record_comes_back_with_its_response_in_order(tmp_path: Path) -> None:
    records, output = write_dump(tmp_path / "in.jsonl", RECORDS), tmp_path / "out.jsonl"
    with running(Server(solve=solve, failing=1)) as server:
        assert exit_code("run", records, *options(server, output)) == 0
        assert len(server.met) > 4
    rows = rows_of(output)
    assert [{key: row[key] for key in RECORDS[0]} for row in rows] == RECORDS
    assert [row["response"] for row in rows] == [solve(record["question"]) for record in RECORDS]
    assert {row["error"] for row in rows} == {None}
    assert rows[7]["generation"]["model"] == "m"


def test_gold_keeps_all_its_digits(tmp_path: Path) -> None:
    gold = {"label": "yes", "taxa": [3, 12345678901234567891]}
    record = {"id": 98765432109876543210, "task": "REL-B1", "question": "Which taxa?", "answer": gold}
    records, output = write_dump(tmp_path / "in.jsonl", [record]), tmp_path / "out.jsonl"
    with running(Server(solve=solve)) as server:
        assert exit_code("run", records, *options(server, output)) == 0
    (row,) = rows_of(output)
    assert {key: row[key] for key in record} == record
    assert type(row["id"]) is type(row["answer"]["taxa"][1]) is int


def test_failures_are_rows_and_are_asked_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, output = write_dump(tmp_path / "in.jsonl", RECORDS), tmp_path / "out.jsonl"
    with running(Server(solve=solve, broken="is 7 ")) as server:
        arguments = [records, *options(server, output), "--attempts", 2]
        assert exit_code("run", *arguments) == 0
        assert "1 records have no response" in capsys.readouterr().err
        assert exit_code("run", *arguments, "--resume", "--fail-on-error") == 1  # all that was asked failed
        failed = [row for row in rows_of(output) if row["error"]]
        assert [(row["id"], row["response"]) for row in failed] == [("r7", None)]
        assert failed[0]["error"]["type"] == "InternalServerError"
        assert [row["id"] for row in rows_of(output)] == [record["id"] for record in RECORDS]
        asked = server.asked.total()
        server.broken = None
        assert exit_code("run", *arguments, "--resume") == 0
        assert server.asked.total() == asked + 1
    assert responses(output) == [solve(record["question"]) for record in RECORDS]


def test_what_was_asked_differently_is_not_continued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records, output = write_dump(tmp_path / "in.jsonl", RECORDS[:3]), tmp_path / "out.jsonl"
    with running(Server(solve=solve)) as server:
        assert exit_code("run", records, *options(server, output)) == 0
        assert exit_code("run", records, *options(server, output)) == 2
        assert exit_code("run", records, *options(server, output), "--resume", "--temperature", 1) == 1
        assert "temperature was 0.0 and is 1.0" in capsys.readouterr().err
        write_dump(records, [*RECORDS[:2], RECORDS[5]])
        assert exit_code("run", records, *options(server, output), "--resume") == 1
        assert "record 2 of the input has another question now" in capsys.readouterr().err
        assert exit_code("run", records, *options(server, output), "--overwrite") == 0
    assert [row["id"] for row in rows_of(output)] == ["r0", "r1", "r5"]


def test_records_that_cannot_be_asked(tmp_path: Path) -> None:
    rows = [
        {"id": 1},
        {"id": 2, "question": "  "},
        {"id": 3, "question": [{"role": "user", "content": "hello"}]},
        {"id": 4, "problem": "1 + 1"},
        {"id": 5, "question": 5, "error": "of old", "response": "of old"},
    ]
    records, output = write_dump(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    records.write_text(records.read_text() + "\n  \n")
    with running(Server(solve=solve)) as server:
        assert exit_code("run", records, *options(server, output), "--fail-on-error") == 3
    found = {row["id"]: (row["response"], (row["error"] or {}).get("message")) for row in rows_of(output)}
    assert found == {
        1: (None, "question is missing"),
        2: (None, "question is neither text nor chat messages"),
        3: (solve("hello"), None),
        4: (solve("1 + 1"), None),
        5: (None, "question is neither text nor chat messages"),
    }


def test_several_samples_are_a_list(tmp_path: Path) -> None:
    counts: dict[str, int] = {}

    def numbered(prompt: str) -> str:
        counts[prompt] = counts.get(prompt, 0) + 1
        return str(counts[prompt])

    records, output = write_dump(tmp_path / "in.jsonl", RECORDS[:4]), tmp_path / "out.jsonl"
    with running(Server(solve=numbered)) as server:
        arguments = [*options(server, output), "--samples", 3, "--temperature", 0.7, "--system", "Brief."]
        assert exit_code("run", records, *arguments, "--limit", 3) == 0
        assert {request["temperature"] for request in server.requests} == {0.7}
    assert [sorted(texts) for texts in responses(output)] == [["1", "2", "3"]] * 3


def test_inputs_that_cannot_be_read(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": 1}\nnonsense\n')
    good = write_dump(tmp_path / "in.jsonl", RECORDS[:1])
    server = "http://127.0.0.1:9/v1"
    for records, api in ((tmp_path / "missing.jsonl", server), (bad, server), (good, "nonsense")):
        assert exit_code("run", records, "--api", api, "--model", "m", "-o", tmp_path / "o") == 2


def score_rows(output: Path) -> list[dict[str, Any]]:
    scored = output.with_suffix(".scored.jsonl")
    exit_code("score", output, "-o", scored, "--workers", 0, "--overwrite", "-q")
    return rows_of(scored)


def test_only_the_failed_samples_are_asked_again(tmp_path: Path) -> None:
    """Three samples each; the second request of one prompt and all of another fail."""
    records, output = write_dump(tmp_path / "in.jsonl", RECORDS[:3]), tmp_path / "out.jsonl"
    met: dict[str, int] = {}
    failing = True

    def answer(prompt: str) -> str:
        met[prompt] = met.get(prompt, 0) + 1
        if failing and ("is 1 " in prompt or ("is 0 " in prompt and met[prompt] == 2)):
            raise OSError("the model crashed")
        return f"Answer {met[prompt]}"

    with running(Server(solve=answer)) as server:
        arguments = [records, *options(server, output), "--samples", 3, "--attempts", 1, "--concurrency", 1]
        assert exit_code("run", *arguments) == 0
        first, second, third = rows_of(output)
        assert [first["response"][0], first["response"][2]] == ["Answer 1", "Answer 3"]
        assert first["response"][1] is None
        assert [error and error["type"] for error in first["error"]] == [None, "APIConnectionError", None]
        assert second["response"] == [None] * 3
        assert (third["response"], third["error"]) == (["Answer 1", "Answer 2", "Answer 3"], None)
        rows = score_rows(output)
        assert [(row["id"], row["sample"]) for row in rows] == [
            (f"r{n}", k) for n in range(3) for k in range(3)
        ]
        assert [row["status"] for row in rows[:3]] == ["ok", "invalid_record", "ok"]
        assert {row["status"] for row in rows[3:6]} == {"invalid_record"}
        assert rows[1]["error"] == first["error"][1]
        failing = False
        server.requests.clear()
        assert exit_code("run", *arguments, "--resume") == 0
        assert len(server.requests) == 4
    resumed = rows_of(output)
    assert resumed[0]["response"] == ["Answer 1", "Answer 4", "Answer 3"]
    assert resumed[2] == third
    assert {row["error"] for row in resumed} == {None}
    assert [row["generation"]["index"] for row in resumed] == [0, 1, 2]


def test_a_refusal_is_no_response_and_is_asked_once(tmp_path: Path) -> None:
    records, output = write_dump(tmp_path / "in.jsonl", RECORDS[:3]), tmp_path / "out.jsonl"
    refusals = {"is 0 ": {"refusal": "I'm sorry.", "content": None}, "is 1 ": {"content": ""}}
    with running(Server(solve=solve, says=refusals)) as server:
        assert exit_code("run", records, *options(server, output), "--attempts", 3) == 0
        assert len(server.requests) == 3
    rows = rows_of(output)
    assert [row["error"] and row["error"]["type"] for row in rows] == ["RefusalError", "RefusalError", None]
    assert "I'm sorry." in rows[0]["error"]["message"]
    assert "content filter" in rows[1]["error"]["message"]
    assert [row["status"] for row in score_rows(output)][:2] == ["invalid_record"] * 2
