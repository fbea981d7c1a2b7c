"""Rows of records from their keys: by templates, which are made by the ordinary way from outcome to row."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from relfast_kernels.layouts import (
    KEY_TASK,
    RECORD_COLUMNS,
    RECORD_KEY,
    TEMPLATE_PARTS,
    TEMPLATE_SLOTS,
    WANTS_NOTHING,
    WANTS_TEMPLATE,
    WRITTEN_ROWS,
    WRITTEN_SAMPLES,
    WRITTEN_WANTS,
)

from relfast.engine.scoring import Scoring
from relfast.engine.text_gold import TASK_BY_NUMBER, buffer
from relfast.json_text import encode_row
from relfast.records import Record, Score
from relfast.stats.prompts import SAMPLE
from relfast.stats.summary import Tally
from relfast.tasks.text_judge import numbers, outcome_of

if TYPE_CHECKING:
    from relfast.engine.text_fast_path import ScannedBlock

ROW_BYTES: Final = 256
"""Room for a row at first: the longest template without details has 190."""

MAX_TEMPLATES: Final = 4_096
"""Templates that are kept. Rows differ by task, outcome and, where there are metrics, counts; a run has some
hundreds of kinds, unless its responses are full of numbers."""


class RowWriter:
    """Writes rows; keeps its templates and work space between blocks."""

    def __init__(self, scoring: Scoring, functions: Mapping[str, Callable[..., int]]) -> None:
        self._scoring = scoring
        self._write, self._add = functions["write"], functions["add"]
        self._written = numbers(3)
        self._out, self._samples = buffer(0), buffer(0)
        self._forget_templates()

    def _forget_templates(self) -> None:
        self._keys = numbers(MAX_TEMPLATES)
        self._slots = numbers(TEMPLATE_SLOTS)
        self._offsets = numbers(TEMPLATE_PARTS * MAX_TEMPLATES + 1)
        self._counts = numbers(MAX_TEMPLATES)
        self._blob = b""
        self._scores: list[Score] = []

    def rows(self, block: ScannedBlock, at: int, end: int) -> tuple[bytes, Tally]:
        """Rows and tally of records ``at`` to ``end`` of a block."""
        records, scratch = block.records, block.scratch
        if len(self._out) < ROW_BYTES * (end - at):
            self._out = buffer(ROW_BYTES * (end - at))
        if len(self._samples) < SAMPLE.size * (end - at):
            self._samples = buffer(2 * SAMPLE.size * (end - at))
        tally = Tally()
        written = self._written
        written[WRITTEN_ROWS] = written[WRITTEN_SAMPLES] = 0
        while True:
            at = self._write(
                block.address,
                len(block.data),
                scratch,
                len(scratch),
                records,
                at,
                end,
                block.first_index,
                self._keys,
                MAX_TEMPLATES,
                self._slots,
                self._offsets,
                self._blob,
                len(self._blob),
                self._out,
                len(self._out),
                self._samples,
                len(self._samples),
                self._counts,
                written,
            )
            if written[WRITTEN_WANTS] == WANTS_NOTHING:
                break
            if written[WRITTEN_WANTS] == WANTS_TEMPLATE:
                if len(self._scores) == MAX_TEMPLATES:
                    self._count(tally)
                    self._forget_templates()
                self._add_template(records[at * RECORD_COLUMNS + RECORD_KEY])
            else:
                out = buffer(2 * len(self._out) + len(block.data))
                ctypes.memmove(out, self._out, written[WRITTEN_ROWS])
                self._out = out
        self._count(tally)
        tally.samples += ctypes.string_at(self._samples, written[WRITTEN_SAMPLES])
        return ctypes.string_at(self._out, written[WRITTEN_ROWS]), tally

    def _count(self, tally: Tally) -> None:
        """Move the counts of rows per template into a tally."""
        for number, score in enumerate(self._scores):
            if self._counts[number]:
                tally.add(score, self._counts[number])
                self._counts[number] = 0

    def _add_template(self, key: int) -> None:
        score = self._score_of(key)
        row = encode_row(score.to_row())
        prefix, middle = b'{"index":0,"id":null', b'"sample":'
        head, _, tail = row.removeprefix(prefix).partition(middle + b"0")
        # the lists that are empty here are every record's own
        holes = tail.split(b":[]")
        parts = [tail, b"", b""] if len(holes) == 1 else [holes[0] + b":", holes[1] + b":", holes[2]]
        number = self._add(key, len(self._scores), self._keys, MAX_TEMPLATES, self._slots)
        for place, part in enumerate((head + middle, *parts), TEMPLATE_PARTS * number + 1):
            self._blob += part
            self._offsets[place] = len(self._blob)
        self._scores.append(score)

    def _score_of(self, key: int) -> Score:
        """A row with a key's outcome, for record 0 without an id."""
        task, kernel = TASK_BY_NUMBER[key & KEY_TASK]
        strict, details = self._scoring.options.strict, self._scoring.job.details
        outcome = outcome_of(kernel, key, strict=strict, details=details)
        return self._scoring.score_of(task, Record(0, None, task.name, None, None), outcome)
