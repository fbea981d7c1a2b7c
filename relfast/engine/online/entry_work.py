"""Records on a pool: single calls and batches gathered into small items, whatever happens to the workers.

Callers put `PendingScore`s into one queue. An item is bound to its records when a worker is free for it, so
calls that come while all workers are busy travel together, and a call that comes alone does not wait.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from relfast.engine.online.pending import PendingScore
from relfast.engine.pool.failures import Death, blamed
from relfast.engine.pool.pool import Pool
from relfast.engine.pool.protocol import EntriesRequest, WorkItem
from relfast.errors import WorkerError
from relfast.records import Place, Score

MAX_ITEM_RECORDS: Final = 16
"""Records a worker gets at most at once: at 0.3 ms a record an item outweighs its 0.1 ms on the pipes by far,
and few are held up by a neighbour that takes long."""

STRAGGLER_SECONDS: Final = 0.1
"""An item that reports nothing for so long holds a slow record: those behind it are offered to idle workers
too, and the first score counts."""


class EntryWork(WorkItem):
    """Some records of a queue; which ones is decided when a worker asks."""

    def __init__(self, queue: EntryQueue) -> None:
        self._queue = queue
        self.entries: dict[int, PendingScore] = {}
        self.claimed = False
        self.last_heard = 0.0

    def request(self) -> EntriesRequest:
        self._queue._claim(self)
        return EntriesRequest([entry.record for entry in self.entries.values()], {}, False)

    def answer(self, message: Any) -> None:
        self._queue._take_scores(self, message)

    def finished(self) -> None:
        self._queue._release(self)

    def died(self, death: Death) -> Sequence[WorkItem]:
        self._queue._judge(self, death)
        return ()

    def failed(self, error: WorkerError) -> None:
        self._queue._fail(self, error)


class EntryQueue:
    """The entries of a scorer, on their way through a pool.

    Parameters
    ----------
    pool
        Its workers; the queue closes it.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._changed = threading.Condition(threading.Lock())
        self._pending: deque[PendingScore] = deque()
        self._at_work: set[EntryWork] = set()
        self._unclaimed = 0
        self._closed = False
        threading.Thread(target=self._watch, name="relfast-watch", daemon=True).start()

    def submit(self, entries: Sequence[PendingScore]) -> None:
        """Queue entries. Each gets a score, `close` and broken workers included."""
        with self._changed:
            closed = self._closed
            if not closed:
                for entry in entries:
                    entry.queued = True
                self._pending.extend(entries)
        if closed:
            self._settle_all(entries, WorkerError("the scorer was closed"))
        else:
            self._ensure_items()

    def close(self) -> None:
        """End the workers; what is under way is unscored."""
        with self._changed:
            self._closed = True
            left = [*self._pending, *(t for item in self._at_work for t in item.entries.values())]
            self._pending.clear()
            self._changed.notify_all()
        self.pool.close()
        self._settle_all(left, WorkerError("the scorer was closed"))

    def abandon(self) -> None:
        """In a forked child: the workers, the threads and the callers are the parent's."""
        self.pool.abandon()

    # what items report

    def _claim(self, item: EntryWork) -> None:
        with self._changed:
            self._unclaimed -= 1
            item.claimed = True
            item.last_heard = time.monotonic()
            for entry in self._next_pending():
                entry.holders += 1
                item.entries[entry.record.index] = entry
            if not self._at_work:
                self._changed.notify_all()
            self._at_work.add(item)
        self._ensure_items()

    def _next_pending(self) -> list[PendingScore]:
        """What a free worker gets: fewer as the queue runs dry, so that the last ones end together."""
        fair = max(1, min(MAX_ITEM_RECORDS, len(self._pending) // (2 * self.pool.workers)))
        chosen: list[PendingScore] = []
        while self._pending and len(chosen) < fair:
            entry = self._pending[0]
            # one that killed its worker, or that another worker may be at, has no neighbours to harm
            alone = entry.failures.attempts > 0 or entry.doubled
            if alone and chosen:
                break
            self._pending.popleft()
            entry.queued = False
            if entry.settled or (entry.doubled and _place(entry) in self.pool.in_flight()):
                continue
            chosen.append(entry)
            if alone:
                break
        return chosen

    def _take_scores(self, item: EntryWork, scores: Sequence[Score]) -> None:
        settled: list[tuple[PendingScore, Score]] = []
        with self._changed:
            item.last_heard = time.monotonic()
            for score in scores:
                entry = item.entries.pop(score.index, None)
                if entry is not None:
                    entry.holders -= 1
                    self._settle(entry, score, settled)
        _tell(settled)

    def _release(self, item: EntryWork) -> None:
        """An item is over; records that it did not report (there should be none) are tried again."""
        with self._changed:
            self._at_work.discard(item)
            self._requeue(item)
        self._ensure_items()

    def _judge(self, item: EntryWork, death: Death) -> None:
        settled: list[tuple[PendingScore, Score]] = []
        with self._changed:
            self._at_work.discard(item)
            entries = list(item.entries.values())
            single = entries[0] if len(entries) == 1 else None
            entry = blamed(death, lambda place: item.entries.get(place[0]), single)
            if entry is not None:
                if verdict := entry.failures.blame(death, self.pool.job.timeout):
                    self._settle(entry, entry.unscored(*verdict), settled)
            else:
                for entry in entries:
                    if message := entry.failures.idle(death):
                        self._settle(entry, entry.unscored("crashed", "WorkerError", message), settled)
            self._requeue(item)
        _tell(settled)
        self._ensure_items()

    def _fail(self, item: EntryWork, error: WorkerError) -> None:
        with self._changed:
            self._at_work.discard(item)
            entries = list(item.entries.values())
            if not item.claimed:
                # there is no worker for it, so none for the others either
                self._unclaimed -= 1
                entries += self._pending
                self._pending.clear()
        self._settle_all(entries, error)
        self._ensure_items()

    # inside

    def _settle(self, entry: PendingScore, score: Score, settled: list[tuple[PendingScore, Score]]) -> None:
        """Note an entry's score, the first one only; with the lock held. Callers are told without it."""
        if not entry.settled:
            entry.settled = True
            settled.append((entry, score))

    def _settle_all(self, entries: Sequence[PendingScore], error: WorkerError) -> None:
        settled: list[tuple[PendingScore, Score]] = []
        with self._changed:
            for entry in entries:
                self._settle(entry, entry.unscored("crashed", "WorkerError", str(error)), settled)
        _tell(settled)

    def _requeue(self, item: EntryWork) -> None:
        """Put what an item leaves to the head of the queue, unless another worker has it too."""
        for entry in reversed(item.entries.values()):
            entry.holders -= 1
            if not (entry.settled or entry.queued or entry.holders):
                entry.queued = True
                self._pending.appendleft(entry)
        item.entries.clear()

    def _ensure_items(self) -> None:
        """As many items waiting for a worker as can be used."""
        with self._changed:
            missing = min(self.pool.workers, len(self._pending)) - self._unclaimed
            if missing <= 0 or self._closed:
                return
            self._unclaimed += missing
        try:
            for _ in range(missing):
                self.pool.submit(EntryWork(self))
        except WorkerError:
            pass  # closed meanwhile, and `close` settles what is pending

    def _watch(self) -> None:
        """Offer what stands behind a slow record to idle workers."""
        while True:
            with self._changed:
                while not (self._at_work or self._closed):
                    self._changed.wait()
                if self._closed:
                    return
                self._changed.wait(STRAGGLER_SECONDS / 2)
                late = time.monotonic() - STRAGGLER_SECONDS
                for item in self._at_work:
                    if item.last_heard < late:
                        self._double(item, self.pool.in_flight())
            self._ensure_items()

    def _double(self, item: EntryWork, in_flight: set[Place]) -> None:
        # all but the one that takes long: those before it are scored, and lost if it ends its worker
        for entry in item.entries.values():
            if not (entry.doubled or entry.settled or entry.queued or _place(entry) in in_flight):
                entry.doubled = entry.queued = True
                self._pending.append(entry)


def _place(entry: PendingScore) -> Place:
    return entry.record.index, 0


def _tell(settled: Sequence[tuple[PendingScore, Score]]) -> None:
    for entry, score in settled:
        entry.set_score(score)
