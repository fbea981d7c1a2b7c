"""A worker as the pool sees it: requests and answers, its page, its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import time
from typing import TYPE_CHECKING, Any, Final

from relfast.engine.pool import protocol as wire
from relfast.engine.pool.forkserver import ForkServer
from relfast.errors import WorkerError

if TYPE_CHECKING:
    from relfast.engine.pool.protocol import WorkItem

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


def failure_of(failure: wire.Failure, prefix: str = "") -> WorkerError:
    """What a worker says of a failure of the machinery; `original` where it was an error of relfast's."""
    if failure.error is not None:
        return WorkerError(failure.message, failure.error)
    return WorkerError(f"{prefix}{failure.kind}: {failure.message}")
