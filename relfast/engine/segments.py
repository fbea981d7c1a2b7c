"""Rows of consecutive lines, as a worker reports them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pickle import PickleBuffer
from typing import Any, SupportsIndex

from relfast.engine.detours import Found
from relfast.plain import Plain
from relfast.stats.tally import Tally


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
