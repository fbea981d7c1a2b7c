"""A record on its way to its score, and whoever waits for it.

`concurrent.futures.Future` would do, but making one takes 15 µs (a condition with its own lock and queue),
a quarter of what a host spends on a molecule. A pending score has one lock, and makes another for a thread
that really has to wait.
"""

from __future__ import annotations

from _thread import LockType, allocate_lock
from collections.abc import Callable
from itertools import count

from relfast.engine.pool.failures import Failures
from relfast.records import Record, Score, Status, unscored

_places = count()


class PendingScore:
    """A record and, some time, its score. It cannot be cancelled: a worker may have it already.

    ``record.index`` is replaced by a number of its own, which the score has too. The attributes after
    ``record`` belong to the queue and its lock.
    """

    __slots__ = (
        "_calls",
        "_lock",
        "_score",
        "_waiting",
        "doubled",
        "failures",
        "holders",
        "queued",
        "record",
        "settled",
    )

    def __init__(self, record: Record) -> None:
        record.index, record.sample = next(_places), 0
        self.record = record
        self.failures = Failures()
        self.holders = 0
        self.queued = False
        self.doubled = False
        self.settled = False
        self._lock = allocate_lock()
        self._score: Score | None = None
        self._waiting: list[LockType] = []
        self._calls: list[Callable[[Score], object]] = []

    def set_score(self, score: Score) -> None:
        """Tell everybody who asked. The first score counts."""
        with self._lock:
            if self._score is not None:
                return
            self._score = score
            waiting, calls = self._waiting, self._calls
        for waiter in waiting:
            waiter.release()
        for call in calls:
            call(score)

    def when_done(self, call: Callable[[Score], object]) -> None:
        """Call with the score: now if it is there, else in the thread that brings it."""
        with self._lock:
            score = self._score
            if score is None:
                self._calls.append(call)
        if score is not None:
            call(score)

    def score(self) -> Score:
        """The score, waited for if need be."""
        if self._score is None:
            waiter = allocate_lock()
            waiter.acquire()
            with self._lock:
                if self._score is None:
                    self._waiting.append(waiter)
                else:
                    waiter.release()
            waiter.acquire()
        assert self._score is not None
        return self._score

    def unscored(self, status: Status, kind: str, message: str) -> Score:
        record = self.record
        return unscored(record.index, record.id, record.task, 0, status, kind, message)
