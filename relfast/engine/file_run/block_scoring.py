"""A block's lines to rows: what a worker does with its task, and what in-process scoring does too."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from relfast.engine.io.blocks import Block, Fault
from relfast.engine.io.codecs import Damaged
from relfast.engine.job import Job
from relfast.engine.pool.failures import Verdict
from relfast.engine.scoring import EMBEDDED, Scoring
from relfast.engine.segments import Segment, rows_of
from relfast.errors import ReadError, told_of
from relfast.records import Place, Score, unscored
from relfast.stats.summary import Tally

if TYPE_CHECKING:
    from relfast.engine.text_fast_path import TextFastPath

SEGMENT_LINES: Final = 512
"""Lines reported at a time where records can hang or crash: the most that is done again after a fault."""

FIRST_LINES: Final = 8
SEGMENT_SECONDS: Final = 0.1
"""A worker begins with few lines, and reports more at a time unless they take longer than this."""

EMBED_LINES: Final = 1_024
FEWEST_EMBED_LINES: Final = 64
EMBED_SECONDS: Final = 20.0
"""The same where texts are embedded: a model is fast on many texts of one length, and nothing hangs."""


def load(block: Block) -> bytes:
    """The bytes of a block's lines; a row of Parquet is a line of JSON. Raises `ReadError`, `Damaged`."""
    if block.data is not None:
        return block.data
    assert block.path is not None
    if block.parquet:
        from relfast.engine.io.parquet import read_group

        return b"\n".join([*read_group(block.path, block.group), b""])
    with told_of(block.path, ReadError), open(block.path, "rb") as file:
        file.seek(block.start)
        data = file.read(block.size)
    if len(data) < block.size:
        raise _changed(block)
    return data


def _changed(block: Block) -> ReadError:
    return ReadError("it changed while it was read", file=block.path)


def split_lines(data: bytes) -> list[bytes]:
    """Lines without their ends; a vertical tab, U+2028 and the like are data."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def load_fast_path() -> None:
    """Load what lines of the text tasks need, for workers that are forked from this process."""
    from relfast.engine.text_fast_path import TextFastPath
    from relfast.engine.text_gold import TASK_BY_NUMBER

    TextFastPath.open(Scoring(Job()))
    for task, _ in TASK_BY_NUMBER.values():
        task.import_modules()


class BlockScoring:
    """Scores blocks: the fast path for the lines it reads, the ordinary way for all others.

    ``most`` is how many lines are reported at a time.
    """

    def __init__(self, scoring: Scoring, most: int = sys.maxsize) -> None:
        self._scoring = scoring
        self._fast_path: TextFastPath | None = None
        self._pace = _Pace(most)

    def segments(
        self,
        block: Block,
        start: int = 0,
        stop: int | None = None,
        verdicts: Mapping[Place, Verdict] | None = None,
        one_by_one: bool = False,
    ) -> Iterator[Segment]:
        """The segments of lines ``start`` to ``stop`` of a block, in order.

        ``one_by_one`` scores every record under the guard, to find the one that broke a batch, and reports
        every line.

        Raises
        ------
        ReadError
            The file cannot be read, or is not what it was when it was cut into blocks.
        """
        stop = block.n_lines if stop is None else min(stop, block.n_lines)
        if block.faults:
            yield _faulty(stop, block.faults)
            return
        try:
            data = load(block)
        except Damaged as error:
            from relfast.engine.io.parquet import damaged_rows

            indices = range(block.first_index + start, block.first_index + stop)
            yield _faulty(stop, damaged_rows(indices, error))
            return
        score: Callable[[int, int, int], Segment]
        fast_path = None if one_by_one else self._open_fast_path()
        if fast_path is not None:
            chosen = block.filter or self._scoring.job.filter
            scanned = fast_path.scan(data, stop, block.first_index, chosen)
            n_lines = scanned.n_lines
            score = partial(fast_path.segment, scanned, verdicts=verdicts)
            if n_lines >= stop and not verdicts:
                fast_path.learn(scanned, range(start, stop))
        else:
            lines = split_lines(data)
            n_lines = len(lines)

            def score(start: int, stop: int, most: int) -> Segment:
                stop = min(start + most, stop)
                scores = self._scoring.lines(
                    lines[start:stop],
                    block.first_index + start,
                    verdicts,
                    one_by_one=one_by_one,
                    chosen=block.filter,
                )
                return segment_of(stop, scores)

        if n_lines < stop:
            raise _changed(block)
        pace, at = self._pace, start
        pace.begin()
        while at < stop:
            segment = score(at, stop, 1 if one_by_one else pace.step)
            segment.detours = self._scoring.detours.take()
            yield segment
            if not one_by_one:
                pace.next(segment.tally)
            at = segment.stop

    def _open_fast_path(self) -> TextFastPath | None:
        """The fast path; machine code that is being compiled may be there for a later block."""
        if self._fast_path is None:
            from relfast.engine.text_fast_path import TextFastPath

            self._fast_path = TextFastPath.open(self._scoring)
        return self._fast_path


class _Pace:
    """How many lines to report at a time: up to ``most``, fewer where they take long."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.step = min(most, FIRST_LINES) if most < sys.maxsize else most
        self._began = 0.0

    def begin(self) -> None:
        """Another block begins."""
        self._began = time.monotonic()

    def next(self, done: Tally) -> None:
        """A segment is done."""
        now = time.monotonic()
        seconds, self._began = now - self._began, now
        if done.tasks and EMBEDDED.issuperset(done.tasks):
            # the first ones pay for loading the model
            slow = seconds > EMBED_SECONDS and self.step > FEWEST_EMBED_LINES
            self.step = max(FEWEST_EMBED_LINES, self.step // 4) if slow else EMBED_LINES
        else:
            slow = seconds > SEGMENT_SECONDS
            self.step = max(1, self.step // 4) if slow else min(2 * self.step, self._most)


def _faulty(stop: int, faults: Mapping[int, Fault]) -> Segment:
    return segment_of(
        stop, [unscored(index, None, None, 0, "invalid_record", *fault) for index, fault in faults.items()]
    )


def segment_of(stop: int, scores: Iterable[Score]) -> Segment:
    """The segment of some rows."""
    return Segment(stop, *rows_of(scores))
