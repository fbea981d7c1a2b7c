"""Answers that were scored before, and answers that are being scored: neither goes to a worker again."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, Final

from relfast.engine.ticket import Ticket
from relfast.records import Extracted, Record, Score

REMEMBERED: Final = 10_000
"""Scores kept; about 1 kB each, so 10 MB. A GRPO step has 1,000 to 10,000 rollouts."""

MAX_VOTE_CHARS: Final = 4_000
"""Longest ``vote`` of a remembered score: REL-C3's is a list of molecules as long as the model likes."""

_HASHED_WITH_GIL: Final = 2047
"""hashlib lets go of the interpreter lock for more bytes than these, and getting it back from busy threads
takes a thousand times as long as the hash."""

Key = bytes


def key_of(task: str, answer: Any, extracted: Extracted) -> Key:
    """A digest equal for records of one task with the same gold and the same extracted answer.

    That is all a chemistry room's ``score`` looks at, so two responses that reason differently and end in
    the same molecule share a key.

    Raises
    ------
    Exception
        ``answer`` cannot be pickled (whatever its own methods raise).
    """
    told = (task, answer, extracted.value, extracted.found, extracted.reason, extracted.error)
    text = pickle.dumps(told, protocol=5)
    digest = blake2b(digest_size=16)
    for at in range(0, len(text), _HASHED_WITH_GIL):
        digest.update(text[at : at + _HASHED_WITH_GIL])
    return digest.digest()


class SeenScores:
    """A bounded memory of scores, least recently used first out, and the tickets under way. Thread-safe."""

    def __init__(self, size: int = REMEMBERED) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._scores: OrderedDict[Key, Score] = OrderedDict()
        self._under_way: dict[Key, Ticket] = {}
        self.hits = 0
        self.joined = 0

    def find(self, key: Key, make: Callable[[], Ticket]) -> tuple[Score | Ticket, bool]:
        """The score, or the ticket of whoever asked first, or a new one; and whether it is new."""
        with self._lock:
            score = self._scores.get(key)
            if score is not None:
                self._scores.move_to_end(key)
                self.hits += 1
                return score, False
            ticket = self._under_way.get(key)
            if ticket is not None:
                self.joined += 1
                return ticket, False
            ticket = self._under_way[key] = make()
        # outside the lock: it is told at once if the ticket has its score already
        ticket.when_done(lambda score: self._arrived(key, score))
        return ticket, True

    def _arrived(self, key: Key, score: Score) -> None:
        with self._lock:
            self._under_way.pop(key, None)
            if not _lasting(score):
                return
            self._scores[key] = score
            if len(self._scores) > self._size:
                self._scores.popitem(last=False)

    def __len__(self) -> int:
        return len(self._scores)


def _lasting(score: Score) -> bool:
    """Whether scoring it again would give the same: what a clock or a fault decided is not kept."""
    if score.status in ("timeout", "crashed") or score.metrics.get("mcs_canceled"):
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
    )
