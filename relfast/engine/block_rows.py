"""Rows of lines whose responses their tasks' kernels judge by the block (`relfast.tasks.block_rows`).

The text kernel has found the fields of such lines. Gold is decoded once, as for all of them (`text_fields`);
responses stay where they are. A line of which a response is left takes the ordinary way. Rows and samples of
both stand in the order of the lines, and are counted as if all had gone the same way.
"""

from __future__ import annotations

import ctypes
import itertools
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from relfast_kernels.layouts import (
    FIELDS,
    GOLD_UNKNOWN,
    ID_OF_GOLD,
    LINE_COLUMNS,
    LINE_DIGEST,
    LINE_GOLD,
    LINE_KIND,
    LINE_RECORD,
    LINE_REST,
)

from relfast.engine.outcome_rows import OutcomeRows
from relfast.engine.pool.failures import Verdict
from relfast.engine.scoring import LOAD_SECONDS, Scoring
from relfast.engine.segments import Segment, rows_of
from relfast.engine.text_work import kinds_of
from relfast.json_text import encode_row
from relfast.records import Outcome, Place, Record, Score
from relfast.stats.samples import SAMPLE, TASK_NUMBERS, group_of
from relfast.stats.tally import Tally, sample_of
from relfast.tasks import TASKS
from relfast.tasks.base import Task, resolve
from relfast.tasks.block_rows import MAX_AT_ONCE, Block, BlockRows, OutcomeJudge, Setting, Written

if TYPE_CHECKING:
    from relfast.engine.scanned_block import ScannedBlock
    from relfast.engine.text_fields import CountingReader, KnownGold

JUDGED: Final = 4
"""A line's kind once its responses are judged, beside those that the kernel knows."""

MAX_GOLDS: Final = 1 << 16
"""Golds whose numbers are remembered."""


class _Judging:
    """Records of one task while they are judged, with their golds."""

    def __init__(self, writer: BlockRows) -> None:
        self.writer = writer
        self.lines: list[tuple[int, int]] = []
        """Lines, and how many records each has."""
        self.records: list[int] = []
        self.golds: list[int] = []
        self.found: list[Any] = []
        self.n_judged = 0


class Between(NamedTuple):
    """Rows of consecutive lines of a block that stand between judged ones, from a line on."""

    line: int
    rows: bytes
    tally: Tally


class _Part(NamedTuple):
    """Rows of some lines of one task, and how many records each line has."""

    task: str
    lines: Sequence[int]
    sizes: Sequence[int]
    written: Written


class _Judged:
    """Records of one task that were judged, all of them certain, in order."""

    def __init__(self, task: str, judging: _Judging, certain: Sequence[int]) -> None:
        self.task, self._writer = task, judging.writer
        self.lines: list[int] = []
        self._ends: list[int] = []
        kept: list[int] = []
        at = 0
        for line, size in judging.lines:
            if all(certain[at : at + size]):
                kept += range(at, at + size)
                self.lines.append(line)
                self._ends.append(len(kept))
            at += size
        self._found = self._writer.joined(judging.found)
        self._records, self._golds = judging.records, judging.golds
        if len(kept) < at:
            self._found = self._writer.some(self._found, kept)
            self._records, self._golds = (
                [column[k] for k in kept] for column in (self._records, self._golds)
            )

    def write(self, block: Block, start: int, stop: int, first_index: int) -> _Part | None:
        """The rows of those that are on some of the lines."""
        first, last = bisect_left(self.lines, start), bisect_left(self.lines, stop)
        if first == last:
            return None
        ends = [self._ends[first - 1] if first else 0, *self._ends[first:last]]
        found = self._found
        if ends[0] or last < len(self.lines):
            found = self._writer.some(found, range(ends[0], ends[-1]))
        some = slice(ends[0], ends[-1])
        written = self._writer.write(block, self._records[some], self._golds[some], found, first_index)
        sizes = [end - before for before, end in itertools.pairwise(ends)]
        return _Part(self.task, self.lines[first:last], sizes, written)


class JudgedBlock:
    """A block's lines that were judged."""

    def __init__(self, block: Block, by_task: Sequence[_Judged], first_index: int) -> None:
        self._block, self._by_task, self._first_index = block, by_task, first_index

    def parts(self, start: int, stop: int) -> list[_Part]:
        """What is written of those of some lines that were judged."""
        found = (mine.write(self._block, start, stop, self._first_index) for mine in self._by_task)
        return [part for part in found if part is not None]

    def rows(self, start: int, stop: int, between: Sequence[Between] = ()) -> tuple[bytes, Tally]:
        """Rows and tally of those of some lines that were judged, and of others between them."""
        return _joined(self.parts(start, stop), [], self._first_index, between)


class SlowLines(NamedTuple):
    """Lines ``start`` to ``stop`` of a block, ``numbers`` of which are slow; all others were judged, or have
    their rows already (``between``)."""

    start: int
    stop: int
    numbers: Sequence[int]
    judged: JudgedBlock | None
    between: Sequence[Between] = ()


class LineJudge:
    """Who judges and writes, for each task that has somebody, and the golds that they know; keeps both
    between blocks."""

    def __init__(self, scoring: Scoring, gold: KnownGold, reader: CountingReader) -> None:
        self._scoring, self._gold, self._reader = scoring, gold, reader
        self._writers: dict[str, BlockRows | None] = {}
        self._known: dict[int, tuple[str, int]] = {}

    def judge(
        self,
        block: ScannedBlock,
        records: ctypes.Array[ctypes.c_int64],
        scratch: ctypes.Array[ctypes.c_char],
        numbers: range,
        first_index: int,
        chosen: str | None,
    ) -> JudgedBlock | None:
        """Judge the lines of a block whose fields were found; None where there is none that can be.

        The kinds of lines that were judged become `JUDGED`. ``first_index`` is the index of the block's first
        line, ``numbers`` says which of its lines are meant. ``chosen`` is the filter of lm-evaluation-harness
        that is scored.
        """
        if FIELDS not in kinds_of(block.lines, numbers.start, numbers.stop):
            return None
        # there may be room for more lines than were found
        lines = memoryview(block.lines).cast("B").cast("q")[: (block.n_lines + 1) * LINE_COLUMNS]
        kinds = lines[LINE_KIND::LINE_COLUMNS].tolist()
        mine = [number for number in numbers if kinds[number] == FIELDS]
        first_of = lines[LINE_RECORD::LINE_COLUMNS].tolist()
        where = Block.of(block.data, scratch, records)
        self._make_room(len(mine))
        judging: dict[str, _Judging] = {}
        for number in mine:
            at, end = first_of[number], first_of[number + 1]
            place = number * LINE_COLUMNS
            if lines[place + LINE_REST] == ID_OF_GOLD and lines[place + LINE_GOLD] == GOLD_UNKNOWN:
                continue
            digest = lines[place + LINE_DIGEST]
            known = self._known.get(digest)
            if known is None:
                record = self._gold.gold_of(
                    block, records, scratch, number, range(at, end), first_index, chosen
                )
                known = self._known[digest] = ("", -1) if record is None else self._number(record)
            task, gold = known
            if gold < 0 or at == end:
                continue
            some = judging.get(task)
            if some is None:
                writer = self._writers[task]
                assert writer is not None, "who has given its gold a number"
                some = judging[task] = _Judging(writer)
            some.lines.append((number, end - at))
            some.records += range(at, end)
            some.golds += [gold] * (end - at)
        found = [self._judged(where, name, some) for name, some in judging.items()]
        by_task = [judged for judged in found if judged is not None and judged.lines]
        for judged in by_task:
            for number in judged.lines:
                block.lines[number * LINE_COLUMNS + LINE_KIND] = JUDGED
        return JudgedBlock(where, by_task, first_index) if by_task else None

    def segment(
        self,
        block: ScannedBlock,
        records: ctypes.Array[ctypes.c_int64],
        scratch: ctypes.Array[ctypes.c_char],
        lines: SlowLines,
        first_index: int,
        chosen: str | None,
        verdicts: Mapping[Place, Verdict] | None,
    ) -> Segment:
        """The segment of lines some of which are slow, which are scored together, the ordinary way; see
        `judge`."""
        numbers = lines.numbers
        taken = self._gold.take(block, records, scratch, numbers, first_index, chosen)
        left = self._reader.n_left
        scores = self._scoring.read_by(self._reader, taken.entries, verdicts)
        if lines.judged is not None:
            parts: list[_Part] = []
            if len(numbers) < lines.stop - lines.start:
                parts = lines.judged.parts(lines.start, lines.stop)
            rows, tally = _joined(parts, list(scores), first_index, lines.between)
        else:
            rows, tally = rows_of(scores)
        segment = Segment(lines.stop, rows, tally.rows, tally)
        segment.n_exact = taken.n_exact
        segment.n_fast = lines.stop - lines.start - taken.n_exact
        segment.n_left = min(taken.n_text, self._reader.n_left - left) + taken.n_judged
        return segment

    def _make_room(self, n: int) -> None:
        if len(self._known) > MAX_GOLDS:
            self._known.clear()
        forgetful = {name for name, writer in self._writers.items() if writer and writer.make_room(n)}
        if forgetful:
            self._known = {key: known for key, known in self._known.items() if known[0] not in forgetful}

    def _number(self, record: Record) -> tuple[str, int]:
        """The task of a record and the number of its gold, -1 where nobody can judge it."""
        writer = self._writer(record.task)
        if writer is None:
            return "", -1
        self._scoring.guard.enter(None, self._scoring.job.timeout)
        try:
            return record.task, writer.gold(record)
        except Exception as error:
            # the ordinary way says what is wrong with it, if anything is
            self._scoring.detours.add(f"gold of {record.task}", error)
            return "", -1
        finally:
            self._scoring.guard.leave()

    def _judged(self, where: Block, name: str, judging: _Judging) -> _Judged | None:
        """What is certain of some records; None where nothing is."""
        writer, guard = judging.writer, self._scoring.guard
        certain: list[int] = []
        for at in range(0, len(judging.records), MAX_AT_ONCE):
            some = slice(at, at + MAX_AT_ONCE)
            # they take a fraction of the time of one; where they do not, each is given its own, one by one,
            # by whoever comes after the worker that this has ended
            guard.enter(None, self._scoring.job.timeout)
            try:
                found = writer.judge(where, judging.records[some], judging.golds[some])
            except Exception as error:
                # the ordinary way finds the record that it is, if it is one
                self._scoring.detours.add(f"a batch before the judge of {name}", error)
                return None
            finally:
                guard.leave()
            judging.found.append(found)
            certain += writer.certain(found)
        return _Judged(name, judging, certain)

    def _writer(self, name: str) -> BlockRows | None:
        if name not in self._writers:
            task = TASKS[name]
            self._writers[name] = None if task.in_blocks is None else self._open(task, task.in_blocks)
        return self._writers[name]

    def _open(self, task: Task, opener: str) -> BlockRows | None:
        scoring = self._scoring

        def row_of(outcome: Outcome) -> dict[str, object]:
            return scoring.score_of(task, Record(0, None, task.name, None, None), outcome).to_row()

        setting = Setting(
            scoring.options, scoring.job.details, scoring.reward_metric(task), TASK_NUMBERS[task.name], row_of
        )
        scoring.guard.enter(None, scoring.job.timeout and LOAD_SECONDS, limited=False)
        try:
            opened = resolve(opener)(setting)
        finally:
            scoring.guard.leave()
        if isinstance(opened, OutcomeJudge):
            return OutcomeRows(opened, task, scoring)
        return cast("BlockRows | None", opened)


def _joined(
    parts: Sequence[_Part], scores: Sequence[Score], first_index: int, between: Sequence[Between] = ()
) -> tuple[bytes, Tally]:
    """Rows and tally of lines that were judged and of such as were not."""
    if not parts and not between:
        return rows_of(scores)
    tally = Tally.of(scores)
    for part in parts:
        of_task = [score for score in scores if score.task == part.task]
        line_of = [line for line, size in zip(part.lines, part.sizes, strict=True) for _ in range(size)]
        tally.count_written(part.task, part.written.counted, line_of, of_task, first_index)
    others = [(each.line, each.rows, each.tally.take_samples()) for each in between]
    for each in between:
        tally.merge(each.tally)
    if len(tally.tasks) > 1:
        first_of = {part.task: part.lines[0] for part in parts}
        for each in between:
            for name in each.tally.tasks:
                first_of[name] = min(first_of.get(name, each.line), each.line)
        for score in reversed(scores):
            name, line = group_of(score.task), score.index - first_index
            first_of[name] = min(first_of.get(name, line), line)
        # in the order in which they come
        tally.tasks = {name: tally.tasks[name] for name in sorted(tally.tasks, key=first_of.__getitem__)}
    if len(parts) == 1 and not scores and not between:
        tally.samples += parts[0].written.samples
        return parts[0].written.rows, tally
    # of one task all lines that nothing stands between go together
    breaks = [line for line, _, _ in others] if len(parts) == 1 and not scores else None
    pieces: list[tuple[int, bytes, bytes | bytearray]] = [*others]
    for part in parts:
        pieces += _pieces(part, breaks)
    pieces += [(score.index - first_index, encode_row(score.to_row()), sample_of(score)) for score in scores]
    pieces.sort(key=_line)
    tally.samples = bytearray(b"".join([piece[2] for piece in pieces]))
    return b"".join([piece[1] for piece in pieces]), tally


def _pieces(part: _Part, breaks: Sequence[int] | None) -> Iterator[tuple[int, bytes, bytes]]:
    """A part's rows and samples, and on which line they begin: line by line, or broken before some lines."""
    written, n = part.written, len(part.lines)
    bounds: Sequence[int] = range(n + 1)
    if breaks is not None:
        bounds = sorted({0, n, *(bisect_left(part.lines, line) for line in breaks)})
    before = [0, *itertools.accumulate(part.sizes)]
    for first, last in itertools.pairwise(bounds):
        at, end = before[first], before[last]
        rows = written.rows[written.ends[at - 1] if at else 0 : written.ends[end - 1]]
        yield part.lines[first], rows, written.samples[SAMPLE.size * at : SAMPLE.size * end]


def _line(piece: tuple[int, bytes, bytes | bytearray]) -> int:
    return piece[0]
