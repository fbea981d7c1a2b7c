"""Deadlines of records that are scored together.

The operating system's timer ends a worker that takes too long over one record. It is of no use while an
embedding model runs over the texts of many records. That work is done in short steps instead: the time of
each step is charged to the records it was done for, and a record whose time is up is left out of the next.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from relfast_kernels.compiled import native

timer_stopped: Callable[[], AbstractContextManager[None]] = nullcontext
"""Context in which the operating system's timer stands still; set by a worker, which has one."""


class _Uncharged(threading.local):
    seconds = 0.0


_uncharged: Final = _Uncharged()


@contextmanager
def uncharged() -> Iterator[None]:
    """Context for work that no record is charged for, since it ends by itself: kernels as plain Python."""
    before, began = _uncharged.seconds, time.monotonic()
    try:
        with timer_stopped():
            yield
    finally:
        _uncharged.seconds = before + time.monotonic() - began


native.uncharged = uncharged


LONG_SECONDS: Final = 1.0
"""Intervals up to this long always count: they do little harm and are too short to tell work from waiting."""

LEAST_WORK: Final = 0.1
"""A longer interval counts only if the process (all threads) used this share of it as CPU time. It has used
less if twenty processes share the processor or it was stopped, and then a deadline says nothing about the
record."""


class WorkingClock:
    """A monotonic clock (s) that leaves out long intervals in which this process hardly ran, because it was
    stopped (Ctrl-Z) or the machine was overloaded. They must not count against a record's deadline.

    Parameters
    ----------
    now, worked
        Functions that return the seconds since any fixed moment, and the CPU seconds of this process.
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
    """The seconds that each record of a batch may take, and has taken so far. Used by one thread.

    A record is charged at most what it would take alone: its share of a step done for several records, and
    the full time of work that it shares with another (a text that both embed). So a record that meets its
    deadline alone meets it in any batch. Waiting and loading a model are charged to no record.

    Parameters
    ----------
    n
        Number of records; methods name a record by its place ``k`` from 0 to n-1.
    seconds
        Seconds that each may take; 0 = no limit.
    before_step
        Called before each step. A step cannot be interrupted from here: a worker arms its timer.
    before_loading
        Called before work that is charged to no record.
    clock
        Function that returns the seconds since any fixed moment.
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
        """Charge ``seconds`` to record ``k``."""
        self._spent[k] += seconds

    @contextmanager
    def step(self, k: int) -> Iterator[None]:
        """Time a step and charge it to record ``k``."""
        self.before_step()
        began, uncharged_before = self.clock(), _uncharged.seconds
        try:
            yield
        finally:
            uncharged = _uncharged.seconds - uncharged_before
            self.charge(k, max(0.0, self.clock() - began - uncharged))
