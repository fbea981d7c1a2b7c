"""Molecules with the heavy atoms of another and two hydrogens more or fewer."""

from __future__ import annotations

from rdkit import Chem

_LOWER = {Chem.BondType.TRIPLE: Chem.BondType.DOUBLE, Chem.BondType.DOUBLE: Chem.BondType.SINGLE}
_HIGHER = {order: other for other, order in _LOWER.items()}


def two_hydrogens_apart(smiles: str) -> set[str]:
    """Canonical SMILES of all molecules that come of changing the order of one bond by one."""
    mol = Chem.MolFromSmiles(smiles)
    Chem.Kekulize(mol, clearAromaticFlags=True)
    found = set()
    for bond in mol.GetBonds():
        hydrogens = min(bond.GetBeginAtom().GetTotalNumHs(), bond.GetEndAtom().GetTotalNumHs())
        orders = [_LOWER.get(bond.GetBondType()), _HIGHER.get(bond.GetBondType()) if hydrogens else None]
        for order in orders:
            if order is None:
                continue
            changed = Chem.RWMol(mol)
            changed.GetBondWithIdx(bond.GetIdx()).SetBondType(order)
            for atom in changed.GetAtoms():
                atom.SetNoImplicit(False)
                atom.SetNumExplicitHs(0)
            if Chem.SanitizeMol(changed, catchErrors=True) == Chem.SanitizeFlags.SANITIZE_NONE:
                found.add(Chem.MolToSmiles(changed, isomericSmiles=False))
    return found
