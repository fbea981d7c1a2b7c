"""Rows of records from their keys: by templates, which are made by the ordinary way from outcome to row."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Final

from relfast_kernels.layouts import (
    AT_COUNTS,
    AT_KEYS,
    AT_PARTS,
    AT_ROWS,
    AT_SAMPLES,
    AT_SLOTS,
    AT_TEMPLATES,
    AT_WRITTEN,
    FIRST_INDEX,
    KEY_TASK,
    MOST_TEMPLATES,
    N_KEYS,
    N_ROWS,
    N_SAMPLES,
    N_TEMPLATES,
    RECORD_COLUMNS,
    RECORD_KEY,
    TEMPLATE_PARTS,
    TEMPLATE_SLOTS,
    WANTS_NOTHING,
    WANTS_TEMPLATE,
    WRITTEN_ROWS,
    WRITTEN_SAMPLES,
    WRITTEN_SIZE,
    WRITTEN_WANTS,
)

from relfast.engine.scoring import Scoring
from relfast.engine.text_block import ScannedBlock, buffer
from relfast.engine.text_gold import TASK_BY_NUMBER
from relfast.json_text import encode_row
from relfast.memory import lazy_memory
from relfast.records import Score
from relfast.stats.samples import SAMPLE
from relfast.stats.summary import Tally
from relfast.tasks.text_scorer import numbers, outcome_of

ROW_BYTES: Final = 256
"""Room for a row at first: the longest template without details has 190."""

TEMPLATE_BYTES: Final = 1 << 22
"""Room for templates, which takes memory as it is used; full, they are all forgotten."""


class RowWriter:
    """Writes rows; keeps its templates and work space between blocks.

    Parameters
    ----------
    write
        The kernel's function.
    context
        What it works with (`CONTEXT_SIZE` numbers): records and scratch space are the caller's.
    """

    def __init__(
        self, scoring: Scoring, write: Callable[..., int], context: ctypes.Array[ctypes.c_int64]
    ) -> None:
        self._scoring, self._write, self._context = scoring, write, context
        self._written, self._parts = numbers(WRITTEN_SIZE), numbers(TEMPLATE_PARTS * MOST_TEMPLATES + 1)
        self._keys, self._counts = numbers(MOST_TEMPLATES), numbers(MOST_TEMPLATES)
        self._slots, self._templates = numbers(TEMPLATE_SLOTS), lazy_memory(TEMPLATE_BYTES)
        self._out, self._samples = buffer(0), buffer(0)
        context[AT_KEYS], context[AT_COUNTS] = ctypes.addressof(self._keys), ctypes.addressof(self._counts)
        context[AT_PARTS], context[AT_SLOTS] = ctypes.addressof(self._parts), ctypes.addressof(self._slots)
        context[AT_TEMPLATES], context[N_TEMPLATES] = ctypes.addressof(self._templates), TEMPLATE_BYTES
        context[AT_WRITTEN] = ctypes.addressof(self._written)
        self._tallies: list[Tally] = []

    def rows(self, block: ScannedBlock, at: int, end: int) -> tuple[bytes, Tally]:
        """Rows and tally of records ``at`` to ``end`` of a block."""
        self._have_room(ROW_BYTES * (end - at))
        if len(self._samples) < SAMPLE.size * (end - at):
            self._samples = buffer(2 * SAMPLE.size * (end - at))
        context, written, tally = self._context, self._written, Tally()
        context[AT_SAMPLES], context[N_SAMPLES] = ctypes.addressof(self._samples), len(self._samples)
        context[FIRST_INDEX] = block.first_index
        written[WRITTEN_ROWS] = written[WRITTEN_SAMPLES] = 0
        while True:
            context[N_KEYS] = len(self._tallies)
            at = self._write(block.data, len(block.data), context, at, end)
            if written[WRITTEN_WANTS] == WANTS_NOTHING:
                break
            if written[WRITTEN_WANTS] == WANTS_TEMPLATE:
                self._add_template(block.records[at * RECORD_COLUMNS + RECORD_KEY], tally)
            else:
                self._have_room(2 * len(self._out) + len(block.data))
        self._count(tally)
        tally.samples += ctypes.string_at(self._samples, written[WRITTEN_SAMPLES])
        return ctypes.string_at(self._out, written[WRITTEN_ROWS]), tally

    def _have_room(self, size: int) -> None:
        """Have room for rows, those that are written kept."""
        if len(self._out) < size:
            out = buffer(size)
            ctypes.memmove(out, self._out, self._written[WRITTEN_ROWS])
            self._out = out
        self._context[AT_ROWS], self._context[N_ROWS] = ctypes.addressof(self._out), len(self._out)

    def _count(self, tally: Tally) -> None:
        """Move the counts of rows per template into a tally."""
        for number, row in enumerate(self._tallies):
            if self._counts[number]:
                tally.merge(row, self._counts[number])
                self._counts[number] = 0

    def _add_template(self, key: int, tally: Tally) -> None:
        """Add the template of a key, which the kernel has given its number; none if there is no more room:
        all are forgotten then."""
        score, number = self._score_of(key), len(self._tallies)
        row = encode_row(score.to_row())
        prefix, middle = b'{"index":0,"id":null', b'"sample":'
        head, _, tail = row.removeprefix(prefix).partition(middle + b"0")
        # the lists that are empty here are every record's own
        holes = tail.split(b":[]")
        parts = [tail, b"", b""] if len(holes) == 1 else [holes[0] + b":", holes[1] + b":", holes[2]]
        at = self._parts[TEMPLATE_PARTS * number] if number < MOST_TEMPLATES else TEMPLATE_BYTES
        if at + len(row) > TEMPLATE_BYTES:
            self._count(tally)
            self._tallies = []
            ctypes.memset(self._slots, 0, ctypes.sizeof(self._slots))
            return
        for place, part in enumerate((head + middle, *parts), TEMPLATE_PARTS * number + 1):
            ctypes.memmove(ctypes.addressof(self._templates) + at, part, len(part))
            at += len(part)
            self._parts[place] = at
        self._tallies.append(Tally.of([score]))
        self._tallies[-1].take_samples()  # the kernel writes those of each row

    def _score_of(self, key: int) -> Score:
        """A row with a key's outcome, for record 0 without an id."""
        task, kernel = TASK_BY_NUMBER[key & KEY_TASK]
        strict, details = self._scoring.options.strict, self._scoring.job.details
        outcome = outcome_of(kernel, key, strict=strict, details=details)
        return self._scoring.row_of(task, outcome)
