"""A pool of workers that cannot be hung or killed for good.

One thread per worker feeds it and waits for it. A worker that dies (deadline, signal, out of memory) is
replaced; what it had reported is kept, the record it was working on is judged, the rest goes back into
the queue.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, Protocol

from relfast.engine import wire
from relfast.engine.job import Job
from relfast.engine.launch import launch
from relfast.engine.scoring import Place
from relfast.errors import WorkerError

STACK_BYTES: Final = 64 * 2**20
"""Stack of a worker: RDKit recurses once per atom of a chain, and 8 MB overflow at 16,000 atoms."""

MEMORY_BYTES: Final = 4 * 2**30
"""Address space of a worker; a ring of 20,000 atoms would take 11 GB."""

GRACE_SECONDS: Final = 10.0
"""How long past its deadline a worker may stay silent before the parent kills it itself. The kernel's
timer has done so long before; this is for a worker stopped by somebody else."""

MAX_STARTS: Final = 5
"""Starts in a row that may fail before the pool gives up: the installation is broken then."""


class Death:
    """How a worker ended.

    ``place`` is the record in flight, None if it was none or a whole batch.
    """

    def __init__(self, status: int, place: Place | None, *, silent: bool = False) -> None:
        self.status, self.place = status, place
        self.timed_out = silent or status == -signal.SIGALRM

    def describe(self) -> str:
        """The cause, for the row's error: ``killed by SIGSEGV``."""
        if self.status == wire.OUT_OF_MEMORY:
            return "ran out of memory"
        if self.status < 0:
            with contextlib.suppress(ValueError):
                return f"killed by {signal.Signals(-self.status).name}"
        return f"ended with status {self.status}"


class Task(Protocol):
    """What a worker is asked to do. All methods are called by the pool's threads, one at a time."""

    def request(self) -> Any:
        """The message to the worker."""

    def answer(self, message: Any) -> None:
        """A message from the worker."""

    def finished(self) -> None:
        """The worker is done with it."""

    def died(self, death: Death) -> Sequence[Task]:
        """The worker died on it; what is left to do, as new tasks."""

    def failed(self, error: WorkerError) -> None:
        """It cannot be done."""


class Worker:
    """One child process, its pipes and its page."""

    def __init__(self, setup: wire.Setup) -> None:
        try:
            launched = launch()
        except OSError as error:
            raise WorkerError(f"cannot start a worker: {error}") from error
        self._process, self.requests, self.answers, page = launched
        self.in_flight = wire.InFlight(page)
        self.pid = self._process.pid
        with contextlib.suppress(BrokenPipeError):  # dead already: its answers will say so
            wire.send(self.requests, setup)

    def wait_answer(self, seconds: float | None) -> bool:
        """Whether something can be read from the worker within ``seconds`` (None: for ever)."""
        ready, _, _ = select.select([self.answers], [], [], seconds)
        return bool(ready)

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> int:
        """Make sure it is gone; its exit status."""
        with contextlib.suppress(OSError):
            os.close(self.requests)
        try:
            # without requests it leaves by itself, unless it is at work
            status = self._process.wait(0.2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        os.close(self.answers)
        self.in_flight.close()
        return status


class Pool:
    """Workers for one job.

    Parameters
    ----------
    job
        What the workers score with.
    workers
        How many.
    memory
        Address space of each, in bytes; 0 = no limit.
    large
        A large input is coming: load what pays only then.
    """

    def __init__(self, job: Job, workers: int, memory: int = MEMORY_BYTES, *, large: bool = False) -> None:
        self.job, self.workers = job, workers
        self._setup = wire.Setup(job, memory, STACK_BYTES, large)
        self._queue: deque[Task] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._live: dict[int, Worker] = {}
        self.replaced = 0
        self._threads = [
            threading.Thread(target=self._serve, args=(slot,), name=f"relfast-{slot}", daemon=True)
            for slot in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, task: Task, *, first: bool = False) -> None:
        """Queue a task, at the end or before all others."""
        with self._changed:
            if self._closing:
                raise WorkerError("the pool is closed")
            (self._queue.appendleft if first else self._queue.append)(task)
            self._changed.notify()

    @property
    def waiting(self) -> int:
        """Tasks that no worker has begun."""
        return len(self._queue)

    def pids(self) -> list[int]:
        """Process ids of the live workers."""
        return [worker.pid for worker in list(self._live.values())]

    def close(self) -> None:
        """End all workers now; tasks that are not finished are dropped."""
        with self._changed:
            self._closing = True
            self._queue.clear()
            self._changed.notify_all()
        for worker in list(self._live.values()):
            worker.kill()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(5.0)

    def _next_task(self) -> Task | None:
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            return None if self._closing else self._queue.popleft()

    def _serve(self, slot: int) -> None:
        """The life of a slot: a worker, its tasks, its replacement."""
        worker: Worker | None = None
        try:
            worker = self._start(slot)
            while not self._closing:
                task = self._next_task()
                if task is None:
                    return
                if worker is None:
                    worker = self._start(slot)
                if worker is None:
                    task.failed(WorkerError(self._start_error))
                    continue
                if not self._work(worker, task):
                    worker = None
                    self._live.pop(slot, None)
        finally:
            self._live.pop(slot, None)
            if worker is not None:
                worker.end()

    _start_error = "workers cannot be started"

    def _start(self, slot: int) -> Worker | None:
        for attempt in range(MAX_STARTS):
            if self._closing:
                return None
            try:
                worker = Worker(self._setup)
            except (WorkerError, OSError) as error:
                self._start_error = str(error)
                time.sleep(0.1 * 2**attempt)
                continue
            self._live[slot] = worker
            try:
                hello = wire.receive(worker.answers)
            except (EOFError, OSError):
                status = worker.end()
                self._start_error = f"a worker ended with status {status} before it was ready"
                continue
            if isinstance(hello, wire.Failure):
                worker.end()
                self._start_error = f"a worker could not start: {hello.kind}: {hello.message}"
                return None
            return worker
        return None

    def _work(self, worker: Worker, task: Task) -> bool:
        """Have a task done; False if the worker died on it."""
        silent = False
        try:
            wire.send(worker.requests, task.request())
            while True:
                if not self._wait(worker):
                    silent = True
                    worker.kill()
                message = wire.receive(worker.answers)
                if message is None:
                    task.finished()
                    return True
                if isinstance(message, wire.Failure):
                    task.failed(WorkerError(f"{message.kind}: {message.message}"))
                    return True
                task.answer(message)
        except (EOFError, OSError):
            place = worker.in_flight.read()
            death = Death(worker.end(), place, silent=silent)
        if self._closing:
            return False
        self.replaced += 1
        for follower in task.died(death):
            self.submit(follower, first=True)
        return False

    def _wait(self, worker: Worker) -> bool:
        """Wait for an answer; False if a record is in flight far longer than it may be."""
        if not self.job.timeout:
            return worker.wait_answer(None)
        patience = self.job.timeout + GRACE_SECONDS
        while not worker.wait_answer(patience):
            place = worker.in_flight.read()
            if place is not None and not worker.wait_answer(patience) and worker.in_flight.read() == place:
                return False
        return True


def usable_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0))
