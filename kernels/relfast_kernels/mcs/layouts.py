"""What the search for common substructures and its callers both have to know; without numba and numpy."""

from __future__ import annotations

from typing import Final

from relfast_kernels.smiles.layouts import GRAPH_SIZE

MAX_BONDS: Final = 62
"""Bonds of a graph that is searched: bits of a non-negative int64. `MAX_ATOMS` is less."""

UNFINISHED: Final = -3
"""Instead of a result: the steps did not suffice."""

(
    COMMON_BONDS,
    COMMON_ATOMS,
    COMMON_STEPS,
    PAIR_IN_FIRST,
    PAIR_IN_SECOND,
    PAIR_PART,
    PAIR_FIRST_ATOMS,
    PAIR_ATOMS,
    PAIR_FINGERPRINT,
    PAIR_SETTLED,
) = range(10)
PAIR_SIZE: Final = 10
"""What is found of two molecules: bonds and atoms of the largest common substructure and the steps of the
search; whether the second lies in the first, the first in the second, and the second in the first with its
rings in rings; the atoms of either, the second's fingerprint (with whole rings as strict has it), and whether
its graph decides where its hydrogens are."""
PAIR_WORK_SIZE: Final = 3_300
"""Workspace of that."""

(
    PREPARED_ATOMS,
    PREPARED_BONDS,
    PREPARED_FINGERPRINT,
    PREPARED_CLEAN_PRINT,
    PREPARED_SETTLED,
    PREPARED_CHARGED,
    PREPARED_RADICALS,
    PREPARED_COUNTS,
    PREPARED_RINGS,
) = range(9)
PREPARED_FACTS: Final = 9
"""What is known of a molecule once it is read: atoms, bonds, fingerprint as published and as strict has it,
whether its graph decides where its hydrogens are, whether it has charges, whether unpaired electrons, how
many it has of the commonest atoms and bonds, and its ring atoms as bits; its graph and the two ways it is
packed follow."""
PREPARED_SIZE: Final = PREPARED_FACTS + GRAPH_SIZE + 2 * 960
