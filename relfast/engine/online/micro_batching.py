"""Calls of many threads to something that works on many records at a time, made one call."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Final

from relfast.records import Record, Score

MAX_TOGETHER: Final = 256
"""Records scored in one go; more would only make the first wait for the last."""


class MicroBatcher:
    """One thread at a time scores, for itself and for all that wait.

    A call that comes alone is scored at once; calls that come meanwhile are scored together by whoever is
    let in next. Thread-safe.

    Parameters
    ----------
    score
        Scores of records, in order; may raise.
    lock
        Held by whoever scores; hold it to score many without waiting callers. Those that share it take
        turns.
    """

    def __init__(self, score: Callable[[Sequence[Record]], list[Score]], lock: threading.Lock) -> None:
        self._score = score
        self.lock = lock
        self._waiting: deque[tuple[Record, Future[Score]]] = deque()

    def __call__(self, record: Record) -> Score:
        """The record's score. Raises what scoring raised."""
        mine: Future[Score] = Future()
        self._waiting.append((record, mine))
        with self.lock:
            while not mine.done():
                self._score_some()
        return mine.result()

    def _score_some(self) -> None:
        together = [self._waiting.popleft() for _ in range(min(MAX_TOGETHER, len(self._waiting)))]
        try:
            scores = self._score([record for record, _ in together])
        except BaseException as error:
            for _, future in together:
                future.set_exception(error)
            if not isinstance(error, Exception):
                raise  # a Ctrl-C is the caller's, and nobody else's wait may last for ever
            return
        for (_, future), score in zip(together, scores, strict=True):
            future.set_result(score)
