"""When the next request may begin: a rate that is kept, and a server that asked everybody to wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


class Pace:
    """Lets requests begin, evenly spread over each minute.

    Parameters
    ----------
    per_minute
        Requests begun in a minute; None: unlimited.
    clock, sleep
        Seconds, and how they pass.
    """

    def __init__(
        self,
        per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._interval = 0.0 if per_minute is None else 60 / per_minute
        self._clock, self._sleep = clock, sleep
        self._next = self._held = clock()

    def hold(self, seconds: float) -> None:
        """No request begins for so long: the server told one request to wait, and means all."""
        self._held = max(self._held, self._clock() + seconds)

    async def turn(self) -> None:
        """Wait until a request may begin."""
        at = max(self._next, self._held, self._clock())
        self._next = at + self._interval
        while (wait := max(at, self._held) - self._clock()) > 0:
            await self._sleep(wait)


def seconds_asked(header: str) -> float | None:
    """The seconds that a Retry-After asks for, as a number or a date; None if it is neither."""
    text = header.strip()
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())
