"""Rows straight from a block's bytes, for tasks whose kernels judge responses to gold that is known already.

A `Task` that has ``in_blocks`` names the function that opens its judge, ``(setting) -> judge``: a `BlockRows`
that writes the rows itself, an `OutcomeJudge` of whose outcomes the engine makes rows, or None where options
or missing machine code allow neither. What it leaves is scored the ordinary way, whose bytes it writes."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from relfast_kernels.layouts import (
    IN_DATA,
    RECORD_COLUMNS,
    RECORD_TEXT,
    RECORD_TEXT_END,
    RECORD_TEXT_PLACE,
)

from relfast.records import Outcome, Record

MAX_AT_ONCE: Final = 64
"""Records that are judged at once: some milliseconds, which have the time of one record."""


class Setting(NamedTuple):
    """What rows are written for.

    Attributes
    ----------
    options
        The job's.
    details
        Whether rows have the texts of ``--details``.
    reward
        The metric that is the reward.
    number
        The task's number in samples (`relfast.stats.samples`).
    row_of
        The row that the ordinary way makes of an outcome, without an id.
    """

    options: Any
    details: bool
    reward: str
    number: int
    row_of: Callable[[Outcome], dict[str, Any]]


class Block(NamedTuple):
    """A block as the scan of lines left it: addresses and sizes of its bytes, of the scratch space and of its
    records, and the same as Python reads them."""

    data: int
    data_size: int
    scratch: int
    scratch_size: int
    records: int
    n_records: int
    columns: memoryview[int]
    views: tuple[memoryview[int], memoryview[int]]
    """Bytes, and scratch space."""

    @classmethod
    def of(
        cls,
        data: bytes | memoryview[int],
        scratch: ctypes.Array[ctypes.c_char],
        records: ctypes.Array[ctypes.c_int64],
    ) -> Block:
        """A block of some bytes, scratch space and records; they stay as long as it does."""
        if isinstance(data, bytes):
            address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
        else:
            address = ctypes.addressof(ctypes.c_char.from_buffer(data))
        return cls(
            address,
            len(data),
            ctypes.addressof(scratch),
            len(scratch),
            ctypes.addressof(records),
            len(records) // RECORD_COLUMNS,
            memoryview(records).cast("B").cast("q"),
            (memoryview(data).cast("B"), memoryview(scratch).cast("B")),
        )

    @property
    def where(self) -> tuple[int, int, int, int, int, int]:
        """What a kernel is told of it."""
        return self[:6]

    def view(self, place: int) -> memoryview[int]:
        """Where a text is whose place a record says."""
        return self.views[place != IN_DATA]

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


class BlockRows(Protocol):
    """Judges responses of one task and writes their rows. It neither hangs nor crashes."""

    def make_room(self, n: int) -> bool:
        """Have room for the golds of ``n`` lines more, before a block's are asked for; whether all that were
        known had to be forgotten for it."""

    def gold(self, record: Record) -> int:
        """The number of a record's gold until golds are forgotten; -1: only the ordinary way can judge."""

    def judge(self, block: Block, records: Sequence[int], golds: Sequence[int]) -> Any:
        """What is found of some records of a block, at most `MAX_AT_ONCE`, that have these golds."""

    def certain(self, found: Any) -> Sequence[int]:
        """For each of them whether the ordinary way would say the same."""

    def joined(self, found: Sequence[Any]) -> Any:
        """What was found of several lots of records, as of one."""

    def some(self, found: Any, chosen: Sequence[int]) -> Any:
        """The same of those that are chosen."""

    def write(
        self, block: Block, records: Sequence[int], golds: Sequence[int], found: Any, first_index: int
    ) -> Written:
        """The rows of records all of which are certain; the block's first line has index ``first_index``."""


class OutcomeJudge(ABC):
    """Judges responses of a task without a `Breakdown` of its own; see `BlockRows`."""

    @abstractmethod
    def make_room(self, n: int) -> bool: ...

    @abstractmethod
    def gold(self, record: Record) -> int: ...

    @abstractmethod
    def judge(self, block: Block, records: Sequence[int], golds: Sequence[int]) -> list[Outcome | None]:
        """Outcomes, all with the same metrics and, where they are asked for, details; None for those that are
        left to the ordinary way."""
