"""Scores records whose scoring can hang or crash, for a `relfast.Scorer`: first by kernels in this process,
then from the cache of answers scored before, and the rest in worker processes (`RecordPool`).

Kernels score nearly all records without a worker; the records that come here take a worker 0.1 ms or more.
Records of one call are sent to a worker a few at a time, since only that call waits for them.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from relfast.engine.calls.incoming import not_plain
from relfast.engine.calls.pending import Counts, PendingScore, ScoreCache, key_of
from relfast.engine.columns.scoring import Scoring, failed
from relfast.engine.isolated.failures import Death, Failures, blamed
from relfast.engine.isolated.pool import Pool
from relfast.engine.isolated.protocol import RecordsRequest, WorkItem
from relfast.errors import WorkerError
from relfast.json_text import plain
from relfast.records import Record, Score
from relfast.support.system import usable_cores
from relfast.tasks.base import Task


class IsolatedScoring:
    """Scores those records of a `Scorer` that can hang or crash. Thread-safe.

    Its workers start when a record first needs one; they end with `close`, with this object, or with the
    process. After `close` it starts new workers when it is used again.

    Parameters
    ----------
    scoring
        The job and its kernels.
    workers
        Number of worker processes; None: usable cores.
    counts
        Counts the events ``scored_before`` and ``shared`` (`Scorer.stats`).
    """

    def __init__(self, scoring: Scoring, workers: int | None, counts: Counts) -> None:
        self._scoring, self._n_workers, self._counts = scoring, workers, counts
        self._lock = threading.Lock()
        self._pool: RecordPool | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None
        self._cache = ScoreCache()
        self._replaced = 0

    def close(self) -> None:
        """End the workers. Calls that wait for scores get unscored rows."""
        with self._lock:
            pool, self._pool = self._pool, None
            finalizer, self._finalizer = self._finalizer, None
        if pool is not None and finalizer is not None:
            finalizer()
            self._replaced += pool.replaced

    def abandon(self) -> None:
        """In a forked child: forget the workers, which belong to the parent."""
        if self._finalizer is not None:
            # otherwise it would kill the parent's workers when the child ends
            self._finalizer.detach()
        if self._pool is not None:
            self._pool.abandon()

    def stats(self) -> dict[str, int]:
        """``workers`` (running now) and ``workers_replaced``."""
        with self._lock:
            pool, replaced = self._pool, self._replaced
        if pool is None:
            return {"workers": 0, "workers_replaced": replaced}
        return {"workers": len(pool.pids()), "workers_replaced": replaced + pool.replaced}

    @contextmanager
    def pending_batch(self) -> Iterator[list[PendingScore]]:
        """A list for new pending scores, which are submitted at the end of the context. If the caller is
        interrupted (Ctrl-C), they get unscored rows here, since others with equal answers may wait for them.
        """
        new: list[PendingScore] = []
        try:
            yield new
            self.submit(new)
        except BaseException:
            for each in new:
                each.set_unscored("crashed", "Interrupted", "its caller was interrupted")
            raise

    def begin_all(
        self, task: Task, records: Sequence[Record], new: list[PendingScore]
    ) -> list[Score | PendingScore]:
        """For each record of one task, in order: the score from a kernel or from an equal answer scored
        before, else the pending score of an equal answer, else a new one (also added to ``new``)."""
        scored: Sequence[Score | None] = [None] * len(records)
        if not self._scoring.job.details:
            scored = self._scoring.kernels.rows(task.name, records)
        return [
            self._begin(task, record, new) if score is None else score
            for record, score in zip(records, scored, strict=True)
        ]

    def _begin(self, task: Task, record: Record, new: list[PendingScore]) -> Score | PendingScore:
        """`begin_all` for a record that the kernels have left: extract its answer and look that up."""
        response, options = record.response, self._scoring.options
        if not isinstance(response, str):
            response = None
        question = record.question
        if not (options.strict and "question" in task.strict_needs and isinstance(question, str)):
            question = None
        try:
            answer, written = plain(record.answer)
        except Exception as error:
            return not_plain(record, error)
        try:
            extracted = task.scorer.extract(record.response, options)
            key = key_of(task.name, answer, written, extracted, question)
        except Exception as error:
            return failed(record, error)
        # a worker gets plain text and JSON values only: unpickling them cannot fail there
        sent = Record(0, None, task.name, answer, response, question)
        if self._scoring.job.details:
            # not cached: gold and answer as texts would fill the memory
            return _new_pending(sent, new)
        known = self._cache.find(key)
        if known is None:
            pending = _new_pending(sent, new)
            known = self._cache.begin(key, pending)
            if known is pending:
                return pending
            new.pop()  # another call has begun it meanwhile
        if isinstance(known, Score):
            self._counts["scored_before"]()
            return known.own(record)
        self._counts["shared"]()
        return known

    def begin_alone(self, record: Record, new: list[PendingScore]) -> Score | PendingScore:
        """The pending score (also added to ``new``) of a record of which a worker also extracts the answer.

        Extraction from a response of megabytes takes long, and in this process nothing could stop it.
        """
        try:
            answer = plain(record.answer)[0]
        except Exception as error:
            return not_plain(record, error)
        try:
            question, row = (
                None if value is None else plain(value)[0] for value in (record.question, record.row)
            )
        except Exception as error:
            return failed(record, error)
        return _new_pending(Record(0, None, record.task, answer, record.response, question, row=row), new)

    def submit(self, pending: Sequence[PendingScore]) -> None:
        """Send pending scores to the workers; if no worker can be started, they get unscored rows."""
        if not pending:
            return
        try:
            self.start().score(pending)
        except (OSError, RuntimeError) as error:
            # no thread or no process could be started
            for each in pending:
                each.set_failed(f"no workers: {error}")

    def start(self) -> RecordPool:
        """The pool; it is started if it is not running."""
        with self._lock:
            if self._pool is None:
                n = self._n_workers
                self._pool = RecordPool(self._scoring.job, usable_cores() if n is None else n)
                # runs with `close`, when this object is collected, and before the interpreter ends
                self._finalizer = weakref.finalize(self, self._pool.close)
            return self._pool


def _new_pending(record: Record, new: list[PendingScore]) -> PendingScore:
    # appended at once: if the caller is interrupted, `pending_batch` settles everything in the list
    new.append(PendingScore(record))
    return new[-1]


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
            if message := self._failures.unexplained(death):
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
