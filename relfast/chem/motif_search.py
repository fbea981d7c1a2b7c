"""The kernels that make REL-C2 records, called as machine code, or by numba where that cannot be kept."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from relfast_kernels.compiled import native
from relfast_kernels.motif.rows import (
    DEPTHS,
    FOUND_MOTIFS,
    FOUND_SIZE,
    FRAME_SIZE,
    MAX_MOTIFS,
    PER_MOLECULE,
    SECTION,
    WORK_SIZE,
)

from relfast.chem.stored import Rows

UNIT: Final = "motif"

Ints = npt.NDArray[np.int64]
Function = Callable[..., int]


def _at(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class _Space:
    """What searches in groups of up to ``k`` others write to, and where that is."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.work = np.zeros(WORK_SIZE + k, np.int64)
        self.known = np.zeros((k, PER_MOLECULE), np.int64)
        self.images = np.zeros((DEPTHS, k, SECTION), np.int8)
        self.frames = np.zeros((DEPTHS, FRAME_SIZE), np.int64)
        self.found, self.motifs = np.zeros(FOUND_SIZE, np.int64), np.zeros(MAX_MOTIFS, np.int64)
        spaces = (self.work, self.known, self.images, self.frames, self.found, self.motifs)
        self.addresses = [_at(space) for space in spaces]


class Search(threading.local):
    """Looks for largest motifs."""

    _space = _Space(0)

    def largest(self, rows: Rows, starts: Sequence[int], min_atoms: int, max_steps: int) -> tuple[int, ...]:
        """The largest motifs of molecules that begin at ``starts``, as bits of the first one's bonds; none
        where the search was given up or there are too many. `relfast_kernels.motif.grow` says the rest."""
        k = len(starts) - 1
        if k > self._space.k:
            self._space = _Space(k)
        space, places = self._space, np.array(starts, np.int64)
        search = native.functions(UNIT)["largest"]
        is_whole = bool(search(_at(rows), len(rows), _at(places), k, min_atoms, max_steps, *space.addresses))
        n = int(space.found[FOUND_MOTIFS])
        return tuple(space.motifs[:n].tolist()) if is_whole and n <= MAX_MOTIFS else ()


def similar(
    prints: npt.NDArray[np.uint64], counts: Ints, index: int, lowest: float, highest: float
) -> tuple[Ints, npt.NDArray[np.float64]]:
    """Where fingerprints are that are similar to one of them, and how similar: `relfast_kernels.similar`."""
    n, words = prints.shape
    places, shares = np.empty(n, np.int64), np.empty(n)
    bounds = np.array((lowest, highest))
    found = native.functions(UNIT)["similar"](
        _at(prints), n, words, _at(counts), index, _at(bounds), _at(places), _at(shares)
    )
    return places[:found].copy(), shares[:found].copy()
