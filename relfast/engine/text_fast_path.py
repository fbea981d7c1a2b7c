"""The fast path for lines: it finds ids and responses, and makes the rows of the text tasks (REL-A, B1, C1),
from a block's bytes without decoding the JSON of each line.

The kernel `relfast_kernels.text` finds ids and responses in lines of all dialects (by `text_table`), and
hashes the other fields to a digest, which stands for the gold. The first line with a digest is decoded the
ordinary way and its gold prepared (`text_gold`). Responses in later lines with that digest are scored in
place, and their rows written from templates (`text_rows`), which are made with the code that makes all other
rows, so that the bytes are equal. All other lines are scored the ordinary way, and their rows put in order.
The fast path is used only if its machine code has been compiled."""

from __future__ import annotations

import ctypes
import os
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from operator import attrgetter
from typing import Final

from relfast_kernels.compiled import native
from relfast_kernels.layouts import (
    AT_FILTER,
    AT_GOLDS,
    AT_LINES,
    AT_RECORDS,
    AT_SCRATCH,
    AT_SETTINGS,
    AT_STATE,
    AT_TABLE,
    AT_WORK,
    BLANK,
    CONTEXT_SIZE,
    FAST,
    FIELDS,
    GOLD_UNKNOWN,
    HAS_ID_ONLY,
    LINE_ANSWER,
    LINE_COLUMNS,
    LINE_DIGEST,
    LINE_GOLD,
    LINE_KIND,
    LINE_RECORD,
    LINE_REST,
    N_FILTER,
    N_LINES,
    N_RECORDS,
    N_SCRATCH,
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

from relfast.engine.pool.failures import Verdict
from relfast.engine.scoring import Scoring
from relfast.engine.segments import Segment, encoded, pieces
from relfast.engine.text_block import ScannedBlock, kinds_of
from relfast.engine.text_gold import TASK_BY_NUMBER, Golds, KnownGold
from relfast.engine.text_rows import RowWriter
from relfast.engine.text_table import TextTable, can_hold
from relfast.memory import lazy_memory
from relfast.records import Place
from relfast.stats.summary import Tally
from relfast.tasks.text_scorer import WorkSpace, least_measure, numbers

_IS_SLOW: Final = bytes(kind not in (BLANK, FAST) for kind in range(256))
"""Kind of a line → 1 if the line is left to be scored, 0 if it is blank or a kernel has scored it."""


def runs(start: int, stop: int, without: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The runs of consecutive numbers from ``start`` to ``stop`` that remain without the numbers ``without``
    (ascending), each as (first, end)."""
    for number in without:
        if number > start:
            yield start, number
        start = number + 1
    if stop > start:
        yield start, stop


MOST_REFUSED: Final = 1 << 16
_LEARNT: Final = (LINE_KIND, LINE_GOLD, LINE_DIGEST, LINE_ANSWER, LINE_REST)

RECORDS: Final = 4_096
SCRATCH_BYTES: Final = 1 << 24
"""Initial room for a block's responses, and for decoded texts; memory is allocated only when touched."""


class TextFastPath:
    """Scans blocks, learns golds and writes rows. Golds, templates and work space are kept between blocks."""

    def __init__(self, scoring: Scoring, functions: Mapping[str, Callable[..., int]]) -> None:
        self._scoring = scoring
        self._scan, self._score, self._know = (functions[name] for name in ("scan", "score", "know"))
        job = scoring.job
        self._table, self._golds = TextTable(job), Golds(job)
        self._refused: set[int] = set()
        """Digests of lines whose gold cannot be shared with other lines."""
        self._settings = (ctypes.c_int64 * SET_SIZE)(
            job.options.strip_reasoning,
            job.details,
            bool(job.data),
            False,
            job.options.strict,
            least_measure(job.options, [kernel for _, kernel in TASK_BY_NUMBER.values()]),
            int.from_bytes(os.urandom(8), "little") >> 1,
            job.repeats,
        )
        self._known = KnownGold(scoring)
        self._work = WorkSpace()
        self._state = numbers(STATE_SIZE)
        scoring.open_kernels(shows=job.details)
        self._lines = numbers(0)
        self._context = numbers(CONTEXT_SIZE)
        for part, memory in (
            (AT_SETTINGS, self._settings),
            (AT_WORK, self._work.places),
            (AT_TABLE, self._table.about),
            (AT_STATE, self._state),
        ):
            self._context[part] = ctypes.addressof(memory)
        self._have_records(numbers(RECORDS * RECORD_COLUMNS))
        self._have_scratch(lazy_memory(SCRATCH_BYTES))
        self._writer = RowWriter(scoring, functions["write"], self._context)

    def _have_records(self, records: ctypes.Array[ctypes.c_int64]) -> None:
        self._records = records
        self._context[AT_RECORDS] = ctypes.addressof(records)
        self._context[N_RECORDS] = len(records) // RECORD_COLUMNS

    def _have_scratch(self, scratch: ctypes.Array[ctypes.c_char]) -> None:
        self._scratch = scratch
        self._context[AT_SCRATCH], self._context[N_SCRATCH] = ctypes.addressof(scratch), len(scratch)

    @classmethod
    def open(cls, scoring: Scoring) -> TextFastPath | None:
        """The fast path; None if the job's ``--map`` is beyond the kernel, or no machine code is compiled."""
        if not can_hold(scoring.job.field_map):
            return None
        functions = native.find("text")
        return None if functions is None else cls(scoring, functions)

    def scan(self, data: bytes, n_lines: int, first_index: int, chosen: str | None) -> ScannedBlock:
        """Scan the first ``n_lines`` lines of a block, and score the responses whose gold is known. The
        result is valid until the next block is scanned. ``chosen`` is the filter of lm-evaluation-harness.
        """
        self._golds.make_room(len(data) >> 6)
        if len(self._lines) < (n_lines + 1) * LINE_COLUMNS:
            self._lines = numbers((n_lines + 1) * LINE_COLUMNS)
        context, state = self._context, self._state
        name = (chosen or "").encode("utf-8", "surrogatepass")
        of_filter = ctypes.create_string_buffer(name)
        self._settings[SET_FILTER] = chosen is not None
        context[AT_FILTER], context[N_FILTER] = ctypes.addressof(of_filter), len(name)
        context[AT_LINES], context[N_LINES] = ctypes.addressof(self._lines), n_lines
        context[AT_GOLDS] = ctypes.addressof(self._golds.about)
        ctypes.memset(state, 0, ctypes.sizeof(state))
        while True:
            n_scanned = self._scan(data, len(data), context)
            if state[STATE_WANTS] == WANTS_NOTHING:
                return ScannedBlock(
                    data, self._lines, n_scanned, self._records, self._scratch, chosen, first_index
                )
            if state[STATE_WANTS] == WANTS_RECORDS:
                records = numbers(2 * len(self._records))
                ctypes.memmove(records, self._records, 8 * RECORD_COLUMNS * state[STATE_RECORDS])
                self._have_records(records)
            else:
                self._grow_scratch()

    def _grow_scratch(self) -> None:
        scratch = lazy_memory(2 * len(self._scratch))
        ctypes.memmove(scratch, self._scratch, self._state[STATE_USED])
        self._have_scratch(scratch)

    def learn(self, block: ScannedBlock, numbers: range) -> None:
        """Prepare the golds that this block's scan met for the first time, and score the lines with them."""
        if FIELDS not in kinds_of(block.lines, numbers.start, numbers.stop):
            return
        columns = memoryview(block.lines).cast("B").cast("q")
        span = slice(LINE_COLUMNS * numbers.start, LINE_COLUMNS * numbers.stop)
        lines = [*zip(numbers, *(columns[span][k::LINE_COLUMNS].tolist() for k in _LEARNT), strict=True)]
        added: set[int] = set()
        for number, kind, gold, digest, answer, rest in lines:
            if kind != FIELDS or gold != GOLD_UNKNOWN or digest in self._refused:
                continue
            if digest in added or answer in added:
                continue
            record = self._known.gold_of(block, number, columns[LINE_COLUMNS * number + LINE_RECORD])
            by = answer if answer and record is not None and self._golds.is_answer(record) else digest
            if record is not None and self._golds.add(by, record, rest):
                added.add(by)
                if rest == HAS_ID_ONLY and self._golds.wants_ids(self._scoring.gold):
                    self._golds.know_ids(self._scoring, self._know, self._context)
                    self._score_known(block, numbers)
                    return self.learn(block, numbers)
            elif len(self._refused) < MOST_REFUSED:
                self._refused.add(digest)
        if added:
            self._score_known(block, numbers)

    def _score_known(self, block: ScannedBlock, numbers: range) -> None:
        """Score those of the lines ``numbers`` whose gold is known by now."""
        at = numbers.start
        while at < numbers.stop:
            at = self._score(block.data, len(block.data), self._context, at, numbers.stop)
            if at < numbers.stop:
                self._grow_scratch()
                block.scratch = self._scratch

    def segment(
        self,
        block: ScannedBlock,
        start: int,
        stop: int,
        most: int,
        verdicts: Mapping[Place, Verdict] | None = None,
    ) -> Segment:
        """The segment of lines from ``start`` to ``stop``, or to where it has ``most`` slow lines (lines that
        no kernel has scored). `Scoring` scores the slow lines together, and their rows are put between those
        that are written from templates."""
        # a block has about a thousand lines, most often all scored: a search in bytes, no loop over lines
        is_slow = kinds_of(block.lines, start, stop).translate(_IS_SLOW)
        if 1 not in is_slow:
            tally = Tally()
            rows = self._rows(block, start, stop, tally)
            self._writer.count(tally)
            return Segment(stop, rows, tally, n_fast=stop - start)
        slow = [*compress(range(start, stop), is_slow)]
        if len(slow) > most:
            stop = slow[most]
        return self._mixed(block, start, stop, slow[:most], verdicts)

    def _mixed(
        self,
        block: ScannedBlock,
        start: int,
        stop: int,
        slow: Sequence[int],
        verdicts: Mapping[Place, Verdict] | None,
    ) -> Segment:
        """The segment of lines ``start`` to ``stop``, of which the lines ``slow`` are slow."""
        taken, scoring = self._known.take(block, slow), self._scoring
        left, first = scoring.n_left, block.first_index
        rows: list[bytes] = []
        tally = Tally()
        between = deque(runs(start, stop, slow))
        for piece in pieces(taken.entries):
            scores, at = [*scoring.entries(piece, verdicts)], 0
            while between and first + between[0][0] < scores[-1].index:
                run = between.popleft()
                end = bisect_left(scores, first + run[0], at, key=attrgetter("index"))
                rows.append(encoded(scores[at:end], tally))
                rows.append(self._rows(block, *run, tally))
                at = end
            rows.append(encoded(scores[at:], tally))
            tally.add(scores)
        for run in between:
            rows.append(self._rows(block, *run, tally))
        self._writer.count(tally)
        segment = Segment(stop, b"".join(rows), tally)
        segment.n_exact = taken.n_exact
        segment.n_fast = stop - start - taken.n_exact
        segment.n_left = min(taken.n_known, scoring.n_left - left)
        return segment

    def _rows(self, block: ScannedBlock, start: int, stop: int, tally: Tally) -> bytes:
        """Rows of lines that are not slow; see `RowWriter.rows`."""
        at, end = (block.lines[line * LINE_COLUMNS + LINE_RECORD] for line in (start, stop))
        return self._writer.rows(block, at, end, tally)
