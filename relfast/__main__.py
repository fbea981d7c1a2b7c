"""The ``relfast`` command. For ``relfast score`` it starts the worker processes before it imports the
command, so that both load at the same time."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys
import threading
from collections.abc import Sequence
from itertools import pairwise
from typing import Final


def _has_workers(arguments: Sequence[str]) -> bool:
    """Whether the command is ``relfast score`` with workers, by a quick look at its arguments."""
    # on a cluster (--engine ray) this process has none
    if not arguments or arguments[0] != "score" or {"-h", "--help", "ray", "--engine=ray"} & set(arguments):
        return False
    workers = os.environ.get("RELFAST_WORKERS")
    for option, value in pairwise([*arguments, ""]):
        name, _, given = option.partition("=")
        if name == "--workers":
            workers = given or value
            break
    return not workers or (workers.isdecimal() and int(workers) > 0)


def _open_standard_streams() -> None:
    """Open /dev/null for closed standard streams (``2>&-``, some daemons). Otherwise the output file would
    get the descriptor 1 or 2, and everything that a library prints."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one


COLLECT_AFTER: Final = 50_000
"""New objects before a garbage collection (Python's default: 700); imports make 100,000, all needed."""


def main() -> None:
    """Entry point of the ``relfast`` script and of ``python -m relfast``."""
    try:
        _main()
    except SystemExit as end:
        _leave(end.code)
        raise


def _leave(code: object) -> None:
    """End the process at once if there is nothing left to do but to free memory: Python would take 10 ms to
    destroy a hundred thousand objects.

    Returns if Python's own exit may be necessary: for commands without workers, which have loaded libraries
    with clean-up of their own, and while threads still run.
    """
    if not _has_workers(sys.argv[1:]) or "ray" in sys.modules or not (code is None or isinstance(code, int)):
        return
    if not all(thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        return
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return
    os._exit(code or 0)


def _main() -> None:
    gc.set_threshold(COLLECT_AFTER)
    from relfast.cli.signals import Interrupted, interruptible

    _open_standard_streams()
    # OpenBLAS in numpy would start a thread for every core, and the command needs none
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        with contextlib.ExitStack() as at_the_end, interruptible(at_the_end=True):
            if _has_workers(sys.argv[1:]):
                from relfast.engine.isolated.forkserver import dismiss, prefork
                from relfast.support.system import keep_freed_memory

                at_the_end.callback(dismiss)
                prefork(sys.argv[1:])
                # rows come in blocks of a megabyte: mapping each anew is an eighth of this process's time
                keep_freed_memory()
            from relfast.cli.main import main as run

            run()
    except Interrupted as interrupted:
        # during the imports; later the command handles it itself, with a message of its own
        sys.stderr.write("relfast: interrupted\n")
        sys.exit(interrupted.exit_code)


if __name__ == "__main__":
    main()
