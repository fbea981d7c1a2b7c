"""The lines of a block to rows, as a worker and in-process scoring both do it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from relfast.engine.columns.blocks import BLOCK_LINES, UNKNOWN, Block, Fault, Segment, rows_of
from relfast.engine.columns.scoring import EMBEDDED, Scoring
from relfast.engine.job import Job
from relfast.errors import Damaged, ReadError, told_of
from relfast.records import Place, Score, Verdict, unscored
from relfast.stats.summary import Tally

if TYPE_CHECKING:
    from relfast.engine.columns.text_fast_path import TextFastPath

SEGMENT_LINES: Final = 512
"""Most lines that a worker scores before it reports them: so many are scored again after a crash."""

FIRST_LINES: Final = 8
SEGMENT_SECONDS: Final = 0.1
"""A worker begins with segments of few lines, and makes them longer unless one takes longer than this."""

EMBED_LINES: Final = 1_024
FEWEST_EMBED_LINES: Final = 64
EMBED_SECONDS: Final = 20.0
"""The same for tasks that embed: a model is fast on many texts of equal length, and nothing hangs."""


def load(block: Block) -> bytes:
    """The bytes of a block's lines; a Parquet row becomes a line of JSON. Raises `ReadError`, `Damaged`."""
    if block.data is not None:
        return block.data
    assert block.path is not None
    if block.parquet:
        from relfast.engine.files.io.parquet import read_group

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
    r"""The lines, without ends. Only ``\n`` ends a line; a vertical tab, U+2028 and the like are data."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def load_fast_path() -> None:
    """Load the fast path and the modules of the text tasks, for workers that are forked from this process."""
    from relfast.engine.columns.text_fast_path import TextFastPath
    from relfast.engine.columns.text_gold import TASK_BY_NUMBER

    if (opened := TextFastPath.open(Scoring(Job()))) is not None:
        opened.leave()
    for task, _ in TASK_BY_NUMBER.values():
        task.import_modules()


class BlockScoring:
    """Scores blocks: with the fast path where it can read a line, else the ordinary way.

    ``most`` is the largest number of lines in a segment.
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
        place: Callable[[int], int] | None = None,
    ) -> Iterator[Segment]:
        """The segments of lines ``start`` to ``stop`` of a block, in order.

        ``verdicts`` are rows of records that hung or crashed a worker before. With ``one_by_one`` each record
        is guarded by itself and each line a segment, to find the record that hung or crashed a batch.
        ``place`` is called with the number of lines of a block whose first index is not known, and returns
        that index. A block that is not counted and has more than `BLOCK_LINES` lines gives one segment, with
        nothing in it, that says so by its ``stop``.

        Raises
        ------
        ReadError
            The file cannot be read, or has changed since it was cut into blocks.
        """
        counted = block.n_lines != UNKNOWN
        stop = BLOCK_LINES + 1 if not counted else block.n_lines if stop is None else min(stop, block.n_lines)
        if place is not None and counted:
            block.place(place(block.n_lines))
        if block.faults:
            yield _faulty(stop, block.faults)
            return
        try:
            data = load(block)
        except Damaged as error:
            from relfast.engine.files.io.parquet import damaged_rows

            indices = range(block.first_index + start, block.first_index + stop)
            yield _faulty(stop, damaged_rows(indices, error))
            return
        score: Callable[[int, int, int], Segment]
        fast_path = None if one_by_one else self._open_fast_path()
        if fast_path is not None:
            scanned = fast_path.scan(data, stop, block.first_index, block.filter)
            n_lines = scanned.n_lines
            score = partial(fast_path.segment, scanned, verdicts=verdicts)
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

        if not counted:
            if place is not None:
                block.place(place(n_lines))
            if n_lines > BLOCK_LINES:
                yield Segment(n_lines, b"", Tally())
                return
            stop = n_lines
        if n_lines < stop:
            raise _changed(block)
        if fast_path is not None:
            scanned.first_index = block.first_index
            if not verdicts:
                fast_path.learn(scanned, range(start, stop))
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
        """The fast path, or None; tried for each block, since its kernels may be compiled meanwhile."""
        if self._fast_path is None:
            from relfast.engine.columns.text_fast_path import TextFastPath

            self._fast_path = TextFastPath.open(self._scoring)
        return self._fast_path


class _Pace:
    """Decides the number of lines of the next segment: up to ``most``, fewer if lines take long."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.step = min(most, FIRST_LINES) if most < sys.maxsize else most
        self._began = 0.0

    def begin(self) -> None:
        """Note that a block begins."""
        self._began = time.monotonic()

    def next(self, done: Tally) -> None:
        """Note that a segment is done, and adapt the number of lines for the next."""
        now = time.monotonic()
        seconds, self._began = now - self._began, now
        if done.tasks and not done.outcomes and EMBEDDED.issuperset(done.tasks):
            # a slow first segment may be due to loading the model
            slow = seconds > EMBED_SECONDS and self.step > FEWEST_EMBED_LINES
            self.step = max(FEWEST_EMBED_LINES, self.step // 4) if slow else EMBED_LINES
        else:
            slow = seconds > SEGMENT_SECONDS
            self.step = max(1, self.step // 4) if slow else min(2 * self.step, self._most)


def expand(tally: Tally, job: Job) -> None:
    """Count the rows of a job that the text kernel wrote by their tasks."""
    if tally.outcomes:
        from relfast.engine.columns.text_rows import row_of_key

        tally.expand(partial(row_of_key, Scoring(job)))


def _faulty(stop: int, faults: Mapping[int, Fault]) -> Segment:
    return segment_of(
        stop, [unscored(index, None, None, 0, "invalid_record", *fault) for index, fault in faults.items()]
    )


def segment_of(stop: int, scores: Iterable[Score]) -> Segment:
    """The segment of some scores, up to line ``stop``."""
    tally = Tally()
    return Segment(stop, rows_of(scores, tally), tally)
