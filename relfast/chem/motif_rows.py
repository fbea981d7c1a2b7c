"""Molecules as the kernel that searches for motifs reads them, and the motifs that it finds."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from rdkit import Chem
from relfast_kernels.motif.rows import (
    ATOM_BONDS,
    ATOM_DEGREE,
    ATOM_SIZE,
    ATOMS,
    MAX_ATOMS,
    MAX_DEGREE,
    MAX_QUERY_BONDS,
    RING_BOND,
)

from relfast.chem.molecule import Molecule
from relfast.chem.motif_search import Search
from relfast.chem.stored import Packed, Rows, StoredMolecule

CACHED_ROWS: Final = 10_000
"""Molecules whose rows are kept, at some 2 kB each."""

_ORDERS: Final = {
    Chem.BondType.SINGLE: 1,
    Chem.BondType.DOUBLE: 2,
    Chem.BondType.TRIPLE: 3,
    Chem.BondType.AROMATIC: 4,
}
_CHARGES: Final = 32
_HYDROGENS: Final = 16
"""Factors and bounds of what tells leaves apart."""


def packed(molecule: Molecule) -> Packed | None:
    """The molecule for the kernel; None if it is too large, or has bonds that are not of the usual orders."""
    return molecule.packed if isinstance(molecule, StoredMolecule) else _packed(molecule)


@lru_cache(maxsize=CACHED_ROWS)
def _packed(molecule: Molecule) -> Packed | None:
    row = row_of(molecule)
    return None if row is None else Packed(row, 0)


def row_of(molecule: Molecule) -> Rows | None:
    """A molecule's row, as `relfast_kernels.motif.rows` has it; None where `packed` is None."""
    mol, n = molecule.mol, molecule.n_atoms
    if not 0 < n <= MAX_ATOMS or not molecule.definite:
        return None
    around: list[list[int]] = [[] for _ in range(n)]
    in_ring = [0] * n
    for bond in mol.GetBonds():
        code = _ORDERS.get(bond.GetBondType())
        if code is None:
            return None
        a, b = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        if bond.IsInRing():
            code |= RING_BOND
            in_ring[a] = in_ring[b] = 1
        around[a].append(16 * b + code)
        around[b].append(16 * a + code)
    if max(map(len, around)) > MAX_DEGREE:
        return None
    row = [n]
    for atom, bonds, ring in zip(mol.GetAtoms(), around, in_ring, strict=True):
        # what a leaf is besides its element
        twin = 0
        if len(bonds) == 1:
            twin = _CHARGES * atom.GetFormalCharge() + min(atom.GetTotalNumHs(), _HYDROGENS)
        row += 2 * atom.GetAtomicNum() + ring, twin, len(bonds), *sorted(bonds)
        row += [0] * (MAX_DEGREE - len(bonds))
    return np.array(row, np.int32)


@lru_cache(maxsize=CACHED_ROWS)
def _ends(molecule: Molecule) -> list[tuple[int, int]]:
    """The atoms of a molecule's bonds, in the kernel's order."""
    one = packed(molecule)
    assert one is not None
    atoms = one.row[ATOMS:].reshape(-1, ATOM_SIZE).tolist()
    return [
        (at, bond >> 4)
        for at, atom in enumerate(atoms)
        for bond in atom[ATOM_BONDS : ATOM_BONDS + atom[ATOM_DEGREE]]
        if bond >> 4 > at
    ]


Place = tuple[list[int], list[int]]
"""Atoms and bonds."""


class Motifs(NamedTuple):
    """The largest motifs of a group: where they lie in one of its molecules.

    Attributes
    ----------
    query
        The molecule with the fewest bonds, the first of these.
    masks
        Its bonds as bits, one number for each place (`place_of`): all places of all motifs, but for
        interchangeable leaves. Empty where the search was given up, all motifs are smaller than asked for,
        or there are too many.
    """

    query: Molecule
    masks: tuple[int, ...]

    @property
    def places(self) -> list[Place]:
        return [place_of(self.query, mask) for mask in self.masks]


def largest_motifs(molecules: Sequence[Molecule], min_atoms: int, max_steps: int) -> Motifs | None:
    """The largest motifs of two or more molecules; None where the kernel does not take them."""
    n_bonds = [molecule.n_bonds for molecule in molecules]
    query = n_bonds.index(min(n_bonds))
    known = [row for row in map(packed, molecules) if row is not None]
    if n_bonds[query] > MAX_QUERY_BONDS or len(known) < len(molecules):
        return None
    known.insert(0, known.pop(query))
    buffer = known[0].buffer
    if all(one.buffer is buffer for one in known):
        starts = [one.start for one in known]
    else:
        parts = [one.row for one in known]
        buffer = np.concatenate(parts)
        starts = [0, *itertools.accumulate(map(len, parts[:-1]))]
    return Motifs(molecules[query], _search.largest(buffer, starts, min_atoms, max_steps))


_search = Search()


@lru_cache(maxsize=CACHED_ROWS)
def place_of(molecule: Molecule, mask: int) -> Place:
    """The atoms and bonds (RDKit's numbers) of bonds that the kernel has found."""
    pairs = [pair for at, pair in enumerate(_ends(molecule)) if mask >> at & 1]
    bonds = [molecule.mol.GetBondBetweenAtoms(*pair).GetIdx() for pair in pairs]
    return sorted({atom for pair in pairs for atom in pair}), bonds
