"""Entries of the unit ``motif``, which makes REL-C2 records, for `relfast_kernels.compiled.native`."""

from __future__ import annotations

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Doubles, Ints, Words
from relfast_kernels.motif.grow import largest_motifs
from relfast_kernels.motif.layouts import Prints, Search


@kernel
def _n_bits(word: np.uint64) -> int:
    n = 0
    while word != 0:
        word &= word - np.uint64(1)
        n += 1
    return n


@kernel
def similar(
    prints: Words, counts: Ints, index: int, lowest: float, highest: float, places: Ints, shares: Doubles
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


@kernel
def _similar(asked: Prints) -> int:
    """`similar` for `Prints`."""
    return similar(
        asked.prints, asked.counts, asked.index, asked.lowest, asked.highest, asked.places, asked.shares
    )


ENTRIES = {"largest": (largest_motifs, Search), "similar": (_similar, Prints)}
"""Name → function and what it is given."""
