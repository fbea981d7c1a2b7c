"""A small OpenAI-compatible server on loopback, for tests, that fails on purpose.

It solves by rule: the answer to a problem is what ``solve`` makes of its prompt. Failures are drawn by a
hash of the prompt and how often it has been asked, so that a run meets all kinds and still ends.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FAILURES = (
    "500", "503", "429", "slow", "trickle", "html", "no choices", "null text", "torn json", "hang up", "reset",
)  # fmt: skip
"""Kinds of failure; each is met by some prompts at their first time."""


@dataclass
class Server:
    """What a running server knows.

    ``failing`` is the number of times in a row that a prompt fails before it is answered; ``broken``
    prompts (those that contain the text) fail always; ``delay`` seconds pass before each answer. Prompts that
    contain a key of ``ends`` have that finish reason, and their chat message the fields beside it. ``echoes_key``: errors hold
    the key that came with the request, as some servers' do. ``raw``: each prompt is answered with these very bytes, and a
    hang-up.
    """

    solve: Callable[[str], str]
    failing: int = 0
    broken: str | None = None
    ends: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    echoes_key: bool = False
    raw: Callable[[str], bytes] | None = None
    answered: Counter[str] = field(default_factory=Counter)
    keys: set[str] = field(default_factory=set)
    delay: float = 0.0
    slow: float = 30.0
    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    requests: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0
    at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopping: threading.Event = field(default_factory=threading.Event)

    def failure(self, prompt: str) -> str | None:
        with self.lock:
            self.asked[prompt] += 1
            times = self.asked[prompt]
        if self.broken is not None and self.broken in prompt:
            return "500"
        if times > self.failing:
            return None
        kind = FAILURES[(zlib.crc32(prompt.encode()) + times) % len(FAILURES)]
        with self.lock:
            self.met[kind] += 1
        return kind


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """The server, answering at ``server.url`` (…/v1) until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            chat = self.path.endswith("/chat/completions")
            prompt = "\n".join(m["content"] for m in body["messages"]) if chat else body["prompt"]
            with server.lock:
                server.requests.append(body | {"path": self.path})
                server.keys.add(self.headers.get("Authorization", ""))
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
            try:
                if server.raw is not None:
                    self.close_connection = True
                    self.wfile.write(server.raw(prompt))
                    return
                server.stopping.wait(server.delay)
                self.answer(prompt, chat, server.failure(prompt))
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client had enough
            finally:
                with server.lock:
                    server.at_once -= 1

        def answer(self, prompt: str, chat: bool, failure: str | None) -> None:
            text = server.solve(prompt)
            said = None if failure == "null text" else text
            choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
            choice |= {"message": {"role": "assistant", "content": said}} if chat else {"text": said}
            for part, (reason, more) in server.ends.items():
                if part in prompt:
                    choice["message"] |= more
                    choice["finish_reason"] = reason
            usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())}
            reply = {
                "id": "x",
                "object": "chat.completion" if chat else "text_completion",
                "created": 0,
                "model": "m-served",
            }
            reply |= {"choices": [choice], "usage": usage | {"total_tokens": sum(usage.values())}}
            whole = json.dumps(reply).encode()
            bad: dict[str | None, bytes] = {"html": b"<html>It works!</html>", "torn json": whole[:-20]}
            bad["no choices"] = b'{"object": "error", "choices": []}'
            if failure in ("404", "500", "503", "429"):
                message = f"no: {self.headers.get('Authorization')}" if server.echoes_key else "try later"
                self.send(int(failure), json.dumps({"error": {"message": message}}).encode())
            elif failure == "slow":
                server.stopping.wait(server.slow)
            elif failure in ("reset", "hang up"):
                if failure == "reset":
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
            else:
                if failure is None:
                    with server.lock:
                        server.answered[prompt] += 1
                self.send(200, bad.get(failure, whole), pause=0.1 if failure == "trickle" else 0.0)

        def send(self, status: int, body: bytes, *, pause: float = 0.0) -> None:
            """Byte by byte where there is a pause after each: none is long, the whole takes ever so long."""
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if body[:1] == b"<" else "application/json")
            self.send_header("Content-Length", str(len(body)))
            if status == 429:
                self.send_header("Retry-After", "0.05")
            self.end_headers()
            for piece in (body[at : at + 1] for at in range(len(body))) if pause else (body,):
                if pause and server.stopping.wait(pause):
                    return
                self.wfile.write(piece)

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128  # some tests ask for all at once

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # connections closed on purpose

    http = Quiet(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        http.shutdown()
        thread.join()
        http.server_close()
