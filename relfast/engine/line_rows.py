"""Rows of lines whose gold is known already, by the kernels of their tasks; of all others, the ordinary way.

Both make one segment: rows and samples in the order of the lines, and counts as if all had gone the same way.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from relfast_kernels.layouts import FIELDS, LINE_COLUMNS, LINE_KIND, LINE_RECORD, RECORD_COLUMNS, RECORD_GOLD

from relfast.engine.judged_lines import JudgedBlock
from relfast.engine.pool.failures import Verdict
from relfast.engine.scoring import LOAD_SECONDS, Scoring
from relfast.engine.segments import Segment
from relfast.json_text import encode_row
from relfast.records import Outcome, Place, Record, Score
from relfast.stats.samples import SAMPLE, TASK_NUMBERS
from relfast.stats.tally import Tally, sample_of
from relfast.tasks import TASKS
from relfast.tasks.base import Task, resolve
from relfast.tasks.line_rows import Block, LineRows, Written

if TYPE_CHECKING:
    from relfast.engine.scanned_block import ScannedBlock
    from relfast.engine.text_fields import CountingReader, KnownGold


class SlowLines(NamedTuple):
    """Lines ``start`` to ``stop`` of a block, ``numbers`` of which are slow; all others were judged."""

    start: int
    stop: int
    numbers: Sequence[int]
    judged: JudgedBlock | None


class _Part(NamedTuple):
    """Rows of some lines that one task's kernels have written, and how many records each line has."""

    task: str
    lines: Sequence[int]
    sizes: Sequence[int]
    written: Written


class KernelRows:
    """Writes the rows of slow lines; keeps the writers of tasks between blocks."""

    def __init__(self, scoring: Scoring, known: KnownGold, reader: CountingReader) -> None:
        self._scoring, self._known, self._reader = scoring, known, reader
        self._writers: dict[str, LineRows | None] = {}

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
        """The segment of lines that no kernel of text tasks has scored; their indices count from the block's
        ``first_index``. ``chosen`` is the filter of lm-evaluation-harness that is scored."""
        numbers = lines.numbers
        parts = [] if verdicts else self._parts(block, records, scratch, numbers, first_index)
        done = {line for part in parts for line in part.lines}
        rest = [number for number in numbers if number not in done] if done else numbers
        taken = self._known.take(block, records, scratch, rest, first_index, chosen)
        left = self._reader.n_left
        scores = self._scoring.read_by(self._reader, taken.entries, verdicts) if rest else []
        segment = _joined(parts, scores, first_index, lines)
        segment.n_exact = taken.n_exact
        segment.n_fast = lines.stop - lines.start - taken.n_exact
        segment.n_left = min(taken.n_text, self._reader.n_left - left) + taken.n_judged
        return segment

    def _parts(
        self,
        block: ScannedBlock,
        records: ctypes.Array[ctypes.c_int64],
        scratch: ctypes.Array[ctypes.c_char],
        numbers: Sequence[int],
        first_index: int,
    ) -> list[_Part]:
        """What kernels know for certain of some lines."""
        lines, golds = block.lines, self._known.golds
        fields: dict[str, list[tuple[int, int, int, int]]] = {}
        for number in numbers:
            at = number * LINE_COLUMNS
            if lines[at + LINE_KIND] != FIELDS:
                continue
            first, end = lines[at + LINE_RECORD], lines[at + LINE_COLUMNS + LINE_RECORD]
            digest = records[first * RECORD_COLUMNS + RECORD_GOLD]
            known = golds.get(digest)
            if known is not None and self._writer(known.task) is not None:
                fields.setdefault(known.task, []).append((number, first, end, digest))
        if not fields:
            return []
        where = Block(
            _address(block.address),
            len(block.data),
            ctypes.addressof(scratch),
            len(scratch),
            ctypes.addressof(records),
            len(records) // RECORD_COLUMNS,
            records,
        )
        parts = []
        for name, found in fields.items():
            part = self._part(name, where, found, first_index)
            if part is not None:
                parts.append(part)
        return parts

    def _part(
        self, name: str, where: Block, found: Sequence[tuple[int, int, int, int]], first_index: int
    ) -> _Part | None:
        writer = self._writers[name]
        assert writer is not None
        writer.make_room(len(found))
        golds = self._known.golds
        chosen: list[int] = []
        places: list[int] = []
        lines: list[tuple[int, int]] = []
        self._scoring.guard.enter(None, self._scoring.job.timeout)
        try:
            for number, first, end, digest in found:
                place = writer.place_of(digest, golds[digest])
                if place >= 0:
                    lines.append((number, end - first))
                    chosen += range(first, end)
                    places += [place] * (end - first)
            judged = writer.judge(where, chosen, places)
            certain = writer.certain(judged)
            if not all(certain):
                kept: list[int] = []
                at = 0
                sure = []
                for line in lines:
                    if all(certain[at : at + line[1]]):
                        kept += range(at, at + line[1])
                        sure.append(line)
                    at += line[1]
                lines, judged = sure, judged.of(kept)
                chosen, places = [chosen[k] for k in kept], [places[k] for k in kept]
            if not lines:
                return None
            written = writer.write(where, chosen, places, judged, first_index)
        except Exception:
            return None  # the ordinary way finds the record that it is
        finally:
            self._scoring.guard.leave()
        return _Part(name, [number for number, _ in lines], [n for _, n in lines], written)

    def _writer(self, name: str) -> LineRows | None:
        if name not in self._writers:
            task = TASKS[name]
            self._writers[name] = None if task.line_rows is None else self._open(task, task.line_rows)
        return self._writers[name]

    def _open(self, task: Task, line_rows: str) -> LineRows | None:
        scoring = self._scoring

        def row_of(outcome: Outcome) -> dict[str, object]:
            return scoring.score_of(task, Record(0, None, task.name, None, None), outcome).to_row()

        scoring.guard.enter(None, scoring.job.timeout and LOAD_SECONDS)
        try:
            found = resolve(line_rows).open(  # type: ignore[attr-defined]
                scoring.options,
                scoring.job.details,
                scoring.reward_metric(task),
                TASK_NUMBERS[task.name],
                row_of,
            )
        finally:
            scoring.guard.leave()
        return cast("LineRows | None", found)


def _address(data: bytes | ctypes.Array[ctypes.c_char]) -> int:
    if isinstance(data, bytes):
        return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
    return ctypes.addressof(data)


def _joined(parts: Sequence[_Part], scores: Sequence[Score], first_index: int, lines: SlowLines) -> Segment:
    judged = lines.judged if len(lines.numbers) < lines.stop - lines.start else None
    if judged is None and not parts:
        rows = b"".join([encode_row(score.to_row()) for score in scores])
        return Segment(lines.stop, rows, len(scores), Tally.of(scores))
    tally = Tally() if judged is None else judged.tally_of(lines.start, lines.stop)
    if scores:
        tally.merge(Tally.of(scores))
    for part in parts:
        counted = part.written.counted
        if scores:
            line_of = [line for line, size in zip(part.lines, part.sizes, strict=True) for _ in range(size)]
            of_task = [score for score in scores if score.task == part.task]
            tally.count_written(part.task, counted, line_of, of_task, first_index)
        else:
            tally.count_written(part.task, counted)
    if judged is None and len(parts) == 1 and not scores:
        tally.samples += parts[0].written.samples
        return Segment(lines.stop, parts[0].written.rows, tally.rows, tally)
    pieces: list[tuple[int, bytes, bytes]] = []
    if judged is not None:
        pieces += judged.pieces(lines.start, lines.stop)
    for part in parts:
        written = part.written
        at = record = 0
        for line, size in zip(part.lines, part.sizes, strict=True):
            end = written.ends[record + size - 1]
            samples = written.samples[SAMPLE.size * record : SAMPLE.size * (record + size)]
            pieces.append((line, written.rows[at:end], samples))
            at, record = end, record + size
    pieces += [(score.index - first_index, encode_row(score.to_row()), sample_of(score)) for score in scores]
    pieces.sort(key=_line)
    tally.samples = bytearray(b"".join([piece[2] for piece in pieces]))
    return Segment(lines.stop, b"".join([piece[1] for piece in pieces]), tally.rows, tally)


def _line(piece: tuple[int, bytes, bytes]) -> int:
    return piece[0]
