"""Workers of a command, forked before it has read its arguments.

To import what scoring needs takes as long in a worker as in the command. So the command imports it once and
forks its workers: they have it, and make ready for work (`_make_ready`) while the command imports the rest.
Only a process of one thread that is about to be nothing but a command may do so (`relfast.__main__`): a pool
within somebody's program starts its workers by exec, as it does here for those that take over from others.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from relfast_kernels.compiled.cache import QUIET_VARIABLE

from relfast.engine.pool.launch import Launched, import_path, keep_for_later, launch_with

if TYPE_CHECKING:
    pass

_SIGNALS: Final = frozenset({signal.SIGINT, signal.SIGTERM})
_LARGE_BYTES: Final = 32 * 2**20
"""As `relfast.engine.file_run.files.LARGE_BYTES`, which is not loaded yet."""

_FIRST_WAIT: Final = 0.0005
_LONGEST_WAIT: Final = 0.05


class Child:
    """A worker forked from this process: what `subprocess.Popen` is for a started one."""

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


def prefork(workers: int, arguments: Sequence[str]) -> bool:
    """Fork workers now, for the pool that this command is about to open; whether that could be done.

    ``arguments`` are those of the command, for a glance at what the workers will be asked to do.
    """
    if _n_threads() != 1:
        return False
    _import_what_both_need()
    _read_gold_of(arguments)
    # what is here now is never freed: the collector need not touch, and so copy, its pages
    gc.freeze()
    launched: list[Launched] = []
    for _ in range(workers):
        try:
            launched.append(launch_with(lambda *ends: _fork(ends, arguments)))
        except OSError:
            break  # the pool will meet the same error and report it
    keep_for_later(launched)
    return True


def _n_threads() -> int:
    """Threads of this process, those that Python does not know among them; 0 where nobody says."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 0


def _import_what_both_need() -> None:
    from relfast.engine.file_run import block_scoring  # noqa: F401
    from relfast.engine.pool import protocol, worker  # noqa: F401


def _values_of(option: str, arguments: Sequence[str]) -> list[str]:
    """What an option is given, as far as can be seen at a glance."""
    values = [argument.partition("=")[2] for argument in arguments if argument.startswith(f"{option}=")]
    return values + [value for name, value in itertools.pairwise(arguments) if name == option]


def _read_gold_of(arguments: Sequence[str]) -> None:
    """Read ``--data`` once for all workers. What is wrong with it is said when the command gets there."""
    from relfast.engine.pool.worker import keep_gold

    paths = _values_of("--data", arguments)
    if paths and "ray" not in arguments:
        with contextlib.suppress(Exception):
            keep_gold(tuple(map(os.path.abspath, paths)))


def _fork(ends: tuple[int, int, int], arguments: Sequence[str]) -> Child:
    parent = os.getpid()
    # a signal that the terminal sends to all of us must not find this command's handlers in a worker
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        pid = os.fork()
        if not pid:
            _become_worker(parent, *ends, arguments)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return Child(pid)


def _become_worker(parent: int, requests: int, answers: int, page: int, arguments: Sequence[str]) -> NoReturn:
    status = 1
    try:
        from relfast.engine.pool import worker

        for signum in _SIGNALS:
            signal.signal(signum, signal.SIG_DFL)
        os.dup2(requests, 0)
        os.dup2(answers, 1)
        # ends of other workers' pipes too: a worker sees the end of its requests when nobody else has them
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            if descriptor > 2 and descriptor != page:
                with contextlib.suppress(OSError):  # the listing's own is gone
                    os.close(descriptor)
        sys.path[:] = import_path()
        os.environ[QUIET_VARIABLE] = "1"
        worker.main(parent, page, meanwhile=lambda: _make_ready(arguments))
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _make_ready(arguments: Sequence[str]) -> None:
    """Load what the first block is likely to need, while the command is still loading itself."""
    if not any(_is_large(argument) for argument in arguments):
        return
    with contextlib.suppress(Exception):  # whatever it is, the one who needs it will say it
        from relfast_kernels.compiled import native

        from relfast.engine.text_fast_path import UNIT

        # what ``strict`` extractors load is not: most files need none of it
        native.find(UNIT)


def _is_large(argument: str) -> bool:
    try:
        return os.stat(argument).st_size >= _LARGE_BYTES
    except (OSError, ValueError):
        return False
