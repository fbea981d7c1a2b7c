"""The helper that forks a command's workers: a process of one thread, with what they need and nothing else.

It reads gold and loads machine code once for all of them, and ends when they are there: see
`relfast.engine.pool.early`.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import signal
import struct
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from relfast_kernels.compiled.cache import QUIET_VARIABLE

from relfast.engine.pool.launch import import_path
from relfast.engine.pool.parents import die_with, outlive

if TYPE_CHECKING:
    from relfast.engine.rows import Gold

SIGNALS: Final = frozenset({signal.SIGINT, signal.SIGTERM})

PID: Final = struct.Struct("<q")
"""What is said of each worker that was forked."""

_LARGE_BYTES: Final = 32 * 2**20
"""As `relfast.engine.file_run.files.LARGE_BYTES`, which is not loaded here."""


def be_helper(
    parent: int, ends: Sequence[tuple[int, int, int]], pids: int, arguments: Sequence[str]
) -> NoReturn:
    """Make ready, fork a worker for each of ``ends`` (where it reads requests and writes answers, and its
    page), say which on ``pids``, and end.

    To be called in a child of process ``parent`` that blocks `SIGNALS`.
    """
    status = 1
    try:
        die_with(parent)
        for signum in SIGNALS:
            signal.signal(signum, signal.SIG_DFL)
        _keep_open({*itertools.chain.from_iterable(ends), pids})
        sys.path[:] = import_path()
        os.environ[QUIET_VARIABLE] = "1"
        _make_ready(arguments)
        # what is here now is never freed: the collector need not touch, and so copy, its pages
        gc.freeze()
        me = os.getpid()
        for requests, answers, page in ends:
            pid = os.fork()
            if not pid:
                _become_worker(parent, me, requests, answers, page)
            os.write(pids, PID.pack(pid))
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _become_worker(parent: int, helper: int, requests: int, answers: int, page: int) -> NoReturn:
    status = 1
    try:
        from relfast.engine.pool import worker

        os.dup2(requests, 0)
        os.dup2(answers, 1)
        # ends of other workers' pipes too: a worker sees the end of its requests when nobody else has them
        _keep_open({page})
        # the helper's end must not be this one's
        outlive(helper)
        worker.main(parent, page)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _keep_open(wanted: set[int]) -> None:
    """Close all descriptors but the standard streams and ``wanted``."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor not in wanted:
            with contextlib.suppress(OSError):  # the listing's own is gone
                os.close(descriptor)


def import_what_workers_need() -> None:
    """Modules only: the command may do so too."""
    from relfast.engine.file_run import block_scoring  # noqa: F401
    from relfast.engine.io import sources  # noqa: F401
    from relfast.engine.pool import protocol, worker  # noqa: F401


def _make_ready(arguments: Sequence[str]) -> None:
    """Load what workers need, and what their first block is likely to need."""
    import_what_workers_need()
    gold = _read_gold_of(arguments)
    if not any(map(_is_large, arguments)):
        return
    if gold:
        _write_down(gold, arguments)
    with contextlib.suppress(Exception):  # whatever it is, the worker who needs it will say it
        from relfast.engine.text_fast_path import make_ready

        # what ``strict`` extractors load is not: most files need none of it
        make_ready()


def _values_of(option: str, arguments: Sequence[str]) -> list[str]:
    """What an option is given, as far as can be seen at a glance."""
    values = [argument.partition("=")[2] for argument in arguments if argument.startswith(f"{option}=")]
    return values + [value for name, value in itertools.pairwise(arguments) if name == option]


def _read_gold_of(arguments: Sequence[str]) -> Gold | None:
    """Read ``--data`` once for all workers. What is wrong with it is said when the command gets there."""
    from relfast.engine.pool.worker import keep_gold

    paths = _values_of("--data", arguments)
    if paths and "ray" not in arguments:
        with contextlib.suppress(Exception):
            return keep_gold(tuple(map(os.path.abspath, paths)))
    return None


def _write_down(gold: Gold, arguments: Sequence[str]) -> None:
    """Write gold as the kernel reads it once for all workers, for the job that the arguments speak of."""
    with contextlib.suppress(Exception):  # whatever it is, the worker who needs it will say it
        from relfast.engine.text_gold import prepare
        from relfast.tasks import get_task

        tasks = _values_of("--task", arguments)
        prepare(
            gold,
            strict="strict" in _values_of("--policy", arguments),
            details="--details" in arguments,
            task=get_task(tasks[-1]).name if tasks else None,
        )


def _is_large(argument: str) -> bool:
    try:
        return os.stat(argument).st_size >= _LARGE_BYTES
    except (OSError, ValueError):
        return False
