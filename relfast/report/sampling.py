"""Which of many rows a page can show: a fixed number, the same prompts in every run, and some of each kind.

Rows are ordered by a hash of their prompt, and the first ones are kept: the choice depends on nothing else,
not on the order of files nor on how many rows follow.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

T = TypeVar("T")

OF_EACH_KIND: Final = 12
"""Rows that are kept of each kind (a task's right ones, its mistakes by kind, what has no score), however
rare it is."""


class Sample(Generic[T]):
    """The rows chosen so far; ``limit`` of all (0: none), beside `OF_EACH_KIND` of each kind."""

    def __init__(self, limit: int, of_each: int = OF_EACH_KIND) -> None:
        self.limit = limit
        self.of_each = of_each if limit else 0
        self._items: dict[tuple[int, int], tuple[str, T]] = {}
        self._first: list[tuple[int, int]] = []
        self._kinds: dict[str, list[tuple[int, int]]] = {}
        self._uses: dict[tuple[int, int], int] = {}

    def wants(self, prompt: int, serial: int, kind: str) -> bool:
        """Whether a row would be kept: its prompt's hash, its number among the rows, its kind."""
        key = (-prompt, -serial)
        heap = self._kinds.get(kind, [])
        return (
            len(self._first) < self.limit
            or len(heap) < self.of_each
            or bool(self.limit and key > self._first[0])
            or bool(self.of_each and key > heap[0])
        )

    def add(self, prompt: int, serial: int, kind: str, item: T) -> None:
        """Keep a row that is wanted."""
        key = (-prompt, -serial)
        self._items[key] = kind, item
        self._uses[key] = 1
        self._push(self._first, self.limit, key)
        self._push(self._kinds.setdefault(kind, []), self.of_each, key)
        self._release(key)

    def _push(self, heap: list[tuple[int, int]], limit: int, key: tuple[int, int]) -> None:
        self._uses[key] += 1
        if len(heap) < limit:
            heapq.heappush(heap, key)
            return
        self._release(heapq.heappushpop(heap, key) if limit else key)

    def _release(self, key: tuple[int, int]) -> None:
        self._uses[key] -= 1
        if not self._uses[key]:
            del self._uses[key], self._items[key]

    def merge(self, other: Sample[T], first_serial: int) -> None:
        """Add another file's choice, whose rows are numbered from ``first_serial`` on: as if they
        had been offered one by one."""
        for (prompt, serial), (kind, item) in other._items.items():
            if self.wants(-prompt, first_serial - serial, kind):
                self.add(-prompt, first_serial - serial, kind, item)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        """The rows in their order."""
        for key in sorted(self._items, key=lambda key: -key[1]):
            yield self._items[key][1]
