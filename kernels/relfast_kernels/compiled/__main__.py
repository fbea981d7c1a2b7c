"""``python -m relfast_kernels.compiled PARENT UNIT PROCESSORS [own]``: build a unit, see `making.build_here`.

The process ends when the process PARENT does. PROCESSORS are LLVM's names, separated by commas; an empty one
means this very processor. With ``own`` numba lowers, links and optimises in its own way.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

from relfast_kernels.compiled import making

_PR_SET_PDEATHSIG: Final = 1

if __name__ == "__main__":
    parent, unit, processors, *own = sys.argv[1:]
    # have the operating system kill this process when the one that started it is gone
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):
        sys.exit()
    making.build_here(unit, processors.split(","), own_way=bool(own))
