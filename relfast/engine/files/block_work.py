"""Scores blocks on a pool: cuts them into work items, and puts their rows in order even if workers die."""

from __future__ import annotations

import itertools
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from relfast.engine.columns.blocks import BLOCK_LINES, UNKNOWN, Block, Segment
from relfast.engine.files.block_scoring import segment_of
from relfast.engine.isolated.failures import Death, Failures, blamed
from relfast.engine.isolated.pool import SLOW_SECONDS, Pool
from relfast.engine.isolated.protocol import Before, BlockRequest, LineCounts, WorkItem, count_lines
from relfast.errors import RelfastError, WorkerError
from relfast.records import Place, Verdict, unscored

MAX_UNWRITTEN: Final = 64
MAX_UNWRITTEN_BYTES: Final = 64 * 2**20
"""Most blocks, and bytes of input in them, that may be under way or scored while the oldest is not written
yet: their rows are in memory, and their lines if workers cannot read the input themselves. So workers go on
with other blocks while one waits for deadlines. With many workers the limit is `UNWRITTEN_EACH` for each."""

UNWRITTEN_EACH: Final = 3

MOST_WAITING: Final = 4
"""Blocks that are queued for each worker: on a busy machine this process may not run for some milliseconds,
and the worker then goes on with the next block."""

MIN_SPLIT_LINES: Final = 8

_WAIT_SECONDS: Final = 0.5
_LOOK_SECONDS: Final = 0.25


Counted = Callable[[Block], Iterator[Block]]
"""A function that cuts the input anew from a block on, whose index is known, into blocks that are counted."""


class _UnderWay:
    """The blocks that are being scored, in order. Any thread may ask for what stands before one of them.

    ``counts`` are the pool's counts of lines.
    """

    def __init__(self, counts: LineCounts) -> None:
        self.changed = threading.Condition()
        self.states: deque[_BlockState] = deque()
        self._counts = counts
        self._index = 0

    def __len__(self) -> int:
        return len(self.states)

    def add(self, block: Block) -> _BlockState:
        state = _BlockState(block, self)
        with self.changed:
            if not self.states and block.first_index != UNKNOWN:
                self._index = block.first_index
            self.states.append(state)
        return state

    def before(self, block: Block) -> Before | None:
        """What stands before a block; None if its lines are counted and their indices known."""
        if block.first_index != UNKNOWN:
            return None if block.n_lines != UNKNOWN else Before(block.first_index, ())
        with self.changed:
            index, unknown = self._index, []
            for each in (state.block for state in self.states):
                if each.seq >= block.seq:
                    break
                if each.n_lines != UNKNOWN:
                    index += each.n_lines
                elif each.path is not None:
                    unknown.append((each.seq, each.path, each.start, each.end))
        return Before(index, tuple(unknown))

    def count(self, block: Block) -> None:
        """Count the lines of a block and of those before it, unless they are known. Raises `ReadError`."""
        if block.n_lines == UNKNOWN and block.path is not None:
            block.n_lines = count_lines(block.path, block.start, block.end)
        if (before := self.before(block)) is not None:
            block.place(self._counts.first_index(before, 0.0))

    def take(self) -> _BlockState:
        """Remove the first block, which is scored: its place is known by now, and that of the next one."""
        with self.changed:
            state = self.states.popleft()
            if state.block.first_index == UNKNOWN:
                state.block.place(self._index)
            self._index = state.block.first_index + state.block.n_lines
        return state

    def clear(self) -> None:
        """Forget all blocks; what workers still say of them is ignored."""
        with self.changed:
            for state in self.states:
                state.error = WorkerError("the block was cut anew")
            self.states.clear()


class _BlockState:
    """The state of a block that is being scored, shared by its work items."""

    def __init__(self, block: Block, under_way: _UnderWay) -> None:
        self.block, self.under_way, self.changed = block, under_way, under_way.changed
        self.segments: list[Segment] = []
        self.verdicts: dict[Place, Verdict] = {}
        self.failures = Failures()
        self.failures_at: defaultdict[Place, Failures] = defaultdict(Failures)
        self.open_items = 0
        self.error: RelfastError | None = None

    @property
    def done(self) -> bool:
        return self.open_items == 0 or self.error is not None

    @property
    def too_many(self) -> bool:
        """Whether it has turned out that the block has more lines than a block may have."""
        return self.done and self.error is None and self.block.n_lines > BLOCK_LINES

    def in_order(self) -> list[Segment]:
        return sorted(self.segments, key=lambda segment: segment.stop)


class BlockWork(WorkItem):
    """The work item for lines ``start`` to ``stop`` of a block, or (``stop`` None) for all lines of a block
    that is not counted.

    ``careful`` (after a worker has died): each record is scored and each line reported alone, so that the
    record that kills workers is found, and finished lines are not lost again. No kernel reads the lines
    then: one that crashes costs time, and no line its score.
    """

    def __init__(
        self, state: _BlockState, start: int, stop: int | None, timeout: float, *, careful: bool = False
    ) -> None:
        self._state, self._at, self._stop = state, start, stop
        self._timeout, self._careful = timeout, careful
        self._line_failures = Failures()
        with state.changed:
            state.open_items += 1

    def request(self) -> BlockRequest:
        state = self._state
        with state.changed:
            verdicts = dict(state.verdicts)
        before = state.under_way.before(state.block)
        return BlockRequest(state.block, self._at, self._stop, verdicts, self._careful, before)

    def answer(self, message: Any) -> None:
        assert isinstance(message, Segment)
        self._at = message.stop
        with self._state.changed:
            self._state.segments.append(message)
            self._state.failures.progress()

    def finished(self) -> None:
        state = self._state
        with state.changed:
            # first: what is done has its number of lines
            if self._stop is None:
                state.block.n_lines = self._at
            state.open_items -= 1
            # causes are explained by rows of the first block, and of those with invalid records
            explained = not state.block.seq or any(
                segment.tally.count("invalid_record") for segment in state.segments
            )
            if state.done and not explained:
                state.block.data = None
            state.changed.notify_all()

    def failed(self, error: WorkerError) -> None:
        with self._state.changed:
            self._state.error = self._state.error or error.original or error
            self._state.changed.notify_all()

    def died(self, death: Death) -> Sequence[WorkItem]:
        state = self._state
        with state.changed:
            try:
                state.under_way.count(state.block)
            except RelfastError as error:
                state.error = error
            if self._stop is None:
                self._stop = max(self._at, state.block.n_lines)
            single = self._careful and self._stop - self._at == 1
            failures = blamed(death, self._failures_at, self._line_failures if single else None)
            if failures is None:
                if message := state.failures.unexplained(death):
                    state.error = WorkerError(message)
            elif failures is self._line_failures:
                self._blame_line(death)
            elif death.place is not None and (verdict := failures.blame(death, self._timeout)):
                state.verdicts[death.place] = verdict
            is_left = state.error is None and state.block.n_lines <= BLOCK_LINES
            followers = self._followers() if is_left else []
        self.finished()
        return followers

    def _failures_at(self, place: Place) -> Failures | None:
        assert self._stop is not None
        if self._at <= place[0] - self._state.block.first_index < self._stop:
            return self._state.failures_at[place]
        return None

    def _blame_line(self, death: Death) -> None:
        """Blame a line that kills workers before it is decoded to a record: its row has not even an id."""
        verdict = self._line_failures.blame(death, None)
        if verdict is not None:
            index = self._state.block.first_index + self._at
            self._at += 1
            self._state.segments.append(segment_of(self._at, [unscored(index, None, None, 0, *verdict)]))

    def _followers(self) -> list[BlockWork]:
        """The lines that are left, as two items: if one record hangs its neighbours often hang too, and then
        two workers wait for their deadlines in parallel."""
        assert self._stop is not None
        state, left = self._state, self._stop - self._at
        if left <= 0:
            return []
        middle = self._at + (left + 1) // 2
        parts = [(self._at, self._stop)] if left == 1 else [(self._at, middle), (middle, self._stop)]
        followers = [BlockWork(state, start, stop, self._timeout, careful=True) for start, stop in parts]
        followers[0]._line_failures = self._line_failures
        return followers


def _until_error(todo: Iterator[Block], errors: list[Exception]) -> Iterator[Block]:
    """The blocks; an exception of the reader goes into ``errors``, and the blocks before it are scored."""
    try:
        yield from todo
    except Exception as error:
        errors.append(error)


def score_on_pool(
    pool: Pool, meanwhile: Callable[[int], None], counted: Counted, todo: Iterator[Block]
) -> Iterator[tuple[Block, list[Segment]]]:
    """Each block with its segments, in order; ``meanwhile`` gets the number of slow records now and then.
    Blocks need not be counted; if one has too many lines, those from there on are taken from ``counted``.

    If reading fails, the blocks read before are scored first; if the run is interrupted (Ctrl-C), the blocks
    at the front that are finished are yielded first.

    Raises
    ------
    RelfastError
        Reading failed, or too many workers died.
    """
    under_way = _UnderWay(pool.counts)
    changed = under_way.changed
    errors: list[Exception] = []
    todo = _until_error(todo, errors)
    exhausted = False
    few, enough = 2 * pool.workers, MOST_WAITING * pool.workers

    def more() -> bool:
        return not exhausted and pool.waiting < enough and _room(under_way.states, pool.workers)

    looked = -_LOOK_SECONDS
    try:
        # if there are so few blocks that workers would be idle, blocks are cut
        first = list(itertools.islice(todo, few))
        parts = 4 * pool.workers if len(first) < few else 1
        todo = itertools.chain(first, todo)
        while True:
            while more():
                block = next(todo, None)
                if block is None:
                    exhausted = True
                    break
                state = under_way.add(block)
                if parts > 1:
                    under_way.count(block)
                    if block.n_lines > BLOCK_LINES:
                        break
                # make all items before submitting the first: a block counts as done when no item is open
                items = [BlockWork(state, *part, pool.job.timeout) for part in _cut(block, parts)]
                for item in items:
                    pool.submit(item)
            if not under_way:
                break
            with changed:
                # any finished block wakes this thread, since another one can then be started
                changed.wait_for(lambda: under_way.states[0].done or more(), _WAIT_SECONDS)
            yield from _finished(under_way)
            if under_way and (first_left := under_way.states[0]).too_many:
                under_way.count(first_left.block)
                pool.withdraw()
                under_way.clear()
                errors.clear()
                todo, exhausted = _until_error(counted(first_left.block), errors), False
            if time.monotonic() - looked > _LOOK_SECONDS:
                # not after each block, since there may be hundreds a second
                meanwhile(pool.n_slow(SLOW_SECONDS))
                looked = time.monotonic()
    except (KeyboardInterrupt, SystemExit):
        yield from _finished(under_way)
        raise
    if errors:
        raise errors[0]


def _room(under_way: Sequence[_BlockState], workers: int) -> bool:
    unwritten = sum(state.block.size for state in under_way)
    few = len(under_way) < MAX_UNWRITTEN and unwritten < MAX_UNWRITTEN_BYTES
    return few or len(under_way) < UNWRITTEN_EACH * workers


def _finished(under_way: _UnderWay) -> Iterator[tuple[Block, list[Segment]]]:
    """Yield and remove the finished blocks at the front, up to one that must be cut anew. Raises the error of
    a block that has failed."""
    while under_way and (state := under_way.states[0]).done:
        if state.error is not None:
            raise state.error
        if state.too_many:
            return
        under_way.take()
        yield state.block, state.in_order()


def _cut(block: Block, parts: int) -> list[tuple[int, int | None]]:
    """The ranges of lines into which a block is cut: ``parts``, or fewer if they would be too short."""
    if block.n_lines == UNKNOWN:
        return [(0, None)]
    step = max(MIN_SPLIT_LINES, -(-block.n_lines // parts))
    if block.faults or step >= block.n_lines:
        return [(0, block.n_lines)]
    starts = range(0, block.n_lines, step)
    return list(itertools.pairwise([*starts, block.n_lines]))
