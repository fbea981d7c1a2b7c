"""A block's lines as the text kernel read them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from relfast_kernels.layouts import (
    IN_DATA,
    LINE_COLUMNS,
    LINE_END,
    LINE_KIND,
    LINE_START,
    NOWHERE,
    RECORD_COLUMNS,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
)


def buffer(size: int) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * size)()


_NUMBER: Final = ctypes.sizeof(ctypes.c_int64)


def kinds_of(lines: ctypes.Array[ctypes.c_int64], start: int, stop: int) -> bytes:
    """The kinds of lines ``start`` to ``stop``, a byte each."""
    columns = memoryview(lines).cast("B")
    # kinds are small, and the lowest byte of a number comes first
    return columns[
        _NUMBER * (start * LINE_COLUMNS + LINE_KIND) : _NUMBER * stop * LINE_COLUMNS : _NUMBER * LINE_COLUMNS
    ].tobytes()


@dataclass(slots=True, eq=False)
class ScannedBlock:
    """A block's lines as the kernel read them.

    Attributes
    ----------
    data
        Its bytes.
    lines, n_lines
        `LINE_COLUMNS` numbers for each line and one behind the last.
    records, scratch
        What the kernel left of the responses, `RECORD_COLUMNS` numbers each, and texts that they point to,
        where they do not stand in the block.
    chosen
        The filter of lm-evaluation-harness that is scored.
    first_index
        The index of its first line.
    """

    data: bytes
    lines: ctypes.Array[ctypes.c_int64]
    n_lines: int
    records: ctypes.Array[ctypes.c_int64]
    scratch: ctypes.Array[ctypes.c_char]
    chosen: str | None
    first_index: int

    def line(self, number: int) -> bytes:
        """The bytes of a line, its end excluded."""
        at = number * LINE_COLUMNS
        return self.data[self.lines[at + LINE_START] : self.lines[at + LINE_END]]


def id_of(texts: tuple[memoryview, memoryview], records: Sequence[int], number: int) -> Any:
    """The id of a record, as the kernel left it."""
    row = number * RECORD_COLUMNS
    place = records[row + RECORD_ID_PLACE]
    if place == NOWHERE:
        return None
    return orjson.loads(texts[place != IN_DATA][records[row + RECORD_ID] : records[row + RECORD_ID_END]])
