"""Answers that were scored before, and answers that are being scored: neither goes to a worker again."""

from __future__ import annotations

import contextlib
import json
import pickle
from collections import OrderedDict
from collections.abc import Hashable
from hashlib import blake2b
from typing import Any, Final

from relfast.engine.online.pending_score import PendingScore
from relfast.records import Extracted, Record, Score
from relfast.tasks import TASKS

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
