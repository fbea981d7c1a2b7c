"""A block's lines to rows: what a worker does with its task, and what in-process scoring does too."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from relfast.engine.decode import encode_row
from relfast.engine.reader import Block
from relfast.engine.scoring import Place, Scoring, Verdict
from relfast.records import Score, unscored
from relfast.stats import Tally

if TYPE_CHECKING:
    from relfast.engine.text_lane import ScannedBlock, TextLane

SEGMENT_LINES: Final = 64
"""Lines reported at a time where records can hang or crash: the most that is done again after a fault."""


LANE_FROM_BYTES: Final = 4 * 2**20
"""Bytes a process reads before it loads the fast lane, which takes as long as scoring 2 MB without it."""


@dataclass(slots=True)
class Segment:
    """Rows of consecutive lines: all up to line ``stop`` (exclusive, within the block)."""

    stop: int
    rows: bytes
    n_rows: int
    tally: Tally


def load_data(block: Block) -> bytes:
    """The bytes of a block of lines."""
    if block.data is not None:
        return block.data
    assert block.path is not None
    descriptor = os.open(block.path, os.O_RDONLY)
    try:
        return _read(descriptor, block.start, block.end - block.start)
    finally:
        os.close(descriptor)


def _read(descriptor: int, start: int, length: int) -> bytes:
    parts = []
    while length > 0:
        part = os.pread(descriptor, length, start)
        if not part:
            break
        parts.append(part)
        start += len(part)
        length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def split_lines(data: bytes) -> list[bytes]:
    """Lines without their ends; a vertical tab, U+2028 and the like are data."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


class BlockScoring:
    """Scores blocks: the fast lane for the lines it reads, the ordinary way for all others."""

    def __init__(self, scoring: Scoring, *, large: bool = False) -> None:
        self._scoring = scoring
        self._lane: TextLane | None = None
        self._bytes_without_lane = LANE_FROM_BYTES if large else 0

    def segments(
        self,
        block: Block,
        start: int = 0,
        stop: int | None = None,
        verdicts: Mapping[Place, Verdict] | None = None,
        *,
        one_by_one: bool = False,
        segment_lines: int | None = None,
    ) -> Iterator[Segment]:
        """The segments of lines ``start`` to ``stop`` of a block, in order.

        ``one_by_one`` scores every record under the guard, to find the one that broke a batch.
        ``segment_lines`` None reports everything at once.
        """
        stop = block.n_lines if stop is None else min(stop, block.n_lines)
        if block.faults:
            faults = [
                unscored(index, None, None, 0, "invalid_record", *fault)
                for index, fault in block.faults.items()
            ]
            yield _segment(stop, faults)
        elif block.parquet:
            from relfast.engine.parquet import read_group

            assert block.path is not None
            lines = read_group(block.path, block.start)
            yield from self._plain(block, lines, start, stop, verdicts, one_by_one, segment_lines)
        else:
            data = load_data(block)
            lane = None if one_by_one else self._open_lane(len(data))
            if lane is not None:
                yield from self._mixed(block, lane.scan(data, stop), start, stop, verdicts, segment_lines)
            else:
                lines = split_lines(data)
                yield from self._plain(block, lines, start, stop, verdicts, one_by_one, segment_lines)

    def _open_lane(self, size: int) -> TextLane | None:
        """The lane, once enough has been read for its 50 ms to pay."""
        if self._lane is None:
            self._bytes_without_lane += size
            if self._bytes_without_lane >= LANE_FROM_BYTES:
                from relfast.engine.text_lane import TextLane

                self._lane = TextLane.open(self._scoring)
                # machine code that is being compiled may be there for a later block
                self._bytes_without_lane = 0
        return self._lane

    def _plain(
        self,
        block: Block,
        lines: Sequence[bytes],
        start: int,
        stop: int,
        verdicts: Mapping[Place, Verdict] | None,
        one_by_one: bool,
        segment_lines: int | None,
    ) -> Iterator[Segment]:
        step = segment_lines or max(1, stop - start)
        for at in range(start, stop, step):
            end = min(at + step, stop)
            scores = self._scoring.lines(
                lines[at:end], block.first_index + at, verdicts, one_by_one=one_by_one
            )
            yield _segment(end, list(scores))

    def _mixed(
        self,
        block: Block,
        scanned: ScannedBlock,
        start: int,
        stop: int,
        verdicts: Mapping[Place, Verdict] | None,
        segment_lines: int | None,
    ) -> Iterator[Segment]:
        """Runs of fast lines by template, the slow ones between them the ordinary way."""
        stop = min(stop, scanned.n_lines)
        slow_since_report = 0
        parts = Segment(start, b"", 0, Tally())
        rows: list[bytes] = []
        for first, end, slow in scanned.runs(start, stop):
            if not slow:
                text, tally = scanned.rows(first, end, block.first_index)
                rows.append(text)
                parts.n_rows += tally.rows
                parts.tally.merge(tally)
                parts.stop = end
                continue
            step = segment_lines or end - first
            for at in range(first, end, step):
                last = min(at + step, end)
                lines = [scanned.line(number) for number in range(at, last)]
                segment = _segment(last, list(self._scoring.lines(lines, block.first_index + at, verdicts)))
                rows.append(segment.rows)
                parts.n_rows += segment.n_rows
                parts.tally.merge(segment.tally)
                parts.stop = last
                slow_since_report += last - at
                if segment_lines and slow_since_report >= segment_lines:
                    parts.rows = b"".join(rows)
                    yield parts
                    parts, rows, slow_since_report = Segment(last, b"", 0, Tally()), [], 0
        if parts.n_rows or parts.stop < stop or not rows:
            parts.rows = b"".join(rows)
            parts.stop = max(parts.stop, stop)
            yield parts


def _segment(stop: int, scores: Sequence[Score]) -> Segment:
    rows = b"".join([encode_row(score.to_row()) for score in scores])
    return Segment(stop, rows, len(scores), Tally.of(scores))
