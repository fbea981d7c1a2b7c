"""The tags of one text at a time, read where a call costs as much as what is around it.

The kernel is called by its bare address with the interpreter's lock held (to get it back from busy threads
takes a thousand times as long), with arguments that are ready.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final

from relfast_kernels.layouts import RECORD_COLUMNS, RECORD_TEXT_END
from relfast_kernels.smiles.layouts import SIZE_COLUMNS
from relfast_kernels.tags.columns import (
    READ_PLAIN,
    TOLD_COLUMNS,
    TOLD_END,
    TOLD_HOW,
    TOLD_N,
    TOLD_START,
)

from relfast.chem.smiles_golds import lazy_memory
from relfast.tasks.rel_c.block_tags import Golds, TagReader

ROOM: Final = 1 << 17
"""Bytes for a text and the molecules of its gold."""


OneText = tuple[int, bytes, int, int]
"""What was read: how many tags, the texts of these, each ended by a newline, and where they stand in the
reader's ``texts``."""


class OneReader:
    """Reads one text at a time. For one thread at a time.

    Parameters
    ----------
    setting
        How to read.
    known
        Golds, at their places for good; there may be more of them later.

    Attributes
    ----------
    texts, texts_at
        Gold, tags and given molecules of the text that was read last, and their address.
    sizes
        Its `SIZE_COLUMNS`.
    """

    def __init__(self, setting: TagReader, known: Golds) -> None:
        self._is_strict = bool(setting.setting[0])
        self._gather = with_lock_held(setting.gather)
        numbers = (ctypes.c_int64 * (RECORD_COLUMNS + TOLD_COLUMNS))()
        self._record = (ctypes.c_int64 * RECORD_COLUMNS).from_buffer(numbers)
        self._told = (ctypes.c_int64 * TOLD_COLUMNS).from_buffer(numbers, 8 * RECORD_COLUMNS)
        self.sizes, self.texts = (ctypes.c_int64 * SIZE_COLUMNS)(), lazy_memory(ROOM)
        self.texts_at = ctypes.addressof(self.texts)
        self._bytes = memoryview(self.texts).cast("B")
        self._number, self._gold, self._n_bytes = (ctypes.c_int64() for _ in range(3))
        self._n_known = ctypes.c_int64()
        scratch, one = ctypes.c_char(), ctypes.c_int64(1)
        self._result = ctypes.byref(self._number), ctypes.byref(ctypes.c_void_p())
        self._before = (
            self._n_bytes, ctypes.byref(scratch), one, ctypes.byref(self._record), one,
            ctypes.byref(ctypes.c_int64()), ctypes.byref(self._gold), one, ctypes.byref(known.columns),
            self._n_known, ctypes.byref(known.texts), ctypes.c_int64(known.n_bytes),
        )  # fmt: skip
        self._after = (
            *map(ctypes.c_int64, setting.setting), ctypes.byref(self.texts), ctypes.c_int64(ROOM),
            ctypes.byref(self._told), ctypes.byref(self.sizes),
        )  # fmt: skip

    def read(self, text: str, gold: int) -> OneText | None:
        """The tags of a text with the number of its gold; None where an extractor has to read it. Raises
        `UnicodeEncodeError` for lone surrogates."""
        data = text.encode()
        self._n_bytes.value = self._record[RECORD_TEXT_END] = len(data)
        self._gold.value, self._n_known.value = gold, gold + 1
        if self._gather(*self._result, data, *self._before, *self._after):
            raise RuntimeError("the kernel that reads tags failed")
        told = self._told[:]
        n, start, end = told[TOLD_N], told[TOLD_START], told[TOLD_END]
        if self._number.value < 0 or n < 0:
            return None
        if told[TOLD_HOW] != READ_PLAIN or (self._is_strict and not n):
            return None  # what can be made of these is the judge of blocks' to say
        return n, self._bytes[start:end].tobytes(), start, end


def with_lock_held(function: Callable[..., int]) -> Callable[..., Any]:
    """The bare native function (`relfast_kernels.compiled.native.load`), called with the lock held."""
    bare = function.__wrapped__  # type: ignore[attr-defined]
    return ctypes.PYFUNCTYPE(ctypes.c_int32)(ctypes.cast(bare, ctypes.c_void_p).value or 0)
