"""Bodies of requests: how many JSON values they may hold, and how they are decoded.

A record that cannot be decoded costs its own row, as a line of a file does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from typing import Any, Final

import numpy as np
from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from fastapi.routing import APIRoute

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
