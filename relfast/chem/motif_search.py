"""The kernels that make REL-C2 records, as they are called: machine code where it is there, else through numba."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from relfast_kernels.compiled import native
from relfast_kernels.motif.rows import (
    DEPTHS,
    FOUND_MOTIFS,
    FOUND_SIZE,
    FRAME_SIZE,
    MAX_ATOMS,
    MAX_MOTIFS,
    SECTION,
    WORK_SIZE,
)

from relfast.chem.stored import Rows

UNIT: Final = "motif"

Ints = npt.NDArray[np.int64]
Function = Callable[..., int]


@cache
def _functions() -> Mapping[str, Function] | None:
    """The unit's functions, compiled if need be; None where they cannot be kept."""
    functions = native.load(UNIT)
    if functions is None:
        try:
            # numba would take as long, and half a second in each process that follows
            native.build(UNIT)
        except OSError:
            return None
        functions = native.load(UNIT)
    return functions


def _at(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class Search:
    """Looks for largest motifs, in memory of its own: not for two threads at once."""

    def __init__(self) -> None:
        self._found, self._motifs = np.zeros(FOUND_SIZE, np.int64), np.zeros(MAX_MOTIFS, np.int64)
        self._frames = np.zeros((DEPTHS, FRAME_SIZE), np.int64)
        self._space = self._for(0)

    def _for(self, k: int) -> tuple[Ints, Ints, npt.NDArray[np.int8]]:
        self._k = k
        return (
            np.zeros(WORK_SIZE + k, np.int64),
            np.zeros((k, MAX_ATOMS), np.int64),
            np.zeros((DEPTHS, k, SECTION), np.int8),
        )

    def largest(self, rows: Rows, starts: Sequence[int], min_atoms: int, max_steps: int) -> list[int]:
        """The largest motifs of molecules that begin at ``starts``, as bits of the first one's bonds; none
        where the search was given up or there are too many. `relfast_kernels.motif.grow` says the rest."""
        k = len(starts) - 1
        if k > self._k:
            self._space = self._for(k)
        work, has, images = self._space
        places = np.array(starts, np.int64)
        found, motifs, frames = self._found, self._motifs, self._frames
        functions = _functions()
        if functions is None:
            from relfast_kernels.motif.grow import largest_motifs

            images = images.reshape(-1)[: DEPTHS * k * SECTION].reshape(DEPTHS, k, SECTION)
            is_whole = largest_motifs(
                rows, places, min_atoms, max_steps, work, has, images, frames, found, motifs
            )
        else:
            spaces = map(_at, (work, has, images, frames, found, motifs))
            is_whole = functions["largest"](
                _at(rows), len(rows), _at(places), k, min_atoms, max_steps, *spaces
            )
        n = int(found[FOUND_MOTIFS])
        return motifs[:n].tolist() if is_whole and n <= MAX_MOTIFS else []


def similar(
    prints: npt.NDArray[np.uint64], counts: Ints, index: int, lowest: float, highest: float
) -> tuple[Ints, npt.NDArray[np.float64]]:
    """Where fingerprints are that are similar to one of them, and how similar: `relfast_kernels.similar`."""
    n, words = prints.shape
    places, shares = np.empty(n, np.int64), np.empty(n)
    functions = _functions()
    if functions is None:
        from relfast_kernels.similar import similar as by_numba

        found = int(by_numba(prints, counts, index, lowest, highest, places, shares))
    else:
        bounds = np.array((lowest, highest))
        found = functions["similar"](
            _at(prints), n, words, _at(counts), index, _at(bounds), _at(places), _at(shares)
        )
    return places[:found].copy(), shares[:found].copy()
