"""Which fingerprints are similar to one of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel

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
    """The fingerprints whose Tanimoto similarity to one is in the bounds: how many there are.

    Parameters
    ----------
    prints
        ``(n, words)`` uint64: bits.
    counts
        ``(n,)`` int64: how many of them are set.
    index
        The one; itself it does not count.
    lowest, highest
        Bounds of the similarity: bits set in both over bits set in either, 0 for two without any.
    places, shares
        ``(n,)`` int64 and float64, out: where they are, ascending, and their similarities.
    """
    found = 0
    ours = counts[index]
    for at in range(len(prints)):
        if at == index:
            continue
        theirs = counts[at]
        # no more can be common than the one of fewer bits has; with some room for the rounding
        if min(ours, theirs) + 1e-6 < lowest * max(ours, theirs):
            continue
        common = 0
        for word in range(prints.shape[1]):
            common += _n_bits(prints[index, word] & prints[at, word])
        either = ours + theirs - common
        share = common / either if either else 0.0
        if lowest <= share <= highest:
            places[found] = at
            shares[found] = share
            found += 1
    return found
