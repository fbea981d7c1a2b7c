"""Texts for the SMILES kernel: lists of them as bytes, and golds that come with many answers."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import threading
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from relfast_kernels.smiles.layouts import KEPT_FACTS

KEPT_GOLDS: Final = 2_000
KEPT_NUMBERS: Final = 1 << 19
_KEPT_BYTES: Final = 20_000
"""Distinct golds of which the text is kept, at some 2 kB each; numbers for what the kernel keeps of them, two
for each text; and bytes of the longest."""


def zeros_at(n_bytes: int, keep: list[object]) -> ctypes.c_void_p:
    """The address of zeros that take no memory until they are written over (ctypes' own would be written at
    once), as functions take it without ado; they are there as long as ``keep``."""
    held = lazy_memory(n_bytes)
    keep.append(held)
    return ctypes.c_void_p(ctypes.addressof(held))


def lazy_memory(n_bytes: int, *, large_pages: bool = False) -> ctypes.Array[ctypes.c_char]:
    """Such zeros themselves; in pages of 2 MB, if the system has them, where much is going to be touched."""
    # private: a process that is forked has a table of its own
    memory = mmap.mmap(-1, n_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if large_pages and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
    return (ctypes.c_char * n_bytes).from_buffer(memory)


def joined(texts: Sequence[str]) -> bytes | None:
    """The texts as bytes, each ended by a newline; None if one is no text or cannot stand like that."""
    if not texts:
        return b""
    try:
        data = "\n".join(texts).encode("utf-8", "surrogatepass")
    except TypeError:
        return None
    return data + b"\n" if data.count(b"\n") == len(texts) - 1 else None


class Kept(NamedTuple):
    """Gold and given molecules as bytes, and where the kernel keeps what it found of them; -1: nowhere."""

    gold: bytes
    given: bytes
    place: int


class KeptGolds:
    """Golds, with the molecules given beside them, by their texts; bounded: once full, it stays so."""

    def __init__(self) -> None:
        self._memory: list[object] = []
        self.address = zeros_at(8 * KEPT_NUMBERS, self._memory)
        self._known: dict[tuple[str, int, str, int], Kept] = {}
        self._used = 0
        self._adding = threading.Lock()

    @property
    def is_full(self) -> bool:
        return len(self._known) >= KEPT_GOLDS or 4 * self._used > 3 * KEPT_NUMBERS

    def keep(self, gold: Sequence[Any], given: Sequence[Any]) -> Kept | None:
        """Both as bytes, joined once for all answers to a question; None if a text cannot stand so."""
        try:
            key = "\n".join(gold), len(gold), "\n".join(given), len(given)
        except TypeError:
            return None
        kept = self._known.get(key)
        if kept is not None:
            return kept
        ours, theirs = joined(gold), joined(given)
        if ours is None or theirs is None:
            return None
        n_numbers = KEPT_FACTS + 2 * (len(gold) + len(given))
        with self._adding:
            if len(ours) + len(theirs) > _KEPT_BYTES or self._used + n_numbers > KEPT_NUMBERS:
                return Kept(ours, theirs, -1)
            kept = self._known[key] = Kept(ours, theirs, self._used)
            self._used += n_numbers
        return kept
