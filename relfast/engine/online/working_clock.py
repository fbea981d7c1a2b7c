"""A clock for deadlines in a host that nothing guards, and that anybody may stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

LONG_SECONDS: Final = 1.0
"""What is shorter is nobody's ruin, and too short to tell work from waiting."""

LEAST_WORK: Final = 0.1
"""Share of a long time that the process must have been at work, all threads together."""


class WorkingClock:
    """Monotonic seconds without the long times in which this process hardly ran: it was stopped (Ctrl-Z), or
    the machine was overloaded. A record must not pay for them with its deadline.

    Parameters
    ----------
    now, worked
        Seconds from any start on, and CPU seconds of this process.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        worked: Callable[[], float] = time.process_time,
    ) -> None:
        self._now, self._worked = now, worked
        self._last = now(), worked()
        self._left_out = 0.0

    def __call__(self) -> float:
        before, worked_before = self._last
        self._last = now, worked = self._now(), self._worked()
        if now - before > LONG_SECONDS and worked - worked_before < LEAST_WORK * (now - before):
            self._left_out += now - before
        return now - self._left_out
