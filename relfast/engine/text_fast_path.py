"""The fast path of the text tasks: rows from a block's bytes, without decoding its lines.

`relfast_kernels.text` reads the lines it understands exactly and writes their rows by template; a
template is made here, by the ordinary way from outcome to row, so both ways write the same bytes. All
other lines take the ordinary way and are put in their places. The fast path serves the default settings
(``reference``, no details, no joins); it is taken only where its machine code has been compiled.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from relfast_kernels.compiled import native
from relfast_kernels.layouts import (
    CORRECT,
    FOUND,
    GOLD_SHIFT,
    GOLD_YES,
    KEY_COUNT,
    KEY_TASK,
    LINE_COLUMNS,
    LINE_END,
    LINE_KEY,
    LINE_KIND,
    LINE_START,
    MAX_TAXA,
    PRED_SHIFT,
    SLOW,
    TP_SHIFT,
)

from relfast.engine.job import Job
from relfast.engine.pool.launch import environment
from relfast.engine.scoring import Scoring
from relfast.json_text import encode_row
from relfast.records import Outcome, Record, Score
from relfast.stats.samples import SAMPLE
from relfast.stats.summary import Tally
from relfast.tasks import TASKS
from relfast.tasks.base import resolve

UNIT: Final = "text"

_COUNT_SHIFTS: Final = (TP_SHIFT, PRED_SHIFT, GOLD_SHIFT)

_BY_NUMBER: Final = {
    task.text_kernel.number: (task, task.text_kernel)
    for task in TASKS.values()
    if task.text_kernel is not None
}

ROW_OVERHEAD: Final = 256
"""Most bytes a row of these tasks has besides its id (the longest template has 190)."""

MAX_TEMPLATES: Final = 4_096
"""Rows differ by task, outcome and, where there are metrics, counts; a run has some hundreds of kinds."""


def serves(job: Job) -> bool:
    """Whether a job's settings are those that the fast path reads lines under."""
    options = job.options
    plain = not (job.rewards or job.details or job.field_map or job.data or options.strip_reasoning)
    return plain and not options.strict and job.dialect in ("auto", "native")


def compile_in_background() -> None:
    """Have the kernels compiled by a process of low priority that nobody waits for.

    It ends with this one: a command leaves nothing running behind its user's back, even if that means that
    a run of a few seconds comes too early and ``relfast warmup`` or a longer one has to do it.
    """
    if all(map(native.is_built, native.UNITS)) or not native.cache().usable(make=True):
        return
    # workers look for the result from time to time
    subprocess.Popen(
        ["nice", sys.executable, "-P", "-m", "relfast_kernels.compiled", str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment(),
    )


def _buffer(size: int) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * size)()


def _at_least(buffer: ctypes.Array[ctypes.c_char], size: int) -> ctypes.Array[ctypes.c_char]:
    return buffer if len(buffer) >= size else _buffer(size + size // 4)


class TextFastPath:
    """Scans blocks and writes rows; keeps its templates and work space between blocks."""

    def __init__(self, scoring: Scoring, functions: Mapping[str, Callable[..., int]]) -> None:
        self._scoring = scoring
        self._scan, self._write = functions["scan"], functions["write"]
        self._spans = (ctypes.c_int64 * (4 * MAX_TAXA))()
        self._keys = (ctypes.c_int64 * MAX_TEMPLATES)()
        self._offsets = (ctypes.c_int64 * (MAX_TEMPLATES + 1))()
        self._written = (ctypes.c_int64 * 2)()
        self._counts = (ctypes.c_int64 * MAX_TEMPLATES)()
        self._out, self._samples = _buffer(0), _buffer(0)
        self._blob = b""
        self._scores: list[Score] = []

    @classmethod
    def open(cls, scoring: Scoring) -> TextFastPath | None:
        """The fast path, or None where the job or the missing machine code does not allow it."""
        if not serves(scoring.job):
            return None
        functions = native.load(UNIT)
        return None if functions is None else cls(scoring, functions)

    def scan(self, data: bytes | memoryview, n_lines: int) -> ScannedBlock:
        """Read a block's lines; ``data`` must stay as it is while the result is used."""
        lines = (ctypes.c_int64 * (n_lines * LINE_COLUMNS))()
        size = len(data)
        address = data if isinstance(data, bytes) else (ctypes.c_char * size).from_buffer(data)
        found = self._scan(address, size, lines, n_lines, self._spans)
        return ScannedBlock(self, data, address, lines, found)

    def rows(self, block: ScannedBlock, start: int, stop: int, first_index: int) -> tuple[bytes, Tally]:
        """Rows and tally of lines that are not slow."""
        lines = block.lines
        first, last = lines[start * LINE_COLUMNS + LINE_START], lines[(stop - 1) * LINE_COLUMNS + LINE_END]
        # ids are copied from the lines: no row is longer than its line and the template
        out = self._out = _at_least(self._out, ROW_OVERHEAD * (stop - start) + last - first)
        samples = self._samples = _at_least(self._samples, SAMPLE.size * (stop - start))
        counts = self._counts
        ctypes.memset(counts, 0, 8 * len(self._scores) + 8)
        self._written[0] = self._written[1] = 0
        at = start
        while True:
            at = self._write(
                block.address,
                len(block.data),
                lines,
                at,
                stop,
                first_index,
                self._keys,
                self._offsets,
                len(self._scores),
                self._blob,
                len(self._blob),
                out,
                len(out),
                samples,
                len(samples),
                counts,
                self._written,
            )
            if at == stop:
                break
            self._add_template(lines[at * LINE_COLUMNS + LINE_KEY])
        tally = Tally()
        for number, score in enumerate(self._scores):
            if counts[number]:
                tally.add(score, counts[number])
        tally.samples += ctypes.string_at(samples, self._written[1])
        return ctypes.string_at(out, self._written[0]), tally

    def _add_template(self, key: int) -> None:
        score = self._score_of(key)
        row = encode_row(score.to_row())
        prefix = b'{"index":0,"id":null'
        assert row.startswith(prefix)
        if len(self._scores) == MAX_TEMPLATES:
            raise RuntimeError("more kinds of rows than these tasks have")
        number = len(self._scores)
        self._keys[number] = key
        self._blob += row[len(prefix) :]
        self._offsets[number + 1] = len(self._blob)
        self._counts[number] = self._counts[number + 1] = 0
        self._scores.append(score)

    def _score_of(self, key: int) -> Score:
        """A row with a key's outcome, for record 0 without an id."""
        task, kernel = _BY_NUMBER[key & KEY_TASK]
        metrics: dict[str, Any] = {}
        if kernel.metrics is not None:
            counts = (key >> shift & KEY_COUNT for shift in _COUNT_SHIFTS)
            metrics = resolve(kernel.metrics)(bool(key & GOLD_YES), *counts)
        outcome = Outcome(bool(key & CORRECT), metrics, found=bool(key & FOUND))
        return self._scoring.score_of(task, Record(0, None, task.name, None, None), outcome)


class ScannedBlock:
    """A block's lines as the kernel read them."""

    def __init__(
        self,
        fast_path: TextFastPath,
        data: bytes | memoryview,
        address: bytes | ctypes.Array[ctypes.c_char],
        lines: ctypes.Array[ctypes.c_int64],
        n_lines: int,
    ) -> None:
        self._fast_path = fast_path
        self.data, self.address, self.lines, self.n_lines = data, address, lines, n_lines

    def runs(self, start: int, stop: int) -> Iterator[tuple[int, int, bool]]:
        """Lines ``start`` to ``stop`` as runs (first, end, whether they are slow)."""
        kinds = self.lines[start * LINE_COLUMNS + LINE_KIND : stop * LINE_COLUMNS : LINE_COLUMNS]
        if SLOW not in kinds:
            if stop > start:
                yield start, stop, False
            return
        at = 0
        while at < len(kinds):
            slow = kinds[at] == SLOW
            end = at + 1
            while end < len(kinds) and (kinds[end] == SLOW) == slow:
                end += 1
            yield start + at, start + end, slow
            at = end

    def line(self, number: int) -> bytes:
        """The bytes of a line, its end excluded."""
        at = number * LINE_COLUMNS
        return bytes(self.data[self.lines[at + LINE_START] : self.lines[at + LINE_END]])

    def rows(self, start: int, stop: int, first_index: int) -> tuple[bytes, Tally]:
        return self._fast_path.rows(self, start, stop, first_index)
