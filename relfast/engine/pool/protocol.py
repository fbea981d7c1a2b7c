"""Parent and worker: frames on pipes, and the page of shared memory that says which record is in flight.

The frames are ours, not those of `multiprocessing.connection`: its 20 modules would take a tenth of a
worker's start, and it needs half as long again for a block's rows.
"""

from __future__ import annotations

import mmap
import os
import pickle
import struct
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

from relfast.engine.gold_records import Repeated
from relfast.engine.io.blocks import Block
from relfast.engine.job import Job
from relfast.engine.pool.failures import Death, Verdict
from relfast.errors import WorkerError
from relfast.records import Place, Record


class WorkItem(Protocol):
    """What a worker is asked to do. All methods are called by the pool's threads, one at a time."""

    def request(self) -> Any:
        """The message to the worker."""

    def answer(self, message: Any) -> None:
        """A message from the worker."""

    def finished(self) -> None:
        """The worker is done with it."""
        return

    def died(self, death: Death) -> Sequence[WorkItem]:
        """The worker died on it; what is left to do, as new items."""

    def failed(self, error: WorkerError) -> None:
        """It cannot be done."""


_HEAD: Final = struct.Struct("<Q")
_IN_FLIGHT: Final = struct.Struct("<qqqqq")
_MEMORY: Final = struct.Struct("<q")
_NOTHING: Final = (-1, -1)
_BATCH: Final = (-2, -2)

PAGE: Final = mmap.PAGESIZE


class Setup(NamedTuple):
    """The first frame a worker gets: what to score with, and how many of the cores are its own."""

    job: Job
    cores: int


class BlockRequest(NamedTuple):
    """Score lines ``start`` to ``stop`` of a block; answered by `Segment` frames and None, or by a
    `WorkerError`: the machinery failed, not a record."""

    block: Block
    start: int
    stop: int
    verdicts: dict[Place, Verdict]
    one_by_one: bool


class RecordsRequest(NamedTuple):
    """Score records one after the other; answered by lists of scores, as they come, and None."""

    records: list[Record]


class Ready(NamedTuple):
    """A worker's first frame; ``repeated`` are ids whose gold records differ."""

    pid: int
    repeated: Repeated | None = None


def frame(message: Any) -> bytes:
    """A message as it travels."""
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
        The other side is gone; a frame it had not finished is dropped.
    """
    (length,) = _HEAD.unpack(_exactly(descriptor, _HEAD.size))
    return pickle.loads(_exactly(descriptor, length))


def _exactly(descriptor: int, length: int) -> bytes:
    """So many bytes, in as few pieces as they come."""
    parts = []
    while length:
        part = os.read(descriptor, length)
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def own_memory(pid: int) -> int:
    """Bytes in memory that a process shares with no file; 0 where it is no more."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * mmap.PAGESIZE


class InFlight:
    """The record that a worker is scoring, and since when, in memory that outlives the worker.

    An anonymous file (no name, nothing to clean up) mapped by both sides. Times are those of the kernel's
    monotonic clock, which all processes share.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._page = mmap.mmap(descriptor, PAGE)
        self.nothing()

    def enter(self, place: Place | None, seconds: float) -> None:
        """A record starts or goes on, or with None something that is no single record's. It should be over
        in ``seconds``; 0 = no limit."""
        now = time.monotonic_ns()
        what = _BATCH if place is None else place
        *before, since, _, worked = _IN_FLIGHT.unpack_from(self._page, 0)
        due = now + int(1e9 * seconds) if seconds else 0
        if tuple(before) != what:
            since, worked = now, time.process_time_ns()
        _IN_FLIGHT.pack_into(self._page, 0, *what, since, due, worked)

    def limit_memory(self, size: int) -> None:
        """How many bytes of its own (`own_memory`) the worker may hold from now on; 0 = no limit."""
        _MEMORY.pack_into(self._page, _IN_FLIGHT.size, size)

    def memory_limit(self) -> int:
        return int(_MEMORY.unpack_from(self._page, _IN_FLIGHT.size)[0])

    def nothing(self) -> None:
        _IN_FLIGHT.pack_into(self._page, 0, *_NOTHING, 0, 0, 0)

    def read(self) -> Place | None:
        """The record in flight, or None where it was a batch or nothing."""
        index, sample, *_ = _IN_FLIGHT.unpack_from(self._page, 0)
        return None if (index, sample) in (_NOTHING, _BATCH) else (index, sample)

    def seconds(self) -> float | None:
        """How long it has been in flight; None where there is nothing."""
        _, _, since, *_ = _IN_FLIGHT.unpack_from(self._page, 0)
        return (time.monotonic_ns() - since) / 1e9 if since else None

    def overdue(self) -> float | None:
        """Seconds since it should have ended, negative before that; None where there is nothing, or no
        limit."""
        *_, due, _ = _IN_FLIGHT.unpack_from(self._page, 0)
        return (time.monotonic_ns() - due) / 1e9 if due else None

    def worked_before(self) -> float:
        """CPU seconds that the worker had spent when it started on what is in flight."""
        *_, worked = _IN_FLIGHT.unpack_from(self._page, 0)
        return float(worked / 1e9)

    def close(self) -> None:
        self._page.close()
        os.close(self.descriptor)
