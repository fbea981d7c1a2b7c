"""ASGI middleware: access control, limits on bodies, orderly stop, metrics and access log; how many JSON
values a body may hold, and how it is decoded. A record that cannot be decoded costs its own row, as a line of
a file does.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Collection, Coroutine
from typing import Any, Final

import numpy as np
import orjson
from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relfast.serve.access import Access, Denial
from relfast.serve.metrics import Metrics

HUNG_UP: Final = 499
"""Status code for a client that disconnected before its request had arrived: nginx's, as HTTP has none."""

_CLOSE: Final = (b"connection", b"close")
_NO_SNIFFING: Final = (b"x-content-type-options", b"nosniff")


class _HungUpError(Exception):
    """The client disconnected before its body was complete."""


class Gate:
    """Counts requests, refuses those without access, limits their bodies, and passes the others to ``app``.

    Parameters
    ----------
    app
        The application.
    paths
        The paths of ``app``; requests for any other path are counted together.
    access
        Decides which requests may be answered.
    max_body_bytes
        Longer bodies get status 413 before they are read to their end.
    body_seconds
        A body that takes longer to arrive gets status 408.
    log
        Called with a line of text for each finished request; None: no access log.

    Attributes
    ----------
    draining
        Whether the server is stopping; every response then closes its connection.
    was_cut
        Whether requests were still being answered when the time for stopping was over.
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
        """Begin to stop: bodies that do not arrive within ``seconds`` get status 503."""
        self.draining = True
        until = asyncio.get_running_loop().time() + seconds
        for reading in self._reading:
            reading.reschedule(min(until, reading.when() or until))

    def cut(self) -> None:
        """Answer all unfinished requests with status 503."""
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
                more = (_NO_SNIFFING, _CLOSE) if self.draining else (_NO_SNIFFING,)
                message["headers"] = [*message.get("headers", ()), *more]
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
            # by `cut` or a second signal; nothing but the client waits for this task, so it ends normally
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
        """Read the body; then pass the request to the application, or refuse it."""
        denial = self._access.denial(scope["path"], scope["headers"])
        try:
            # read even if it is refused: a client that is still sending would not see the response
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
            # browsers let pages of other origins send other types, or none, without a preflight request
            denial = Denial(415, "the body's Content-Type must be application/json")
        elif denial is None and body and await asyncio.to_thread(has_too_many, body):
            denial = Denial(413, f"the body has more than {MAX_VALUES} JSON values")
        if denial is not None:
            await _refuse(send, denial.status, denial.detail, *denial.headers)
        else:
            if scope["method"] == "HEAD":
                # answered as GET is; the server leaves the body out
                scope = {**scope, "method": "GET"}
            await self._app(scope, _replay(body or b"", receive), send)

    async def _body(self, scope: Scope, receive: Receive, *, keep: bool) -> bytes | None:
        """The whole body, or None if it is too long. Without ``keep`` the body is read and dropped.

        Raises
        ------
        TimeoutError
            The body did not arrive in time.
        _HungUpError
            The client disconnected.
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
    """A line of the access log: time, client, method, path, status, bytes of the response, milliseconds."""
    at = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    host, port = scope.get("client") or ("-", 0)
    path = scope["raw_path"].decode("latin-1")  # percent-encoded, so without line breaks
    return f"{at} {host}:{port} {scope['method']} {path} {code} {length} {1000 * seconds:.1f} ms"


async def _refuse(send: Send, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
    text = orjson.dumps({"detail": detail})
    about = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(text)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": about})
    await send({"type": "http.response.body", "body": text})


def _is_json(scope: Scope) -> bool:
    """Whether a request's Content-Type is JSON, by FastAPI's rules."""
    kinds = [value for name, value in scope["headers"] if name == b"content-type"]
    kind = kinds[0].partition(b";")[0].strip().lower() if len(kinds) == 1 else b""
    return kind == b"application/json" or (kind.startswith(b"application/") and kind.endswith(b"+json"))


def _replay(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that first returns the body, which has already been read."""
    was_sent = False

    async def again() -> Message:
        nonlocal was_sent
        if was_sent:
            return await receive()
        was_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


MAX_VALUES: Final = 2_000_000
"""Most JSON values in a body: decoded, each takes up to 80 bytes, however short its text is. A thousand
mazes of 40 × 40 rooms have half as many."""

_BLOCK: Final = 1 << 20
_QUOTE: Final = ord('"')
_STARTS: Final = tuple(map(ord, ",[{"))


def has_too_many(body: bytes) -> bool:
    """Whether a body holds more than `MAX_VALUES` JSON values: members, items, objects and lists."""
    if sum(map(body.count, (b",", b"[", b"{"))) <= MAX_VALUES:
        return False
    # those in texts are none: count again without them, block by block
    body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    n = inside = 0
    for at in range(0, len(body), _BLOCK):
        block = np.frombuffer(body[at : at + _BLOCK], np.uint8)
        in_text = (np.cumsum(block == _QUOTE, dtype=np.int32) + inside) & 1
        inside = int(in_text[-1])
        n += int(np.count_nonzero(np.isin(block, _STARTS) & (in_text == 0)))
    return n > MAX_VALUES


_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},"]', re.DOTALL)
_RECORDS: Final = re.compile(rb'"records"\s*:\s*\[')


def decoded(body: bytes) -> Any:
    """The JSON value of a body. If it cannot be decoded as a whole (too deep, a number too long), each of its
    ``records`` is the bytes of a record.

    Raises
    ------
    ValueError, RecursionError
        It cannot be decoded, and has no ``records`` that can be told apart.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        found = _records_in(body)
        if found is None:
            raise
        records, rest = found
        value = json.loads(rest)
        value["records"] = records
        return value


def _records_in(body: bytes) -> tuple[list[bytes], bytes] | None:
    """The records of a body's ``records``, each as it stands, and the body with an empty list instead; None
    if it has no such list."""
    depth, start, begin = 0, -1, -1
    records: list[bytes] = []
    for token in _TOKEN.finditer(body):
        kind = token[0][:1]
        if token[0] == b'"':
            return None  # a text that does not end
        if depth == 1 and begin < 0 and kind == b'"' and (key := _RECORDS.match(body, token.start())):
            begin = start = key.end()
        elif kind in (b"[", b"{"):
            depth += 1
        elif kind in (b"]", b"}"):
            depth -= 1
        if begin >= 0 and (depth, kind) in ((2, b","), (1, b"]")):
            records.append(body[start : token.start()].strip())
            start = token.end()
            if kind == b"]":
                whole = records if records != [b""] else []
                return (whole, body[:begin] + body[token.start() :]) if all(whole) else None
    return None


class BodyRoute(APIRoute):
    """A route whose bodies are `decoded`, in a thread: large ones would hold up other requests."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_decoded(request: Request) -> Response:
            return await handle(_Decoding(request.scope, request.receive))

        return handle_decoded


class _Decoding(Request):
    async def json(self) -> Any:
        return await run_in_threadpool(decoded, await self.body())
