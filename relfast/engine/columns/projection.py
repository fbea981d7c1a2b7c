"""Lines read by the text kernel without decoding their JSON: those that are scored, and those of gold
files."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import orjson
from relfast_kernels.layouts import (
    LINE_COLUMNS,
    RECORD_COLUMNS,
    SET_FILTER,
    SET_SIZE,
    STATE_RECORDS,
    STATE_SIZE,
    STATE_USED,
    STATE_WANTS,
    WANTS_NOTHING,
    WANTS_RECORDS,
)
from relfast_kernels.text.layouts import OUTLINE_ROOM, Held, Outline, Scan

from relfast.engine.columns.text_block import ScannedBlock
from relfast.engine.columns.text_table import TextTable
from relfast.engine.job import Job
from relfast.formats.paths import follow
from relfast.formats.reading import gold_of
from relfast.json_text import decode_object, decode_text
from relfast.support.system import lazy_memory
from relfast.tasks.text_scorer import PreparedGolds, in_rows, numbers, work_space

RECORDS: Final = 4_096
SCRATCH_BYTES: Final = 1 << 24
"""Initial room for a block's responses, and for decoded texts; memory is allocated only when touched."""


class SaidGold(NamedTuple):
    """Task and answer as a row names them, and whether the answer is the object, or the text of one, that the
    kernel finds in the row."""

    task: Any
    answer: Any
    is_plain: bool


class Projection:
    """Scans blocks of lines by a job's table of paths; keeps its memory between blocks.

    Attributes
    ----------
    context
        What the kernel is given (`relfast_kernels.text.layouts.Scan`); no golds are known as yet.
    settings
        What the job asks of a scan (`SET_SIZE` numbers), to be filled in.
    table
        The job's table of paths.
    """

    def __init__(self, job: Job, functions: Mapping[str, Callable[..., int]], held: Held) -> None:
        self._scan, self._outline = functions["scan"], functions["outline"]
        self._large_integer = functions["large_integer"]
        self._map = job.field_map
        self.table = TextTable.of(job)
        self.settings, self._state = numbers(SET_SIZE), numbers(STATE_SIZE)
        self._lines, self._records = numbers(LINE_COLUMNS), numbers(RECORDS * RECORD_COLUMNS)
        self.scratch, self._out = lazy_memory(SCRATCH_BYTES), lazy_memory(1 << 16)
        table, work = self.table.view, work_space()
        self.context: Any = Scan(
            data=b"",
            lines=in_rows(LINE_COLUMNS, self._lines),
            settings=self.settings,
            chosen=b"",
            table=table,
            joined=held,
            golds=PreparedGolds(1, 1).view,
            work=work,
            records=in_rows(RECORD_COLUMNS, self._records),
            scratch=self.scratch,
            state=self._state,
        )
        self._outlining: Any = Outline(data=b"", out=self._out, table=table, work=work)

    def scan(self, data: Any, n_lines: int, first_index: int = 0, chosen: str | None = None) -> ScannedBlock:
        """Read the first ``n_lines`` lines of a block, and score the responses whose gold is known. The
        result is valid until the next block is scanned. ``chosen`` is the filter of lm-evaluation-harness."""
        context = self.context
        if len(self._lines) < (n_lines + 1) * LINE_COLUMNS:
            self._lines = numbers((n_lines + 1) * LINE_COLUMNS)
            context.lines = in_rows(LINE_COLUMNS, self._lines)
        self.settings[SET_FILTER] = chosen is not None
        context.data, context.chosen = data, (chosen or "").encode("utf-8", "surrogatepass")
        block = ScannedBlock(data, self._lines, n_lines, self._records, self.scratch, chosen, first_index)
        self.scan_again(block)
        return block

    def scan_again(self, block: ScannedBlock) -> None:
        """Read the lines of the block that was scanned last, whose golds may be known by now."""
        context, state = self.context, self._state
        context.stop = block.n_lines
        ctypes.memset(state, 0, ctypes.sizeof(state))
        while True:
            block.n_lines = self._scan(context)
            if state[STATE_WANTS] == WANTS_NOTHING:
                block.records, block.scratch = self._records, self.scratch
                return
            if state[STATE_WANTS] == WANTS_RECORDS:
                records = numbers(2 * len(self._records))
                ctypes.memmove(records, self._records, 8 * RECORD_COLUMNS * state[STATE_RECORDS])
                self._records, context.records = records, in_rows(RECORD_COLUMNS, records)
            else:
                self.grow_scratch()

    @property
    def used(self) -> int:
        """Bytes of the scratch space that the last scan has filled."""
        return self._state[STATE_USED]

    def grow_scratch(self) -> None:
        """Double the room for texts; those of the block remain."""
        scratch = lazy_memory(2 * len(self.scratch))
        ctypes.memmove(scratch, self.scratch, self._state[STATE_USED])
        self.scratch = self.context.scratch = scratch

    def has_large_integer(self, data: bytes, start: int, end: int) -> bool:
        """Whether JSON in data[start:end] may hold an integer that orjson rounds and Python's parser does not
        (which of the two reads a line depends on its other fields): 19 digits in a row, not after a decimal
        point."""
        asked = self._outlining
        if asked.data is not data:
            asked.data = data
        asked.start, asked.end = start, end
        return bool(self._large_integer(asked))

    def gold_in(self, data: bytes, start: int, end: int) -> SaidGold | None:
        """Task and answer that the line data[start:end] names, as an `Entry` has them; nothing else of it is
        decoded. None if Python must read the line to tell."""
        asked = self._outlining
        if len(self._out) < 4 * (end - start) + 2 * OUTLINE_ROOM:
            self._out = asked.out = lazy_memory(8 * (end - start) + 2 * OUTLINE_ROOM)
        if asked.data is not data:
            asked.data = data
        asked.start, asked.end = start, end
        size, form = self._outline(asked), asked.found.form
        if form < 0:
            return None
        text = ctypes.string_at(self._out, size)
        if self.has_large_integer(text, 0, size):
            return None
        try:
            row = decode_object(text)
            task, answer = gold_of(self.table.forms[form], row)
            if "task" in self._map:
                task = follow(row, self._map["task"])
            if "answer" in self._map:
                answer = follow(row, self._map["answer"])
            found = asked.found.gold
            gold = ctypes.string_at(ctypes.addressof(self._out) + found.start, found.end - found.start)
            stands = orjson.loads(gold) if gold else None
        except Exception:  # the line will be scored the ordinary way, which reports the error in a row
            return None
        said = decode_text(answer) if isinstance(answer, str) else answer
        is_plain = type(said) is dict and said == (decode_text(stands) if isinstance(stands, str) else stands)
        return SaidGold(task, answer, is_plain)
