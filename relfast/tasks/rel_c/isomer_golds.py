"""Golds of REL-C3 by number, as the kernels take them that read tags and compare lists of molecules."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import Any, Final

from relfast_kernels.tags.columns import (
    GOLD_COLUMNS,
    GOLD_END,
    GOLD_GIVEN_END,
    GOLD_KEPT,
    GOLD_N,
    GOLD_N_GIVEN,
    GOLD_START,
)

from relfast.chem.smiles_golds import KeptGolds, lazy_memory
from relfast.tasks.rel_c.block_tags import Golds

GOLDS: Final = 8_192
GOLD_BYTES: Final = 1 << 24
"""Golds that are kept, and bytes of their texts, most of which are never touched."""


class IsomerGolds:
    """Golds with the molecules that were given beside them. Safe to use from several threads: they are only
    added, and what was added stays where it is."""

    def __init__(self) -> None:
        self._columns = (ctypes.c_int64 * (GOLD_COLUMNS * GOLDS))()
        self._texts = lazy_memory(GOLD_BYTES)
        self._adding = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Forget all."""
        self._kept = KeptGolds()
        self._n = self._used = 0
        self.around: list[tuple[int, int, int]] = []
        """For each the bytes of its texts, which stand before the tags of a response, and of the given ones,
        which stand behind them; and how many texts there are of both."""

    def has_room(self, n: int) -> bool:
        """Whether there certainly is room for ``n`` more."""
        return not self._kept.is_full and self._n + n <= GOLDS and 4 * self._used <= 3 * GOLD_BYTES

    @property
    def kept(self) -> ctypes.c_void_p:
        """Where the kernel keeps what it found of them."""
        return self._kept.address

    @property
    def known(self) -> Golds:
        """All of them."""
        return Golds(self._columns, self._n, self._texts, GOLD_BYTES)

    def n_gold(self, number: int) -> int:
        """Molecules of a gold."""
        return self._columns[GOLD_COLUMNS * number + GOLD_N]

    def add(self, gold: Sequence[Any], given: Sequence[Any]) -> int:
        """The number of a gold from now on; -1 where a molecule is no text, and without room."""
        kept = self._kept.keep(gold, given)
        if kept is None:
            return -1
        with self._adding:
            number, start, end = self._n, self._used, self._used + len(kept.gold)
            given_end = end + len(kept.given)
            if number == GOLDS or given_end > GOLD_BYTES:
                return -1
            view = memoryview(self._texts).cast("B")
            view[start:given_end] = kept.gold + kept.given
            at = GOLD_COLUMNS * number
            for column, value in (
                (GOLD_START, start),
                (GOLD_END, end),
                (GOLD_GIVEN_END, given_end),
                (GOLD_N, len(gold)),
                (GOLD_N_GIVEN, len(given)),
                (GOLD_KEPT, kept.place),
            ):
                self._columns[at + column] = value
            self._used = given_end
            self.around.append((end - start, given_end - end, len(gold) + len(given)))
            self._n += 1
        return number
