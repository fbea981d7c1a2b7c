"""What stands before the application: the limit on bodies, the drain flag, and the clock. Plain ASGI."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

import orjson

from relfast.serve.metrics import Metrics

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

KNOWN_PATHS: Final = frozenset({"/score", "/get_reward", "/health", "/metrics"})


class Gate:
    """Counts, limits and drains requests on their way to ``app``.

    Parameters
    ----------
    app
        What answers them.
    max_body_bytes
        Longer bodies get status 413 before they are read to their end.

    Attributes
    ----------
    draining
        Set when the server is to stop: every response then closes its connection.
    """

    def __init__(self, app: App, metrics: Metrics, max_body_bytes: int) -> None:
        self._app, self._metrics, self._max = app, metrics, max_body_bytes
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
            body = await self._body(scope, receive)
            if body is None:
                await self._too_large(watched)
            else:
                await self._app(scope, _replay(body, receive), watched)
        finally:
            path = scope["path"] if scope["path"] in KNOWN_PATHS else "other"
            self._metrics.ended(path, code, time.perf_counter() - started)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The whole body, or None if it is longer than it may be."""
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value[:20]) > self._max:
                return None
        parts: list[bytes] = []
        length = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b"".join(parts)
            parts.append(message.get("body", b""))
            length += len(parts[-1])
            if length > self._max:
                return None
            if not message.get("more_body", False):
                return b"".join(parts)

    async def _too_large(self, send: Send) -> None:
        text = orjson.dumps({"detail": f"the body has more than {self._max} bytes"})
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": text})


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
