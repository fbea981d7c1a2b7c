"""Starting worker processes.

The pool takes over workers that were started before there was a pool (`relfast.engine.pool.early`); whoever
is not taken is dismissed in the end. Imports the standard library only, and what does so too.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from relfast_kernels.compiled.cache import QUIET_VARIABLE

from relfast import interrupts

if TYPE_CHECKING:
    import subprocess

_PIPE_BYTES: Final = 1 << 20


class Process(Protocol):
    """What is asked of a process: what `subprocess.Popen` and a forked worker have in common."""

    returncode: int | Any

    @property
    def pid(self) -> int: ...

    def kill(self) -> None: ...

    def wait(self, timeout: float | None = None) -> int: ...


class Launched(NamedTuple):
    """A process that waits for its `protocol.Setup`: our ends of its pipes, and its page."""

    process: Process
    requests: int
    answers: int
    page: int

    def close(self) -> None:
        """Let go of our ends, where nobody else has them."""
        for descriptor in self.requests, self.answers, self.page:
            os.close(descriptor)


def timeout_expired() -> type[Exception]:
    """What `Process.wait` raises; to be asked for only then, as `start` says."""
    from subprocess import TimeoutExpired

    return TimeoutExpired


_early: list[Launched] = []


def keep_for_later(launched: Iterable[Launched]) -> None:
    """Workers for the pool that this process is about to open."""
    _early.extend(launched)


def launch() -> Launched:
    """A worker process: one started early if there is one left.

    Raises
    ------
    OSError
        The process or its pipes cannot be made.
    """
    return _early.pop() if _early else _launch()


def dismiss() -> None:
    """Let workers that were started early and not used go."""
    while _early:
        launched = _early.pop()
        launched.close()
        launched.process.kill()
        launched.process.wait()


def _launch() -> Launched:
    return launch_with(
        lambda requests, answers, page: start(
            "relfast.engine.pool.worker", page, stdin=requests, stdout=answers, pass_fds=(page,)
        )
    )


def launch_with(begin: Callable[[int, int, int], Process]) -> Launched:
    """Pipes and a page, and a process that ``begin`` starts on them: it is given the end to read requests
    from, the end to write answers to, and the page. Raises `OSError`."""
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        page = _above_stdio(os.memfd_create("relfast-in-flight"))
        ours.callback(os.close, page)
        os.ftruncate(page, mmap.PAGESIZE)
        requests_out, requests = os.pipe()
        ours.callback(os.close, requests)
        theirs.callback(os.close, requests_out)
        answers, answers_in = os.pipe()
        ours.callback(os.close, answers)
        theirs.callback(os.close, answers_in)
        for end in (requests, answers):
            with contextlib.suppress(OSError):
                fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        launched = Launched(begin(requests_out, answers_in, page), requests, answers, page)
        ours.pop_all()
        return launched


def _above_stdio(descriptor: int) -> int:
    """The same file under a number above 2: where the caller has closed its stdin, a child's own stdin
    would take its place."""
    if descriptor > 2:
        return descriptor
    higher = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return higher


def start(module: str, *arguments: int, stdin: int, **more: Any) -> subprocess.Popen[bytes]:
    """``python -m MODULE OUR_PID ARGUMENTS…``: by exec, so that nothing of the caller is in it.

    Raises
    ------
    OSError
        It cannot be started.
    """
    import subprocess  # loads a dozen modules; a quiet command starts nobody

    if not sys.executable:
        raise OSError("this interpreter does not know its own program (sys.executable is empty)")
    # -P: the caller's directory may hold a module that shadows one of ours. -S: the caller's path is
    # handed over whole, so that looking for site packages again (20 ms) would find nothing new.
    command = [sys.executable, "-P", "-S", "-m", module, *map(str, (os.getpid(), *arguments))]
    # a child inherits what its starter blocks: Ctrl-C while it imports must not fill the terminal with its
    # traceback. It arranges its signals itself when it is up.
    with interrupts.uninterrupted():
        return subprocess.Popen(command, stdin=stdin, env=environment(), **more)


def environment() -> dict[str, str]:
    """The caller's environment, with every package findable where the caller finds it."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(import_path()),
        # numpy's linear algebra would start a thread per core in each worker, and none is ever used
        "OPENBLAS_NUM_THREADS": "1",
        # the pool says it, once for all of them
        QUIET_VARIABLE: "1",
    }


def import_path() -> list[str]:
    """Where a worker finds modules: the caller's path, after every place where there are packages of ours."""
    here = Path(__file__).parent.parent.parent.parent
    roots = [str(here), str(here / "kernels")] if (here / "kernels").is_dir() else [str(here)]
    return list(dict.fromkeys([*roots, *(entry or os.getcwd() for entry in sys.path)]))
