"""The time of records that are scored together.

What runs a model over the texts of many records cannot be given to the kernel's timer, which knows one
record at a time. Such work is done in short steps; each is timed and charged to the records it was done
for, and a record whose time is up takes part in no further step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

untimed: Callable[[], AbstractContextManager[None]] = nullcontext
"""Around what a record is not charged for; a worker, whose timer runs meanwhile, puts its own here."""


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


class Deadlines:
    """Seconds that each record of a batch may take, and has taken so far. Used by one thread.

    A record is charged at most what it would take alone: its share of a step done for several, and in full
    what it shares with others (a text that two records embed). So a record that is in time alone is in time
    in any batch. Waiting, and loading what scoring runs on, are charged to no record.

    Parameters
    ----------
    n
        Records, which are named by their places 0 … n-1.
    seconds
        What each may take; 0 = no limit.
    before_step
        Called before each step, which nothing here can interrupt: a worker arms its timer.
    before_loading
        Called before something that is charged to no record.
    clock
        Seconds from any start on.
    """

    def __init__(
        self,
        n: int,
        seconds: float = 0.0,
        *,
        before_step: Callable[[], None] = lambda: None,
        before_loading: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self.before_step, self.before_loading, self.clock = before_step, before_loading, clock
        self._spent = [0.0] * n

    def passed(self, k: int) -> bool:
        """Whether the time of record ``k`` is up."""
        return bool(self.seconds) and self._spent[k] > self.seconds

    def left(self, k: int) -> float:
        """Seconds that record ``k`` has left, not below 0; infinite without a limit."""
        return max(0.0, self.seconds - self._spent[k]) if self.seconds else math.inf

    def charge(self, k: int, seconds: float) -> None:
        """Note that ``seconds`` were spent on record ``k``."""
        self._spent[k] += seconds

    @contextmanager
    def step(self, shares: Mapping[int, float]) -> Iterator[None]:
        """A step done for some records, charged by their shares (of any sum)."""
        self.before_step()
        began = self.clock()
        try:
            yield
        finally:
            whole = sum(shares.values()) or 1.0
            seconds = self.clock() - began
            for k, share in shares.items():
                self.charge(k, seconds * share / whole)
