"""What scoring blocks reports: rows of consecutive lines, what took the ordinary way, lines for who asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

from relfast.engine.io.blocks import Block
from relfast.json_text import encode_row
from relfast.plain import Plain
from relfast.records import Score
from relfast.stats.tally import Tally

Tell = Callable[[str], None]
"""Takes one line. Called by any thread; must not raise."""


def tell_nobody(line: str) -> None:
    """The `Tell` of whoever did not ask."""


Found = Mapping[str, tuple[int, str]]
"""What was left to the ordinary way → how often, and the first failure."""

_SHOWN: Final = 200
"""Characters of a failure that are shown; it may quote what it failed on."""


class Detours:
    """Counts such failures, and keeps the first of each kind."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, what: str, error: Exception) -> None:
        """Something was left to the ordinary way, because of an error."""
        n, first = self._found.get(what, (0, ""))
        self._found[what] = n + 1, first or f"{error!r:.{_SHOWN}}"

    def merge(self, found: Found) -> None:
        """Add what somebody else has counted, later than what is here."""
        for what, (more, later) in found.items():
            n, first = self._found.get(what, (0, ""))
            self._found[what] = n + more, first or later

    def take(self) -> Found:
        """What was found since this was last asked."""
        found = self._found
        if found:
            self._found = {}
        return found

    def lines(self) -> Iterator[str]:
        """What is told of them."""
        for what, (n, first) in self._found.items():
            times = "once" if n == 1 else f"{n:,} times, first"
            yield f"left to the ordinary way: {what}, {times}: {first}"


PIECE: Final = 4_096
"""Most records scored at a time: one takes 4 kB until its row is written, and a line can have millions."""

_T = TypeVar("_T")


def pieces(items: Iterable[_T], most: int = PIECE) -> Iterator[list[_T]]:
    """Items, ``most`` at a time."""
    left = iter(items)
    while piece := list(islice(left, most)):
        yield piece


def rows_of(scores: Iterable[Score]) -> tuple[bytes, Tally]:
    """Rows and tally of scores, of which a piece at a time is held."""
    rows, tally = [], Tally()
    for piece in pieces(scores):
        rows.append(b"".join([encode_row(score.to_row()) for score in piece]))
        tally.merge(Tally.of(piece))
    return b"".join(rows), tally


@dataclass(slots=True, repr=False, eq=False)
class Segment(Plain):
    """Rows of consecutive lines: all up to line ``stop`` (exclusive, within the block).

    ``n_fast`` and ``n_exact`` count the lines that the fast path read, or found the fields of, and those that
    it left to the ordinary way; neither where it was not asked. ``n_left`` counts those of the first of which
    the task's extractor read a response that others of its kind need not. ``detours`` are the
    failures that became no row.
    """

    stop: int
    rows: bytes
    tally: Tally
    n_fast: int = 0
    n_exact: int = 0
    n_left: int = 0
    detours: Found = field(default_factory=dict)


Blocks = Callable[[Iterator[Block]], Iterator[tuple[Block, list[Segment]]]]
"""Scores blocks: in-process, or on a pool. Yields each block with its segments, in order."""
