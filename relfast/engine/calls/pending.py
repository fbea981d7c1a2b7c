"""Scores that workers have still to deliver (`PendingScore`), the cache through which equal answers share one
score (`ScoreCache`), the result of a batch call (`Begun`), and calls of several threads that are scored
together (`MicroBatcher`)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from hashlib import blake2b
from itertools import count, islice
from typing import Any, Final

from relfast.records import STATUSES, Extracted, Record, Score, Status
from relfast.tasks import TASKS

EVENTS: Final = ("scored_before", "shared")
"""What calls count besides responses by status: those whose answer had been scored already, in this call or
before, and those whose answer was being scored at the time."""


class Counts(dict[str, Callable[[], int]]):
    """Event counters: ``counts[event]()`` counts an event, a status or one of `EVENTS`. It is a single step
    of the interpreter, without a lock: behind a lock, 64 threads would queue up whenever its holder is
    switched out."""

    def __init__(self) -> None:
        super().__init__({event: count().__next__ for event in (*STATUSES, *EVENTS)})
        self._asked = dict.fromkeys(self, 0)
        self._asking = threading.Lock()

    def told(self) -> dict[str, int]:
        """How often each event has been counted. To ask is a step of the counter too, and taken off again."""
        with self._asking:
            told = {event: step() - self._asked[event] for event, step in self.items()}
            for event in told:
                self._asked[event] += 1
        return told


_places = count()


class PendingScore(Future[Score]):
    """The future score of a record. It cannot be cancelled, since a worker may have the record already.

    ``record.index`` is replaced by a number unique in this process, by which the worker's score is matched.
    """

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.set_running_or_notify_cancel()
        record.index, record.sample = next(_places), 0
        self.record = record

    def set_score(self, score: Score) -> None:
        """Deliver the score to all callers that wait for it. Later scores are ignored."""
        with contextlib.suppress(InvalidStateError):
            self.set_result(score)

    def set_unscored(self, status: Status, kind: str, message: str) -> None:
        self.set_score(self.record.unscored(status, kind, message))

    def set_failed(self, why: str) -> None:
        """Deliver an unscored row that says that the machinery failed."""
        self.set_unscored("crashed", "WorkerError", why)


REMEMBERED: Final = 10_000
"""Scores in the cache; about 1 kB each, so 10 MB. A GRPO step has 1,000 to 10,000 rollouts."""

MAX_VOTE_CHARS: Final = 4_000
"""Longest ``vote`` of a cached score: REL-C3's is a list of molecules, as long as the response makes it."""

_UNSETTLED: Final = {
    name: tuple(metric.name for metric in task.metric_objects if metric.unsettled)
    for name, task in TASKS.items()
}
"""Task → its metrics that are true if a time limit decided the row."""


def key_of(
    task: str, answer: Any, gold: bytes, extracted: Extracted[Any], question: str | None = None
) -> bytes:
    """The cache key of a record: equal for records of one task with the same gold, extracted answer and, if
    the task looks at it, question. ``answer`` and ``gold`` are the two results of `json_text.plain`.

    A chemistry task's ``score`` depends on nothing else, so two responses that reason differently and end in
    the same molecule share a key.
    """
    if b"null" in gold:
        gold = json.dumps(answer).encode()  # orjson writes null for NaN and for None, json does not
    value = pickle.dumps(extracted.value, protocol=5)
    flags = extracted.found, extracted.reason, extracted.error
    text = pickle.dumps((task, gold, question, value, flags), protocol=5)
    digest = blake2b(digest_size=16)
    for at in range(0, len(text), _HASHED_WITH_GIL):
        digest.update(text[at : at + _HASHED_WITH_GIL])
    return digest.digest()


_HASHED_WITH_GIL: Final = 2047
"""For more bytes than this hashlib releases the interpreter lock (GIL), and getting it back from busy threads
takes a thousand times as long as the hash."""


class ScoreCache:
    """A bounded cache of scores and pending scores; the least recently used is dropped first.

    Thread-safe without a lock: each step is one operation on a dictionary with bytes as keys, which the
    interpreter does not interrupt. Other threads may act between two steps; at worst an answer is then scored
    twice. (Behind a lock, 64 callers would queue up whenever its holder is switched out, and stay queued.)
    """

    def __init__(self) -> None:
        self._scores: OrderedDict[bytes, Score | PendingScore] = OrderedDict()

    def find(self, key: bytes) -> Score | PendingScore | None:
        """The cached score, or the pending score of the first caller, or None."""
        known = self._scores.get(key)
        if known is not None:
            with contextlib.suppress(KeyError):  # dropped meanwhile
                self._scores.move_to_end(key)
        return known

    def begin(self, key: bytes, pending: PendingScore) -> Score | PendingScore:
        """Enter a pending score; returns it, or the entry of another thread that was faster."""
        first = self._scores.setdefault(key, pending)
        if first is pending:
            # the callback runs at once if the score is there already
            pending.add_done_callback(lambda done: self._arrived(key, done.result()))
            while len(self._scores) > REMEMBERED:
                with contextlib.suppress(KeyError):
                    self._scores.popitem(last=False)
        return first

    def _arrived(self, key: bytes, score: Score) -> None:
        if _lasting(score):
            self._scores[key] = score
        else:
            self._scores.pop(key, None)


def _lasting(score: Score) -> bool:
    """Whether a score may be cached: not one that a time limit or a crash decided, since scoring the answer
    again might give another, nor one with a very long vote."""
    if score.status in ("timeout", "crashed"):
        return False
    if any(score.metrics.get(name) for name in _UNSETTLED.get(score.task or "", ())):
        return False
    return not isinstance(score.vote, str) or len(score.vote) <= MAX_VOTE_CHARS


class Begun:
    """A batch that is being scored: its scores, some of which workers have still to deliver.

    Parameters
    ----------
    begun
        The score or pending score of each record.
    records
        What is scored: a `Record` each, or the `Score` of one that could not be made, or None where the score
        is there already.
    counts
        Where `scores` counts each score's status.
    """

    def __init__(
        self,
        begun: Sequence[Score | PendingScore],
        records: Sequence[Record | Score | None],
        counts: Counts,
    ) -> None:
        self._begun, self._records, self._counts = begun, records, counts

    async def ended(self) -> None:
        """Return when all are scored, without blocking the event loop or holding a thread."""
        pending = [asyncio.wrap_future(each) for each in self._begun if isinstance(each, PendingScore)]
        await asyncio.gather(*pending)

    def scores(self) -> list[Score]:
        """The scores in order; waits for those that are pending. Call it once."""
        scores = [*map(delivered, self._begun, self._records)]
        for score in scores:
            self._counts[score.status]()
        return scores


def delivered(begun: Score | PendingScore, record: Record | Score | None) -> Score:
    """The row of a record; waits for it if it is pending."""
    if isinstance(begun, PendingScore):
        assert isinstance(record, Record)
        return begun.result().own(record)
    return begun


MAX_TOGETHER: Final = 256
"""Most calls scored together; with more, the first call would wait long for the last."""


class MicroBatcher:
    """Scores calls from several threads together: one thread at a time scores, for itself and for all others
    that wait.

    A call that comes alone is scored at once; calls that come meanwhile are scored together by the thread
    that gets the lock next. Thread-safe.

    Parameters
    ----------
    score
        Function that returns the scores of records, in order; may raise.
    lock
        Held by the thread that scores. Batchers that share a lock take turns.
    """

    def __init__(self, score: Callable[[Sequence[Record]], list[Score]], lock: threading.Lock) -> None:
        self._score, self._lock = score, lock
        self._waiting: deque[tuple[Sequence[Record], Future[list[Score]]]] = deque()

    def __call__(self, records: Sequence[Record]) -> list[Score]:
        """The scores of the records. Raises the exception of ``score``."""
        mine: Future[list[Score]] = Future()
        self._waiting.append((records, mine))
        with self._lock:
            while not mine.done():
                self._score_some(mine)
        return mine.result()

    def _score_some(self, mine: Future[list[Score]]) -> None:
        together = [self._waiting.popleft() for _ in range(min(MAX_TOGETHER, len(self._waiting)))]
        try:
            scores = iter(self._score([record for records, _ in together for record in records]))
        except Exception as error:
            for _, future in together:
                future.set_exception(error)
            return
        except BaseException:  # Ctrl-C belongs to the caller in whose thread it came; the others go on
            self._waiting.extendleft(reversed([call for call in together if call[1] is not mine]))
            raise
        for records, future in together:
            future.set_result([*islice(scores, len(records))])
