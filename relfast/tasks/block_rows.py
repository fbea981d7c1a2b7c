"""Responses judged where they stand in a block's bytes, for tasks whose kernels hold them against gold that
is known already.

A `Task` that has ``in_blocks`` names the function that opens its judge, ``(setting) -> OutcomeJudge | None``:
None where options or missing machine code do not allow it. What a judge leaves is scored the ordinary way,
and its outcomes become rows as all others do."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

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
    """What responses are judged for: the job's options, and whether rows have the texts of ``--details``."""

    options: Any
    details: bool


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

    def text(self, number: int) -> bytes:
        """The response of a record."""
        at = number * RECORD_COLUMNS
        place, start, end = (
            self.columns[at + of] for of in (RECORD_TEXT_PLACE, RECORD_TEXT, RECORD_TEXT_END)
        )
        return bytes(self.views[place != IN_DATA][start:end])

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


class Outcomes(NamedTuple):
    """Outcomes by columns (`relfast.records.Outcome`): whether each is ``certain``, and what it is worth,
    which means nothing where it is not."""

    certain: Sequence[bool]
    found: Sequence[bool]
    correct: Sequence[bool]
    votes: Sequence[str | int | None]
    metrics: Mapping[str, Sequence[Any]]
    details: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, outcomes: Sequence[Outcome | None]) -> Outcomes:
        """Outcomes with the same metrics and details, and None for what is left."""
        first = next((outcome for outcome in outcomes if outcome is not None), NOTHING)
        rows = [first if outcome is None else outcome for outcome in outcomes]
        return cls(
            [outcome is not None for outcome in outcomes],
            [row.found for row in rows],
            [row.correct for row in rows],
            [row.vote for row in rows],
            {name: [row.metrics[name] for row in rows] for name in first.metrics},
            {name: [row.details[name] for row in rows] for name in first.details},
        )

    @classmethod
    def joined(cls, lots: Sequence[Outcomes]) -> Outcomes:
        """Several lots as one. One that has nothing certain may lack the others' metrics."""
        if len(lots) == 1:
            return lots[0]
        model = next((lot for lot in lots if any(lot.certain)), lots[0])

        def column(parts: Iterable[Sequence[Any] | None]) -> list[Any]:
            sized = zip(parts, lots, strict=True)
            return [value for part, lot in sized for value in part or [None] * len(lot.certain)]

        return cls(
            column(lot.certain for lot in lots),
            column(lot.found for lot in lots),
            column(lot.correct for lot in lots),
            column(lot.votes for lot in lots),
            {name: column(lot.metrics.get(name) for lot in lots) for name in model.metrics},
            {name: column(lot.details.get(name) for lot in lots) for name in model.details},
        )

    def chosen(self, chosen: Sequence[int]) -> Outcomes:
        """Those at some places."""

        def some(column: Sequence[Any]) -> list[Any]:
            return [column[at] for at in chosen]

        return Outcomes(
            some(self.certain),
            some(self.found),
            some(self.correct),
            some(self.votes),
            {name: some(column) for name, column in self.metrics.items()},
            {name: some(column) for name, column in self.details.items()},
        )

    def rows(self) -> list[Outcome]:
        """One by one."""
        metrics, details = (
            zip(*named.values(), strict=True) if named else [()] * len(self.found)
            for named in (self.metrics, self.details)
        )
        rows = zip(self.found, self.correct, self.votes, metrics, details, strict=True)
        return [
            Outcome(
                correct,
                dict(zip(self.metrics, numbers, strict=True)),
                dict(zip(self.details, texts, strict=True)),
                found,
                vote=vote,
            )
            for found, correct, vote, numbers, texts in rows
        ]


NOTHING: Final = Outcome(False, {}, {}, False)


class OutcomeJudge(ABC):
    """Judges responses of one task. It neither hangs nor crashes."""

    @abstractmethod
    def make_room(self, n: int) -> bool:
        """Have room for the golds of ``n`` lines more, before a block's are asked for; whether all that were
        known had to be forgotten for it."""

    @abstractmethod
    def gold(self, record: Record) -> int:
        """The number of a record's gold until golds are forgotten; -1: only the ordinary way can judge."""

    @abstractmethod
    def judge(self, block: Block, records: Sequence[int], golds: Sequence[int]) -> Outcomes:
        """The outcomes of some records of a block, at most `MAX_AT_ONCE`, that have these golds."""
