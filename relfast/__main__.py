"""The ``relfast`` command: forks its workers before it has loaded itself."""

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
    """Whether ``relfast score`` is going to use workers, as far as can be seen at a glance."""
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
    """Give closed standard streams (``2>&-``, some daemons) a descriptor: the output would get their number,
    and with it whatever a library prints."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one


COLLECT_AFTER: Final = 50_000
"""Objects that come before the collector looks for garbage, else 700: imports make 100,000, and all stay."""


def main() -> None:
    """Entry point of the ``relfast`` script and of ``python -m relfast``."""
    try:
        _main()
    except SystemExit as end:
        _leave(end.code)
        raise


def _leave(code: object) -> None:
    """End the process at once, where nothing but memory is left to be given back: to take a hundred thousand
    objects apart one by one takes 10 ms.

    Returns where Python's own way may have something to do: for a command whose work was not done by workers,
    and that has libraries loaded which end in ways of their own.
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
    # numpy's linear algebra would start a thread per core, and the command never uses one
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        with contextlib.ExitStack() as at_the_end, interruptible(at_the_end=True):
            if _has_workers(sys.argv[1:]):
                from relfast.engine.pool.forkserver import dismiss, prefork

                at_the_end.callback(dismiss)
                prefork(sys.argv[1:])
            from relfast.cli.main import main as run

            run()
    except Interrupted as interrupted:
        # while it was still loading; from then on the command itself knows what to say
        sys.stderr.write("relfast: interrupted\n")
        sys.exit(interrupted.exit_code)


if __name__ == "__main__":
    main()
