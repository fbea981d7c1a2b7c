"""Cheap memory: pages that are allocated when first touched, and freed blocks that are kept for reuse."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from typing import Final


def lazy_memory(n_bytes: int, *, large_pages: bool = False) -> ctypes.Array[ctypes.c_char]:
    """A zeroed buffer whose pages are allocated only when touched (ctypes itself would write them all at
    once). A forked child gets its own copy. ``large_pages``, for buffers of which much will be touched, asks
    for pages of 2 MB, if the system has them."""
    # MAP_PRIVATE: the system takes twice as long to provide pages that could be shared
    memory = mmap.mmap(-1, n_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if large_pages and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
    return (ctypes.c_char * n_bytes).from_buffer(memory)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_KEPT: Final = 32 << 20


def keep_freed_memory() -> None:
    """Make this process keep freed memory blocks of some megabytes, up to `_KEPT` bytes, for reuse. Getting
    each block anew from the system, page by page, takes a tenth of the time of a run of large files."""
    with contextlib.suppress(AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _KEPT)
        mallopt(_TRIM_THRESHOLD, _KEPT)
