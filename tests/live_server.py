"""A real ``relfast serve`` in a process of its own, and a client that says what it got: for server tests."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import psutil
from processes import PATIENCE, started
from reward_cases import workers_of

NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Live:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.port = process, port
        self.url = f"http://127.0.0.1:{port}"

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(
        self, path: str, body: Any = None, *, raw: bytes | None = None, headers: Mapping[str, str] = NONE
    ) -> tuple[int, Any]:
        """Status and decoded body of one request; POST if there is a body."""
        with contextlib.closing(self.connect()) as connection:
            return ask_on(connection, path, body, raw=raw, headers=headers)

    def workers(self) -> list[psutil.Process]:
        return workers_of(self.process.pid)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Tell it to stop; its exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def ask_on(
    connection: http.client.HTTPConnection,
    path: str,
    body: Any = None,
    *,
    raw: bytes | None = None,
    headers: Mapping[str, str] = NONE,
) -> tuple[int, Any]:
    payload = raw if raw is not None else None if body is None else json.dumps(body).encode()
    kind = {"Content-Type": "application/json"} if payload is not None else {}
    connection.request("GET" if payload is None else "POST", path, payload, {**kind, **headers})
    response = connection.getresponse()
    text = response.read()
    as_json = response.headers.get_content_type() == "application/json"
    return response.status, json.loads(text) if as_json else text.decode()


@contextlib.contextmanager
def live_server(*options: str) -> Iterator[Live]:
    """A server on a free port, of the loopback unless told otherwise; killed at the end if the test has not stopped it."""
    serve = ("-m", "relfast.cli.main", "serve", "--port", 0, "--workers", 2, "-q", *options)
    process = started(*serve, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        found = re.search(r"http://[\d.]+:(\d+) ", first)
        assert found, first
        yield Live(process, int(found[1]))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
