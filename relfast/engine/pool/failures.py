"""What follows when a worker dies: who is blamed, who is tried again, and what the row says.

One rule for the blocks of a file (`block_work`) and for the records of rewards (`record_pools`):

- The record in flight is blamed. Where none was, the one record or line that the worker had is, unless
  somebody else ended the worker.
- Who meets the deadline is a ``timeout`` at once; who ends its worker otherwise is tried again, alone, and is
  ``crashed`` the second time. What happened while this process or the worker was stopped (Ctrl-Z), or while
  the worker was hardly given the processor, does not count, once.
- Where nobody is blamed all are tried again, until it has happened too often.

The type of a row's error says whose fault it was (`fault_of`): rewards differ by it.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeVar

from relfast.records import SCORED, Place, Score

ATTEMPTS: Final = 2
"""Workers a record may kill before it is given up."""

IDLE_DEATHS: Final = 50
"""Deaths without progress and without a record to blame before a run is given up: no record does that."""

OUT_OF_MEMORY: Final = 86
"""Exit status of a worker that ran out of memory and could say so."""

LOST: Final = 1 << 16
"""Status of a worker that ended because the fork server did."""

FROM_OUTSIDE: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
"""Signals that others send; what a record does to its worker ends in another one."""

BY_OTHERS: Final = tuple(number for number in FROM_OUTSIDE if number != signal.SIGKILL)
"""Of these the ones that the kernel does not send for want of memory either."""

TIMEOUT: Final = "Timeout"
WORKER_DIED: Final = "WorkerDied"
STOPPED: Final = "Stopped"
WORKER_KILLED: Final = "WorkerKilled"
"""Types of error of records that hung or crashed their workers: by their own work (the first two), or while
somebody stopped or killed the worker, or the machine was overloaded."""

RESPONSES_FAULT: Final = frozenset({TIMEOUT, WORKER_DIED})
"""Types of error of timeouts and crashes that the response itself is to blame for."""


def fault_of(score: Score) -> Literal["response", "machinery"] | None:
    """Whose fault it is that a response has no score; None: it has one.

    ``machinery`` is everything but the response: gold, options, the machine, whoever stopped the run.
    """
    if score.status in SCORED:
        return None
    # bad records have types of error of their own, which may be called alike
    kind = score.error["type"] if score.error and score.status != "invalid_record" else None
    return "response" if kind in RESPONSES_FAULT else "machinery"


Verdict = tuple[Literal["timeout", "crashed"], str, str]
"""A status decided outside: what a record that hung or crashed its worker gets (status, type, message)."""


def timed_out_verdict(timeout: float) -> Verdict:
    """What a record gets that took longer than the seconds it may."""
    return "timeout", TIMEOUT, f"scoring it took longer than {timeout:g} s and was stopped"


class Death(NamedTuple):
    """How a worker ended."""

    status: int
    """Exit status, negative for a signal."""
    place: Place | None
    """The record to blame; None if it was none, a whole batch, or a record that happened to be there."""
    silent: bool = False
    """It outlived its deadline and had to be ended: the kernel's timer ends all but stopped processes."""
    frozen: bool = False
    """This process was stopped meanwhile (Ctrl-Z): the deadline says nothing."""
    idle: bool = False
    """The worker was hardly given the processor."""
    too_large: bool = False
    """It held more memory than it may, and was ended for that."""

    @property
    def timed_out(self) -> bool:
        """Whether it was the deadline."""
        return self.silent or self.status == -signal.SIGALRM

    @property
    def starved(self) -> bool:
        """Whether it met the deadline for want of the processor."""
        return self.idle and self.timed_out

    @property
    def excused(self) -> bool:
        """Whether the deadline says nothing about the record: somebody was stopped, or the machine is
        overloaded."""
        return self.frozen or self.silent or self.starved

    @property
    def by_own_work(self) -> bool:
        """Whether the worker's own work ended it, for all one can tell; not so for what others do to it."""
        return self.too_large or (self.status != LOST and -self.status not in FROM_OUTSIDE)

    def describe(self) -> str:
        """The cause, for the row's error: ``killed by SIGSEGV``."""
        if self.too_large or self.status == OUT_OF_MEMORY:
            return "ran out of memory"
        if self.status == LOST:
            return "ended with its fork server"
        if self.status < 0:
            with contextlib.suppress(ValueError):
                return f"killed by {signal.Signals(-self.status).name}"
        return f"ended with status {self.status}"


class Failures:
    """The deaths that are held against one record, line or block.

    Attributes
    ----------
    attempts
        Workers it ended.
    """

    __slots__ = ("_by_others", "_excused", "_idle", "attempts")

    def __init__(self) -> None:
        self.attempts = 0
        self._by_others = False
        self._idle = 0
        self._excused = False

    def blame(self, death: Death, timeout: float | None) -> Verdict | None:
        """The verdict on whom a death is blamed on; None: it is tried again.

        ``timeout`` are the seconds it may take; None where it has no deadline, since it is a line that is no
        record yet.
        """
        if timeout is not None:
            if death.excused and not self._excused:
                self._excused = True
                return None
            if death.timed_out:
                status, kind, message = timed_out_verdict(timeout)
                return status, STOPPED if death.excused else kind, message
        self.attempts += 1
        self._by_others |= -death.status in BY_OTHERS
        if self.attempts < ATTEMPTS:
            return None
        kind = WORKER_KILLED if self._by_others else WORKER_DIED
        return "crashed", kind, f"it ended its worker {ATTEMPTS} times ({death.describe()})"

    def idle(self, death: Death) -> str | None:
        """Count a death that nobody is blamed for; why all is given up, once there were too many."""
        self._idle += 1
        if self._idle <= IDLE_DEATHS:
            return None
        return f"workers keep dying ({death.describe()}) on no record at all"

    def progress(self) -> None:
        """Something was scored: the idle deaths before it do not count."""
        self._idle = 0


_T = TypeVar("_T")


def blamed(death: Death, find: Callable[[Place], _T | None], alone: _T | None) -> _T | None:
    """Whom a death is blamed on.

    Parameters
    ----------
    find
        What the worker had at a place; None where that is not its own.
    alone
        What the worker had, if it was one thing.
    """
    if death.place is not None:
        return find(death.place)
    return alone if death.by_own_work else None


class Died(Exception):
    """A worker ended before it had answered; ``silent`` if it had to be ended for its silence, ``too_large``
    for the memory that it held."""

    def __init__(self, *, silent: bool = False, too_large: bool = False) -> None:
        self.silent, self.too_large = silent, too_large
