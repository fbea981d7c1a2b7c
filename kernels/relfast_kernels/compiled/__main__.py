"""``python -m relfast_kernels.compiled [PARENT [UNIT...]]``: build what is missing of the units, of all if
none is named, and end with the process PARENT."""

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


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _end_with(int(sys.argv[1]))
    for unit in sys.argv[2:] or native.UNITS:
        if not native.is_built(unit):
            native.build(unit)
