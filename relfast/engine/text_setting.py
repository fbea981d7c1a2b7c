"""Whether a job's lines can take the text fast path, and its kernels: asked by whoever opens no such path."""

from __future__ import annotations

import os
import sys
from typing import Final

from relfast.engine.job import Job
from relfast.engine.pool.launch import environment
from relfast.engine.text_table import can_hold
from relfast.errors import UsageError


def serves(job: Job) -> bool:
    """Whether a job's settings are those that the fast path reads lines under."""
    return can_hold(job.field_map)


COMPILE_VARIABLE: Final = "RELFAST_COMPILE"


def when_to_compile() -> str:
    """What is done about kernels that are missing, by ``RELFAST_COMPILE``.

    ``off``: nothing; ``wait``: a command compiles them first; ``background``, the default.

    Raises
    ------
    UsageError
        It is something else.
    """
    chosen = os.environ.get(COMPILE_VARIABLE) or "background"
    if chosen not in ("off", "wait", "background"):
        raise UsageError(f"{COMPILE_VARIABLE} is off, wait or background, not {chosen!r}")
    return chosen


def compile_in_background(*, outlives: bool = False) -> bool:
    """Have the kernels compiled by a process of low priority that nobody waits for, at most one a machine and
    user; whether there was need and it was wanted.

    It ends with this process, or ``outlives`` it: a command may leave it behind, a library call never does.
    """
    from relfast_kernels.compiled import native  # a run of one line does without

    if when_to_compile() != "background" or all(map(native.is_built, native.UNITS)):
        return False
    if not native.cache().usable(make=True):
        return False
    # workers look for the result from time to time
    import subprocess  # loads a dozen modules, and kernels are there as a rule

    parent = "0" if outlives else str(os.getpid())
    subprocess.Popen(
        ["nice", "-n", "19", sys.executable, "-P", "-m", "relfast_kernels.compiled", parent, "all"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment(),
    )
    return True
