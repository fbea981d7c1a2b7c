"""Records on a pool: single calls and batches gathered into small tasks, whatever happens to the workers.

Callers put `PendingScore`s into one queue. A task is bound to its records when a worker is free for it, so
calls that come while all workers are busy travel together, and a call that comes alone does not wait.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from relfast.engine.online.pending_score import PendingScore
from relfast.engine.pool.failures import Death, blamed
from relfast.engine.pool.pool import Pool, Task
from relfast.engine.pool.protocol import EntriesRequest
from relfast.errors import WorkerError
from relfast.records import Place, Score

MAX_TASK: Final = 16
"""Records a worker gets at most at once: at 0.3 ms a record a task outweighs its 0.1 ms on the pipes by far,
and few are held up by a neighbour that takes long."""

STRAGGLER_SECONDS: Final = 0.1
"""A task that reports nothing for so long holds a slow record: those behind it are offered to idle workers
too, and the first score counts."""


class EntryTask(Task):
    """Some records of a queue; which ones is decided when a worker asks."""

    def __init__(self, queue: EntryQueue) -> None:
        self._queue = queue
        self.tickets: dict[int, PendingScore] = {}
        self.claimed = False
        self.last_heard = 0.0

    def request(self) -> EntriesRequest:
        self._queue._claim(self)
        return EntriesRequest([ticket.record for ticket in self.tickets.values()], {}, False)

    def answer(self, message: Any) -> None:
        self._queue._take_scores(self, message)

    def finished(self) -> None:
        self._queue._release(self)

    def died(self, death: Death) -> Sequence[Task]:
        self._queue._judge(self, death)
        return ()

    def failed(self, error: WorkerError) -> None:
        self._queue._fail(self, error)


class EntryQueue:
    """The tickets of a scorer, on their way through a pool.

    Parameters
    ----------
    pool
        Its workers; the queue closes it.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._changed = threading.Condition(threading.Lock())
        self._pending: deque[PendingScore] = deque()
        self._at_work: set[EntryTask] = set()
        self._unclaimed = 0
        self._closed = False
        threading.Thread(target=self._watch, name="relfast-watch", daemon=True).start()

    def submit(self, tickets: Sequence[PendingScore]) -> None:
        """Queue tickets. Each gets a score, `close` and broken workers included."""
        with self._changed:
            closed = self._closed
            if not closed:
                for ticket in tickets:
                    ticket.queued = True
                self._pending.extend(tickets)
        if closed:
            self._settle_all(tickets, WorkerError("the scorer was closed"))
        else:
            self._ensure_tasks()

    def close(self) -> None:
        """End the workers; what is under way is unscored."""
        with self._changed:
            self._closed = True
            left = [*self._pending, *(t for task in self._at_work for t in task.tickets.values())]
            self._pending.clear()
            self._changed.notify_all()
        self.pool.close()
        self._settle_all(left, WorkerError("the scorer was closed"))

    def abandon(self) -> None:
        """In a forked child: the workers, the threads and the callers are the parent's."""
        self.pool.abandon()

    # what tasks report

    def _claim(self, task: EntryTask) -> None:
        with self._changed:
            self._unclaimed -= 1
            task.claimed = True
            task.last_heard = time.monotonic()
            for ticket in self._next_tickets():
                ticket.holders += 1
                task.tickets[ticket.record.index] = ticket
            if not self._at_work:
                self._changed.notify_all()
            self._at_work.add(task)
        self._ensure_tasks()

    def _next_tickets(self) -> list[PendingScore]:
        """What a free worker gets: fewer as the queue runs dry, so that the last ones end together."""
        fair = max(1, min(MAX_TASK, len(self._pending) // (2 * self.pool.workers)))
        chosen: list[PendingScore] = []
        while self._pending and len(chosen) < fair:
            ticket = self._pending[0]
            # one that killed its worker, or that another worker may be at, has no neighbours to harm
            alone = ticket.failures.attempts > 0 or ticket.doubled
            if alone and chosen:
                break
            self._pending.popleft()
            ticket.queued = False
            if ticket.settled or (ticket.doubled and _place(ticket) in self.pool.in_flight()):
                continue
            chosen.append(ticket)
            if alone:
                break
        return chosen

    def _take_scores(self, task: EntryTask, scores: Sequence[Score]) -> None:
        settled: list[tuple[PendingScore, Score]] = []
        with self._changed:
            task.last_heard = time.monotonic()
            for score in scores:
                ticket = task.tickets.pop(score.index, None)
                if ticket is not None:
                    ticket.holders -= 1
                    self._settle(ticket, score, settled)
        _tell(settled)

    def _release(self, task: EntryTask) -> None:
        """A task is over; records that it did not report (there should be none) are tried again."""
        with self._changed:
            self._at_work.discard(task)
            self._requeue(task)
        self._ensure_tasks()

    def _judge(self, task: EntryTask, death: Death) -> None:
        settled: list[tuple[PendingScore, Score]] = []
        with self._changed:
            self._at_work.discard(task)
            tickets = list(task.tickets.values())
            single = tickets[0] if len(tickets) == 1 else None
            ticket = blamed(death, lambda place: task.tickets.get(place[0]), single)
            if ticket is not None:
                if verdict := ticket.failures.blame(death, self.pool.job.timeout):
                    self._settle(ticket, ticket.unscored(*verdict), settled)
            else:
                for ticket in tickets:
                    if message := ticket.failures.idle(death):
                        self._settle(ticket, ticket.unscored("crashed", "WorkerError", message), settled)
            self._requeue(task)
        _tell(settled)
        self._ensure_tasks()

    def _fail(self, task: EntryTask, error: WorkerError) -> None:
        with self._changed:
            self._at_work.discard(task)
            tickets = list(task.tickets.values())
            if not task.claimed:
                # there is no worker for it, so none for the others either
                self._unclaimed -= 1
                tickets += self._pending
                self._pending.clear()
        self._settle_all(tickets, error)
        self._ensure_tasks()

    # inside

    def _settle(self, ticket: PendingScore, score: Score, settled: list[tuple[PendingScore, Score]]) -> None:
        """Note a ticket's score, the first one only; with the lock held. Callers are told without it."""
        if not ticket.settled:
            ticket.settled = True
            settled.append((ticket, score))

    def _settle_all(self, tickets: Sequence[PendingScore], error: WorkerError) -> None:
        settled: list[tuple[PendingScore, Score]] = []
        with self._changed:
            for ticket in tickets:
                self._settle(ticket, ticket.unscored("crashed", "WorkerError", str(error)), settled)
        _tell(settled)

    def _requeue(self, task: EntryTask) -> None:
        """Put what a task leaves to the head of the queue, unless another worker has it too."""
        for ticket in reversed(task.tickets.values()):
            ticket.holders -= 1
            if not (ticket.settled or ticket.queued or ticket.holders):
                ticket.queued = True
                self._pending.appendleft(ticket)
        task.tickets.clear()

    def _ensure_tasks(self) -> None:
        """As many tasks waiting for a worker as can be used."""
        with self._changed:
            missing = min(self.pool.workers, len(self._pending)) - self._unclaimed
            if missing <= 0 or self._closed:
                return
            self._unclaimed += missing
        try:
            for _ in range(missing):
                self.pool.submit(EntryTask(self))
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
                for task in self._at_work:
                    if task.last_heard < late:
                        self._double(task, self.pool.in_flight())
            self._ensure_tasks()

    def _double(self, task: EntryTask, in_flight: set[Place]) -> None:
        # all but the one that takes long: those before it are scored, and lost if it ends its worker
        for ticket in task.tickets.values():
            if not (ticket.doubled or ticket.settled or ticket.queued or _place(ticket) in in_flight):
                ticket.doubled = ticket.queued = True
                self._pending.append(ticket)


def _place(ticket: PendingScore) -> Place:
    return ticket.record.index, 0


def _tell(settled: Sequence[tuple[PendingScore, Score]]) -> None:
    for ticket, score in settled:
        ticket.set_score(score)
