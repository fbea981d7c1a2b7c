"""Worker processes as the pool sees them: pipes, page, start and end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final, Protocol

from relfast.engine import wire
from relfast.engine.forkserver import ForkServer
from relfast.engine.job import Job
from relfast.errors import WorkerError

STACK_BYTES: Final = 64 * 2**20
"""Stack of a worker: RDKit recurses once per atom of a chain, and 8 MB overflow at 16,000 atoms."""

MEMORY_BYTES: Final = 4 * 2**30
"""Address space of a worker; a ring of 20,000 atoms would take 11 GB."""

_END_SECONDS: Final = 0.2
_PIPE_BYTES: Final = 1 << 20


def shield_thread() -> None:
    """Prepare a thread of ours that starts and feeds children.

    Where the caller has given SIGPIPE its default action, a dead worker's pipe would end the caller. And a
    child inherits what its starter blocks: Ctrl-C while it imports must not fill the terminal with its
    traceback.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE, signal.SIGINT})


def start_child(module: str, *arguments: int, stdin: int, **more: Any) -> subprocess.Popen[bytes]:
    """``python -m MODULE OUR_PID ARGUMENTS…``: by exec, so that nothing of the caller is in it.

    Raises
    ------
    OSError
        It cannot be started.
    """
    if not sys.executable:
        raise OSError("this interpreter does not know its own program (sys.executable)")
    # -P: the caller's directory may hold a module that shadows one of ours
    command = [sys.executable, "-P", "-m", module, *map(str, (os.getpid(), *arguments))]
    return subprocess.Popen(command, stdin=stdin, env=_environment(), **more)


def start_helper(module: str, *, stdin: int) -> subprocess.Popen[bytes]:
    """A fork server's process: it has nothing to say."""
    return start_child(module, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _environment() -> dict[str, str]:
    """The caller's environment, with the packages findable where the caller found them."""
    import relfast_kernels

    import relfast

    roots = [str(Path(module.__file__ or "").parent.parent) for module in (relfast, relfast_kernels)]
    before = os.environ.get("PYTHONPATH")
    path = os.pathsep.join(dict.fromkeys([*roots, *(before.split(os.pathsep) if before else [])]))
    return {**os.environ, "PYTHONPATH": path}


class Process(Protocol):
    """What is asked of a process: `subprocess.Popen` and `ForkedProcess` both have it."""

    @property
    def pid(self) -> int: ...

    def kill(self) -> None: ...

    def wait(self, timeout: float | None = None) -> int: ...


class Worker:
    """One child process, its pipes and its page.

    Parameters
    ----------
    job, memory
        What it scores with; its address space in bytes, 0 = no limit.
    server
        Forks it, if there is one that is ready.

    Raises
    ------
    OSError
        It cannot be started.
    """

    def __init__(self, job: Job, memory: int, server: ForkServer | None = None) -> None:
        with contextlib.ExitStack() as undo:
            self.in_flight = wire.InFlight()
            undo.callback(self.in_flight.close)
            requests_out, self._requests = _pipe()
            undo.callback(self._close_pipes)
            self._answers = -1
            try:
                self._answers, answers_in = _pipe()
                try:
                    self._process = _start(requests_out, answers_in, self.in_flight.descriptor, server)
                finally:
                    os.close(answers_in)
            finally:
                os.close(requests_out)
            undo.pop_all()
        self.pid = self._process.pid
        self.frozen = False
        """Whether this process seems to have been stopped (Ctrl-Z) while it waited for the worker."""
        self._poller = select.poll()
        self._poller.register(self._answers, select.POLLIN)
        with contextlib.suppress(OSError):
            # a worker that is gone already shows when it is waited for
            self.send(wire.Setup(job, memory, STACK_BYTES))

    def send(self, message: Any) -> None:
        """Send a request; raises `OSError` if the worker is gone."""
        wire.send(self._requests, message)

    def receive(self) -> Any:
        """The next answer; raises `EOFError` if the worker is gone."""
        return wire.receive(self._answers)

    def wait_answer(self, seconds: float) -> bool:
        """Whether there is something to receive within ``seconds``."""
        asked = time.monotonic()
        ready = bool(self._poller.poll(1000 * seconds))
        if time.monotonic() - asked > seconds + 1:
            self.frozen = True
        return ready

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> int:
        """Make sure it is gone; its exit status. Can be called once."""
        self._close_requests()
        try:
            # without requests it leaves by itself, unless it is at work
            status = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._close_pipes()
        self.in_flight.close()
        return status

    def _close_requests(self) -> None:
        if self._requests >= 0:
            os.close(self._requests)
            self._requests = -1

    def _close_pipes(self) -> None:
        self._close_requests()
        if self._answers >= 0:
            os.close(self._answers)
            self._answers = -1


def _pipe() -> tuple[int, int]:
    ends = os.pipe()
    with contextlib.suppress(OSError):
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return ends


def _start(requests: int, answers: int, page: int, server: ForkServer | None) -> Process:
    if server is not None and server.ready:
        with contextlib.suppress(OSError):
            return server.fork(requests, answers, page)
    return start_child("relfast.engine.worker", page, stdin=requests, stdout=answers, pass_fds=(page,))


def failure_of(failure: wire.Failure, prefix: str = "") -> WorkerError:
    """What a worker says of a failure of the machinery; `original` where it was an error of relfast's."""
    if failure.error is not None:
        return WorkerError(failure.message, failure.error)
    return WorkerError(f"{prefix}{failure.kind}: {failure.message}")
