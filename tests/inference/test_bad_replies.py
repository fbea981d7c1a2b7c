"""A server that says what no server should: `relfast run` and `relfast bench` end, every record has its row."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from engine_runs import exit_code, rows_of
from patience import PATIENCE

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
    "usage 2^63": said(usage={"completion_tokens": 2**63}),
    "usage negative": said(usage={"completion_tokens": -1}),
    "usage NaN": said(usage={"completion_tokens": float("nan"), "prompt_tokens": float("inf")}),
    "usage texts": said(usage={"completion_tokens": "many", "prompt_tokens": [1], "total_tokens": {}}),
    "usage details": said(usage={"completion_tokens_details": {"reasoning_tokens": HUGE}}),
    "usage list": http(json.dumps(reply() | {"usage": [1, 2]}).encode()),
    "usage text": http(json.dumps(reply() | {"usage": "none"}).encode()),
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
    "number": http(b"1e999"),
    "text": http(b'"hello"'),
    "list": http(b"[1, 2]"),
    "empty object": http(b"{}"),
    "choices null": said(choices=None),
    "choices text": said(choices="Answer 1"),
    "choices object": said(choices={"0": {}}),
    "choices of numbers": said(choices=[HUGE]),
    "choices of null": said(choices=[None]),
    "message null": said(choice={"message": None}),
    "message list": said(choice={"message": [1]}),
    "content number": said(message={"content": HUGE}),
    "content list": said(message={"content": [{"type": "text", "text": "x"}]}),
    "content null": said(message={"content": None}),
    "refusal object": said(message={"refusal": {"a": [HUGE, "\ud800"]}, "content": None}),
    "NaN alone": http(b"NaN"),
    "deep": http(DEEP),
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


@contextmanager
def saying(answer: Callable[[str], bytes]) -> Iterator[str]:
    """A server on loopback that answers each request with these very bytes and hangs up."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            length = 0
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            text = self.rfile.read(length).decode()
            with contextlib.suppress(OSError):  # the client has seen enough
                self.wfile.write(answer(text))

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 128  # all kinds are asked for at once

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()


def of_kind(text: str) -> bytes:
    found = re.search(r"kind<(.+?)>", text)
    if found is None:  # a redirect may have lost the body
        return http(b"", status="400 Bad Request")
    return (GOOD | BAD)[found[1]]


def write(path: Path, kinds: dict[str, bytes]) -> Path:
    rows = [
        {"id": kind, "task": "REL-A1", "question": f"kind<{kind}>", "answer": {"target": 1}} for kind in kinds
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


ASKED = ("--model", "m", "--attempts", 1, "--timeout", 20, "-q")


def test_run_ends_whatever_a_server_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, output = write(tmp_path / "in.jsonl", GOOD | BAD), tmp_path / "out.jsonl"
    with saying(of_kind) as url:
        assert exit_code("run", records, "--api", url, "-o", output, *ASKED) == 0
        told = capsys.readouterr().err
        assert exit_code("run", records, "--api", url, "-o", output, *ASKED, "--resume") == 1
    rows = rows_of(output)
    assert [row["id"] for row in rows] == [*GOOD, *BAD]
    assert {row["id"] for row in rows if row["error"] is None} == {*GOOD}
    assert {row["id"] for row in rows if row["response"] is None} == {*BAD}
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
    records = write(tmp_path / "in.jsonl", {"one": b"", "two": b""})

    def told(url: str, *more: object) -> str:
        assert (
            exit_code("run", records, "--api", url, "-o", tmp_path / "o", *ASKED, "--overwrite", *more) == 1
        )
        return capsys.readouterr().err

    assert "  2 × Connection refused: 127.0.0.1:9 (APIConnectionError)\n" in told("http://127.0.0.1:9/v1")
    over = threading.Event()

    def late(_: str) -> bytes:
        over.wait(PATIENCE)
        return b""

    wrong_key = http(b'{"error": {"message": "Incorrect API key"}}', status="401 Unauthorized")
    with saying(lambda _: wrong_key) as url:
        assert re.search(r"  2 × Error code: 401 - .*Incorrect API key", told(url))
    with saying(late) as url:
        assert "  2 × no reply in 0.3 s (" in told(url, "--timeout", 0.3)
        over.set()
