"""What the search for common substructures and its callers share; imports neither numba nor numpy."""

from __future__ import annotations

from typing import Final

from relfast_kernels.entry import Array, Byte, Bytes, Const, Inner, Int, Ints, Rows, Struct
from relfast_kernels.smiles.layouts import GRAPH_SIZE, MAX_ATOMS, SECTION

MAX_BONDS: Final = 62
"""The most bonds of a graph that is searched: bits of a non-negative int64. Atoms are bits too, of which
`MAX_ATOMS` are fewer."""

UNFINISHED: Final = -3
"""Result of a search that ran out of steps. Of the other codes of `relfast_kernels.smiles.layouts` only
`UNKNOWN` and `INVALID` reach this unit."""


class Pair(Struct):
    """The result of comparing two molecules (`relfast.chem.common_substructure.Pair`). ``status``: 0 if there
    is one, else `UNKNOWN`, `INVALID` or `UNFINISHED`."""

    status: int = Int
    bonds: int = Int
    atoms: int = Int
    steps: int = Int
    in_first: int = Int
    in_second: int = Int
    n_first: int = Int
    n_atoms: int = Int
    fingerprint: int = Int
    settled: int = Int


PACKED_SIZE: Final = 14 * SECTION + 8
"""Places of a packed form (`relfast_kernels.mcs.packed`)."""
PAIR_WORK_SIZE: Final = 3_300
"""Workspace of a comparison."""


class Molecule(Struct):
    """A molecule that has been read: numbers of atoms and bonds (`UNKNOWN`: too many for a search),
    fingerprint as published and under ``strict``, whether its graph determines where its hydrogens are,
    whether it has charges, unpaired electrons, and counts of its commonest atoms and bonds; its graph; and
    its packed forms, in which rings may be matched in part, and for whole rings."""

    atoms: int = Int
    bonds: int = Int
    fingerprint: int = Int
    clean_print: int = Int
    settled: int = Int
    charged: int = Int
    radicals: int = Int
    counts: int = Int
    graph: Ints = Int * GRAPH_SIZE
    loose: Ints = Int * PACKED_SIZE
    whole: Ints = Int * PACKED_SIZE


class Reading(Struct):
    """A SMILES that is read as number ``at`` of some molecules. ``by_rdkit``: RDKit wrote it, without
    stereo."""

    by_rdkit: int = Int
    at: int = Int
    n_bytes: int = Int
    n: int = Int
    text: Bytes = Const(Byte, "n_bytes")
    molecules: Rows[Molecule] = Array(Molecule, "n")


class Common(Struct):
    """Two molecules whose largest common substructure is sought, in ``limit`` steps."""

    whole_rings: int = Int
    limit: int = Int
    found: Pair = Inner(Pair)
    first: Rows[Molecule] = Const(Molecule, 1)
    second: Rows[Molecule] = Const(Molecule, 1)
    work: Ints = Array(Int, PAIR_WORK_SIZE)


class Asked(Struct):
    """The number of a gold, and where in the texts the SMILES is that is compared with it."""

    gold: int = Int
    start: int = Int
    end: int = Int


class Comparisons(Struct):
    """SMILES, the first ``n`` of ``asked``, that are compared with golds; ``second`` and ``work`` are
    workspace."""

    whole_rings: int = Int
    limit: int = Int
    n: int = Int
    n_golds: int = Int
    n_bytes: int = Int
    most: int = Int
    golds: Rows[Molecule] = Const(Molecule, "n_golds")
    texts: Bytes = Const(Byte, "n_bytes")
    asked: Rows[Asked] = Const(Asked, "most")
    found: Rows[Pair] = Array(Pair, "most")
    second: Rows[Molecule] = Array(Molecule, 1)
    work: Ints = Array(Int, PAIR_WORK_SIZE)


class Parts(Struct):
    """Molecules that may be substructures of another one."""

    n_parts: int = Int
    whole: Rows[Molecule] = Const(Molecule, 1)
    parts: Rows[Molecule] = Const(Molecule, "n_parts")
    work: Ints = Array(Int, PAIR_WORK_SIZE)


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
