"""Memory that costs nothing before it is used, or when it is used again."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from typing import Final


def lazy_memory(n_bytes: int, *, large_pages: bool = False) -> ctypes.Array[ctypes.c_char]:
    """Zeros that take memory only where they are touched (ctypes' own would be written at once), and of which
    a forked child has its own; in pages of 2 MB, if the system has them, where much is going to be
    touched."""
    # pages that could be shared take the system twice as long to find
    memory = mmap.mmap(-1, n_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if large_pages and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
    return (ctypes.c_char * n_bytes).from_buffer(memory)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_KEPT: Final = 32 << 20


def keep_freed_memory() -> None:
    """Have this process keep freed blocks of some megabytes, up to `_KEPT` bytes, for the next ones. To fetch
    each anew, page by page, takes a tenth of the time of a run of large files."""
    with contextlib.suppress(AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _KEPT)
        mallopt(_TRIM_THRESHOLD, _KEPT)
