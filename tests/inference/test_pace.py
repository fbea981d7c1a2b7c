"""When requests begin: on a clock of the test's own."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from relfast.inference.settings import Pace, seconds_asked


class Clock:
    """Time that passes by sleeping only."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await asyncio.sleep(0)  # the others go to sleep too
        self.now = max(self.now, until)


def begun(pace: Pace, clock: Clock, n: int) -> list[float]:
    async def one() -> float:
        await pace.turn()
        return clock.now

    async def run() -> list[float]:
        return [await one() for _ in range(n)]

    return asyncio.run(run())


def test_requests_are_spread_over_the_minute() -> None:
    clock = Clock()
    assert begun(Pace(30, clock=clock, sleep=clock.sleep), clock, 4) == [100, 102, 104, 106]


def test_without_a_rate_nobody_waits() -> None:
    clock = Clock()
    assert begun(Pace(clock=clock, sleep=clock.sleep), clock, 3) == [100] * 3


def test_a_server_that_asks_one_to_wait_means_all() -> None:
    clock = Clock()
    pace = Pace(60, clock=clock, sleep=clock.sleep)
    pace.hold(10)
    pace.hold(3)
    assert begun(pace, clock, 2) == [110, 111]


@pytest.mark.parametrize(
    ("header", "seconds"), [("", None), ("soon", None), ("7", 7.0), ("0.5", 0.5), ("-1", None)]
)
def test_what_retry_after_says(header: str, seconds: float | None) -> None:
    assert seconds_asked(header) == seconds


def test_retry_after_as_a_date() -> None:
    now = datetime.now(UTC)
    assert seconds_asked(format_datetime(now - timedelta(hours=1), usegmt=True)) == 0
    later = seconds_asked(format_datetime(now + timedelta(hours=1), usegmt=True))
    assert later is not None
    assert 0 < later <= 3600
