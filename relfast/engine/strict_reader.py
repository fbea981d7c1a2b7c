"""One response at a time read by the kernel of its task's ``strict`` extractor, for rewards.

REL-A's looks up what single lines say (`relfast.engine.text_memo`) and asks about those it has not met: the
extractor answers, then and for good. What a kernel cannot tell otherwise is the extractor's to read.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from relfast_kernels.compiled import native
from relfast_kernels.layouts import NOT_FOUND, PATTERN_WORK, REASONS, TAXA_SHIFT, UNKNOWN

from relfast.engine.text_memo import TextMemo, word_table
from relfast.engine.text_work import lazy_buffer
from relfast.records import Extracted, Options
from relfast.tasks import TASKS
from relfast.tasks.base import Task, resolve
from relfast.tasks.reasoning import read_strictly

MAX_BYTES: Final = 60_000
"""Longer texts are the extractor's to read."""

_ROOM: Final = 5 * MAX_BYTES + 512
_NUMBER: Final = (1 << TAXA_SHIFT) - 1


def _strict_tables() -> tuple[ctypes.Array[ctypes.c_int64], TextMemo]:
    """Words and a memo for the kernels of ``strict`` extractors."""
    kernels = [task.text_kernel for task in TASKS.values() if task.text_kernel is not None]
    (tables,) = {kernel.tables for kernel in kernels if kernel.tables is not None}
    words, says = (resolve(f"{tables}:{name}") for name in ("words_with_flags", "says"))
    return word_table(words()), TextMemo(says)


Functions = Mapping[str, Callable[..., int]]


class StrictReader:
    """Reads responses of the tasks whose `TextKernel` has ``value_of``. It may be called from any thread.

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
        self._read = functions["read"] if options.strict and functions is not None else None
        self._reasoning = options.reasoning
        self._missed = (ctypes.c_int64 * 2)()
        self._lock = threading.Lock()
        self.tables: tuple[ctypes.Array[Any], ...] = (self._missed,) * 4
        """What the kernel is given: words, the memo's slots and texts, and where it says what it missed."""
        if self._read is not None:
            words, self._memo = _strict_tables()
            self._work, self._patterns = lazy_buffer(_ROOM), lazy_buffer(8 * PATTERN_WORK)
            self._taxa = (ctypes.c_int64 * PATTERN_WORK).from_buffer(self._patterns)
            self.tables = (words, self._memo.slots, self._memo.texts, self._missed)
            self._kernels = {
                name: (task.text_kernel.number, resolve(task.text_kernel.value_of))
                for name, task in TASKS.items()
                if task.text_kernel is not None and task.text_kernel.value_of is not None
            }

    def read(self, task: Task, response: object) -> Extracted[Any] | None:
        """What the task's extractor would say, or None: it has to be asked."""
        if self._read is None or type(response) is not str:
            return None
        kernel = self._kernels.get(task.name)
        if kernel is None:
            return None
        task_number, value_of = kernel
        text, reason = read_strictly(response, self._reasoning)
        if reason is not None:
            return Extracted(value_of(None, ()), found=False, reason=reason)
        data = text.encode()
        n = len(data)
        if n > MAX_BYTES:
            return None
        taxa: Sequence[int] = ()
        with self._lock:
            found = self._read(data, n, task_number, *self.tables, self._work, _ROOM, self._patterns)
            if found == UNKNOWN:
                start, end = self._missed
                if end > start:
                    self._memo.learn(bytes(memoryview(self._work)[start:end]))
                return None
            if found >> TAXA_SHIFT > 0:
                taxa = self._taxa[: found >> TAXA_SHIFT]
        if found >= 0:
            return Extracted(value_of(found & _NUMBER, taxa))
        return Extracted(value_of(None, ()), found=False, reason=REASONS[NOT_FOUND - found])
