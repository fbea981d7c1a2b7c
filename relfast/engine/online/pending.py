"""Scores that are not there yet: what waits for one, what answers equal to one share, and batches of them.

`concurrent.futures.Future` would do, but making one takes 15 µs (a condition with its own lock and queue),
a quarter of what a host spends on a molecule. A pending score has one lock, and makes another for a thread
that really has to wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
import threading
from _thread import LockType, allocate_lock
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from hashlib import blake2b
from itertools import count
from typing import Any, Final

from relfast.records import Extracted, Record, Score, Status, unscored
from relfast.tasks import TASKS


class Counts(dict[str, Callable[[], int]]):
    """``counts[event]()`` counts an event, in one step that the interpreter does not interrupt. Behind a lock
    64 threads would queue up whenever its holder is switched out."""

    def __missing__(self, event: str) -> Callable[[], int]:
        return self.setdefault(event, count().__next__)

    def told(self, event: str) -> int:
        """How often an event has been counted; counting it is what an iterator shows that it gives next."""
        step: Any = self[event]
        return int(repr(step.__self__).removeprefix("count(").removesuffix(")"))


_places = count()


class PendingScore:
    """A record and, some time, its score. It cannot be cancelled: a worker may have it already.

    ``record.index`` is replaced by a number of its own, which the score has too.
    """

    __slots__ = ("_calls", "_lock", "_score", "_waiting", "record")

    def __init__(self, record: Record) -> None:
        record.index, record.sample = next(_places), 0
        self.record = record
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

    def set_unscored(self, why: str) -> None:
        """Say that the machinery failed."""
        self.set_score(self.unscored("crashed", "WorkerError", why))


REMEMBERED: Final = 10_000
"""Scores kept; about 1 kB each, so 10 MB. A GRPO step has 1,000 to 10,000 rollouts."""

MAX_VOTE_CHARS: Final = 4_000
"""Longest ``vote`` of a remembered score: REL-C3's is a list of molecules as long as the model likes."""

_UNSETTLED: Final = {
    name: tuple(metric.name for metric in task.metric_objects if metric.unsettled)
    for name, task in TASKS.items()
}
"""By task: metrics that say that a clock decided the row."""

Key = tuple[Hashable, ...]


class Keys:
    """Keys equal for records of one task with the same gold, extracted answer and, where the task looks at
    it, question.

    That is all a chemistry task's ``score`` looks at, so two responses that reason differently and end in the
    same molecule share a key. Thread-safe.
    """

    def __init__(self) -> None:
        self._golds: dict[bytes, bytes] = {}

    def of(
        self, task: str, answer: Any, gold: bytes, extracted: Extracted[Any], question: str | None = None
    ) -> Key:
        """The key of a record, with its gold as JSON value and text (`incoming.plain`)."""
        known = self._golds.get(gold)
        if known is None:
            known = _AMBIGUOUS if b"null" in gold else gold if len(gold) <= _SHORT_GOLD else _digest(gold)
            if len(self._golds) >= _GOLDS:
                self._golds.clear()
            if len(gold) <= _SHORT_GOLD:
                self._golds[gold] = known  # one text for all answers to a question
        if known is _AMBIGUOUS:
            known = _digest(json.dumps(answer).encode())  # there NaN is not null
        value = extracted.value
        if value is not None and not (type(value) is str and len(value) <= _SHORT):
            value = _digest(pickle.dumps(value, protocol=5))
        # a text keeps its hash, and a data set's question comes again with every rollout
        asked = None if question is None else hash(question)
        return task, known, asked, value, extracted.found, extracted.reason, extracted.error


_AMBIGUOUS: Final = b""
_SHORT: Final = 200
"""Longest text of an answer that a key holds itself."""

_SHORT_GOLD: Final = 4_000
_GOLDS: Final = 2_048
"""The same of gold, and how many of these are kept apart from the keys."""

_HASHED_WITH_GIL: Final = 2047
"""hashlib lets go of the interpreter lock for more bytes than these, and getting it back from busy threads
takes a thousand times as long as the hash."""


def _digest(text: bytes) -> bytes:
    digest = blake2b(digest_size=16)
    for at in range(0, len(text), _HASHED_WITH_GIL):
        digest.update(text[at : at + _HASHED_WITH_GIL])
    return digest.digest()


class ScoreCache:
    """A bounded memory of scores, least recently used first out, and the pending ones.

    Thread-safe without a lock: every step is one operation of a dictionary whose keys are bytes, which the
    interpreter does whole. Between two steps another thread may do its own; the worst that comes of it is
    an answer that is scored twice. (Behind a lock, 64 callers would queue up whenever its holder is switched
    out, and stay queued.)
    """

    def __init__(self, size: int = REMEMBERED) -> None:
        self._size = size
        self._scores: OrderedDict[Key, Score] = OrderedDict()
        self._under_way: dict[Key, PendingScore] = {}

    def find(self, key: Key) -> Score | PendingScore | None:
        """The score, the pending score of whoever asked first, or None."""
        score = self._scores.get(key)
        if score is None:
            return self._under_way.get(key)
        with contextlib.suppress(KeyError):  # gone meanwhile
            self._scores.move_to_end(key)
        return score

    def begin(self, key: Key, pending: PendingScore) -> PendingScore:
        """Note that a score is pending; returns it, or the one of whoever was faster."""
        first = self._under_way.setdefault(key, pending)
        if first is pending:
            # it is told at once if it has its score already
            pending.when_done(lambda score: self._arrived(key, score))
        return first

    def remember(self, key: Key, score: Score) -> None:
        """Keep a score, if scoring the answer again would give it again."""
        if not _lasting(score):
            return
        self._scores[key] = score
        while len(self._scores) > self._size:
            with contextlib.suppress(KeyError):
                self._scores.popitem(last=False)

    def _arrived(self, key: Key, score: Score) -> None:
        # in this order: nobody finds neither
        self.remember(key, score)
        self._under_way.pop(key, None)

    def __len__(self) -> int:
        return len(self._scores)


def _lasting(score: Score) -> bool:
    """Whether scoring it again would give the same: what a clock or a fault decided is not kept."""
    if score.status in ("timeout", "crashed"):
        return False
    if any(score.metrics.get(name) for name in _UNSETTLED.get(score.task or "", ())):
        return False
    return not isinstance(score.vote, str) or len(score.vote) <= MAX_VOTE_CHARS


def for_record(score: Score, record: Record) -> Score:
    """The score of an equal answer as the row of this record."""
    return Score(
        record.index,
        record.id,
        score.task,
        record.sample,
        score.status,
        score.correct,
        score.reward,
        dict(score.metrics),
        score.error,
        score.vote,
        score.pred,
    )


class Begun:
    """What `relfast.Scorer.begin` gives.

    Parameters
    ----------
    begun
        The score of each entry, or where it will be.
    entries
        What is scored.
    count
        Told of all scores, by `scores`.
    """

    def __init__(
        self,
        begun: Sequence[Score | PendingScore],
        entries: Sequence[Record | Score],
        count: Callable[[list[Score]], list[Score]],
    ) -> None:
        self._begun, self._entries, self._count = begun, entries, count

    async def ended(self) -> None:
        """Return when all are scored; the event loop goes on meanwhile, and no thread is held."""
        waited = [each for each in self._begun if isinstance(each, PendingScore)]
        if not waited:
            return
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        left, lock = len(waited), threading.Lock()

        def end() -> None:
            if not over.done():  # whoever awaits may have been cancelled
                over.set_result(None)

        def one_less(_: Score) -> None:
            nonlocal left
            with lock:
                left -= 1
                is_last = left == 0
            if is_last:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(end)

        for each in waited:
            each.when_done(one_less)
        await over

    def scores(self) -> list[Score]:
        """The scores in order, waited for if need be. To be called once."""
        return self._count([delivered(*pair) for pair in zip(self._begun, self._entries, strict=True)])


def delivered(begun: Score | PendingScore | None, entry: Record | Score | None) -> Score:
    """The row of an entry, waited for if need be."""
    if isinstance(begun, PendingScore):
        assert isinstance(entry, Record)
        return for_record(begun.score(), entry)
    assert begun is not None
    return begun
