"""A pool of workers that cannot be hung or killed for good.

One thread per worker feeds it and waits for it. A worker that dies (deadline, signal, out of memory) is
replaced; what it had reported is kept, the record it was working on is judged, the rest goes back into
the queue.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from relfast_kernels.compiled.cache import how_to_compile, report

from relfast.cores import usable_cores
from relfast.embed import vectors_cache
from relfast.engine.gold_records import Repeated
from relfast.engine.job import Job
from relfast.engine.pool import protocol as wire
from relfast.engine.pool.failures import FROM_OUTSIDE, LOST, Death, Died
from relfast.engine.pool.forkserver import START_SECONDS, ForkServer, ServerGone
from relfast.engine.pool.protocol import WorkItem
from relfast.engine.segments import Tell, tell_nobody
from relfast.errors import WorkerError
from relfast.records import Place

GRACE_SECONDS: Final = 10.0
"""How long past its deadline a worker may stay silent before the parent kills it itself. The kernel's
timer has done so long before; this is for a worker stopped by somebody else."""

SILENT_SECONDS: Final = 300.0
"""Longest silence without a record in flight: the worker reads and decodes, at worst from a slow disk."""

MAX_STARTS: Final = 5
"""Starts in a row that may fail by themselves before the pool gives up: the installation is broken then."""

MAX_KILLED_STARTS: Final = 50
"""Starts in a row that may be ended by a signal: somebody kills workers, and may stop doing so."""

BLAME_SECONDS: Final = 0.1
"""A record is blamed for a SIGKILL only when it had been at work for so long. The kernel kills for memory,
which takes longer to fill; everybody else who sends SIGKILL does not know the record."""

LEAST_WORK: Final = 0.1
"""Share of its time that a record which meets its deadline must have been at work. On a processor that serves
twenty others, or in a worker that somebody stopped, it is less, and the deadline says nothing about it."""

_CHECK_SECONDS: Final = 1.0

_LOOK_SECONDS: Final = 0.1
"""How often it is seen what a worker holds that is at work: molecules grow by up to 100 MB meanwhile."""

SLOW_SECONDS: Final = 0.5
"""A record that takes longer is told of; nearly all take less than 10 ms."""

_CLOSE_SECONDS: Final = 1.5


_END_SECONDS: Final = 0.2
_PIPE_BYTES: Final = 1 << 20


def shield_thread() -> None:
    """Prepare a thread of ours that feeds workers: where the caller has given SIGPIPE its default action,
    a dead worker's pipe would end the caller."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})


class Worker:
    """One worker process.

    Parameters
    ----------
    setup
        What it scores with.
    server
        Forks it.

    Raises
    ------
    OSError, ServerGone
        It cannot be started.
    """

    def __init__(self, setup: wire.Setup, server: ForkServer) -> None:
        self.server = server
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            page = os.memfd_create("relfast-in-flight")
            ours.callback(os.close, page)
            os.ftruncate(page, wire.PAGE)
            requests_out, self._requests = os.pipe()
            ours.callback(os.close, self._requests)
            theirs.callback(os.close, requests_out)
            self._answers, answers_in = os.pipe()
            ours.callback(os.close, self._answers)
            theirs.callback(os.close, answers_in)
            for end in (self._requests, self._answers):
                with contextlib.suppress(OSError):
                    fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            self.pid = server.fork(requests_out, answers_in, page)
            ours.pop_all()
        self.in_flight = wire.InFlight(page)
        self.frozen = False
        """Whether this process seems to have been stopped (Ctrl-Z) while it waited for the worker."""
        self.worked: float | None = None
        """CPU seconds that it spent in its life; known once it is gone."""
        self._poller = select.poll()
        self._poller.register(self._answers, select.POLLIN)
        with contextlib.suppress(OSError):
            # a worker that is gone already shows when it is waited for
            self.send(setup)

    def send(self, message: Any) -> None:
        """Send a request. Raises `OSError` if the worker is gone."""
        wire.send(self._requests, message)

    def receive(self) -> Any:
        """The next answer. Raises `EOFError` if the worker is gone."""
        return wire.receive(self._answers)

    def wait_answer(self, seconds: float) -> bool:
        """Whether there is something to receive within ``seconds``."""
        asked = time.monotonic()
        ready = bool(self._poller.poll(1000 * seconds))
        if time.monotonic() - asked > seconds + 1:
            self.frozen = True
        return ready

    def kill(self) -> None:
        self.server.kill(self.pid)

    def end(self) -> int:
        """Make sure it is gone; its exit status. To be called once."""
        os.close(self._requests)
        # without requests it leaves by itself, unless it is at work
        end = self.server.wait(self.pid, _END_SECONDS)
        while end is None:
            self.kill()
            end = self.server.wait(self.pid, None)
        status, self.worked = end
        os.close(self._answers)
        self.in_flight.close()
        return status

    def abandon(self) -> None:
        """Close this process's ends of the pipes: in a forked child, whose parent goes on with the worker."""
        for descriptor in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self.in_flight.close()


class Pool:
    """Workers for one job.

    Parameters
    ----------
    job
        What the workers score with.
    workers
        How many.
    tell
        Is told of workers that start or die, and of records that take long.

    ``repeated`` says, once a worker is ready, which ids have gold records that differ.
    """

    def __init__(self, job: Job, workers: int, *, tell: Tell = tell_nobody) -> None:
        self._tell = tell
        report(*filter(None, [vectors_cache()]))
        if how_to_compile() == "wait":
            from relfast_kernels.compiled import native  # a short run does without

            native.see_to_missing()
        # workers that are started later should find the files, wherever the caller has gone by then
        self.job = replace(job, data=tuple(map(os.path.abspath, job.data)))
        self.workers = workers
        self._setup = wire.Setup(self.job, max(1, usable_cores() // max(1, workers)))
        self._queue: deque[WorkItem] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._live: dict[int, Worker] = {}
        self._server: ForkServer | None = None
        self.replaced = 0
        self.repeated: Repeated | None = None
        self._threads = [
            threading.Thread(target=self._serve, args=(slot,), name=f"relfast-{slot}", daemon=True)
            for slot in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, item: WorkItem) -> None:
        """Queue an item. Raises `WorkerError` once the pool is closed."""
        with self._changed:
            if self._closing:
                raise WorkerError("the pool is closed")
            self._queue.append(item)
            self._changed.notify()

    @property
    def waiting(self) -> int:
        """Work items that no worker has begun."""
        return len(self._queue)

    def pids(self) -> list[int]:
        """Process ids of the live workers."""
        return [worker.pid for worker in list(self._live.values())]

    def n_slow(self, seconds: float) -> int:
        """Workers that have been at one record, or one batch, for longer than ``seconds``."""
        with self._changed:
            return sum((worker.in_flight.seconds() or 0.0) > seconds for worker in self._live.values())

    def in_flight(self) -> set[Place]:
        """The records that workers are scoring at this moment."""
        with self._changed:
            places = {worker.in_flight.read() for worker in self._live.values()}
        return {place for place in places if place is not None}

    def abandon(self) -> None:
        """In a forked child: let go of the parent's workers without touching them."""
        # without the lock: a thread that is not here may have held it
        for worker in list(self._live.values()):
            worker.abandon()
        self._live.clear()
        self._server = None

    def close(self) -> None:
        """End all workers now; items that are not finished have failed."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            left = list(self._queue)
            self._queue.clear()
            for worker in self._live.values():
                worker.kill()
        _drop(left)
        until = time.monotonic() + _CLOSE_SECONDS
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))
        # after its children, so that it has told how they ended
        if self._server is not None:
            self._server.close()

    # the life of a slot

    def _serve(self, slot: int) -> None:
        shield_thread()
        worker, error = self._start(slot)
        while (item := self._next_item()) is not None:
            if worker is None:
                worker, error = self._start(slot)
            if worker is None:
                self._cannot_start(item, error)
            elif not self._work(slot, worker, item):
                worker = None
        if worker is not None:
            self._end(slot, worker)

    def _next_item(self) -> WorkItem | None:
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            return None if self._closing else self._queue.popleft()

    def _put_back(self, items: Sequence[WorkItem]) -> None:
        with self._changed:
            if not self._closing:
                self._queue.extendleft(reversed(items))
                self._changed.notify(len(items))
                return
        _drop(items)

    def _cannot_start(self, item: WorkItem, error: WorkerError) -> None:
        with self._changed:
            if self._live and not self._closing:
                # the others go on; the machine may have room for one more later
                self._queue.appendleft(item)
                self._changed.notify()
                self._changed.wait(_CHECK_SECONDS)
                return
        item.failed(error)

    def _start(self, slot: int) -> tuple[Worker | None, WorkerError]:
        """A worker that is ready, or why there is none."""
        error = WorkerError("the pool is closed")
        failures = kills = 0
        while not self._closing and failures < MAX_STARTS and kills < MAX_KILLED_STARTS:
            asked = time.monotonic()
            try:
                worker = Worker(self._setup, self._fork_server())
            except ServerGone as gone:
                error = _not_ready(gone.status)
                failures += gone.status >= 0
                kills += gone.status < 0
                continue
            except OSError as reason:
                error = WorkerError(f"cannot start a worker: {reason.strerror or reason}")
                failures += 1
                with self._changed:
                    self._changed.wait(0.1 * 2**failures)
                continue
            with self._changed:
                self._live[slot] = worker
                if self._closing:
                    worker.kill()
            hello = None
            with contextlib.suppress(EOFError, OSError):
                if worker.wait_answer(START_SECONDS):
                    hello = worker.receive()
            if isinstance(hello, wire.Ready):
                self.repeated = hello.repeated
                self._tell(f"worker {worker.pid} ready after {time.monotonic() - asked:.2f} s")
                return worker, error
            status = self._end(slot, worker)
            if isinstance(hello, WorkerError):
                return None, hello
            error = _not_ready(status)
            failures += status >= 0
            kills += status < 0
        return None, error

    def _end(self, slot: int, worker: Worker) -> int:
        with self._changed:
            # from here on its pipes are closed, and `close` must not touch it
            self._live.pop(slot, None)
        return worker.end()

    def _work(self, slot: int, worker: Worker, item: WorkItem) -> bool:
        """Have an item done; False if the worker is no more."""
        worker.frozen = False
        try:
            request = item.request()
            try:
                worker.send(request)
            except OSError:
                raise Died from None
            for message in self._answers(worker):
                if isinstance(message, WorkerError):
                    item.failed(message)
                    return True
                item.answer(message)
            item.finished()
            return True
        except Died as died:
            death = self._death(slot, worker, died)
            if self._closing:
                _drop([item])
                return False
            self.replaced += 1
            why = "met the deadline" if death.timed_out else death.describe()
            self._tell(f"worker {worker.pid} {why}{_at(death.place)}; another one takes over")
            worker.server.import_tasks()
            self._put_back(item.died(death))
        except Exception as error:
            # a fault of ours must not leave anybody waiting for ever
            worker.kill()
            self._end(slot, worker)
            item.failed(WorkerError(f"{type(error).__name__}: {error}"))
        return False

    def _answers(self, worker: Worker) -> Iterator[Any]:
        """The answers to a request, up to the None that ends them. Raises `Died`."""
        slow: Place | None = None
        while True:
            waited = 0.0
            while not worker.wait_answer(_LOOK_SECONDS):
                waited += _LOOK_SECONDS
                if 0 < worker.in_flight.memory_limit() < wire.own_memory(worker.pid):
                    worker.kill()
                    raise Died(too_large=True)
                slow = self._tell_slow(worker, slow)
                if self._is_stuck(worker, waited):
                    worker.kill()
                    raise Died(silent=True)
            try:
                message = worker.receive()
            except Exception as error:
                # the end of the pipe, or what a process with broken memory writes before it dies
                if not isinstance(error, EOFError):
                    self._tell(f"worker {worker.pid} said what cannot be read: {error!r}")
                worker.kill()
                raise Died from None
            if message is None:
                return
            yield message

    def _tell_slow(self, worker: Worker, told: Place | None) -> Place | None:
        """Tell once of a record that has been at work for long; the one that was told of last."""
        place, seconds = worker.in_flight.read(), worker.in_flight.seconds()
        if place is None or place == told or seconds is None or seconds < SLOW_SECONDS:
            return told
        self._tell(f"worker {worker.pid} has been at work for {seconds:.1f} s{_at(place)}")
        return place

    def _is_stuck(self, worker: Worker, waited: float) -> bool:
        if not self.job.timeout:
            return False
        overdue = worker.in_flight.overdue()
        return waited > SILENT_SECONDS if overdue is None else overdue > GRACE_SECONDS

    def _death(self, slot: int, worker: Worker, died: Died) -> Death:
        place, seconds = worker.in_flight.read(), worker.in_flight.seconds() or 0.0
        worked_before = worker.in_flight.worked_before()
        status = self._end(slot, worker)
        ours = died.silent or died.too_large
        if status == LOST or (-status in FROM_OUTSIDE and not ours and seconds < BLAME_SECONDS):
            place = None
        idle = worker.worked is not None and worker.worked - worked_before < LEAST_WORK * seconds
        return Death(status, place, died.silent, worker.frozen, idle, died.too_large)

    def _fork_server(self) -> ForkServer:
        with self._changed:
            if self._server is None or self._server.gone:
                self._server = ForkServer(self.job.data)
            return self._server


def _not_ready(status: int) -> WorkerError:
    return WorkerError(f"a worker {Death(status, None).describe()} before it was ready")


def _drop(items: Sequence[WorkItem]) -> None:
    """Have items of a closed pool fail."""
    for item in items:
        item.failed(WorkerError("the pool is closed"))


def _at(place: Place | None) -> str:
    return "" if place is None else f" on index {place[0]}, sample {place[1]}"
