"""What happens when a worker dies: which record is blamed, which are tried again, and what the row says.

The same rules hold for the blocks of a file (`block_work`) and for the records of rewards (`RecordPool`):

- The record in flight is blamed. If none was in flight and the worker had a single record or line, that one
  is blamed, unless the worker was ended from outside.
- A record that exceeds its deadline gets the status ``timeout`` at once. A record that ends its worker in
  another way is tried again, alone, and gets ``crashed`` the second time. Once per record, a death does not
  count if this process or the worker was stopped (Ctrl-Z) or the worker hardly got the processor.
- If no record is blamed, all are tried again, until this has happened too often.

The type of a row's error says whether the response or the machinery is at fault (`fault_of`); rewards depend
on it. Messages name no measured time: rows are compared byte by byte.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

from relfast.records import STOPPED, WORKER_DIED, WORKER_KILLED, Place, Verdict, timed_out_verdict

ATTEMPTS: Final = 2
"""Workers that a record may kill before it is given up."""

UNEXPLAINED_DEATHS: Final = 50
"""Deaths without progress and without a record to blame before a run is given up: no record causes that."""

OUT_OF_MEMORY: Final = 86
"""Exit status of a worker that ran out of memory but could still exit by itself."""

LOST: Final = 1 << 16
"""Status of a worker that ended because the fork server did."""

FROM_OUTSIDE: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
"""Signals that users and systems send to processes; a crash of scoring code ends in another signal."""

BY_OTHERS: Final = tuple(number for number in FROM_OUTSIDE if number != signal.SIGKILL)
"""Those of `FROM_OUTSIDE` that certainly have an outside cause: SIGKILL may also mean lack of memory."""


class Death(NamedTuple):
    """How a worker ended."""

    status: int
    """Exit status, negative for a signal."""
    place: Place | None
    """The record in flight that may be blamed; None if there was none, it was a whole batch, or the worker
    was killed so soon after the record's start that the record cannot be the cause."""
    silent: bool = False
    """The pool had to kill it long after its deadline. The operating system's timer had not: the worker was
    stopped (Ctrl-Z)."""
    frozen: bool = False
    """This process was stopped meanwhile (Ctrl-Z), so that the deadline means nothing."""
    hardly_ran: bool = False
    """The worker hardly got any processor time."""
    too_large: bool = False
    """The pool killed it for holding more memory than it may."""

    @property
    def timed_out(self) -> bool:
        """Whether the deadline ended it."""
        return self.silent or self.status == -signal.SIGALRM

    @property
    def starved(self) -> bool:
        """Whether the deadline ended it although it hardly got any processor time."""
        return self.hardly_ran and self.timed_out

    @property
    def excused(self) -> bool:
        """Whether the deadline says nothing about the record: this process or the worker was stopped, or the
        machine is overloaded."""
        return self.frozen or self.silent or self.starved

    @property
    def by_own_work(self) -> bool:
        """Whether the worker's own work probably ended it, and not a signal from outside."""
        killed_by_pool = self.too_large or self.silent
        return killed_by_pool or (self.status != LOST and -self.status not in FROM_OUTSIDE)

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
    """Counts the deaths of workers for one record, line or block.

    Attributes
    ----------
    attempts
        Number of workers that it has ended.
    """

    __slots__ = ("_by_others", "_excused", "_unexplained", "attempts")

    def __init__(self) -> None:
        self.attempts = 0
        self._by_others = False
        self._unexplained = 0
        self._excused = False

    def blame(self, death: Death, timeout: float | None) -> Verdict | None:
        """Blame a death on this record or line. Returns the verdict, or None if it is to be tried again.

        ``timeout`` is the record's deadline in seconds; None for a line that is not decoded to a record yet,
        which has no deadline.
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

    def unexplained(self, death: Death) -> str | None:
        """Count a death without a record to blame. Returns why to give up, once there were too many."""
        self._unexplained += 1
        if self._unexplained <= UNEXPLAINED_DEATHS:
            return None
        return f"workers keep dying ({death.describe()}) on no record at all"

    def progress(self) -> None:
        """Note that a worker has scored something: earlier deaths without a record to blame are forgotten."""
        self._unexplained = 0


_T = TypeVar("_T")


def blamed(death: Death, find: Callable[[Place], _T | None], alone: _T | None) -> _T | None:
    """The item (record, line, …) that a death is blamed on; None if none is.

    Parameters
    ----------
    find
        Returns the item at a record's place; None if the worker was not given that record.
    alone
        The worker's item, if it had only one.
    """
    if death.place is not None:
        return find(death.place)
    return alone if death.by_own_work else None


class Died(Exception):
    """A worker ended before it had answered. ``silent``: the pool killed it because its deadline was long
    over; ``too_large``: because of the memory that it held."""

    def __init__(self, *, silent: bool = False, too_large: bool = False) -> None:
        self.silent, self.too_large = silent, too_large
