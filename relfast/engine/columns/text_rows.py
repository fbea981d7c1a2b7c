"""Output rows of the responses that the text kernel scored.

A response's key packs its outcome into an integer. For each key a row is made once by the code for all rows
(`Scoring.row_of`), and kept as a template, in which the kernel fills in index, id, sample and taxa."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final

import orjson
from relfast_kernels.layouts import (
    KEY_TASK,
    MOST_TEMPLATES,
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
from relfast_kernels.text.layouts import Scan, Templates, Writing

from relfast.engine.columns.scoring import Scoring
from relfast.engine.columns.text_block import ScannedBlock, buffer
from relfast.engine.columns.text_gold import TASK_BY_NUMBER
from relfast.json_text import encode_row
from relfast.records import Score
from relfast.stats.samples import SAMPLE
from relfast.stats.sums import add_counts
from relfast.stats.tally import Tally
from relfast.support.memory import lazy_memory
from relfast.tasks.text_scorer import numbers, outcome_of

ROW_BYTES: Final = 256
"""Initial room for each row; the longest template without details has 190 bytes."""

TEMPLATE_BYTES: Final = 1 << 22
"""Room for templates, allocated as it is touched; when it is full all templates are forgotten."""

_NUL: Final = b"\0"
_HOLE: Final = orjson.Fragment(_NUL)
"""What a template has in place of what the kernel fills in: JSON has no such byte."""


class RowWriter:
    """Writes rows; keeps its templates and work space between blocks.

    Parameters
    ----------
    write
        The kernel's function that writes rows.
    scan
        What the kernel that scans blocks is given.
    """

    def __init__(self, scoring: Scoring, write: Callable[..., int], scan: Scan) -> None:
        self._scoring, self._write = scoring, write
        self._written, self._parts = numbers(WRITTEN_SIZE), numbers(TEMPLATE_PARTS * MOST_TEMPLATES + 1)
        self._keys, self._counts = numbers(MOST_TEMPLATES), numbers(MOST_TEMPLATES)
        self._slots, self._templates = numbers(TEMPLATE_SLOTS), lazy_memory(TEMPLATE_BYTES)
        self._out, self._samples = buffer(0), buffer(0)
        templates = Templates(
            keys=self._keys,
            slots=self._slots,
            parts=self._parts,
            text=self._templates,
            counts=self._counts,
        )
        self._writing: Any = Writing(
            scan=scan, templates=templates, out=self._out, samples=self._samples, written=self._written
        )
        self._n_known = 0

    def rows(self, block: ScannedBlock, at: int, end: int, tally: Tally) -> bytes:
        """Rows of records ``at`` to ``end`` of a block. Their samples go into the tally at once, their
        outcomes with the next `count`."""
        self._have_room(ROW_BYTES * (end - at))
        writing, written = self._writing, self._written
        if len(self._samples) < SAMPLE.size * (end - at):
            self._samples = writing.samples = buffer(2 * SAMPLE.size * (end - at))
        writing.first_index, writing.stop = block.first_index, end
        written[WRITTEN_ROWS] = written[WRITTEN_SAMPLES] = 0
        while True:
            writing.n_known, writing.start = self._n_known, at
            at = self._write(writing)
            if written[WRITTEN_WANTS] == WANTS_NOTHING:
                break
            if written[WRITTEN_WANTS] == WANTS_TEMPLATE:
                self._add_template(block.records[at * RECORD_COLUMNS + RECORD_KEY], tally)
            else:
                self._have_room(2 * len(self._out) + len(block.data))
        tally.samples += ctypes.string_at(self._samples, written[WRITTEN_SAMPLES])
        return ctypes.string_at(self._out, written[WRITTEN_ROWS])

    def _have_room(self, size: int) -> None:
        """Make room for ``size`` bytes of rows; rows written so far are kept."""
        if len(self._out) < size:
            out = buffer(size)
            ctypes.memmove(out, self._out, self._written[WRITTEN_ROWS])
            self._out = self._writing.out = out

    def count(self, tally: Tally) -> None:
        """Add the outcomes of all rows written since the last call to a tally: the kernel counts them by
        template."""
        n = self._n_known
        counts = zip(self._keys[:n], self._counts[:n], strict=True)
        add_counts(tally.outcomes, {key: times for key, times in counts if times})
        ctypes.memset(self._counts, 0, ctypes.sizeof(ctypes.c_int64) * n)

    def _add_template(self, key: int, tally: Tally) -> None:
        """Add the template of a key, to which the kernel has given the next number. If there is no room, all
        templates are forgotten instead, and the kernel asks again."""
        number, row = self._n_known, row_of_key(self._scoring, key).to_row()
        # lists (predicted and gold taxa) differ from record to record as index, id and sample do
        metrics = {name: _HOLE if type(value) is list else value for name, value in row["metrics"].items()}
        row |= {"index": _HOLE, "id": _HOLE, "sample": _HOLE, "metrics": metrics}
        _index, _id, *parts = encode_row(row).split(_NUL)
        parts += [b""] * (TEMPLATE_PARTS - len(parts))
        at = self._parts[TEMPLATE_PARTS * number] if number < MOST_TEMPLATES else TEMPLATE_BYTES
        if at + sum(map(len, parts)) > TEMPLATE_BYTES:
            self.count(tally)
            self._n_known = 0
            ctypes.memset(self._slots, 0, ctypes.sizeof(self._slots))
            return
        for place, part in enumerate(parts, TEMPLATE_PARTS * number + 1):
            ctypes.memmove(ctypes.addressof(self._templates) + at, part, len(part))
            at += len(part)
            self._parts[place] = at
        self._n_known += 1


def row_of_key(scoring: Scoring, key: int) -> Score:
    """The row of a result key's outcome, with index 0, sample 0 and no id."""
    task, kernel = TASK_BY_NUMBER[key & KEY_TASK]
    outcome = outcome_of(kernel, key, strict=scoring.options.strict, details=scoring.job.details)
    return scoring.row_of(task, outcome)
