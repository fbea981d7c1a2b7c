"""A pool of worker processes that survives records that hang or crash a worker.

One thread per worker sends it work and waits for its answers. A worker that dies (deadline, signal, out of
memory) is replaced: the scores it had reported are kept, the record it was working on is blamed or tried
again (`failures`), and the rest of its work goes back into the queue.
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

from relfast_kernels.caches import report

from relfast.embed import vectors_cache
from relfast.engine.columns.blocks import Tell, tell_nobody
from relfast.engine.columns.gold_records import Repeated
from relfast.engine.isolated import protocol as wire
from relfast.engine.isolated.failures import FROM_OUTSIDE, LOST, Death, Died
from relfast.engine.isolated.forkserver import START_SECONDS, ForkServer, ServerGone
from relfast.engine.isolated.protocol import WorkItem
from relfast.engine.job import Job
from relfast.errors import WorkerError
from relfast.records import Place
from relfast.support.deadlines import LEAST_WORK
from relfast.support.system import usable_cores

GRACE_SECONDS: Final = 10.0
"""How long after its deadline a silent worker is killed by the parent. Normally the operating system's timer
has ended it long before; this is for a worker that was stopped (Ctrl-Z)."""

SILENT_SECONDS: Final = 300.0
"""Longest silence while no deadline runs: between records, at worst on a slow disk, or over work that ends by
itself. Without deadlines (``--timeout 0``) any silence is borne."""

MAX_STARTS: Final = 5
"""Starts in a row that may fail by themselves before the pool gives up: the installation must be broken."""

MAX_KILLED_STARTS: Final = 50
"""Starts in a row that a signal may end before the pool gives up: whoever kills workers may yet stop."""

BLAME_SECONDS: Final = 0.1
"""A record is blamed for a signal from outside, such as SIGKILL, only if it had been scored for this long.
Linux kills a process for lack of memory, which takes longer to fill; other senders do not know the record."""

_CHECK_SECONDS: Final = 1.0

_LOOK_SECONDS: Final = 0.1
"""How often the memory of a busy worker is checked; scoring a molecule takes up to 100 MB more meanwhile."""

SLOW_SECONDS: Final = 0.5
"""``-v`` reports a record that takes longer; nearly all take less than 10 ms."""

_CLOSE_SECONDS: Final = 1.5


_END_SECONDS: Final = 0.2
_PIPE_BYTES: Final = 1 << 20


def shield_thread() -> None:
    """Block SIGPIPE in a thread that writes to workers: if the caller's program uses the signal's default
    action, writing to a dead worker would end the program."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})


class Worker:
    """One worker process.

    Parameters
    ----------
    setup
        The job and the number of cores; the first message that it gets.
    server
        The fork server that starts it.
    counts
        The descriptor of the pool's counts of lines.

    Raises
    ------
    OSError, ServerGone
        The worker cannot be started.
    """

    def __init__(self, setup: wire.Setup, server: ForkServer, counts: int) -> None:
        self.server = server
        with contextlib.ExitStack() as on_failure, contextlib.ExitStack() as always:
            page = os.memfd_create("relfast-in-flight")
            on_failure.callback(os.close, page)
            os.ftruncate(page, wire.PAGE)
            requests_out, self._requests = os.pipe()
            on_failure.callback(os.close, self._requests)
            always.callback(os.close, requests_out)
            self._answers, answers_in = os.pipe()
            on_failure.callback(os.close, self._answers)
            always.callback(os.close, answers_in)
            for end in (self._requests, self._answers):
                with contextlib.suppress(OSError):
                    fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            self.pid = server.fork(requests_out, answers_in, page, counts)
            on_failure.pop_all()
        self.in_flight = wire.InFlight(page)
        self.frozen = False
        """Whether this process seems to have been stopped (Ctrl-Z) while it waited for the worker."""
        self.worked: float | None = None
        """CPU seconds of the whole worker process; known once it has ended."""
        self._poller = select.poll()
        self._poller.register(self._answers, select.POLLIN)
        with contextlib.suppress(OSError):
            # if the worker has died already, waiting for its answer will show it
            self.send(setup)

    def send(self, message: Any) -> None:
        """Send a request. Raises `OSError` if the worker has ended."""
        wire.send(self._requests, message)

    def receive(self) -> Any:
        """The next answer. Raises `EOFError` if the worker has ended."""
        return wire.receive(self._answers)

    def wait_answer(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for an answer; whether there is one to receive."""
        began = time.monotonic()
        ready = bool(self._poller.poll(1000 * seconds))
        if time.monotonic() - began > seconds + 1:
            self.frozen = True
        return ready

    def kill(self) -> None:
        self.server.kill(self.pid)

    def end(self) -> int:
        """End the worker and wait for it; its exit status. Call it once."""
        os.close(self._requests)
        # an idle worker exits by itself when the pipe of requests is closed
        end = self.server.wait(self.pid, _END_SECONDS)
        while end is None:
            self.kill()
            end = self.server.wait(self.pid, None)
        status, self.worked = end
        os.close(self._answers)
        self.in_flight.close()
        return status

    def abandon(self) -> None:
        """In a forked child: close its copies of the pipes. The worker goes on serving the parent."""
        for descriptor in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self.in_flight.close()


class Pool:
    """Worker processes for one job, and a queue of work for them.

    Parameters
    ----------
    job
        The settings that the workers score with.
    workers
        Number of workers.
    tell
        Gets a line about each worker that starts or dies, and each record that takes long.

    Once a worker is ready, ``repeated`` describes the ids that have different gold records, if any.
    """

    def __init__(self, job: Job, workers: int, *, tell: Tell = tell_nobody) -> None:
        self._tell = tell
        report(*filter(None, [vectors_cache()]))
        # absolute paths: the caller may change its directory before later workers start
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
        counts = os.memfd_create("relfast-line-counts")
        os.ftruncate(counts, wire.PAGE)
        self.counts = wire.LineCounts(counts)
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

    def withdraw(self) -> None:
        """Forget the items that no worker has begun."""
        with self._changed:
            self._queue.clear()

    @property
    def waiting(self) -> int:
        """Number of work items that no worker has begun."""
        return len(self._queue)

    def pids(self) -> list[int]:
        """Process ids of the live workers."""
        return [worker.pid for worker in list(self._live.values())]

    def n_slow(self, seconds: float) -> int:
        """Number of records that have been in flight for longer than ``seconds``. What takes several at once,
        as embedding does, takes its time with none of them."""
        with self._changed:
            working = [worker.in_flight for worker in self._live.values()]
            return sum(each.read() is not None and (each.seconds() or 0.0) > seconds for each in working)

    def abandon(self) -> None:
        """In a forked child: forget the parent's workers without disturbing them."""
        # without the lock: a thread of the parent, which does not exist here, may hold it
        for worker in list(self._live.values()):
            worker.abandon()
        self._live.clear()
        self._server = None
        self.counts.close()

    def close(self) -> None:
        """End all workers now; items that are not finished fail."""
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
        # the fork server last, since it reports how its workers ended
        if self._server is not None:
            self._server.close()
        self.counts.close()

    # one thread per slot: starts a worker, gives it items, replaces it when it dies

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
                # other workers are running: they take the item, or this slot tries again later
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
            began = time.monotonic()
            try:
                worker = Worker(self._setup, self._fork_server(), self.counts.descriptor)
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
                self._tell(f"worker {worker.pid} ready after {time.monotonic() - began:.2f} s")
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
            # from here on its pipes are being closed: `close` must not kill it any more
            self._live.pop(slot, None)
        return worker.end()

    def _work(self, slot: int, worker: Worker, item: WorkItem) -> bool:
        """Let a worker do an item; False if the worker has ended."""
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
            # a bug in relfast must not leave the caller waiting for ever
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
                # the pipe has ended, or a process with corrupted memory wrote garbage before it died
                if not isinstance(error, EOFError):
                    self._tell(f"worker {worker.pid} said what cannot be read: {error!r}")
                worker.kill()
                raise Died from None
            if message is None:
                return
            yield message

    def _tell_slow(self, worker: Worker, reported: Place | None) -> Place | None:
        """Report a record that takes long, once; ``reported`` is the last one. Returns the new last one."""
        place, seconds = worker.in_flight.read(), worker.in_flight.seconds()
        if place is None or place == reported or seconds is None or seconds < SLOW_SECONDS:
            return reported
        self._tell(f"worker {worker.pid} has been at work for {seconds:.1f} s{_at(place)}")
        return place

    def _is_stuck(self, worker: Worker, waited: float) -> bool:
        """Whether a worker is silent for too long: past its deadline, or with no record in flight."""
        if not self.job.timeout:
            return False
        overdue = worker.in_flight.overdue()
        return waited > SILENT_SECONDS if overdue is None else overdue > GRACE_SECONDS

    def _death(self, slot: int, worker: Worker, died: Died) -> Death:
        """End what is left of a dead worker; how it died, and with which record in flight."""
        place, seconds = worker.in_flight.read(), worker.in_flight.seconds() or 0.0
        worked_before = worker.in_flight.worked_before()
        status = self._end(slot, worker)
        killed_by_pool = died.silent or died.too_large
        if status == LOST or (-status in FROM_OUTSIDE and not killed_by_pool and seconds < BLAME_SECONDS):
            place = None
        hardly_ran = worker.worked is not None and worker.worked - worked_before < LEAST_WORK * seconds
        return Death(status, place, died.silent, worker.frozen, hardly_ran, died.too_large)

    def _fork_server(self) -> ForkServer:
        with self._changed:
            if self._server is None or self._server.gone:
                self._server = ForkServer(self.job.data, strict=self.job.options.strict)
            return self._server


def _not_ready(status: int) -> WorkerError:
    return WorkerError(f"a worker {Death(status, None).describe()} before it was ready")


def _drop(items: Sequence[WorkItem]) -> None:
    """Fail items because the pool is closed."""
    for item in items:
        item.failed(WorkerError("the pool is closed"))


def _at(place: Place | None) -> str:
    return "" if place is None else f" on index {place[0]}, sample {place[1]}"
