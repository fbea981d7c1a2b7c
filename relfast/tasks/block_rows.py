"""Responses judged where they stand in a block's bytes, for tasks whose kernels hold them against gold that
is known already.

A `Task` that has ``in_blocks`` names the function that opens its judge, ``(options, details) ->
OutcomeJudge | None`` (``details``: whether rows have the texts of ``--details``); None where options or
missing machine code do not allow it. What a judge leaves is scored the ordinary way, and its outcomes become
rows as all others do."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from typing import Final, NamedTuple

from relfast_kernels.layouts import IN_DATA, RECORD_COLUMNS, RECORD_TEXT, RECORD_TEXT_END, RECORD_TEXT_PLACE

from relfast.records import Outcome, Record

MAX_AT_ONCE: Final = 64
"""Records that are judged at once: some milliseconds, which have the time of one record."""


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
    def judge(self, block: Block, records: Sequence[int], golds: Sequence[int]) -> list[Outcome | None]:
        """The outcomes of some records of a block, at most `MAX_AT_ONCE`, that have these golds; None for
        those that are left."""
