"""Work space of the text kernel, and the tasks it knows by their numbers."""

from __future__ import annotations

import ctypes
from typing import Final

from relfast_kernels.layouts import LINE_COLUMNS, LINE_KIND

from relfast.tasks import TASKS

TASK_BY_NUMBER: Final = {
    task.text_kernel.number: (task, task.text_kernel)
    for task in TASKS.values()
    if task.text_kernel is not None
}

NUMBERS: Final = {task.name: number for number, (task, _) in TASK_BY_NUMBER.items()}
"""The kernel's numbers of the tasks whose responses it reads."""


def buffer(size: int) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * size)()


_Start = ctypes.c_char * 0


def start_of(data: bytes | memoryview) -> bytes | ctypes.Array[ctypes.c_char]:
    """Where some bytes are, as a kernel is told; not an array as long as they are: a new type for each length
    would take 50 µs."""
    return data if isinstance(data, bytes) else _Start.from_buffer(data)


_NUMBER: Final = ctypes.sizeof(ctypes.c_int64)


def kinds_of(lines: ctypes.Array[ctypes.c_int64], start: int, stop: int) -> bytes:
    """The kinds of lines ``start`` to ``stop``, a byte each."""
    columns = memoryview(lines).cast("B")
    # kinds are small, and the lowest byte of a number comes first
    return columns[
        _NUMBER * (start * LINE_COLUMNS + LINE_KIND) : _NUMBER * stop * LINE_COLUMNS : _NUMBER * LINE_COLUMNS
    ].tobytes()
