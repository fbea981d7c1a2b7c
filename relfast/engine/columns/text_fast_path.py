"""The fast path for lines: it finds ids and responses, and makes the rows of the text tasks (REL-A, B1, C1),
from a block's bytes without decoding the JSON of each line.

The kernel `relfast_kernels.text` finds ids and responses in lines of all dialects (`projection`), and reads
gold where it stands in lines of a shape that Python has seen. Elsewhere a digest of all other fields stands
for the gold, which is prepared from the first line with that digest (`text_gold`). Responses are scored in
place, and their rows written from templates (`text_rows`), which are made with the code that makes all other
rows, so that the bytes are equal. All other lines are scored the ordinary way, and their rows put in order.
The fast path is used only if its machine code has been compiled."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from operator import attrgetter
from typing import Final

from relfast_kernels.compiled import native
from relfast_kernels.layouts import (
    BLANK,
    FAST,
    LINE_ASKED,
    LINE_COLUMNS,
    LINE_DIGEST,
    LINE_HELD,
    LINE_RECORD,
    LINE_REST,
    LINE_SHAPE,
    SET_DETAILS,
    SET_JOIN,
    SET_LEAST,
    SET_PROMPTS,
    SET_SEED,
    SET_STRICT,
    SET_STRIP,
)

from relfast.engine.columns.blocks import Segment, batched, encoded
from relfast.engine.columns.projection import Projection, SaidGold
from relfast.engine.columns.scoring import Scoring
from relfast.engine.columns.text_block import ScannedBlock, kinds_of, without_gold
from relfast.engine.columns.text_gold import NUMBERS, TASK_BY_NUMBER, Golds, KnownGold
from relfast.engine.columns.text_rows import RowWriter
from relfast.engine.columns.text_table import can_hold
from relfast.records import Place, Verdict
from relfast.stats.summary import Tally
from relfast.tasks.text_scorer import least_measure

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
_LEARNT: Final = (LINE_DIGEST, LINE_REST, LINE_HELD, LINE_SHAPE, LINE_ASKED)


class TextFastPath:
    """Scans blocks, learns golds and writes rows. Golds, templates and work space are kept between blocks."""

    def __init__(self, scoring: Scoring, functions: Mapping[str, Callable[..., int]]) -> None:
        self._scoring = scoring
        self._score = functions["score"]
        job = scoring.job
        self._projection, self._golds = Projection(job, functions, scoring.gold.held), Golds(job)
        self._refused: set[int] = set()
        """Digests of lines, or of shapes, whose gold cannot be shared with other lines."""
        for setting, value in (
            (SET_STRIP, job.options.strip_reasoning),
            (SET_DETAILS, job.details),
            (SET_JOIN, bool(job.data)),
            (SET_STRICT, job.options.strict),
            (SET_LEAST, least_measure(job.options, [kernel for _, kernel in TASK_BY_NUMBER.values()])),
            (SET_SEED, scoring.gold.seed),
            (SET_PROMPTS, job.repeats),
        ):
            self._projection.settings[setting] = value
        self._known = KnownGold(scoring, self._projection.has_large_integer)
        scoring.open_kernels(shows=job.details)
        self._writer = RowWriter(scoring, functions["write"], self._projection.context)

    @classmethod
    def open(cls, scoring: Scoring) -> TextFastPath | None:
        """The fast path; None if the job's ``--map`` is beyond the kernel, or no machine code is compiled."""
        if not can_hold(scoring.job.field_map):
            return None
        functions = native.find("text")
        return None if functions is None else cls(scoring, functions)

    def leave(self) -> None:
        """Keep what processes forked from this one need too; this object is not used any more."""
        self._projection.table.keep(self._scoring.job)

    def scan(self, data: bytes, n_lines: int, first_index: int, chosen: str | None) -> ScannedBlock:
        """Scan a block; see `Projection.scan`."""
        self._golds.make_room(len(data) >> 6)
        self._projection.context.golds = self._golds.view
        return self._projection.scan(data, n_lines, first_index, chosen)

    def learn(self, block: ScannedBlock, numbers: range) -> None:
        """Prepare the golds that this block's scan met for the first time, and score the lines with them."""
        while new := without_gold(block.lines, numbers):
            n_shapes, n_added = len(self._golds.shapes), self._prepare(block, new)
            if len(self._golds.shapes) > n_shapes:
                self._projection.scan_again(block)
                continue
            if n_added:
                self._score_known(block, numbers)
            return

    def _prepare(self, block: ScannedBlock, numbers: Sequence[int]) -> int:
        """Prepare the golds of these lines, which the kernel does not know; how many there were."""
        columns = memoryview(block.lines).cast("B").cast("q")
        known, before = self._golds.shapes, frozenset(self._golds.shapes)
        added: set[int] = set()
        for number in numbers:
            at = LINE_COLUMNS * number
            digest, rest, held, shape, asked = (columns[at + k] for k in _LEARNT)
            if digest in self._refused or digest in added or (asked and asked in added):
                continue
            if shape and shape not in before and shape not in self._refused:
                if shape in known or self._golds.add_shape(shape, self._gold_in(block, number, held)):
                    continue
                self._refuse(shape)
            known_by, record = self._known.gold_of(block, number, columns[at + LINE_RECORD])
            if record is not None and self._golds.add(known_by, record, rest):
                added.add(known_by)
            elif record is None or record.task in NUMBERS:  # gold of other tasks may be learnt again
                self._refuse(digest)
        return len(added)

    def _gold_in(self, block: ScannedBlock, number: int, held: int) -> SaidGold | None:
        """Task and answer of a line, or of the row of a gold file that it is joined with."""
        if held >= 0:
            return self._scoring.gold.gold_in(held)
        return self._projection.gold_in(block.data, *block.span(number))

    def _refuse(self, digest: int) -> None:
        if len(self._refused) < MOST_REFUSED:
            self._refused.add(digest)

    def _score_known(self, block: ScannedBlock, numbers: range) -> None:
        """Score those of the lines ``numbers`` whose gold is known by now."""
        context, at = self._projection.context, numbers.start
        context.stop = numbers.stop
        while at < numbers.stop:
            context.start = at
            at = self._score(context)
            if at < numbers.stop:
                self._projection.grow_scratch()
                block.scratch = self._projection.scratch

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
        for piece in batched(taken.entries):
            scores, at = [*scoring.scores(piece, verdicts)], 0
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
