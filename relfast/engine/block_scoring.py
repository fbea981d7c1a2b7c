"""A block's lines to rows: what a worker does with its task, and what in-process scoring does too."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from relfast.engine.codecs import Damaged
from relfast.engine.decode import encode_row
from relfast.engine.parquet import damaged_rows
from relfast.engine.reader import Block
from relfast.engine.scoring import Place, Scoring, Verdict
from relfast.errors import ReadError
from relfast.records import Score, unscored
from relfast.stats import Tally

SEGMENT_LINES: Final = 64
"""Lines reported at a time where records can hang or crash: the most that is done again after a fault."""


FIRST_LINES: Final = 8
SEGMENT_SECONDS: Final = 0.1
"""A worker begins with a few lines and reports more at a time, unless they take longer than this."""


@dataclass(slots=True)
class Segment:
    """Rows of consecutive lines: all up to line ``stop`` (exclusive, within the block)."""

    stop: int
    rows: bytes
    n_rows: int
    tally: Tally


def load_lines(block: Block) -> Sequence[bytes]:
    """The block's lines without their ends.

    Raises
    ------
    ReadError
        The file cannot be read, or is no longer what it was when it was cut into blocks.
    Damaged
        The Parquet row group cannot be read.
    """
    if block.parquet:
        from relfast.engine.parquet import read_group

        assert block.path is not None
        lines = read_group(block.path, block.group)
    else:
        data = _bytes_of(block) if block.data is None else block.data
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
    if len(lines) < block.n_lines:
        raise ReadError("it changed while it was read", file=block.path)
    return lines


def _bytes_of(block: Block) -> bytes:
    assert block.path is not None
    try:
        descriptor = os.open(block.path, os.O_RDONLY)
        try:
            return _read(descriptor, block.start, block.end - block.start)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ReadError(error.strerror or str(error), file=block.path) from error


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
    faults = block.faults
    try:
        lines = () if faults else load_lines(block)
    except Damaged as error:
        faults = damaged_rows(range(block.first_index + start, block.first_index + stop), error)
    if faults:
        rows = [unscored(index, None, None, 0, "invalid_record", *fault) for index, fault in faults.items()]
        yield segment_of(stop, rows)
        return
    at, step = start, min(segment_lines, FIRST_LINES) if segment_lines else max(1, stop - start)
    while at < stop:
        end = min(at + step, stop)
        began = time.monotonic()
        scores = list(scoring.lines(lines[at:end], block.first_index + at, verdicts, one_by_one=one_by_one))
        yield segment_of(end, scores)
        at = end
        if segment_lines is not None:
            slow = time.monotonic() - began > SEGMENT_SECONDS
            step = max(1, step // 4) if slow else min(2 * step, segment_lines)


def segment_of(stop: int, scores: Sequence[Score]) -> Segment:
    """The segment of some rows."""
    rows = b"".join([encode_row(score.to_row()) for score in scores])
    return Segment(stop, rows, len(scores), Tally.of(scores))
