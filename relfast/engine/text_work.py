"""Work space of the text kernel, and the tasks it knows by their numbers."""

from __future__ import annotations

import ctypes
import mmap
from typing import Final

from relfast.tasks import TASKS

TASK_BY_NUMBER: Final = {
    task.text_kernel.number: (task, task.text_kernel)
    for task in TASKS.values()
    if task.text_kernel is not None
}


def buffer(size: int) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * size)()


def lazy_buffer(size: int) -> ctypes.Array[ctypes.c_char]:
    """Zeros that take memory only where they are touched."""
    return (ctypes.c_char * size).from_buffer(mmap.mmap(-1, size))


def numbers(n: int) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * n)()
