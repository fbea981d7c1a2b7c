"""Molecules with the heavy atoms of another and two hydrogens more or fewer."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any, Final

from rdkit import Chem

_LOWER: Final = {Chem.BondType.TRIPLE: Chem.BondType.DOUBLE, Chem.BondType.DOUBLE: Chem.BondType.SINGLE}
_HIGHER: Final = {order: other for other, order in _LOWER.items()}


@lru_cache(maxsize=20_000)
def two_hydrogens_apart(smiles: str) -> tuple[str, ...]:
    """Canonical SMILES of the molecules that come of making, closing or opening one bond, sorted.

    A bond of one order more or less, a new ring, or one ring less.
    """
    mol = Chem.MolFromSmiles(smiles)
    Chem.Kekulize(mol, clearAromaticFlags=True)
    hydrogens = [atom.GetTotalNumHs() for atom in mol.GetAtoms()]
    for atom in mol.GetAtoms():
        atom.SetNoImplicit(False)
        atom.SetNumExplicitHs(0)
    found: set[str | None] = set()
    for bond in mol.GetBonds():
        ends = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        order = bond.GetBondType()
        changed = [_LOWER.get(order), _HIGHER.get(order) if all(hydrogens[end] for end in ends) else None]
        for other in changed:
            if other is not None:
                edited = Chem.RWMol(mol)
                edited.GetBondBetweenAtoms(*ends).SetBondType(other)
                found.add(_written(edited))
        if bond.IsInRing() and order == Chem.BondType.SINGLE:
            edited = Chem.RWMol(mol)
            edited.RemoveBond(*ends)
            found.add(_written(edited))
    for ends in combinations(range(len(hydrogens)), 2):
        if all(hydrogens[end] for end in ends) and mol.GetBondBetweenAtoms(*ends) is None:
            edited = Chem.RWMol(mol)
            edited.AddBond(*ends, Chem.BondType.SINGLE)
            found.add(_written(edited))
    return tuple(sorted(one for one in found if one is not None))


def _written(mol: Any) -> str | None:
    if Chem.SanitizeMol(mol, catchErrors=True) != Chem.SanitizeFlags.SANITIZE_NONE:
        return None
    return str(Chem.MolToSmiles(mol, isomericSmiles=False))
