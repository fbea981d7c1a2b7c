"""A worker as the pool sees it: requests and answers, its page, its end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from typing import TYPE_CHECKING, Any, Final

from relfast.engine.pool import protocol as wire
from relfast.engine.pool.launch import Launched, launch, launch_with, timeout_expired
from relfast.errors import WorkerError

if TYPE_CHECKING:
    from relfast.engine.pool.forkserver import ForkServer
    from relfast.engine.pool.protocol import WorkItem

_END_SECONDS: Final = 0.2


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
        Forks it, if there is one that is ready.

    Raises
    ------
    OSError
        It cannot be started.
    """

    def __init__(self, setup: wire.Setup, server: ForkServer | None = None) -> None:
        self._process, self._requests, self._answers, page = _launched(server)
        self.in_flight = wire.InFlight(page)
        self.pid = self._process.pid
        self.frozen = False
        """Whether this process seems to have been stopped (Ctrl-Z) while it waited for the worker."""
        self.worked: float | None = None
        """CPU seconds that it spent in its life; known once it is gone."""
        self.ahead: WorkItem | None = None
        """What it was sent before it was done with another item."""
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

    def not_begun(self) -> list[WorkItem]:
        """What it was sent and will not do, now that it is gone."""
        left, self.ahead = self.ahead, None
        return [] if left is None else [left]

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> int:
        """Make sure it is gone; its exit status. To be called once."""
        os.close(self._requests)
        self.worked = cpu_seconds(self.pid)
        try:
            # without requests it leaves by itself, unless it is at work
            status = self._process.wait(_END_SECONDS)
        except timeout_expired():
            self._process.kill()
            status = self._process.wait()
        # one that was forked by a helper is known to that more exactly
        self.worked = getattr(self._process, "worked", self.worked)
        os.close(self._answers)
        self.in_flight.close()
        return status

    def abandon(self) -> None:
        """Close this process's ends of the pipes: in a forked child, whose parent goes on with the worker."""
        for descriptor in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self.in_flight.close()
        self._process.returncode = 0  # not ours to wait for


def cpu_seconds(pid: int) -> float | None:
    """What a process has spent; None if it is no more (one that nobody waited for yet still is)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            after_name = file.read().rpartition(b")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def _launched(server: ForkServer | None) -> Launched:
    if server is not None and server.ready:
        with contextlib.suppress(OSError):
            return launch_with(server.fork)
    return launch()


def failure_of(failure: wire.Failure, prefix: str = "") -> WorkerError:
    """What a worker says of a failure of the machinery; `original` where it was an error of relfast's."""
    if failure.error is not None:
        return WorkerError(failure.message, failure.error)
    return WorkerError(f"{prefix}{failure.kind}: {failure.message}")
