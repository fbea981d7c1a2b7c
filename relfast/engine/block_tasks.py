"""Blocks on a pool: cut into tasks, put together again in order, whatever happens to the workers."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from relfast.engine.block_scoring import Segment
from relfast.engine.pool import Death, Pool, Task
from relfast.engine.reader import Block
from relfast.engine.scoring import Place, Verdict
from relfast.engine.wire import BlockRequest
from relfast.errors import WorkerError

ATTEMPTS: Final = 2
"""Workers a record may kill before it is given up."""

IDLE_DEATHS: Final = 20
"""Deaths without progress and without a record to blame before a run is given up: no record does that."""

MAX_UNWRITTEN: Final = 64
"""Blocks that may be scored or under way before the oldest is written: their rows are in memory (about
0.3 MB a block), and while one block waits out its deadlines the workers go on with the others."""

MIN_SPLIT_LINES: Final = 8


class _BlockState:
    """A block under way: its tasks share this."""

    def __init__(self, block: Block, changed: threading.Condition) -> None:
        self.block, self.changed = block, changed
        self.segments: list[Segment] = []
        self.verdicts: dict[Place, Verdict] = {}
        self.attempts: dict[Place, int] = {}
        self.idle_deaths = 0
        self.open_tasks = 0
        self.error: WorkerError | None = None

    @property
    def done(self) -> bool:
        return self.open_tasks == 0 or self.error is not None

    def in_order(self) -> list[Segment]:
        return sorted(self.segments, key=lambda segment: segment.stop)


class BlockTask(Task):
    """Lines ``start`` to ``stop`` of a block."""

    def __init__(
        self, state: _BlockState, start: int, stop: int, timeout: float, *, one_by_one: bool = False
    ) -> None:
        self._state, self._at, self._stop = state, start, stop
        self._timeout, self._one_by_one = timeout, one_by_one
        with state.changed:
            state.open_tasks += 1

    def request(self) -> BlockRequest:
        state = self._state
        with state.changed:
            verdicts = dict(state.verdicts)
        return BlockRequest(state.block, self._at, self._stop, verdicts, self._one_by_one)

    def answer(self, message: Any) -> None:
        assert isinstance(message, Segment)
        self._at = message.stop
        with self._state.changed:
            self._state.segments.append(message)
            self._state.idle_deaths = 0

    def finished(self) -> None:
        with self._state.changed:
            self._state.open_tasks -= 1
            self._state.changed.notify_all()

    def failed(self, error: WorkerError) -> None:
        with self._state.changed:
            self._state.error = self._state.error or error
            self._state.changed.notify_all()

    def died(self, death: Death) -> Sequence[Task]:
        state = self._state
        one_by_one = self._one_by_one
        with state.changed:
            if death.place is not None:
                self._judge(death.place, death)
            elif not one_by_one:
                one_by_one = True  # somebody in the batch; one by one they give themselves away
            else:
                state.idle_deaths += 1
                if state.idle_deaths > IDLE_DEATHS:
                    state.error = WorkerError(f"workers keep dying ({death.describe()}) on no record at all")
        followers = [
            BlockTask(state, start, stop, self._timeout, one_by_one=one_by_one)
            for start, stop in self._parts()
        ]
        self.finished()
        return followers

    def _judge(self, place: Place, death: Death) -> None:
        state = self._state
        if death.timed_out:
            message = f"scoring it took longer than {self._timeout:g} s and was stopped"
            state.verdicts[place] = ("timeout", "Timeout", message)
            return
        state.attempts[place] = state.attempts.get(place, 0) + 1
        if state.attempts[place] >= ATTEMPTS:
            message = f"it ended its worker {ATTEMPTS} times ({death.describe()})"
            state.verdicts[place] = ("crashed", "WorkerDied", message)

    def _parts(self) -> list[tuple[int, int]]:
        """What is left, in two halves: where one record hangs its neighbours often do too, and then they
        had better wait out their deadlines side by side."""
        left = self._stop - self._at
        if left <= 1:
            return [(self._at, self._stop)]
        middle = self._at + (left + 1) // 2
        return [(self._at, middle), (middle, self._stop)]


def score_on_pool(pool: Pool, todo: Iterator[Block]) -> Iterator[tuple[Block, list[Segment]]]:
    """Each block with its segments, in order. Raises `WorkerError` where the machinery gives up."""
    changed = threading.Condition()
    under_way: deque[_BlockState] = deque()
    ready = deque(_peek(todo, 2 * pool.workers))
    # so few blocks that whole ones would leave workers idle
    few = len(ready) < 2 * pool.workers
    exhausted = few
    while True:
        while len(under_way) < MAX_UNWRITTEN and pool.waiting < 2 * pool.workers:
            block = ready.popleft() if ready else None if exhausted else next(todo, None)
            if block is None:
                exhausted = True
                break
            state = _BlockState(block, changed)
            for start, stop in _cut(block, 4 * pool.workers if few else 1):
                pool.submit(BlockTask(state, start, stop, pool.job.timeout))
            under_way.append(state)
        if not under_way:
            return
        oldest = under_way[0]
        with changed:
            # woken by any block: when one is done, another may be started
            if not oldest.done:
                changed.wait(0.5)
        while under_way and under_way[0].done:
            state = under_way.popleft()
            if state.error is not None:
                raise state.error
            yield state.block, state.in_order()


def _peek(todo: Iterator[Block], n: int) -> list[Block]:
    return [block for _, block in zip(range(n), todo, strict=False)]


def _cut(block: Block, parts: int) -> list[tuple[int, int]]:
    step = max(MIN_SPLIT_LINES, -(-block.n_lines // parts))
    if block.faults or step >= block.n_lines:
        return [(0, block.n_lines)]
    return [(start, min(start + step, block.n_lines)) for start in range(0, block.n_lines, step)]
