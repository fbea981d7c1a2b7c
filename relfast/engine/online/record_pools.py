"""Pools of workers that score records: one for this process alone, or one that several processes share.

Kernels score nearly all records without a worker; the records that come here take a worker 0.1 ms or more.
Records of one call are sent to a worker a few at a time, since only that call waits for them.

A shared pool lives in a host process, to which clients send records and which sends scores back. The first
client that needs the host starts it (``python -m relfast.engine.online.record_pools PID FD``) and passes it
the listening socket. Each connection begins with its job; the host has one pool for each job, so processes
with equal options share workers. The host exits when nobody has been connected for a while. If it dies, a
client starts a new one and sends it all records without a score again. Records cannot end the host, only its
workers, which it replaces by the usual rules (`relfast.engine.pool.failures`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import signal
import socket
import stat
import sys
import tempfile
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import relfast
from relfast.cores import default_workers, usable_cores
from relfast.engine.job import Job
from relfast.engine.online.pending import PendingScore
from relfast.engine.pool import protocol as wire
from relfast.engine.pool.failures import Death, Failures, blamed
from relfast.engine.pool.forkserver import start
from relfast.engine.pool.pool import Pool
from relfast.engine.pool.protocol import RecordsRequest, WorkItem
from relfast.errors import UsageError, WorkerError
from relfast.meeting import reach, serve
from relfast.records import Record, Score

TOGETHER: Final = 8
"""Most records of a work item; sent one by one, REL-C3 with ``details`` takes 400 µs a record, not 130."""


class RecordWork(WorkItem):
    """A work item of some records with pending scores; a worker scores them in this order."""

    def __init__(
        self, pending: Sequence[PendingScore], timeout: float, failures: Failures | None = None
    ) -> None:
        self._left = {each.record.index: each for each in pending}
        self._timeout = timeout
        self._failures = failures or Failures()

    def request(self) -> RecordsRequest:
        return RecordsRequest([each.record for each in self._left.values()])

    def answer(self, message: Any) -> None:
        for score in message:
            self._left.pop(score.index).set_score(score)

    def died(self, death: Death) -> Sequence[WorkItem]:
        """Each remaining record becomes an item of its own, so that several that hang do so in parallel."""
        left = list(self._left.values())
        alone = left[0] if len(left) == 1 else None
        culprit = blamed(death, lambda place: self._left.get(place[0]), alone)
        if culprit is None:
            if message := self._failures.idle(death):
                self.failed(WorkerError(message))
                return ()
        elif verdict := self._failures.blame(death, self._timeout):
            culprit.set_unscored(*verdict)
            left.remove(culprit)
        keeper = culprit or alone
        return [
            RecordWork([each], self._timeout, self._failures if each is keeper else None) for each in left
        ]

    def failed(self, error: WorkerError) -> None:
        for each in self._left.values():
            each.set_failed(str(error))


class RecordPool(Pool):
    """A pool of workers for records."""

    def score(self, pending: Sequence[PendingScore]) -> None:
        """Have the records of a call scored. Each gets a row, unscored after `close` or if workers fail."""
        size = max(1, min(TOGETHER, len(pending) // (2 * self.workers)))
        for at in range(0, len(pending), size):
            work = RecordWork(pending[at : at + size], self.job.timeout)
            try:
                self.submit(work)
            except WorkerError as error:  # closed
                work.failed(error)


POOL_VARIABLE: Final = "RELFAST_POOL"
"""``shared``, or the path of a socket: reward functions in all processes with this value share a pool."""

SHARED: Final = "shared"

_MAX_PATH: Final = 100  # the kernel's limit for sockets is 107 bytes


def place_of(value: str | None) -> str | None:
    """The socket path for a value of ``RELFAST_POOL``; None if it is not set.

    Raises
    ------
    UsageError
        The path is too long for a socket, or its folder is missing or accessible to other users.
    """
    if not value:
        return None
    path = _own_folder() / f"{_version()}.sock" if value == SHARED else Path(value).absolute()
    if len(os.fsencode(path)) > _MAX_PATH:
        raise UsageError(f"{POOL_VARIABLE}: a socket's path has {_MAX_PATH} bytes at most: {str(path)[:200]}")
    folder = path.parent
    try:
        about = folder.stat()
    except OSError as error:
        raise UsageError(f"{POOL_VARIABLE}: {folder} is no folder ({error.strerror})") from None
    if about.st_uid != os.getuid() or about.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"{POOL_VARIABLE}: {folder} must be yours and closed to others: chmod 700 {folder}")
    return str(path)


def _own_folder() -> Path:
    """This user's folder for sockets; it is created if missing."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(runtime) if runtime and os.access(runtime, os.W_OK) else Path(tempfile.gettempdir())
    folder = base / f"relfast-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _version() -> str:
    """A hash of relfast's version, its folder and the Python: part of the socket's name, so that different
    installations, which might score differently, never share a host."""
    what = (relfast.__version__, str(Path(relfast.__file__).parent), sys.executable, sys.version)
    return hashlib.sha256("\n".join(what).encode("utf-8", "surrogatepass")).hexdigest()[:16]


ATTEMPTS: Final = 5
"""Hosts that may die in a row, without one score in between, before the records are given up."""


class SharedPool:
    """This process's connection to the host of a shared pool. Thread-safe.

    Parameters
    ----------
    job
        The settings to score with.
    place
        Path of the host's socket.

    Attributes
    ----------
    replaced
        Number of hosts that died.
    """

    def __init__(self, job: Job, place: str) -> None:
        self._job, self._place = job, place
        self._lock = threading.Lock()
        self._waiting: dict[int, PendingScore] = {}
        self._connection: socket.socket | None = None
        self._closed = False
        self._lost = 0
        self.replaced = 0
        self.host: int | None = None

    def pids(self) -> list[int]:
        """Empty: the workers belong to the host."""
        return []

    def score(self, entries: Sequence[PendingScore]) -> None:
        """Have entries scored. Each gets a row, unscored after `close` or if no host can be reached."""
        with self._lock:
            if self._closed:
                left: Sequence[PendingScore] = entries
            else:
                self._waiting.update((entry.record.index, entry) for entry in entries)
                left = self._send(entries)
        _settle(left, "the scorer was closed" if self._closed else f"no shared pool at {self._place}")

    def close(self) -> None:
        """Close the connection; records that wait for a score get unscored rows."""
        with self._lock:
            self._closed = True
            left = list(self._waiting.values())
            self._waiting.clear()
            self._drop()
        _settle(left, "the scorer was closed")

    def abandon(self) -> None:
        """In a forked child: forget the connection, which the parent's reader thread uses."""
        if self._connection is not None:
            # closes the child's descriptor only; the parent's stays
            self._connection.close()
            self._connection = None

    # methods to call with the lock held

    def _send(self, entries: Sequence[PendingScore]) -> list[PendingScore]:
        """Send records. Returns the entries to give up: none, or all that wait if no host can be reached."""
        while self._lost < ATTEMPTS:
            try:
                if self._connection is None:
                    self._connect()
                    entries = list(self._waiting.values())
                assert self._connection is not None
                _tell(self._connection, [entry.record for entry in entries])
                return []
            except (OSError, EOFError):
                self._lost += 1
                self._drop()
        self._lost = 0
        left = list(self._waiting.values())
        self._waiting.clear()
        return left

    def _connect(self) -> None:
        connection = reach(self._place, partial(start, "relfast.engine.online.record_pools"))
        try:
            _tell(connection, self._job)
            self.host = wire.receive(connection.fileno()).pid
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        threading.Thread(target=self._read, args=(connection,), name="relfast-shared", daemon=True).start()

    def _drop(self) -> None:
        if self._connection is not None:
            # wakes the reader thread, which closes the connection
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._connection = None

    # the reader thread

    def _read(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, EOFError):
            while True:
                for index, score in wire.receive(connection.fileno()):
                    with self._lock:
                        entry = self._waiting.pop(index, None)
                        self._lost = 0
                    if entry is not None:
                        entry.set_score(score)
        left: list[PendingScore] = []
        with self._lock:
            if self._connection is connection:
                self._connection = None
                self.replaced += 1
                self._lost += 1
                if self._waiting:
                    left = self._send(())
        _settle(left, f"no shared pool at {self._place}")


def _settle(entries: Sequence[PendingScore], why: str) -> None:
    for entry in entries:
        entry.set_failed(why)


def _tell(connection: socket.socket, message: Any) -> None:
    # if the host is dead, this raises an error here instead of sending SIGPIPE to the caller's process
    connection.sendall(wire.frame(message), socket.MSG_NOSIGNAL)


# the host's side

LINGER_SECONDS: Final = 20.0
"""How long the host lives on when nobody is connected: a trainer's processes come and go."""

LINGER_VARIABLE: Final = "RELFAST_POOL_LINGER"


class Host:
    """The host process of a shared pool; it has one `RecordPool` for each job."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._lock = threading.Lock()
        self._pools: dict[str, RecordPool] = {}

    def close(self) -> None:
        for each in self._pools.values():
            each.close()

    def _pool_of(self, job: Job) -> RecordPool:
        key = repr(sorted(job.decides().items())) + repr(job.data)
        with self._lock:
            if key not in self._pools:
                self._pools[key] = RecordPool(job, self._workers)
            return self._pools[key]

    def attend(self, connection: socket.socket) -> None:
        """Serve one connection: receive its job, then lists of records; scores go back as they come."""
        back: queue.SimpleQueue[Any] = queue.SimpleQueue()
        pool = self._pool_of(wire.receive(connection.fileno()))
        wire.send(connection.fileno(), wire.Ready(os.getpid()))
        writer = threading.Thread(target=_write, args=(connection, back), daemon=True)
        writer.start()
        try:
            while True:
                pool.score([_pending(each, back) for each in wire.receive(connection.fileno())])
        finally:
            back.put(None)
            writer.join()


def _pending(record: Record, back: queue.SimpleQueue[Any]) -> PendingScore:
    """The pending score of a client's record; the score goes back under the index that the client sent."""
    index = record.index
    pending = PendingScore(record)
    pending.add_done_callback(lambda done: back.put((index, done.result())))
    return pending


def _write(connection: socket.socket, back: queue.SimpleQueue[Any]) -> None:
    """Send scores, all that are ready at once. Ends at a None, or when the client reads no more."""
    with contextlib.suppress(OSError):
        while (item := back.get()) is not None:
            ready: list[tuple[int, Score]] = [item]
            while not back.empty() and (item := back.get()) is not None:
                ready.append(item)
            wire.send(connection.fileno(), ready)
            if item is None:
                return


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the clients; the host exits after them
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    linger = float(os.environ.get(LINGER_VARIABLE) or LINGER_SECONDS)
    host = Host(default_workers() or usable_cores())
    try:
        with socket.socket(fileno=int(sys.argv[2])) as listener:
            serve(listener, linger, host.attend)
    finally:
        host.close()


if __name__ == "__main__":
    main()
