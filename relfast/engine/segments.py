"""Rows of consecutive lines, as a worker reports them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pickle import PickleBuffer
from typing import Any, Final, SupportsIndex, TypeVar

from relfast.engine.detours import Found
from relfast.json_text import encode_row
from relfast.plain import Plain
from relfast.records import Score
from relfast.stats.tally import Tally

PIECE: Final = 4_096
"""Most records scored at a time: one takes 4 kB until its row is written, and a line can have millions."""

_T = TypeVar("_T")


def pieces(items: Iterable[_T]) -> Iterator[list[_T]]:
    """Items `PIECE` at a time."""
    left = iter(items)
    while piece := list(islice(left, PIECE)):
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
    the task's extractor read a response that others of its kind need not. ``ends`` says that it has the last
    of the lines that were asked for. ``detours`` are the failures that became no row.
    """

    stop: int
    rows: bytes
    n_rows: int
    tally: Tally
    n_fast: int = 0
    n_exact: int = 0
    n_left: int = 0
    ends: bool = False
    detours: Found = field(default_factory=dict)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """For a pipe: the rows by themselves, so that nobody copies them (`relfast.engine.pool.protocol`)."""
        counts = self.n_rows, self.tally, self.n_fast, self.n_exact, self.n_left
        return Segment, (self.stop, PickleBuffer(self.rows), *counts, self.ends, self.detours)
