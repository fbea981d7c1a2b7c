"""One response at a time read by the kernel of its task's ``strict`` extractor, for rewards.

The kernel looks up what single lines say (`relfast.engine.text_memo`) and asks about those it has not met:
the extractor answers, then and for good. What it cannot tell otherwise is the extractor's to read.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
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


def _strict_tables() -> tuple[ctypes.Array[ctypes.c_int64], TextMemo]:
    """Words and a memo for the kernels of ``strict`` extractors."""
    kernels = [task.text_kernel for task in TASKS.values() if task.text_kernel is not None]
    (tables,) = {kernel.tables for kernel in kernels if kernel.tables is not None}
    words, says = (resolve(f"{tables}:{name}") for name in ("words_with_flags", "says"))
    return word_table(words()), TextMemo(says)


Functions = Mapping[str, Callable[..., int]]


class StrictReader:
    """Reads responses of the tasks whose `TextKernel` names tables. It may be called from any thread.

    Parameters
    ----------
    options
        With another policy than ``strict``, or without compiled ``functions``, it knows nothing.
    functions
        Those of the native unit ``text``, if they have been loaded.
    """

    def __init__(self, options: Options, functions: Functions | None = None) -> None:
        if functions is None:
            functions = native.load("text")
        self._choose = functions["choose"] if options.strict and functions is not None else None
        self._reasoning = options.reasoning
        self._missed = (ctypes.c_int64 * 2)()
        self._lock = threading.Lock()
        self.tables: tuple[ctypes.Array[Any], ...] = (self._missed,) * 4
        """What the kernel is given: words, the memo's slots and texts, and where it says what it missed."""
        if self._choose is not None:
            words, self._memo = _strict_tables()
            self._work = ctypes.create_string_buffer(_ROOM)
            self.tables = (words, self._memo.slots, self._memo.texts, self._missed)

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
            number = self._choose(data, len(data), *self.tables, self._work, _ROOM)
            if number == UNKNOWN:
                start, end = self._missed
                if end > start:
                    self._memo.learn(bytes(memoryview(self._work)[start:end]))
                return None
        if number >= 0:
            return Extracted(number)
        return Extracted(None, found=False, reason=REASONS[NOT_FOUND - number])
