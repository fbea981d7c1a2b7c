"""Coroutines from ordinary code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


def run_anywhere(call: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine to its end, also where the caller (a notebook, say) runs an event loop already."""

    async def start() -> T:
        return await call()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    result: list[Any] = []

    def in_thread() -> None:
        try:
            result.append((asyncio.run(start()), None))
        except BaseException as error:
            result.append((None, error))

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    value, error = result[0]
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return]
