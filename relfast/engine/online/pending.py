"""Scores that are not there yet, what answers equal to one share, and batches of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from hashlib import blake2b
from itertools import count
from typing import Any, Final

from relfast.engine.kernel_scoring import own
from relfast.records import Extracted, Record, Score, Status
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


class PendingScore(Future[Score]):
    """A record and, some time, its score. It cannot be cancelled: a worker may have it already.

    ``record.index`` is replaced by a number of its own, which the score has too.
    """

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.set_running_or_notify_cancel()
        record.index, record.sample = next(_places), 0
        self.record = record

    def set_score(self, score: Score) -> None:
        """Tell everybody who asked. The first score counts."""
        with contextlib.suppress(InvalidStateError):
            self.set_result(score)

    def set_unscored(self, status: Status, kind: str, message: str) -> None:
        self.set_score(self.record.unscored(status, kind, message))

    def set_failed(self, why: str) -> None:
        """Say that the machinery failed."""
        self.set_unscored("crashed", "WorkerError", why)


REMEMBERED: Final = 10_000
"""Scores kept; about 1 kB each, so 10 MB. A GRPO step has 1,000 to 10,000 rollouts."""

MAX_VOTE_CHARS: Final = 4_000
"""Longest ``vote`` of a remembered score: REL-C3's is a list of molecules as long as the model likes."""

_UNSETTLED: Final = {
    name: tuple(metric.name for metric in task.metric_objects if metric.unsettled)
    for name, task in TASKS.items()
}
"""By task: metrics that say that a clock decided the row."""


def key_of(
    task: str, answer: Any, gold: bytes, extracted: Extracted[Any], question: str | None = None
) -> bytes:
    """A key equal for records of one task with the same gold (as JSON value and text, `json_text.plain`),
    extracted answer and, where the task looks at it, question.

    That is all a chemistry task's ``score`` looks at, so two responses that reason differently and end in the
    same molecule share a key.
    """
    if b"null" in gold:
        gold = json.dumps(answer).encode()  # there NaN is not null
    value = pickle.dumps(extracted.value, protocol=5)
    said = extracted.found, extracted.reason, extracted.error
    text = pickle.dumps((task, gold, question, value, said), protocol=5)
    digest = blake2b(digest_size=16)
    for at in range(0, len(text), _HASHED_WITH_GIL):
        digest.update(text[at : at + _HASHED_WITH_GIL])
    return digest.digest()


_HASHED_WITH_GIL: Final = 2047
"""hashlib lets go of the interpreter lock for more bytes than these, and getting it back from busy threads
takes a thousand times as long as the hash."""


class ScoreCache:
    """A bounded memory of scores and pending ones, least recently used first out.

    Thread-safe without a lock: every step is one operation of a dictionary whose keys are bytes, which the
    interpreter does whole. Between two steps another thread may do its own; the worst that comes of it is
    an answer that is scored twice. (Behind a lock, 64 callers would queue up whenever its holder is switched
    out, and stay queued.)
    """

    def __init__(self) -> None:
        self._scores: OrderedDict[bytes, Score | PendingScore] = OrderedDict()

    def find(self, key: bytes) -> Score | PendingScore | None:
        """The score, the pending score of whoever asked first, or None."""
        known = self._scores.get(key)
        if known is not None:
            with contextlib.suppress(KeyError):  # gone meanwhile
                self._scores.move_to_end(key)
        return known

    def begin(self, key: bytes, pending: PendingScore) -> Score | PendingScore:
        """Note that a score is pending; returns it, or what whoever was faster has."""
        first = self._scores.setdefault(key, pending)
        if first is pending:
            # called at once if it has its score already
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
    """Whether scoring it again would give the same: what a clock or a fault decided is not kept."""
    if score.status in ("timeout", "crashed"):
        return False
    if any(score.metrics.get(name) for name in _UNSETTLED.get(score.task or "", ())):
        return False
    return not isinstance(score.vote, str) or len(score.vote) <= MAX_VOTE_CHARS


class Begun:
    """Scores of a batch, or where they will be.

    Parameters
    ----------
    begun
        The score of each entry, or where it will be.
    entries
        What is scored; what a pending score is for is a record.
    count
        Told of all scores, by `scores`.
    """

    def __init__(
        self,
        begun: Sequence[Score | PendingScore],
        entries: Sequence[Record | Score | None],
        count: Callable[[Score], object],
    ) -> None:
        self._begun, self._entries, self._count = begun, entries, count

    async def ended(self) -> None:
        """Return when all are scored; the event loop goes on meanwhile, and no thread is held."""
        pending = [asyncio.wrap_future(each) for each in self._begun if isinstance(each, PendingScore)]
        await asyncio.gather(*pending)

    def scores(self) -> list[Score]:
        """The scores in order, waited for if need be. To be called once."""
        scores = [*map(delivered, self._begun, self._entries)]
        for score in scores:
            self._count(score)
        return scores


def delivered(begun: Score | PendingScore, entry: Record | Score | None) -> Score:
    """The row of an entry, waited for if need be."""
    if isinstance(begun, PendingScore):
        assert isinstance(entry, Record)
        return own(begun.result(), entry.index, entry.id, entry.sample)
    return begun
