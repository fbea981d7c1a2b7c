"""A block's lines to rows: what a worker does with its task, and what in-process scoring does too."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from relfast.engine.decode import encode_row
from relfast.engine.reader import Block
from relfast.engine.scoring import Place, Scoring, Verdict
from relfast.records import Score, unscored
from relfast.stats import Tally

SEGMENT_LINES: Final = 64
"""Lines reported at a time where records can hang or crash: the most that is done again after a fault."""


@dataclass(slots=True)
class Segment:
    """Rows of consecutive lines: all up to line ``stop`` (exclusive, within the block)."""

    stop: int
    rows: bytes
    n_rows: int
    tally: Tally


def load_lines(block: Block) -> Sequence[bytes]:
    """The block's lines without their ends; shorter than ``n_lines`` where the file shrank."""
    if block.parquet:
        from relfast.engine.parquet import read_group

        assert block.path is not None
        return read_group(block.path, block.start)
    data = block.data
    if data is None:
        assert block.path is not None
        descriptor = os.open(block.path, os.O_RDONLY)
        try:
            data = _read(descriptor, block.start, block.end - block.start)
        finally:
            os.close(descriptor)
    lines = data.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


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


def score_block(
    block: Block,
    scoring: Scoring,
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
        yield _segment(
            stop,
            [
                unscored(index, None, None, 0, "invalid_record", *fault)
                for index, fault in block.faults.items()
            ],
        )
        return
    lines = load_lines(block)
    step = segment_lines or max(1, stop - start)
    for at in range(start, stop, step):
        end = min(at + step, stop)
        scores = list(scoring.lines(lines[at:end], block.first_index + at, verdicts, one_by_one=one_by_one))
        yield _segment(end, scores)


def _segment(stop: int, scores: Sequence[Score]) -> Segment:
    rows = b"".join([encode_row(score.to_row()) for score in scores])
    return Segment(stop, rows, len(scores), Tally.of(scores))
