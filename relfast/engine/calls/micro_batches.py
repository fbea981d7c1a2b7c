"""Calls of several threads, scored together."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Final

from relfast.records import Record, Score

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
