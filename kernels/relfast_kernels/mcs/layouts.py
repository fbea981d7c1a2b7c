"""Constants that the search for common substructures and its callers share; without numba and numpy."""

from __future__ import annotations

from collections import namedtuple
from typing import Final, NamedTuple

from relfast_kernels.smiles.layouts import GRAPH_SIZE, MAX_ATOMS, SECTION

MAX_BONDS: Final = 62
"""The most bonds of a graph that is searched: bits of a non-negative int64. `MAX_ATOMS` is less."""

UNFINISHED: Final = -3
"""Result of a search that ran out of steps."""


class Pair(NamedTuple):
    """The result of comparing two molecules, the first and the second; `PAIR` has the index of each field.

    Attributes
    ----------
    bonds, atoms, steps
        Bonds and atoms of the largest common substructure, if it was searched, and the steps that took.
    in_first, in_second
        Whether the second is a substructure of the first, and the first of the second, as RDKit has it.
    n_first, n_atoms
        Atoms of the first, and of the second.
    fingerprint, settled
        Of the second: 32 bits equal for equal graphs (with whole rings for equal clean molecules, as
        `relfast.chem.clean.vote_of` has them), and whether its graph determines where its hydrogens are.
    """

    bonds: int
    atoms: int
    steps: int
    in_first: int
    in_second: int
    n_first: int
    n_atoms: int
    fingerprint: int
    settled: int


PAIR: Final = Pair(*range(9))
PAIR_SIZE: Final = len(PAIR)
PAIR_WORK_SIZE: Final = 3_300
"""Workspace of a comparison."""

Prepared = namedtuple("Prepared", "atoms bonds fingerprint clean_print settled charged radicals counts")
PREPARED: Final = Prepared(*range(8))
PREPARED_FACTS: Final = len(PREPARED)
"""Facts about a molecule once it is read: atoms, bonds, fingerprint as published and under ``strict``,
whether its graph determines where its hydrogens are, whether it has charges, unpaired electrons, and
counts of its commonest atoms and bonds. Its graph and two packed forms follow."""
PREPARED_SIZE: Final = PREPARED_FACTS + GRAPH_SIZE + 2 * 960


IMAGE: Final = 0
"""For each mapped query atom its image, a target atom."""
BEST_IMAGE: Final = SECTION
"""For each query atom its image in the best solution so far, -1 without."""
KEYS: Final = 2 * SECTION
BEST_BONDS: Final = 3 * SECTION
BEST_ATOMS: Final = BEST_BONDS + 1
N_CLASSES: Final = BEST_BONDS + 2
N_LABELS: Final = BEST_BONDS + 3
STEPS: Final = BEST_BONDS + 4
"""States visited."""
FRAMES: Final = BEST_BONDS + 16
"""A stack of frames, one for each state on the way to the present one. Bonds and atoms are masks."""

OPEN: Final = 0
"""Query bonds that may still be mapped."""
DELETED: Final = 1
"""Query bonds that must not come true: solutions with them were searched before."""
TOUCHED: Final = 2
"""Query bonds at mapped atoms."""
MATCHED: Final = 3
"""Query atoms with an image (mapped)."""
FREE: Final = 4
"""Target bonds that may still become images."""
TOUCHED_THERE: Final = 5
"""Target bonds at images."""
IMAGES: Final = 6
"""Target atoms that are images."""
CANDIDATES: Final = 7
"""Target bonds still to be tried as images of the bond that is branched on."""
BOND: Final = 8
"""The query bond that is branched on, -1 before it has been chosen."""
ANCHOR: Final = 9
"""The end of that bond that has an image."""
N_MATCHED: Final = 10
"""The number of query bonds that have an image."""
FORCED: Final = 11
"""Not 0 if deleting the bond instead can gain nothing."""
COMMON: Final = 12
"""The query bonds that have an image."""
FRAME_SIZE: Final = 13

STATE_SIZE: Final = FRAMES + (MAX_ATOMS + 2) * FRAME_SIZE
