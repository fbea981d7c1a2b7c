"""What stands before the application: who may ask, the limit on bodies, the drain flag, and the clock.

Plain ASGI.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

import orjson

from relfast.serve.access import Access
from relfast.serve.metrics import Metrics

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_CLOSE: Final = (b"connection", b"close")

KNOWN_PATHS: Final = frozenset({"/score", "/get_reward", "/health", "/metrics"})


class Gate:
    """Counts, judges, limits and drains requests on their way to ``app``.

    Parameters
    ----------
    app
        What answers them.
    access
        Who may ask.
    max_body_bytes
        Longer bodies get status 413 before they are read to their end.

    Attributes
    ----------
    draining
        Set when the server is to stop: every response then closes its connection.
    """

    def __init__(self, app: App, metrics: Metrics, access: Access, max_body_bytes: int) -> None:
        self._app, self._metrics, self._access, self._max = app, metrics, access, max_body_bytes
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        code = 500

        async def watched(message: Message) -> None:
            nonlocal code
            if message["type"] == "http.response.start":
                code = message["status"]
                if self.draining:
                    message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]
            await send(message)

        self._metrics.began()
        try:
            denial = self._access.denial(scope["path"], scope["headers"])
            # read even if it is for nothing: a client that still sends would miss the answer
            body = await self._body(scope, receive, keep=denial is None)
            if body is None:
                await _refuse(watched, 413, f"the body has more than {self._max} bytes", _CLOSE)
            elif denial is not None:
                await _refuse(watched, denial.status, denial.detail, *denial.headers)
            elif body and not _is_json(scope):
                # a page of another origin may send any other type without asking, and none at all
                await _refuse(watched, 415, "the body's Content-Type must be application/json")
            else:
                await self._app(scope, _replay(body, receive), watched)
        finally:
            path = scope["path"] if scope["path"] in KNOWN_PATHS else "other"
            self._metrics.ended(path, code, time.perf_counter() - started)

    async def _body(self, scope: Scope, receive: Receive, *, keep: bool) -> bytes | None:
        """The whole body (nothing of it unless it is to be kept), or None if it is longer than it may be."""
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value[:20]) > self._max:
                return None
        parts: list[bytes] = []
        length = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b"".join(parts)
            part = message.get("body", b"")
            length += len(part)
            if keep:
                parts.append(part)
            if length > self._max:
                return None
            if not message.get("more_body", False):
                return b"".join(parts)


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
