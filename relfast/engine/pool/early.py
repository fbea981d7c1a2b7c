"""Workers of a command, forked before it has read its arguments.

To import what scoring needs takes as long as to import the command itself. So the command forks a helper as
its first step: that imports what workers need, makes ready for what the arguments speak of and forks the
workers (`relfast.engine.pool.early_helper`), on another core, while the command imports the rest. Then the
helper ends, and its workers become the command's own children. Only a process of one thread that is about to
be nothing but a command may do so (`relfast.__main__`): a pool within somebody's program starts its workers
by exec, as it does here for those that take over from others.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from relfast.cores import usable_cores
from relfast.engine.pool.early_helper import PID, SIGNALS, be_helper, import_what_workers_need
from relfast.engine.pool.launch import Launched, keep_for_later, launch_with
from relfast.engine.pool.parents import adopt_orphans

_HELPER_SECONDS: Final = 120.0
"""Longest time of the helper, as long as `relfast.engine.pool.pool.START_SECONDS`."""

_FIRST_WAIT: Final = 0.0005
_LONGEST_WAIT: Final = 0.05


class Child:
    """A child that was forked: what `subprocess.Popen` is for a started one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._lock = threading.Lock()

    def kill(self) -> None:
        with self._lock:
            # not yet waited for, the number is still its own
            if not self._is_gone():
                os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, negative for a signal. Raises `subprocess.TimeoutExpired`."""
        until = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_WAIT
        while True:
            with self._lock:
                if self._is_gone():
                    assert self.returncode is not None
                    return self.returncode
            left = _LONGEST_WAIT if until is None else until - time.monotonic()
            if left <= 0:
                import subprocess

                raise subprocess.TimeoutExpired("worker", timeout or 0)
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_WAIT)

    def _is_gone(self) -> bool:
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # the caller ignores SIGCHLD: nobody learns how it ended
                self.returncode = 0
            else:
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode is not None


class Helper:
    """The process that forks the workers, as the command sees it.

    Parameters
    ----------
    process
        The helper.
    pids
        Where it says which workers it has forked (`PID` each), in their order; closed in the end.
    """

    def __init__(self, process: Child, pids: int) -> None:
        self._process, self._pids = process, pids
        self._workers: list[Child] | None = None
        self._lock = threading.Lock()

    def workers(self) -> Sequence[Child]:
        """Its workers, which are this process's children by now: waits until the helper has ended."""
        with self._lock:
            if self._workers is None:
                self._workers = [Child(pid) for (pid,) in PID.iter_unpack(self._read())]
            return self._workers

    def stop(self) -> None:
        """End it, unless it has ended."""
        self._process.kill()

    def _read(self) -> bytes:
        said = b""
        poller = select.poll()
        poller.register(self._pids, select.POLLIN)
        until = time.monotonic() + _HELPER_SECONDS
        while poller.poll(1000 * max(0.0, until - time.monotonic())) and (
            more := os.read(self._pids, 1 << 12)
        ):
            said += more
        self._process.kill()  # where it took too long
        # what it has forked is ours from the moment on at which it is gone
        self._process.wait()
        os.close(self._pids)
        adopt_orphans(False)
        return said[: len(said) // PID.size * PID.size]


class Promised:
    """A worker that a helper is about to fork: what `subprocess.Popen` is for a started one."""

    def __init__(self, helper: Callable[[], Helper], number: int) -> None:
        self.returncode: int | None = None
        self._helper, self._number = helper, number

    @property
    def pid(self) -> int:
        """Its process id; waits until it is there. Raises `OSError` where the helper has not forked it."""
        return self._child().pid

    def kill(self) -> None:
        self._helper().stop()
        with contextlib.suppress(OSError):
            self._child().kill()

    def wait(self, timeout: float | None = None) -> int:
        """As `Child.wait`. Raises `OSError` where there is no such worker."""
        return self._child().wait(timeout)

    def _child(self) -> Child:
        workers = self._helper().workers()
        if self._number >= len(workers):
            raise OSError("the helper that forks workers is gone")
        return workers[self._number]


def prefork(workers: int, arguments: Sequence[str]) -> bool:
    """Have workers forked, for the pool that this command is about to open; whether that could be done.

    ``arguments`` are those of the command, for a glance at what the workers will be asked to do.
    """
    if _n_threads() != 1 or not adopt_orphans(True):
        return False
    if usable_cores() == 1:
        # nobody does anything meanwhile: what both need is imported once
        import_what_workers_need()
    helper: list[Helper] = []
    launched: list[Launched] = []
    theirs: list[tuple[int, int, int]] = []

    def promise(requests: int, answers: int, page: int) -> Promised:
        theirs.append((os.dup(requests), os.dup(answers), page))
        return Promised(lambda: helper[0], len(launched))

    try:
        for _ in range(workers):
            with contextlib.suppress(OSError):  # the pool will meet the same error and report it
                launched.append(launch_with(promise))
        helper.append(_fork(theirs, arguments))
    except OSError:
        adopt_orphans(False)
        for each in launched:
            each.close()
        return False
    finally:
        for requests, answers, _ in theirs:
            os.close(requests)
            os.close(answers)
    keep_for_later(launched)
    return True


def _n_threads() -> int:
    """Threads of this process, those that Python does not know among them; 0 where nobody says."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 0


def _fork(ends: Sequence[tuple[int, int, int]], arguments: Sequence[str]) -> Helper:
    parent = os.getpid()
    pids, pids_in = os.pipe()
    # a signal that the terminal sends to all of us must not find this command's handlers in the helper
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        pid = os.fork()
        if not pid:
            be_helper(parent, ends, pids_in, arguments)
    except OSError:
        os.close(pids)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(pids_in)
    return Helper(Child(pid), pids)
