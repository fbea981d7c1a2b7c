"""One response at a time read by the kernel of its task's ``strict`` extractor, for rewards.

The kernel looks up what single lines say (`relfast.engine.text_memo`) and asks about those it has not met:
the extractor answers, then and for good. What it cannot tell otherwise is the extractor's to read.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Final

from relfast_kernels.compiled import native
from relfast_kernels.layouts import NOT_FOUND, REASONS, UNKNOWN

from relfast.engine.text_memo import TextMemo, word_table
from relfast.records import Extracted, Options
from relfast.tasks import TASKS
from relfast.tasks.base import Task, resolve
from relfast.tasks.reasoning import read_strictly

MAX_BYTES: Final = 60_000
"""Longer texts are the extractor's to read."""

_ROOM: Final = 2 * MAX_BYTES + 512


def strict_tables() -> tuple[ctypes.Array[ctypes.c_int64], TextMemo]:
    """Words and a memo for the kernels of ``strict`` extractors."""
    kernels = [task.text_kernel for task in TASKS.values() if task.text_kernel is not None]
    (tables,) = {kernel.tables for kernel in kernels if kernel.tables is not None}
    words, says = (resolve(f"{tables}:{name}") for name in ("words_with_flags", "says"))
    return word_table(words()), TextMemo(says)


class StrictReader:
    """Reads responses of the tasks whose `TextKernel` names tables. It may be called from any thread."""

    def __init__(self, options: Options) -> None:
        functions = native.load("text") if options.strict else None
        self._reasoning = options.reasoning
        self._choose = functions["choose"] if functions is not None else None
        if functions is not None:
            table, self._memo = strict_tables()
            self._missed = (ctypes.c_int64 * 2)()
            self._work = ctypes.create_string_buffer(_ROOM)
            self._known = (table, self._memo.slots, self._memo.texts, self._missed, self._work, _ROOM)
        self._lock = threading.Lock()

    def read(self, task: Task, response: object) -> Extracted[Any] | None:
        """What the task's extractor would say, or None: it has to be asked."""
        kernel = task.text_kernel
        if self._choose is None or kernel is None or kernel.tables is None or type(response) is not str:
            return None
        text, reason = read_strictly(response, self._reasoning)
        if reason is not None:
            return Extracted(None, found=False, reason=reason)
        data = text.encode()
        if len(data) > MAX_BYTES:
            return None
        with self._lock:
            number = self._choose(data, len(data), *self._known)
            if number == UNKNOWN:
                start, end = self._missed
                if end > start:
                    self._memo.learn(bytes(memoryview(self._work)[start:end]))
                return None
        if number >= 0:
            return Extracted(number)
        return Extracted(None, found=False, reason=REASONS[NOT_FOUND - number])
