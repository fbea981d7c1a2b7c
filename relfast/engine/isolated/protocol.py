"""What the pool and a worker exchange: frames (length and pickled message) on pipes, and a page of shared
memory that says which record is in flight.

`multiprocessing.connection` is not used: importing its 20 modules would take a tenth of a worker's start, and
it is 1.5 times as slow for the rows of a block.
"""

from __future__ import annotations

import mmap
import os
import pickle
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, Protocol

from relfast.engine.columns.blocks import Block
from relfast.engine.columns.gold_records import Repeated
from relfast.engine.isolated.failures import Death
from relfast.engine.job import Job
from relfast.errors import ReadError, WorkerError, told_of
from relfast.records import Place, Record, Verdict


class WorkItem(Protocol):
    """A piece of work for a worker. The pool's threads call the methods, one at a time."""

    def request(self) -> Any:
        """The message to send to the worker."""

    def answer(self, message: Any) -> None:
        """Called with each message from the worker."""

    def finished(self) -> None:
        """Called when the worker has sent all answers."""
        return

    def died(self, death: Death) -> Sequence[WorkItem]:
        """Called when the worker died; returns the rest of the work as new items."""

    def failed(self, error: WorkerError) -> None:
        """Called when the work cannot be done."""


_HEAD: Final = struct.Struct("<Q")
_IN_FLIGHT: Final = struct.Struct("<qqqqq")
_MEMORY: Final = struct.Struct("<q")
_NOTHING: Final = (-1, -1)
_BATCH: Final = (-2, -2)

PAGE: Final = mmap.PAGESIZE

_COUNT_BYTES: Final = 1 << 18
_COUNT_BITS: Final = 32
_COUNTING_SECONDS: Final = 0.05
_LOOK_AGAIN_SECONDS: Final = 0.0002


class Setup(NamedTuple):
    """The first frame that a worker gets: the job, and how many cores the worker may use."""

    job: Job
    cores: int


class Before(NamedTuple):
    """What stands before a block: so many lines, and after them some blocks whose lines are not counted yet,
    each as its number, path, start and end."""

    n_lines: int
    blocks: tuple[tuple[int, str, int, int], ...]


class BlockRequest(NamedTuple):
    """Score lines ``start`` to ``stop`` (None: all) of a block. The worker answers with `Segment`s and then
    None, or with a `WorkerError` if the machinery failed (not a record). ``before``: what stands before the
    block, if the index of its first line is not known."""

    block: Block
    start: int
    stop: int | None
    verdicts: dict[Place, Verdict]
    one_by_one: bool
    before: Before | None = None


class RecordsRequest(NamedTuple):
    """Score records one after the other. The worker answers with lists of scores, and then None."""

    records: list[Record]


class Ready(NamedTuple):
    """A worker's first frame. ``repeated`` describes the ids that have different gold records, if any."""

    pid: int
    repeated: Repeated | None = None


def frame(message: Any) -> bytes:
    """A message as the bytes of a frame."""
    payload = pickle.dumps(message, protocol=5)
    return _HEAD.pack(len(payload)) + payload


def send(descriptor: int, message: Any) -> None:
    """Write a message as one frame; blocks while the pipe is full."""
    left = memoryview(frame(message))
    while left:
        left = left[os.write(descriptor, left) :]


def receive(descriptor: int) -> Any:
    """The next message.

    Raises
    ------
    EOFError
        The other side has closed the pipe; an unfinished frame is dropped.
    """
    (length,) = _HEAD.unpack(_exactly(descriptor, _HEAD.size))
    return pickle.loads(_exactly(descriptor, length))


def _exactly(descriptor: int, length: int) -> bytes:
    """Read exactly ``length`` bytes."""
    parts = []
    while length:
        part = os.read(descriptor, length)
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def own_memory(pid: int) -> int:
    """Resident memory of a process in bytes, without pages of files; 0 if the process has ended."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * mmap.PAGESIZE


def count_lines(path: str, start: int, end: int) -> int:
    """The lines between two offsets of a file; the last one may lack its end. Raises `ReadError`."""
    n, at, last = 0, start, b"\n"
    with told_of(path, ReadError), open(path, "rb", buffering=0) as file:
        while at < end and (piece := os.pread(file.fileno(), min(_COUNT_BYTES, end - at), at)):
            n += piece.count(b"\n")
            at, last = at + len(piece), piece[-1:]
    if at < end:
        raise ReadError("it changed while it was read", file=path)
    return n + (last != b"\n")


class LineCounts:
    """How many lines blocks have, in memory that all processes of a pool share.

    Workers count the lines of a block while they read it, and the rows of a block are numbered after all
    lines before it, some of which other workers are reading at that time. A worker that does not tell in time
    (it has died, or its disk is slow) is not waited for: the lines of its block are counted again.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._page = mmap.mmap(descriptor, PAGE)
        self._slots = memoryview(self._page).cast("Q")

    def tell(self, number: int, n_lines: int) -> None:
        """Say how many lines block ``number`` has."""
        # a slot holds both in one word, which is written at once
        self._slots[number % len(self._slots)] = (number + 1) << _COUNT_BITS | n_lines

    def first_index(self, before: Before, seconds: float = _COUNTING_SECONDS) -> int:
        """The index of the line after all that stand before; a block that nobody tells of for some seconds
        is counted here. Raises `ReadError`."""
        return before.n_lines + sum(self._lines_of(*block, seconds) for block in before.blocks)

    def _lines_of(self, number: int, path: str, start: int, end: int, seconds: float) -> int:
        until = time.monotonic() + seconds
        while True:
            told = self._slots[number % len(self._slots)]
            if told >> _COUNT_BITS == number + 1:
                return told & (1 << _COUNT_BITS) - 1
            if time.monotonic() >= until:
                return count_lines(path, start, end)
            time.sleep(_LOOK_AGAIN_SECONDS)

    def close(self) -> None:
        self._slots.release()
        if not self._page.closed:
            self._page.close()
            os.close(self.descriptor)


class InFlight:
    """The record that a worker is scoring, and since when, in shared memory that outlives the worker.

    Both sides map the same anonymous file (no name, nothing to clean up). Times are of the system's monotonic
    clock, which all processes share.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._page = mmap.mmap(descriptor, PAGE)
        self.nothing()

    def enter(self, place: Place | None, seconds: float) -> None:
        """Note that a record (None: work on several records) starts or goes on, and should be finished in
        ``seconds``; 0 = no limit."""
        now = time.monotonic_ns()
        what = _BATCH if place is None else place
        *before, since, _, worked = _IN_FLIGHT.unpack_from(self._page, 0)
        due = now + int(1e9 * seconds) if seconds else 0
        if tuple(before) != what:
            since, worked = now, time.process_time_ns()
        _IN_FLIGHT.pack_into(self._page, 0, *what, since, due, worked)

    def limit_memory(self, size: int) -> None:
        """Set how many bytes of memory (`own_memory`) the worker may hold from now on; 0 = no limit."""
        _MEMORY.pack_into(self._page, _IN_FLIGHT.size, size)

    def memory_limit(self) -> int:
        return int(_MEMORY.unpack_from(self._page, _IN_FLIGHT.size)[0])

    def nothing(self) -> None:
        _IN_FLIGHT.pack_into(self._page, 0, *_NOTHING, 0, 0, 0)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Note that nothing is in flight within this context, which takes no time of what is."""
        *what, since, due, worked = _IN_FLIGHT.unpack_from(self._page, 0)
        began = time.monotonic_ns()
        self.nothing()
        try:
            yield
        finally:
            paused = time.monotonic_ns() - began
            since, due = (at and at + paused for at in (since, due))
            _IN_FLIGHT.pack_into(self._page, 0, *what, since, due, worked)

    def read(self) -> Place | None:
        """The place of the record in flight; None if several records, or nothing, are in flight."""
        index, sample, *_ = _IN_FLIGHT.unpack_from(self._page, 0)
        return None if (index, sample) in (_NOTHING, _BATCH) else (index, sample)

    def seconds(self) -> float | None:
        """For how long the record or batch has been in flight; None if nothing is."""
        _, _, since, *_ = _IN_FLIGHT.unpack_from(self._page, 0)
        return (time.monotonic_ns() - since) / 1e9 if since else None

    def overdue(self) -> float | None:
        """Seconds since the record or batch should have ended, negative before that; None if nothing is in
        flight or there is no limit."""
        *_, due, _ = _IN_FLIGHT.unpack_from(self._page, 0)
        return (time.monotonic_ns() - due) / 1e9 if due else None

    def worked_before(self) -> float:
        """CPU seconds that the worker had used when it began the record or batch in flight."""
        *_, worked = _IN_FLIGHT.unpack_from(self._page, 0)
        return float(worked / 1e9)

    def close(self) -> None:
        self._page.close()
        os.close(self.descriptor)
