"""Starting worker processes, and starting them early.

A worker needs 0.15 s to come up, and so does the command that will use it. `prestart` begins with the
former before anything else is imported; the pool takes such workers over. Whoever is not taken reads end
of file on its stdin and leaves. Imports little besides the standard library.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from relfast.memo import create_shared

_PIPE_BYTES: Final = 1 << 20
_F_SETPIPE_SZ: Final = 1031


class Launched(NamedTuple):
    """A process that waits for its `relfast.engine.wire.Setup`: our ends of its pipes, and its page."""

    process: subprocess.Popen[bytes]
    requests: int
    answers: int
    page: int


_early: list[Launched] = []


def prestart(workers: int) -> None:
    """Start workers now, for the pool that this process is about to open."""
    for _ in range(workers):
        try:
            _early.append(_launch())
        except OSError:
            return  # the pool will meet the same error and report it


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
        os.close(launched.requests)
        os.close(launched.answers)
        os.close(launched.page)
        launched.process.wait()


@cache
def _shared_memo() -> int:
    """The memory that all workers of this process remember answers in; 5 MB, kept until the end."""
    return create_shared()


def _launch() -> Launched:
    page = os.memfd_create("relfast-in-flight")
    os.ftruncate(page, mmap.PAGESIZE)
    requests_out, requests = os.pipe()
    answers, answers_in = os.pipe()
    for end in (requests, answers):
        with contextlib.suppress(OSError):
            fcntl.fcntl(end, _F_SETPIPE_SZ, _PIPE_BYTES)
    # -P: the caller's directory may hold a module that shadows one of ours. -S: the caller's path is
    # handed over whole, so that looking for site packages again (20 ms) would find nothing new.
    memo = _shared_memo()
    command = [sys.executable, "-P", "-S", "-m", "relfast.engine.worker"]
    command += [str(os.getpid()), str(page), str(memo)]
    try:
        process = subprocess.Popen(
            command, stdin=requests_out, stdout=answers_in, pass_fds=(page, memo), env=environment()
        )
    except BaseException:
        for end in (requests, answers, page):
            os.close(end)
        raise
    finally:
        os.close(requests_out)
        os.close(answers_in)
    return Launched(process, requests, answers, page)


def environment() -> dict[str, str]:
    """The caller's environment, with every package findable where the caller finds it."""
    here = Path(__file__).parent.parent.parent
    roots = [str(here), str(here / "kernels")] if (here / "kernels").is_dir() else [str(here)]
    path = [entry or os.getcwd() for entry in sys.path]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([*roots, *path])),
        # numpy's linear algebra would start a thread per core in each worker, and none is ever used
        "OPENBLAS_NUM_THREADS": "1",
    }
