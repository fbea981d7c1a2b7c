"""Whether a job's lines can take the text fast path, and its kernels: asked by whoever opens no such path."""

from __future__ import annotations

import os
import sys

from relfast_kernels.compiled import native

from relfast.engine.job import Job
from relfast.engine.pool.launch import environment
from relfast.engine.text_table import can_hold
from relfast.formats.table import DIALECTS


def serves(job: Job) -> bool:
    """Whether a job's settings are those that the fast path reads lines under."""
    return can_hold(job.field_map) and (job.dialect == "auto" or _is_found(job.dialect))


def _is_found(dialect: str) -> bool:
    return any(form.in_kernel for form in DIALECTS[dialect].forms)


def compile_in_background() -> None:
    """Have the kernels compiled by a process of low priority that nobody waits for.

    It ends with this one: a command leaves nothing running behind its user's back, even if that means that
    a run of a few seconds comes too early and ``relfast warmup`` or a longer one has to do it.
    """
    if all(map(native.is_built, native.UNITS)) or not native.cache().usable(make=True):
        return
    # workers look for the result from time to time
    import subprocess  # loads a dozen modules, and kernels are there as a rule

    subprocess.Popen(
        ["nice", sys.executable, "-P", "-m", "relfast_kernels.compiled", str(os.getpid()), "all"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment(),
    )
