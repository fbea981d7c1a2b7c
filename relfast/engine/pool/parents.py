"""Whose child a process is, and what becomes of it when its parent ends."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36

_FIRST_WAIT: Final = 0.0002
_LONGEST_WAIT: Final = 0.005


def die_with(parent: int) -> None:
    """Have the kernel end this process when the thread that started it is gone."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)  # it died before we asked


def adopt_orphans(wanted: bool) -> bool:
    """Whether processes of this one's family whose parent ends become its own children from now on, instead
    of the system's; False where that cannot be arranged."""
    failed: int = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)
    return not failed


def outlive(parent: int) -> None:
    """Wait until this process's parent, which is about to end, has ended."""
    pause = _FIRST_WAIT
    while os.getppid() == parent:
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_WAIT)
