"""Entries of the unit ``motif``, which makes REL-C2 records, for `relfast_kernels.compiled.native`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import carray, kernel
from relfast_kernels.motif.grow import largest_motifs
from relfast_kernels.motif.layouts import (
    DEPTHS,
    FOUND_SIZE,
    FRAME_SIZE,
    MAX_MOTIFS,
    PER_MOLECULE,
    SECTION,
    WORK_SIZE,
)


def _largest(
    rows: Any, n_places: int, starts: Any, k: int, min_atoms: int, limit: int, work: Any, known: Any,
    images: Any, frames: Any, found: Any, motifs: Any,
) -> int:  # fmt: skip
    is_whole = largest_motifs(
        carray(rows, n_places, np.int32),
        carray(starts, k + 1, np.int64),
        min_atoms,
        limit,
        carray(work, WORK_SIZE + k, np.int64),
        carray(known, (k, PER_MOLECULE), np.int64),
        carray(images, (DEPTHS, k, SECTION), np.int8),
        carray(frames, (DEPTHS, FRAME_SIZE), np.int64),
        carray(found, FOUND_SIZE, np.int64),
        carray(motifs, MAX_MOTIFS, np.int64),
    )
    return 1 if is_whole else 0


def _similar(
    prints: Any, n: int, n_words: int, counts: Any, index: int, bounds: Any, places: Any, shares: Any
) -> int:
    lowest, highest = carray(bounds, 2, np.float64)
    return similar(
        carray(prints, (n, n_words), np.uint64),
        carray(counts, n, np.int64),
        index,
        lowest,
        highest,
        carray(places, n, np.int64),
        carray(shares, n, np.float64),
    )


ENTRIES = {"largest": (_largest, "pipiiipppppp"), "similar": (_similar, "piipippp")}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""


Prints = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]


@kernel
def _n_bits(word: np.uint64) -> int:
    n = 0
    while word != 0:
        word &= word - np.uint64(1)
        n += 1
    return n


@kernel
def similar(
    prints: Prints, counts: Counts, index: int, lowest: float, highest: float, places: Counts, shares: Shares
) -> int:
    """Find the fingerprints whose Tanimoto similarity to one is within bounds; how many there are.

    Parameters
    ----------
    prints
        ``(n, words)`` uint64: fingerprints as bits.
    counts
        ``(n,)`` int64: how many bits of each are set.
    index
        The one to compare with; it does not count itself.
    lowest, highest
        Bounds of the similarity: bits set in both over bits set in either, 0 for two without any.
    places, shares
        ``(n,)`` int64 and float64, out: their indices, ascending, and their similarities.
    """
    found = 0
    count = counts[index]
    for at in range(len(prints)):
        if at == index:
            continue
        other_count = counts[at]
        # no more bits can be common than the smaller count; with some room for rounding
        if min(count, other_count) + 1e-6 < lowest * max(count, other_count):
            continue
        common = 0
        for word in range(prints.shape[1]):
            common += _n_bits(prints[index, word] & prints[at, word])
        either = count + other_count - common
        share = common / either if either else 0.0
        if lowest <= share <= highest:
            places[found] = at
            shares[found] = share
            found += 1
    return found
