"""`ScannedBlock`: a block of lines with the arrays in which the text kernel describes them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

from relfast_kernels.layouts import (
    FIELDS,
    LINE_COLUMNS,
    LINE_END,
    LINE_GOLD,
    LINE_KIND,
    LINE_RECORD,
    LINE_START,
    RECORD_COLUMNS,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_TEXT,
    RECORD_TEXT_END,
)

from relfast.stats.samples import read_key


def buffer(size: int) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * size)()


_NUMBER: Final = ctypes.sizeof(ctypes.c_int64)


def _bytes_of(
    lines: ctypes.Array[ctypes.c_int64], column: int, start: int, stop: int, *, highest: bool = False
) -> bytes:
    """The lowest byte, or the highest, of a column's numbers of lines ``start`` to ``stop``."""
    # the machine is little-endian
    at = _NUMBER * (start * LINE_COLUMNS + column) + (_NUMBER - 1) * highest
    return memoryview(lines).cast("B")[at : _NUMBER * stop * LINE_COLUMNS : _NUMBER * LINE_COLUMNS].tobytes()


def kinds_of(lines: ctypes.Array[ctypes.c_int64], start: int, stop: int) -> bytes:
    """The kinds of lines ``start`` to ``stop`` (`relfast_kernels.layouts.FAST`, …), a byte each."""
    return _bytes_of(lines, LINE_KIND, start, stop)


def without_gold(lines: ctypes.Array[ctypes.c_int64], numbers: range) -> list[int]:
    """The numbers of those `FIELDS` lines whose gold the kernel does not know."""
    kinds = kinds_of(lines, numbers.start, numbers.stop)
    if FIELDS not in kinds:
        return []
    # `GOLD_UNKNOWN` is negative
    unknown = _bytes_of(lines, LINE_GOLD, numbers.start, numbers.stop, highest=True)
    found = compress(zip(numbers, kinds, strict=True), unknown)
    return [number for number, kind in found if kind == FIELDS]


@dataclass(slots=True, eq=False)
class ScannedBlock:
    """A block of lines with the text kernel's description of them.

    Attributes
    ----------
    data
        The bytes of the block.
    lines, n_lines
        `LINE_COLUMNS` numbers for each line, and one more row after the last line.
    records, scratch
        `RECORD_COLUMNS` numbers for each response, and what these point to that does not stand in the block
        (ids, lists of taxa).
    chosen
        The filter of lm-evaluation-harness that is scored.
    first_index
        The run's index of the block's first line.
    """

    data: bytes
    lines: ctypes.Array[ctypes.c_int64]
    n_lines: int
    records: ctypes.Array[ctypes.c_int64]
    scratch: ctypes.Array[ctypes.c_char]
    chosen: str | None
    first_index: int

    def span(self, number: int) -> tuple[int, int]:
        """Where a line is in the block, without its line end."""
        at = number * LINE_COLUMNS
        return self.lines[at + LINE_START], self.lines[at + LINE_END]

    def line(self, number: int) -> bytes:
        """The bytes of a line, without its line end."""
        start, end = self.span(number)
        return self.data[start:end]

    def beside_responses(self, number: int) -> list[tuple[int, int]]:
        """Where a line stands in the block but for its responses' texts."""
        records = memoryview(self.records).cast("B").cast("q")
        first, last = (self.lines[at * LINE_COLUMNS + LINE_RECORD] for at in (number, number + 1))
        at, end = self.span(number)
        parts = []
        for row in range(first * RECORD_COLUMNS, last * RECORD_COLUMNS, RECORD_COLUMNS):
            parts.append((at, records[row + RECORD_TEXT]))
            at = records[row + RECORD_TEXT_END]
        return [*parts, (at, end)]


def id_of(scratch: memoryview, records: Sequence[int], number: int) -> tuple[Any, str | None]:
    """Id and ``prompt`` of a record; ``scratch`` is the block's scratch space."""
    row = number * RECORD_COLUMNS
    start, end = records[row + RECORD_ID], records[row + RECORD_ID_END]
    return read_key(scratch[start:end].tobytes()) if end > start else (None, None)
