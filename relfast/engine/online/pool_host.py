"""The process that holds the pool which others share: ``python -m relfast.engine.online.pool_host PID FD``.

It is started by the first who needs it (`relfast.engine.online.shared_pool`), which hands over the socket it
listens at, and ends when nobody has been connected for a while. Connections say which job they are of; each
job has a pool, so processes with the same options share its workers.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import sys
import threading
from typing import Any, Final

from relfast.cores import default_workers, usable_cores
from relfast.engine.job import Job
from relfast.engine.online.pending import PendingScore
from relfast.engine.online.record_work import RecordPool
from relfast.engine.online.shared_pool import is_ours
from relfast.engine.pool import protocol as wire
from relfast.records import Record, Score

LINGER_SECONDS: Final = 20.0
"""How long the host stays when nobody is connected: a trainer's processes come and go."""

LINGER_VARIABLE: Final = "RELFAST_POOL_LINGER"


class Host:
    """The pools, one a job, and those connected."""

    def __init__(self, workers: int, linger: float = LINGER_SECONDS) -> None:
        self._workers, self._linger = workers, linger
        self._lock = threading.Lock()
        self._pools: dict[str, RecordPool] = {}
        self._connected = 0

    def serve(self, listener: socket.socket) -> None:
        """Until nobody has been connected for so long."""
        listener.settimeout(self._linger)
        while True:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                with self._lock:
                    if not self._connected:
                        return
                continue
            connection.settimeout(None)
            if not is_ours(connection):
                connection.close()
                continue
            with self._lock:
                self._connected += 1
            threading.Thread(target=self._attend, args=(connection,), daemon=True).start()

    def close(self) -> None:
        for each in self._pools.values():
            each.close()

    def _pool_of(self, job: Job) -> RecordPool:
        key = repr(sorted(job.decides().items())) + repr(job.data)
        with self._lock:
            if key not in self._pools:
                self._pools[key] = RecordPool(job, self._workers)
            return self._pools[key]

    def _attend(self, connection: socket.socket) -> None:
        """One connection: its job, then lists of records; scores go back as they come."""
        back: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            with connection, contextlib.suppress(OSError, EOFError):
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
        finally:
            with self._lock:
                self._connected -= 1


def _pending(record: Record, back: queue.SimpleQueue[Any]) -> PendingScore:
    """A record of somebody else's, whose score goes back under the number it came with."""
    index = record.index
    pending = PendingScore(record)
    pending.when_done(lambda score: back.put((index, score)))
    return pending


def _write(connection: socket.socket, back: queue.SimpleQueue[Any]) -> None:
    """Send scores, all that are there at once. Ends with a None, or when nobody reads them any more."""
    with contextlib.suppress(OSError):
        while True:
            ready: list[tuple[int, Score]] = []
            item = back.get()
            while item is not None:
                ready.append(item)
                try:
                    item = back.get_nowait()
                except queue.Empty:
                    break
            if ready:
                wire.send(connection.fileno(), ready)
            if item is None:
                return


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for those who wait; it leaves after them
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    listener = socket.socket(fileno=int(sys.argv[2]))
    path = listener.getsockname()
    linger = float(os.environ.get(LINGER_VARIABLE) or LINGER_SECONDS)
    host = Host(default_workers() or usable_cores(), linger)
    try:
        host.serve(listener)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        listener.close()
        host.close()


if __name__ == "__main__":
    main()
