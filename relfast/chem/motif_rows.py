"""Molecules as the kernel that searches for motifs reads them, and the motifs that it finds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from rdkit import Chem
from relfast_kernels.motif.rows import (
    ATOM_BONDS,
    ATOM_DEGREE,
    ATOM_LABEL,
    ATOM_SIZE,
    ATOM_TWIN,
    FOUND_MOTIFS,
    FOUND_SIZE,
    MAX_ATOMS,
    MAX_DEGREE,
    MAX_MOTIFS,
    MAX_QUERY_BONDS,
    RING_BOND,
    ROW_SIZE,
)

from relfast.chem.molecule import Molecule

CACHED_ROWS: Final = 10_000
"""Molecules whose rows are kept, at 3.6 kB each."""

_AROMATIC: Final = 1.5
"""RDKit's number for the order of an aromatic bond."""
_CHARGES: Final = 32
_HYDROGENS: Final = 16
"""Factors and bounds of what tells leaves apart."""


class Packed(NamedTuple):
    """A molecule for the kernel.

    Attributes
    ----------
    row
        ``(ROW_SIZE,)`` int32.
    ends
        ``(bonds, 2)``: the atoms of its bonds, in the kernel's order.
    """

    row: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int64]


@lru_cache(maxsize=CACHED_ROWS)
def packed(molecule: Molecule) -> Packed | None:
    """The molecule for the kernel; None if it is too large, or has bonds that are not of the usual orders."""
    mol, n = molecule.mol, molecule.n_atoms
    if n > MAX_ATOMS or not molecule.definite:
        return None
    orders = Chem.GetAdjacencyMatrix(mol, useBO=True)
    codes = np.where(orders == _AROMATIC, 4, orders).astype(np.int32)
    rings = mol.GetRingInfo().AtomRings()
    in_rings = [pair for ring in rings for pair in zip(ring, (*ring[1:], ring[0]), strict=True)]
    if in_rings:
        a, b = np.array(in_rings).T
        codes[a, b] |= RING_BOND
        codes[b, a] = codes[a, b]
    here, there = np.nonzero(codes)
    degrees = np.bincount(here, minlength=n)
    if n == 0 or degrees.max() > MAX_DEGREE or len(here) != 2 * molecule.n_bonds:
        return None
    atoms = np.zeros((MAX_ATOMS, ATOM_SIZE), np.int32)
    elements = [mol.GetAtomWithIdx(at).GetAtomicNum() for at in range(n)]
    atoms[:n, ATOM_LABEL] = 2 * np.array(elements) + (codes >= RING_BOND).any(axis=1)
    for leaf in np.nonzero(degrees == 1)[0].tolist():
        atom = mol.GetAtomWithIdx(leaf)
        atoms[leaf, ATOM_TWIN] = _CHARGES * atom.GetFormalCharge() + min(atom.GetTotalNumHs(), _HYDROGENS)
    atoms[:n, ATOM_DEGREE] = degrees
    nth = np.arange(len(here)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    atoms[here, ATOM_BONDS + nth] = 16 * there + codes[here, there]
    row = np.concatenate((np.array([n], np.int32), atoms.ravel()))
    return Packed(row, np.stack((here, there), axis=1)[here < there])


Place = tuple[list[int], list[int]]
"""Atoms and bonds."""


class Motifs(NamedTuple):
    """The largest motifs of a group: where they lie in one of its molecules.

    Attributes
    ----------
    query
        The molecule with the fewest bonds, the first of these.
    places
        The atoms and bonds of each (RDKit's numbers): all places of all motifs, but for interchangeable
        leaves. Empty where the search was given up, all motifs are smaller than asked for, or there are too
        many.
    """

    query: Molecule
    places: list[Place]


def largest_motifs(molecules: Sequence[Molecule], min_atoms: int, max_steps: int) -> Motifs | None:
    """The largest motifs of two or more molecules; None where the kernel does not take them."""
    rows = [packed(molecule) for molecule in molecules]
    smallest = min(range(len(rows)), key=lambda at: molecules[at].n_bonds)
    query = rows[smallest]
    if query is None or len(query.ends) > MAX_QUERY_BONDS:
        return None
    others = [row.row for at, row in enumerate(rows) if row is not None and at != smallest]
    if len(others) < len(rows) - 1:
        return None
    from relfast_kernels.motif.grow import largest_motifs as search

    found = np.zeros(FOUND_SIZE, np.int64)
    masks = np.zeros(MAX_MOTIFS, np.int64)
    is_whole = search(
        query.row, np.concatenate(others).reshape(-1, ROW_SIZE), min_atoms, max_steps, found, masks
    )
    n = int(found[FOUND_MOTIFS]) if is_whole else 0
    if n > MAX_MOTIFS:
        n = 0
    smallest_one = molecules[smallest]
    return Motifs(smallest_one, [_place(smallest_one, query.ends, mask) for mask in masks[:n].tolist()])


def _place(molecule: Molecule, ends: npt.NDArray[np.int64], mask: int) -> Place:
    pairs = [pair for at, pair in enumerate(ends.tolist()) if mask >> at & 1]
    bonds = [molecule.mol.GetBondBetweenAtoms(*pair).GetIdx() for pair in pairs]
    return sorted({atom for pair in pairs for atom in pair}), bonds
