"""The pool of workers that scores the records of calls.

Kernels score nearly all records without a worker; the records that come here take a worker 0.1 ms or more.
Records of one call are sent to a worker a few at a time, since only that call waits for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from relfast.engine.calls.pending import PendingScore
from relfast.engine.isolated.failures import Death, Failures, blamed
from relfast.engine.isolated.pool import Pool
from relfast.engine.isolated.protocol import RecordsRequest, WorkItem
from relfast.errors import WorkerError

TOGETHER: Final = 8
"""Most records of a work item; sent one by one, REL-C3 with ``details`` takes 400 µs a record, not 130."""


class RecordWork(WorkItem):
    """A work item of some records with pending scores; a worker scores them in this order."""

    def __init__(
        self, pending: Sequence[PendingScore], timeout: float, failures: Failures | None = None
    ) -> None:
        self._left = {each.record.index: each for each in pending}
        self._timeout = timeout
        self._failures = failures or Failures()

    def request(self) -> RecordsRequest:
        return RecordsRequest([each.record for each in self._left.values()])

    def answer(self, message: Any) -> None:
        for score in message:
            self._left.pop(score.index).set_score(score)

    def died(self, death: Death) -> Sequence[WorkItem]:
        """Each remaining record becomes an item of its own, so that several that hang do so in parallel."""
        left = list(self._left.values())
        alone = left[0] if len(left) == 1 else None
        culprit = blamed(death, lambda place: self._left.get(place[0]), alone)
        if culprit is None:
            if message := self._failures.idle(death):
                self.failed(WorkerError(message))
                return ()
        elif verdict := self._failures.blame(death, self._timeout):
            culprit.set_unscored(*verdict)
            left.remove(culprit)
        keeper = culprit or alone
        return [
            RecordWork([each], self._timeout, self._failures if each is keeper else None) for each in left
        ]

    def failed(self, error: WorkerError) -> None:
        for each in self._left.values():
            each.set_failed(str(error))


class RecordPool(Pool):
    """A pool of workers for records."""

    def score(self, pending: Sequence[PendingScore]) -> None:
        """Have the records of a call scored. Each gets a row, unscored after `close` or if workers fail."""
        size = max(1, min(TOGETHER, len(pending) // (2 * self.workers)))
        for at in range(0, len(pending), size):
            work = RecordWork(pending[at : at + size], self.job.timeout)
            try:
                self.submit(work)
            except WorkerError as error:  # closed
                work.failed(error)
