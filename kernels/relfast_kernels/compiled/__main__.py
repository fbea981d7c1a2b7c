"""``python -m relfast_kernels.compiled PARENT UNIT [PROCESSORS [own]]``: build the machine code of a unit.

The process ends when the process PARENT does (0: it outlives it). On standard output it reports progress, a
line at a time: how many functions have been lowered, of how many. PROCESSORS are LLVM's names, separated by
commas; an empty one, or none, means this very processor. With a fourth argument numba lowers, links and
optimises in its own way, as is done where `builder.lowered_once` fails. The unit ``all`` stands for all that
are missing; of the processes that build ``all`` only one runs per machine and user, the others stop.
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
    """Have the operating system kill this process when the one that started it is gone."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit()


def _tell(done: int, functions: int) -> None:
    sys.stdout.write(f"{done} {functions}\n")
    sys.stdout.flush()


def _build(unit: str, processors: list[str], own_way: bool) -> None:
    """Build a unit for those processors whose file is missing; if that fails, again in numba's own way."""
    with native.alone(native.shared_library(unit, processors[0]).stem):
        missing = [processor for processor in processors if not native.is_kept(unit, processor)]
        if not missing:
            return
        try:
            from relfast_kernels.compiled import builder

            module, entries = builder.module_of(native.entries_of(unit), own_way=own_way, tell=_tell)
        except Exception as error:
            if own_way:
                if "" in processors:
                    native.note_failure(unit, f"{type(error).__name__}: {error}")
                raise
            # in a new process: in this one numba's functions are half compiled
            again = ["-P", "-m", "relfast_kernels.compiled", *sys.argv[1:3], ",".join(processors), "own"]
            os.execv(sys.executable, [sys.executable, *again])
        for processor in missing:
            native.keep(unit, module, entries, builder.emitted, processor)


def _build_all() -> None:
    """At low priority, build all missing units that have not failed before, and clean up the cache."""
    os.nice(19)
    with native.alone("all", wait=False):
        wanted = [unit for unit in native.UNITS if not native.is_built(unit) and native.failure(unit) is None]
        native.make(wanted)
        native.clean_up()


if __name__ == "__main__":
    if sys.argv[1] != "0":
        _end_with(int(sys.argv[1]))
    if sys.argv[2] == "all":
        _build_all()
    else:
        _build(sys.argv[2], "".join(sys.argv[3:4]).split(","), own_way=len(sys.argv) > 4)
