"""Rows straight from a block's bytes, for tasks whose kernels judge responses to gold that is known already.

A `Task` that has ``line_rows`` names a class with ``open`` (None where it does not serve a job) and the
functions of `LineRows`. What it leaves is scored the ordinary way, whose bytes it writes."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from relfast_kernels.layouts import (
    IN_DATA,
    RECORD_COLUMNS,
    RECORD_TEXT,
    RECORD_TEXT_END,
    RECORD_TEXT_PLACE,
)

from relfast.records import Record


class Block(NamedTuple):
    """A block as the scan of lines left it: addresses and sizes of its bytes, of the scratch space and of its
    records."""

    data: int
    data_size: int
    scratch: int
    scratch_size: int
    records: int
    n_records: int
    columns: Any

    @property
    def where(self) -> tuple[int, int, int, int, int, int]:
        return self[:6]

    def texts(self, chosen: Sequence[int]) -> tuple[array[int], list[int]]:
        """Where the responses of some records are, and their sizes."""
        addresses = array("q")
        sizes = []
        columns = self.columns
        for number in chosen:
            at = number * RECORD_COLUMNS
            start = columns[at + RECORD_TEXT]
            base = self.data if columns[at + RECORD_TEXT_PLACE] == IN_DATA else self.scratch
            addresses.append(base + start)
            sizes.append(columns[at + RECORD_TEXT_END] - start)
        return addresses, sizes


class Sum(NamedTuple):
    """A measure's sum: the first of the rows that have it, how many there are, and units of
    `relfast.stats.sums`."""

    name: str
    first: int
    n: int
    units: int


class Cell(NamedTuple):
    """Rows of one gold: the first of them, the metrics that they share, how many there are, and of them the
    sums that the task's `Breakdown` has: counts of flags, units of others."""

    first: int
    shared: Mapping[str, Any]
    rows: int
    sums: tuple[int, ...]


class Counted(NamedTuple):
    """What a tally counts of rows: by status, the reward's number and units, sums, labels (first row, metric,
    label, how often) and cells."""

    statuses: Mapping[str, int]
    rewards: tuple[int, int]
    sums: Sequence[Sum]
    labels: Sequence[tuple[int, str, str, int]]
    cells: Sequence[Cell]


class Written(NamedTuple):
    """Rows, where each of them ends, their samples (`relfast.stats.samples`), and what is counted of them."""

    rows: bytes
    ends: Sequence[int]
    samples: bytes
    counted: Counted


class LineRows(Protocol):
    """Judges responses and writes their rows."""

    def make_room(self, n: int) -> None: ...

    def place_of(self, digest: Hashable, record: Record) -> int: ...

    def judge(self, block: Block, chosen: Sequence[int], places: Sequence[int]) -> Any: ...

    def certain(self, found: Any) -> Sequence[int]: ...

    def write(
        self, block: Block, chosen: Sequence[int], places: Sequence[int], found: Any, first_index: int
    ) -> Written: ...
