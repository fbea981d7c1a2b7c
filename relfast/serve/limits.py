"""What stands before the application: who may ask, the limits on bodies, the stop, the clock and the log.

Plain ASGI.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Any, Final

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relfast.serve.access import Access, Denial
from relfast.serve.metrics import Metrics

HUNG_UP: Final = 499
"""What is counted for a client that left before its request was there; nginx' number, HTTP has none."""

_CLOSE: Final = (b"connection", b"close")


class _HungUpError(Exception):
    """The client left in the middle of its body."""


class Gate:
    """Counts, judges, limits and drains requests on their way to ``app``.

    Parameters
    ----------
    app
        What answers them.
    paths
        Those of ``app``: others are counted together.
    access
        Who may ask.
    max_body_bytes
        Longer bodies get status 413 before they are read to their end.
    body_seconds
        A body that takes longer to come gets status 408.
    log
        Told each request in a line, when it is over; None: nothing is.

    Attributes
    ----------
    draining
        The server is to stop: every response then closes its connection.
    was_cut
        Something was still being answered at the end of the stop's time.
    """

    def __init__(
        self,
        app: ASGIApp,
        paths: Collection[str],
        metrics: Metrics,
        access: Access,
        max_body_bytes: int,
        body_seconds: float,
        log: Callable[[str], None] | None = None,
    ) -> None:
        self._app, self._paths, self._metrics, self._access = app, paths, metrics, access
        self._max, self._body_seconds, self._log = max_body_bytes, body_seconds, log
        self._reading: set[asyncio.Timeout] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.draining = self.was_cut = False

    def drain(self, seconds: float) -> None:
        """The server is to stop: bodies have so many seconds more to come, else they get status 503."""
        self.draining = True
        until = asyncio.get_running_loop().time() + seconds
        for reading in self._reading:
            reading.reschedule(min(until, reading.when() or until))

    def cut(self) -> None:
        """Answer all that is still being worked on with status 503."""
        self.was_cut = bool(self._tasks)
        for task in self._tasks:
            task.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        code, length = None, 0

        async def watched(message: Message) -> None:
            nonlocal code, length
            if message["type"] == "http.response.start":
                code = message["status"]
                if self.draining:
                    message["headers"] = [*message.get("headers", ()), _CLOSE]
            else:
                length += len(message.get("body", b""))
            await send(message)

        task = asyncio.current_task()
        assert task is not None
        self._metrics.began()
        self._tasks.add(task)
        try:
            await self._answer(scope, receive, watched)
        except _HungUpError:
            code = HUNG_UP
        except asyncio.CancelledError:
            # by `cut`, or by a second signal: only the client waits for this task
            if code is None:
                await _refuse(watched, 503, "the server was stopped before this was answered", _CLOSE)
        finally:
            self._tasks.discard(task)
            seconds = time.perf_counter() - started
            path = scope["path"] if scope["path"] in self._paths else "other"
            self._metrics.ended(path, code or 500, seconds)
            if self._log is not None:
                self._log(_line(scope, code or 500, length, seconds))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        denial = self._access.denial(scope["path"], scope["headers"])
        try:
            # read even if it is for nothing: a client that still sends would miss the answer
            body = await self._body(scope, receive, keep=denial is None)
        except TimeoutError:
            denial = (
                Denial(503, "the server is stopping, and the body is not there", (_CLOSE,))
                if self.draining
                else Denial(408, f"the body was not there after {self._body_seconds:g} s", (_CLOSE,))
            )
            body = b""
        if body is None:
            denial = Denial(413, f"the body has more than {self._max} bytes", (_CLOSE,))
        elif denial is None and body and not _is_json(scope):
            # a page of another origin may send any other type without asking, and none at all
            denial = Denial(415, "the body's Content-Type must be application/json")
        if denial is not None:
            await _refuse(send, denial.status, denial.detail, *denial.headers)
        else:
            await self._app(scope, _replay(body or b"", receive), send)

    async def _body(self, scope: Scope, receive: Receive, *, keep: bool) -> bytes | None:
        """The whole body (nothing of it unless it is to be kept), or None if it is longer than it may be.

        Raises
        ------
        TimeoutError
            It does not come.
        _HungUpError
            The client is gone.
        """
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value[:20]) > self._max:
                return None
        parts: list[bytes] = []
        length = 0
        async with asyncio.timeout(self._body_seconds) as reading:
            self._reading.add(reading)
            try:
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise _HungUpError
                    part = message.get("body", b"")
                    length += len(part)
                    if keep:
                        parts.append(part)
                    if length > self._max:
                        return None
                    if not message.get("more_body", False):
                        return b"".join(parts)
            finally:
                self._reading.discard(reading)


def _line(scope: Scope, code: int, length: int, seconds: float) -> str:
    """A request in the log: when, who, what, status, bytes of the answer, milliseconds."""
    at = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    host, port = scope.get("client") or ("-", 0)
    path = scope["raw_path"].decode("latin-1")  # as it was sent, and so on one line
    return f"{at} {host}:{port} {scope['method']} {path} {code} {length} {1000 * seconds:.1f} ms"


async def _refuse(send: Send, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
    text = orjson.dumps({"detail": detail})
    about = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(text)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": about})
    await send({"type": "http.response.body", "body": text})


def _is_json(scope: Scope) -> bool:
    """Whether a body says that it is JSON, as FastAPI reads it."""
    kinds = [value for name, value in scope["headers"] if name == b"content-type"]
    kind = kinds[0].partition(b";")[0].strip().lower() if len(kinds) == 1 else b""
    return kind == b"application/json" or (kind.startswith(b"application/") and kind.endswith(b"+json"))


def _replay(body: bytes, receive: Receive) -> Receive:
    """``receive`` for an application that is given a body already read."""
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
