"""``python -m relfast_kernels.compiled PARENT UNIT``: build a unit, end with the process PARENT (0: nobody),
and tell on standard output, a line at a time, how many functions of how many have been lowered.

With a third argument numba's own way is taken, as it is where `builder.lowered_once` fails. The unit ``all``
stands for all that are missing, unless another process has been told so: at most one a machine and user.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

from relfast_kernels.compiled import native

_PR_SET_PDEATHSIG: Final = 1


def _end_with(parent: int) -> None:
    """Have the operating system end this process when the one that started it is gone."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit()


def _tell(done: int, functions: int) -> None:
    sys.stdout.write(f"{done} {functions}\n")
    sys.stdout.flush()


def _build(unit: str, own_way: bool) -> None:
    with native.alone(native.shared_library(unit).stem):
        if native.is_built(unit):
            return
        from relfast_kernels.compiled import builder

        try:
            made = builder.module_of(native.entries_of(unit), own_way=own_way, tell=_tell)
        except Exception:
            if own_way:
                raise
            # in a new process: this one has numba's functions half made
            again = ["-P", "-m", "relfast_kernels.compiled", *sys.argv[1:], "own"]
            os.execv(sys.executable, [sys.executable, *again])
        native.keep(unit, *made, builder.emitted)


def _build_all() -> None:
    from relfast_kernels.compiled.making import make

    with native.alone("all", wait=False):
        missing = [unit for unit in native.UNITS if not native.is_built(unit)]
        make(missing, len(os.sched_getaffinity(0)))
        native.clean_up()


if __name__ == "__main__":
    if sys.argv[1] != "0":
        _end_with(int(sys.argv[1]))
    if sys.argv[2] == "all":
        _build_all()
    else:
        _build(sys.argv[2], own_way=len(sys.argv) > 3)
