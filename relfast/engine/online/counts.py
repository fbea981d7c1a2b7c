"""Counting in many threads without making any of them wait."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Sequence
from typing import Final

FOLD_AT: Final = 4096
"""Events that are kept one by one before they are added up."""


class Counts:
    """Events by name. Thread-safe, exact, and `add` never waits: a deque takes an event in one step, and
    they are added up now and then by whoever comes by."""

    def __init__(self) -> None:
        self._events: deque[str] = deque()
        self._several: deque[tuple[str, int]] = deque()
        self._sums: Counter[str] = Counter()
        self._adding_up = threading.Lock()

    def add(self, name: str) -> None:
        self._events.append(name)
        if len(self._events) >= FOLD_AT:
            self._fold()

    def add_all(self, names: Sequence[str]) -> None:
        self._several.extend([(name, names.count(name)) for name in set(names)])
        if len(self._several) >= FOLD_AT:
            self._fold()

    def __getitem__(self, name: str) -> int:
        with self._adding_up:
            self._add_up()
            return self._sums[name]

    def _fold(self) -> None:
        if self._adding_up.acquire(blocking=False):
            try:
                self._add_up()
            finally:
                self._adding_up.release()

    def _add_up(self) -> None:
        events, several = self._events, self._several
        # others add meanwhile; what they add may wait for the next time
        self._sums.update([events.popleft() for _ in range(len(events))])
        for _ in range(len(several)):
            name, n = several.popleft()
            self._sums[name] += n
