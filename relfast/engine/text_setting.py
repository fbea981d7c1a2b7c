"""Whether a job's lines can take the text fast path, and its kernels: asked by whoever opens no such path."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
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


_COMPILING: Final = (
    "kernels that were missing are compiled in the background, for later runs"
    f" (`relfast warmup` waits for them; {COMPILE_VARIABLE}=wait or off)"
)
_MEANWHILE: Final = "rows are the same, but take longer; `relfast warmup` tries again"


def compile_in_background(*, outlives: bool = False, tell: Callable[[str], None] | None = None) -> None:
    """Have the kernels compiled by a process of low priority that nobody waits for, at most one a machine and
    user, where there is need and it is wanted; ``tell`` is told so, or why it cannot be done.

    It ends with this process, or ``outlives`` it: a command may leave it behind, a library call never does.
    """
    from relfast_kernels.compiled import native  # a run of one line does without

    if when_to_compile() != "background":
        return
    missing = [unit for unit in native.UNITS if not native.is_built(unit)]
    if not missing or not native.cache().usable(make=True):
        return
    failed = {unit: reason for unit in missing if (reason := native.failure(unit)) is not None}
    if len(failed) == len(missing):
        for unit, reason in failed.items():
            if reason and tell is not None:
                tell(f"kernels {unit} cannot be compiled here ({reason}): {_MEANWHILE}")
                native.note_failure(unit, "")
        return
    try:
        native.check_room()
    except OSError as error:
        if tell is not None:
            tell(f"kernels are not compiled, {native.cache().path}: {error.strerror or error}; {_MEANWHILE}")
        return
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
    if tell is not None:
        tell(_COMPILING)
