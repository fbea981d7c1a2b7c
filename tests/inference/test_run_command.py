"""``relfast run``: records to responses against a server that fails, or misbehaves by plan, killed and resumed."""

from __future__ import annotations

import gzip
import json
import re
import signal
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from engine_runs import exit_code, rows_of, write_dump
from openai_server import FAILURES, Server, running
from processes import PATIENCE, comes_true, python, started

from relfast.bench.sets import SETS
from relfast.inference.requests import read_requests
from relfast.records import SCORED

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


def test_each_record_comes_back_with_its_response_in_order(tmp_path: Path) -> None:
    """Gold keeps all its digits."""
    gold = {"label": "yes", "taxa": [3, 98765432109876543211]}
    more = [{**RECORDS[0], "id": 98765432109876543210}, {**RECORDS[1], "task": "REL-B1", "answer": gold}]
    asked = [*RECORDS, *more]
    records, output = write_dump(tmp_path / "in.jsonl", asked), tmp_path / "out.jsonl"
    with running(Server(solve=solve, failing=1)) as server:
        assert exit_code("run", records, *options(server, output)) == 0
        assert len(server.met) > 4
    rows = rows_of(output)
    assert [{key: row[key] for key in RECORDS[0]} for row in rows] == asked
    assert type(rows[-2]["id"]) is type(rows[-1]["answer"]["taxa"][1]) is int
    assert [row["response"] for row in rows] == [solve(record["question"]) for record in asked]
    assert {row["error"] for row in rows} == {None}
    assert rows[7]["generation"]["model"] == "m"


KEY = "sk-very-secret-0123456789"


def test_failures_are_rows_and_are_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """And the key comes into no row, whoever repeats it."""
    records, output = write_dump(tmp_path / "in.jsonl", RECORDS), tmp_path / "out.jsonl"
    monkeypatch.setenv("THEIR_KEY", KEY)
    repeating = Server(lambda prompt: f"{solve(prompt)} {KEY}", broken="is 7 ", echoes_key=True)
    with running(repeating) as server:
        arguments = [records, *options(server, output), "--attempts", 2, "--key-env", "THEIR_KEY"]
        assert exit_code("run", *arguments) == 0
        said = capfd.readouterr()
        assert "1 records have no response" in said.err
        assert KEY not in said.err + said.out
        assert exit_code("run", *arguments, "--resume", "--fail-on-error") == 3
        failed = [row for row in rows_of(output) if row["error"]]
        assert [(row["id"], row["response"]) for row in failed] == [("r7", None)]
        assert failed[0]["error"]["type"] == "InternalServerError"
        assert "Bearer [key]" in failed[0]["error"]["message"]
        assert server.keys == {f"Bearer {KEY}"}
        assert [row["id"] for row in rows_of(output)] == [record["id"] for record in RECORDS]
        asked = server.asked.total()
        server.broken = None
        assert exit_code("run", *arguments, "--resume") == 0
        assert server.asked.total() == asked + 1
    expected = [f"{solve(str(record['question']))} [key]" for record in RECORDS]
    assert [row["response"] for row in rows_of(output)] == expected
    assert not any(KEY in path.read_text() for path in tmp_path.iterdir())


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
    records, output = write_dump(tmp_path / "in.jsonl", [*rows, b"\n  \n"]), tmp_path / "out.jsonl"
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


def score_rows(output: Path) -> list[dict[str, Any]]:
    scored = output.with_suffix(".scored.jsonl")
    exit_code("score", output, "-o", scored, "--workers", 0, "--overwrite", "-q")
    return rows_of(scored)


def test_only_the_failed_samples_are_asked_again(tmp_path: Path) -> None:
    """Three samples each; the second request of one prompt and all of another fail."""
    records, output = write_dump(tmp_path / "in.jsonl", RECORDS[:4]), tmp_path / "out.jsonl"
    met: dict[str, int] = {}
    failing = True

    def answer(prompt: str) -> str:
        met[prompt] = met.get(prompt, 0) + 1
        if failing and ("is 1 " in prompt or ("is 0 " in prompt and met[prompt] == 2)):
            raise OSError("the model crashed")
        return f"Answer {met[prompt]}"

    with running(Server(solve=answer)) as server:
        more = "--samples 3 --attempts 1 --concurrency 1 --temperature 0.7 --system Brief. --limit 3"
        arguments = [records, *options(server, output), *more.split()]
        assert exit_code("run", *arguments) == 0
        first, second, third = rows_of(output)
        assert [first["response"][0], first["response"][2]] == ["Answer 1", "Answer 3"]
        assert first["response"][1] is None
        assert [error and error["type"] for error in first["error"]] == [None, "APIConnectionError", None]
        assert second["response"] == [None] * 3
        assert (third["response"], third["error"]) == (["Answer 1", "Answer 2", "Answer 3"], None)
        rows = score_rows(output)
        lost = {("r0", 1), ("r1", 0), ("r1", 1), ("r1", 2)}
        assert [(row["id"], row["sample"], row["status"]) for row in rows] == [
            (f"r{n}", k, "invalid_record" if (f"r{n}", k) in lost else "ok")
            for n in range(3)
            for k in range(3)
        ]
        assert rows[1]["error"] == first["error"][1]
        assert {request["temperature"] for request in server.requests} == {0.7}
        assert {request["messages"][0]["content"] for request in server.requests} == {"Brief."}
        failing = False
        server.requests.clear()
        assert exit_code("run", *arguments, "--resume") == 0
        assert len(server.requests) == 4
    resumed = rows_of(output)
    assert resumed[0]["response"] == ["Answer 1", "Answer 4", "Answer 3"]
    assert resumed[2] == third
    assert {row["error"] for row in resumed} == {None}
    assert [row["generation"]["index"] for row in resumed] == [0, 1, 2]


OPEN = {"content": None, "reasoning": "Let me see."}
CALLS = [{"id": "1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]
PARTS = [
    {"type": "reasoning", "text": "Hmm."},
    {"type": "text", "text": "Answer 1"},
    {"type": "text", "text": "."},
]
THOUGHT = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hmm."}]}]

SAID: dict[str, tuple[str | None, dict[str, Any], str]] = {
    "refusal": ("content_filter", {"refusal": "I'm sorry.", "content": None}, "RefusalError: I'm sorry."),
    "refusal in parts": ("stop", {"content": [{"type": "refusal", "refusal": "No way."}]}, "RefusalError: No way."),
    "filtered": ("content_filter", {"content": ""}, "ContentFilterError: finish_reason content_filter"),
    "filtered with text": ("content_filter", {"content": "Answer 1"}, "ContentFilterError: finish_reason content_filter"),
    "safety": ("SAFETY", {"content": None}, "ContentFilterError: finish_reason SAFETY"),
    "only reasoning": ("stop", OPEN, "OnlyReasoningError: only reasoning, no answer (finish_reason stop)"),
    "only reasoning, empty": ("stop", {"content": "", "reasoning_content": "Hm"}, "OnlyReasoningError: only reasoning"),
    "only reasoning in parts": ("stop", {"content": THOUGHT}, "OnlyReasoningError: only reasoning"),
    "calls": ("tool_calls", {"content": None, "tool_calls": CALLS}, "ToolCallsError: look_up"),
    "cut off": ("length", OPEN, ""),
    "cut off in parts": ("max_tokens", {"content": THOUGHT}, ""),
    "empty": ("stop", {"content": ""}, ""),
    "parts": ("stop", {"content": PARTS}, "Answer 1."),
}  # fmt: skip
"""What a model itself replies, and what becomes of it: the response, or the error's type and words."""


def test_what_a_model_says_is_asked_once_and_read_as_in_a_dump(tmp_path: Path) -> None:
    records = write_dump(
        tmp_path / "in.jsonl", [{**RECORDS[0], "id": kind, "question": f"<{kind}>"} for kind in SAID]
    )
    output, dump = tmp_path / "out.jsonl", tmp_path / "dump.jsonl"
    with running(
        Server(
            solve=solve, ends={f"<{kind}>": (str(reason), more) for kind, (reason, more, _) in SAID.items()}
        )
    ) as server:
        assert exit_code("run", records, *options(server, output), "--attempts", 3) == 0
        assert len(server.requests) == len(SAID)
    scored = score_rows(output)
    for row, score, (kind, (_, _, expected)) in zip(rows_of(output), scored, SAID.items(), strict=True):
        name, _, words = expected.partition("Error: ")
        error = row["error"]
        if words:
            assert (row["response"], error["type"]) == (None, f"{name}Error"), kind
            assert words in error["message"]
            assert (score["status"], score["error"]) == ("invalid_record", error)
        else:
            assert (row["response"], error) == (expected, None), kind
            assert score["status"] == ("ok" if expected else "no_answer")
    assert "look_up" in rows_of(output)[8]["error"]["message"]
    assert rows_of(output)[-1]["generation"]["reasoning"] == "Hmm."
    # a dump of the same replies is read alike
    kinds = ["refusal", "refusal in parts", "filtered", "only reasoning", "calls", "empty", "parts"]
    choices = [
        {"finish_reason": SAID[kind][0], "message": {"role": "assistant", **SAID[kind][1]}} for kind in kinds
    ]
    bodies = [{"status_code": 200, "body": {"choices": [choice]}} for choice in choices]
    write_dump(
        dump, [{"custom_id": kind, "response": body} for kind, body in zip(kinds, bodies, strict=True)]
    )
    assert (
        exit_code("score", dump, "--data", records, "-o", dump.with_suffix(".scored"), "--workers", 0, "-q")
        == 0
    )
    by_id = {row["id"]: row["status"] for row in scored}
    assert [(row["id"], row["status"]) for row in rows_of(dump.with_suffix(".scored"))] == [
        (kind, by_id[kind]) for kind in kinds
    ]


# all three benchmarks against a server that misbehaves by plan: every failure a row, none a score, nothing asked twice


WRONG = "['start: A1']  Answer 9, \\boxed{none}"


class Misbehaving(Server):
    """One prompt in ten fails for good, in a way that its text decides; the others at their first time."""

    def failure(self, prompt: str) -> str | None:
        kind = super().failure(prompt)
        if zlib.crc32(prompt.encode()) % 10 == 7:
            return ("500", "null text", "no choices", "html")[zlib.crc32(prompt.encode()) % 4]
        return kind


@pytest.mark.slow
def test_killed_four_times_it_asks_nothing_twice(tmp_path: Path) -> None:
    """Three samples of each built-in record; the process dies four times, whatever it is doing."""
    records, output = [str(each.path) for each in SETS.values()], tmp_path / "out.jsonl"
    prompts = [str(request.prompt) for request in read_requests(records)]
    n, samples, concurrency, kills = len(prompts), 3, 16, 4
    more = f"--samples {samples} --temperature 1 --seed 7 --concurrency {concurrency} --attempts 3 --timeout 2".split()
    command, key = ("-m", "relfast", "run"), {"OPENAI_API_KEY": KEY}
    kept: list[tuple[int, set[tuple[str, int]]]] = []
    with running(Misbehaving(solve=lambda prompt: WRONG, failing=1, slow=4.0, echoes_key=True)) as server:
        for number in range(kills):
            answered = server.answered.total()
            asked_for = [*records, *options(server, output), *more, *(["--resume"] if number else [])]
            child = started(*command, *asked_for, environment=key, stderr=subprocess.DEVNULL)
            enough = answered + samples * n // (kills + 4)
            comes_true(lambda: server.answered.total() >= enough or child.poll() is not None)  # noqa: B023
            shown = Path(f"/proc/{child.pid}/cmdline").read_bytes()
            child.send_signal(signal.SIGKILL)
            assert child.wait() == -signal.SIGKILL, "it ended before it could be killed"
            assert KEY.encode() not in shown
            assert b"relfast" in shown
            kept.append((len(server.requests), answered_in(output, prompts)))
        asked_for = [*records, *options(server, output), *more, "--resume"]
        done_ = python(*command, *asked_for, environment=key, text=False, check=True)
        # of what succeeded nothing is asked again, but for what was on its way at a kill
        good = n * samples - sum(samples for row in rows_of(output) if row["error"])
        assert good <= server.answered.total() <= good + kills * concurrency
        for asked, done in kept:
            again = {(each["messages"][0]["content"], each["seed"]) for each in server.requests[asked:]}
            assert again
            assert not again & done
        assert kept[0][1] < kept[-1][1]
        assert server.keys == {f"Bearer {KEY}"}
        quiet = tmp_path / "quiet.jsonl"
        server.asked.clear()
        server.failing = 0
        assert exit_code("run", *records, *options(server, quiet), *more) == 0
    assert output.read_bytes() == quiet.read_bytes()
    headers = (Path(f"{path}.run.json").read_bytes() for path in (output, quiet))
    assert len(set(headers)) == 1
    expected = [error is None for row in rows_of(output) for error in (row["error"] or [None] * samples)]
    assert [row["status"] in SCORED for row in score_rows(output)] == expected
    assert not all(expected)
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes(), path
    assert KEY.encode() not in done_.stderr + done_.stdout
    assert set(FAILURES) <= set(server.met) | {"slow", "trickle"}


def answered_in(output: Path, prompts: list[str]) -> set[tuple[str, int]]:
    """The prompts whose answers stand in an output, whole or not, with their seeds."""
    done = set()
    for line in output.read_bytes().split(b"\n")[:-1]:
        row = json.loads(line)
        about = row["generation"]
        texts = [row["response"]] if "sample" in about else row["response"]
        for at, text in enumerate(texts):
            if text is not None:
                done.add((prompts[about["index"]], 7 + about.get("sample", at)))
    return done


def test_a_truncated_response_is_marked(tmp_path: Path) -> None:
    """It is a response like others, unless told: one that was cut off before its answer began is empty."""
    texts = ("fine", "cut", "nothing", "thinks", "empty")
    rows = [{**RECORDS[0], "id": text, "question": f"{text}: which?"} for text in texts]
    records = write_dump(tmp_path / "in.jsonl", rows)
    ends: dict[str, tuple[str, dict[str, Any]]] = {
        "cut": ("length", {}),
        "nothing": ("length", {"content": None, "reasoning_content": "Hmm, let me"}),
        "thinks": ("stop", {"reasoning_content": "One or two? One."}),
        "empty": ("length", {"content": ""}),
    }
    with running(Server(solve=lambda prompt: "Answer 1", ends=ends)) as server:
        output = tmp_path / "out.jsonl"
        assert exit_code("run", records, *options(server, output)) == 0
        assert len(server.requests) == len(texts), "nothing of this is mended by asking again"
        found = {row["id"]: row for row in rows_of(output)}
        answers = ["Answer 1", "Answer 1", "", "Answer 1", ""]
        assert {name: row["response"] for name, row in found.items()} == dict(
            zip(texts, answers, strict=True)
        )
        for name, row in found.items():
            assert row["generation"]["finish_reason"] == ends.get(name, ("stop",))[0]
        assert found["thinks"]["generation"]["reasoning"] == "One or two? One."
        assert "reasoning" not in found["fine"]["generation"]
        assert found["fine"]["generation"]["usage"] == {"prompt_tokens": 2, "completion_tokens": 2}
        assert found["fine"]["generation"]["server_model"] == "m-served"
        strict = tmp_path / "strict.jsonl"
        assert exit_code("run", records, *options(server, strict), "--truncated", "fail") == 0
    failed = {row["id"]: row["error"]["message"] for row in rows_of(strict) if row["error"]}
    assert [*failed] == ["cut", "nothing", "empty"]
    assert "in the middle of the answer" in failed["cut"]
    assert "before the answer began" in failed["nothing"]


def test_a_url_with_a_password_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = write_dump(tmp_path / "in.jsonl", RECORDS[:1])
    arguments = ["--model", "m", "-o", tmp_path / "out.jsonl", "--api", f"http://me:{KEY}@127.0.0.1:9/v1"]
    assert exit_code("run", records, *arguments) == 2
    assert KEY not in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [records]


# a server that says what no server should: the run ends, every record has its row


HUGE = 2**64 + 1


def reply(**changes: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Answer 1"} | changes.pop("message", {})
    choice = {"index": 0, "finish_reason": "stop", "message": message} | changes.pop("choice", {})
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]} | {
        "usage": usage | changes.pop("usage", {}),
        **changes,
    }


def http(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", "Connection: close", *headers]
    if not any(header.lower().startswith("transfer-encoding") for header in headers):
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def said(**changes: Any) -> bytes:
    return http(json.dumps(reply(**changes)).encode())


FINE = said()
DEEP = b"[" * 10_000 + b"]" * 10_000

GOOD: dict[str, bytes] = {
    "fine": FINE,
    "usage 2^64": said(usage={"prompt_tokens": HUGE, "completion_tokens": HUGE}),
    "usage 10^4000": http(json.dumps(reply()).replace('"prompt_tokens": 1', f'"prompt_tokens": {10**4000}').encode()),
    "usage negative": said(usage={"completion_tokens": -1}),
    "usage texts": said(usage={"completion_tokens": "many", "prompt_tokens": [1], "total_tokens": {}}),
    "usage details": said(usage={"completion_tokens_details": {"reasoning_tokens": HUGE}}),
    "usage list": http(json.dumps(reply() | {"usage": [1, 2]}).encode()),
    "usage deep": http(json.dumps(reply()).encode()[:-1] + b', "more": {"usage": ' + b"[" * 500 + b"]" * 500 + b"}}"),
    "model number": said(model=5),
    "model huge": said(model="m" * 1_000_000),
    "model surrogate": said(model="\ud800\n\x1b[31m"),
    "finish reason surrogate": said(choice={"finish_reason": "\udfff stop"}),
    "finish reason object": said(choice={"finish_reason": {"a": HUGE}}),
    "finish reason huge": said(choice={"finish_reason": "x" * 1_000_000}),
    "reasoning number": said(message={"reasoning_content": 7, "reasoning": ["x"]}),
    "reasoning surrogate": said(message={"reasoning_content": "\ud800"}),
    "text surrogate": said(message={"content": "\ud800 Answer 1 \x00\x1b[2J"}),
    "text of 2 MB": said(message={"content": "Answer 1 " * 250_000}),
    "created huge": said(created=HUGE, id=HUGE),
    "tool calls wrong": said(message={"tool_calls": "x", "function_call": HUGE}),
    "chunked": http(b"%x\r\n%s\r\n0\r\n\r\n" % (len(json.dumps(reply())), json.dumps(reply()).encode()), "Transfer-Encoding: chunked"),
    "1xx first": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3 + FINE,
    "more than the length": FINE + b"HTTP/1.1 200 OK\r\n\r\n",
}  # fmt: skip

BAD: dict[str, bytes] = {
    "nothing": b"",
    "no HTTP": b"220 mail ESMTP\r\n",
    "binary": bytes(range(256)) * 100,
    "status 999": http(b"{}", status="999 What"),
    "status text": http(b"{}", status="two hundred"),
    "status 204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "no body": http(b""),
    "html": http(b"<html>It works!</html>"),
    "null": http(b"null"),
    "text": http(b'"hello"'),
    "empty object": http(b"{}"),
    "choices null": said(choices=None),
    "choices object": said(choices={"0": {}}),
    "choices of numbers": said(choices=[HUGE]),
    "message null": said(choice={"message": None}),
    "content number": said(message={"content": HUGE}),
    "content null": said(message={"content": None}),
    "content object": said(message={"content": {"text": "Answer 1"}}),
    "events": http(b'data: {"choices": [{"delta": {"content": "Answer 1"}}]}\n\ndata: [DONE]\n\n'),
    "overloaded": http(b'{"error": {"message": "overloaded"}}'),
    "overloaded choice": said(choice={"error": {"code": 502, "message": "Provider is down"}}),
    "broken off": said(choice={"finish_reason": "abort"}),
    "deep choices": http(b'{"choices": ' + b'[{"message": ' * 20_000),
    "refusal object": said(message={"refusal": {"a": [HUGE, "\ud800"]}, "content": None}),
    "NaN alone": http(b"NaN"),
    "deep within": http(b'{"choices": ' + DEEP + b"}"),
    "huge integer": http(b"9" * 100_000),
    "no UTF-8": http(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "half of it": http(json.dumps(reply()).encode()[:40], length=400),
    "chunk cut": http(b"ff\r\n{", "Transfer-Encoding: chunked"),
    "chunk sizes wrong": http(b"zz\r\n{}\r\n", "Transfer-Encoding: chunked"),
    "length no number": b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "headers without end": b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 50_000,
    "no gzip": http(b"{}", "Content-Encoding: gzip"),
    "gzip bomb": http(gzip.compress(b" " * 200_000_000, 1), "Content-Encoding: gzip"),
    "more than is read": said(message={"content": "Answer 1 " * 600_000}),
    "unknown coding": http(b"{}", "Content-Encoding: \xff, br, zstd"),
    "redirect to itself": http(b"", "Location: /v1/chat/completions", status="307 Temporary Redirect"),
    "redirect to nowhere": http(b"", "Location: http://127.0.0.1:9/", status="308 Permanent Redirect"),
    "redirect to a file": http(b"", "Location: file:///etc/passwd", status="302 Found"),
    "redirect without a place": http(b"", status="301 Moved"),
    "error deep": http(DEEP, status="400 Bad Request"),
    "error no object": http(b'{"error": [1, {"message": 5}]}', status="401 Unauthorized"),
    "error huge": http(b'{"error": "' + b"x" * 3_000_000 + b'"}', status="404 Not Found"),
    "error surrogate": http(b'{"error": {"message": "\\ud800\\u001b[31m"}}', status="403 Forbidden"),
    "retry for ever": http(b"{}", "Retry-After: -1e400", status="429 Too Many Requests"),
    "switching protocols": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
}  # fmt: skip


def of_kind(text: str) -> bytes:
    found = re.search(r"kind<(.+?)>", text)
    assert found is not None
    return (GOOD | BAD)[found[1]]


def write(path: Path, kinds: Iterable[str]) -> Path:
    rows = [{**RECORDS[0], "id": kind, "question": f"kind<{kind}>"} for kind in kinds]
    return write_dump(path, rows)


ASKED = ("--model", "m", "--attempts", 1, "--timeout", 20, "-q")


def test_run_ends_whatever_a_server_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relfast.inference.client.MAX_REPLY_BYTES", 4 * 2**20)
    records, output = write(tmp_path / "in.jsonl", GOOD | BAD), tmp_path / "out.jsonl"
    with running(Server(solve, raw=of_kind)) as server:
        asked = ["run", records, "--api", server.url, "-o", output, *ASKED]
        assert exit_code(*asked) == 0
        told = capsys.readouterr().err
        assert exit_code(*asked, "--resume") == 0
    rows = rows_of(output)
    assert [row["id"] for row in rows] == [*GOOD, *BAD]
    assert {row["id"] for row in rows if row["error"] is None} == {*GOOD}
    assert {row["id"] for row in rows if row["response"] is None} == {*BAD}
    errors = {row["id"]: (row["error"] or {}).get("message", "") for row in rows}
    assert "more than 4194304 bytes" in errors["more than is read"]
    assert "the reply is compressed" in errors["gzip bomb"]
    for row in rows:
        usage = row["generation"].get("usage") or {}
        assert all(type(count) is int and 0 <= count <= 2**40 for count in usage.values())
    made = json.loads((tmp_path / "out.jsonl.run.json").read_text())["made"]
    assert made["failed"] == len(BAD)
    assert max(map(len, made["server_models"])) < 300
    # the causes, each once with its count, and no more lines than one reads
    assert f"{len(BAD)} records have no response" in told
    assert sum(int(line.split()[0]) for line in told.splitlines() if " × " in line) == len(BAD)
    assert len(told) < 2_000
    assert "\x1b" not in told


def test_run_says_why_nothing_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused, unauthorized, late: the cause is where one looks, not only in the rows."""
    records = write(tmp_path / "in.jsonl", ["one", "two"])

    def told(url: str, *more: object) -> str:
        assert (
            exit_code("run", records, "--api", url, "-o", tmp_path / "o", *ASKED, "--overwrite", *more) == 1
        )
        return capsys.readouterr().err

    assert "  2 × Connection refused: 127.0.0.1:9 (APIConnectionError)\n" in told("http://127.0.0.1:9/v1")
    wrong_key = http(b'{"error": {"message": "Incorrect API key"}}', status="401 Unauthorized")
    with running(Server(solve, raw=lambda _: wrong_key)) as server:
        assert "  2 × status 401: Incorrect API key (AuthenticationError)\n" in told(server.url)
    with running(Server(solve, delay=PATIENCE)) as server:
        assert "  2 × no reply in 0.3 s (" in told(server.url, "--timeout", 0.3)


WORDS = {
    "html": "status 200: the reply is a page, not JSON: It works! (HTMLReplyError)",
    "choices null": "status 200: the reply has no choices: {",
    "events": "status 200: the reply is a stream of events, not JSON: data: {",
    "overloaded": "status 200: overloaded (ErrorReplyError)",
    "overloaded choice": "status 200: Provider is down (ErrorReplyError)",
    "content null": "status 200: the message has no content (finish_reason stop) (NoContentError)",
    "content object": "status 200: the content is an object, not text: {'text': 'Answer 1'} (NotTextError)",
    "status 204": "status 204: the reply is empty (EmptyReplyError)",
    "broken off": "status 200: the server broke the response off (finish_reason abort) (BrokenOffError)",
    "half of it": "peer closed connection",
    "error huge": "status 404: ",
}


def test_each_cause_has_its_name_and_the_servers_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records, output = write(tmp_path / "in.jsonl", [*WORDS] * 2), tmp_path / "out.jsonl"
    with running(Server(solve, raw=of_kind)) as server:
        assert exit_code("run", records, "--api", server.url, "-o", output, *ASKED) == 1
    told = capsys.readouterr().err
    for words in WORDS.values():
        assert f"  2 × {words}" in told, words
    assert len(json.loads(Path(f"{output}.run.json").read_text())["made"]["errors"]) == 10


def test_what_will_not_change_is_asked_once(tmp_path: Path) -> None:
    again = ["html", "overloaded", "content null", "no body", "overloaded choice"]
    once = ["events", "error huge", "error no object", "fine"]
    records, output = write(tmp_path / "in.jsonl", [*again, *once]), tmp_path / "out.jsonl"
    with running(Server(solve, raw=of_kind)) as server:
        exit_code("run", records, "--api", server.url, "-o", output, *ASKED, "--attempts", 3, "--backoff", 0)
        asked = Counter(request["messages"][-1]["content"] for request in server.requests)
    assert asked == {f"kind<{kind}>": 3 if kind in again else 1 for kind in (*again, *once)}


LATER = {
    "unreadable year": "Retry-After: Sat, 01 Jan 100000000000000000000 00:00:00 GMT",
    "negative": "Retry-After: -5",
    "no number": "Retry-After: NaN",
    "a little": "retry-after-ms: 5",
    "quota": "x-ratelimit-reset-requests: 24h",
    "at once": "Retry-After: Sat, 01 Jan 2000 00:00:00 GMT",
}
TOO_LATE = {
    "10^20 s": "Retry-After: 99999999999999999999",
    "hours": "Retry-After: 86400.5",
    "date": "Retry-After: Sat, 01 Jan 2400 00:00:00 GMT",
    "ms": "retry-after-ms: 61000",
    "longer than told": "Retry-After: 2",
}


def test_no_retry_after_ends_a_run_or_holds_it(tmp_path: Path) -> None:
    """What cannot be read is ignored; what is beyond --max-wait is a failed row that names it, asked again by --resume."""
    headers = LATER | TOO_LATE
    rows = [{**RECORDS[0], "id": kind, "question": f"<{kind}>"} for kind in headers]
    records, output = write_dump(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    busy = {
        kind: http(b'{"error": {"message": "busy"}}', line, status="429 Slow")
        for kind, line in headers.items()
    }
    replies = {f"<{kind}>": body for kind, body in busy.items()}
    with running(Server(solve, raw=lambda prompt: replies[prompt])) as server:
        more = ["--model", "m", "--max-wait", "1", "--backoff", "0", "-q"]
        asked = ["run", records, "--api", server.url, "-o", output, *more]
        assert exit_code(*asked, "--attempts", 3) == 1
        counts = Counter(request["messages"][-1]["content"] for request in server.requests)
        assert counts == {f"<{kind}>": 3 if kind in LATER else 1 for kind in headers}
        for row in rows_of(output):
            error = row["error"]
            assert (row["response"], error["type"]) == (None, "RateLimitError")
            name = headers[row["id"]].replace(":", "", 1)
            expected = (
                "status 429: busy (3 attempts)"
                if row["id"] in LATER
                else f"status 429: busy; {name} is beyond --max-wait 1 (1 attempt)"
            )
            assert error["message"] == expected
        replies.update(dict.fromkeys(replies, FINE))
        assert exit_code(*asked, "--resume") == 0
    assert {row["response"] for row in rows_of(output)} == {"Answer 1"}
