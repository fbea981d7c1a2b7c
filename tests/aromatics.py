"""Molecules in which aromatic rings may be found: known ones, and random relatives that no list has."""

from __future__ import annotations

import random

from rdkit import Chem

PIECES = (
    "c1ccccc1", "c1ccncc1", "c1cc[nH]c1", "c1ccoc1", "c1ccsc1", "c1cnc[nH]1", "c1ccc2[nH]ccc2c1", "c1ccc2ncccc2c1",
    "c1ncc2nc[nH]c2n1", "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "O=c1cc[nH]cc1", "O=c1cc[nH]c(=O)[nH]1", "O=c1ccoc2ccccc12",
    "c1ccc2c(c1)Cc1ccccc12", "c1ccc2c(c1)oc1ccccc12", "c1ccc2cc3ccccc3cc2c1", "c1cc2ccc3cccc4ccc(c1)c2c34",
    "C1=CC2=CC=CC2=CC=C1", "O=C1C=CC(=O)C=C1", "O=C1C=CC(=O)c2ccccc12", "c1ccccc1c1ccccc1", "c1ccn2cccc2c1",
    "c1ccc2nsnc2c1", "C1=CC=CC1", "C=C1C=CC=C1", "O=C1C=CC=CC=C1", "S=c1cc[nH]cc1", "O=c1cc1", "O=c1ccsn1C",
    "c1ccc2c(c1)[nH]c1ccccc12", "N1C=CC=CC=C1", "c1ccc2c(c1)CCC2", "C1=Cc2ccccc2C1", "c1cc2c3c(cccc3c1)CC2",
    "C1=CC(=C2C=CC=C2)C=C1", "c1ccc2c(c1)N=CC=CN2", "O=S1C=CC=C1", "c1ccs(=O)c1", "c1cc2ccc1CCCCCCo2", "O=c1c(=O)c2ccccc12",
    "C1CCCc2ccc(o2)CCCC1", "C1CCc2ccc(cc2)CCC1", "c1cc[se]c1", "OB1OCc2ccccc12", "C1=CC=C1", "C1=CC=CC=CC=C1", "P1C=CC=C1",
    "C1=CC2=CC=CC3=CC=CC1=C23", "C1=CC2=C3C(=CC=C2)C=CC3=C1", "c1cn[nH]c#1", "C1=CC#CC=C1", "C1C2=NC1=N2", "COP(=O)(O)OC",
)  # fmt: skip

_SINGLE, _DOUBLE = Chem.BondType.SINGLE, Chem.BondType.DOUBLE


def _kekulised(smiles: str) -> Chem.RWMol:
    mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
    Chem.Kekulize(mol, clearAromaticFlags=True)
    return mol


def _written(mol: Chem.RWMol, otherwise: str) -> str:
    """The molecule if it is one."""
    for atom in mol.GetAtoms():
        atom.SetNoImplicit(False)
        atom.SetNumExplicitHs(0)
    if Chem.SanitizeMol(mol, catchErrors=True) != Chem.SanitizeFlags.SANITIZE_NONE:
        return otherwise
    return str(Chem.MolToSmiles(mol))


def join(rng: random.Random, one: str, other: str) -> str:
    """Two molecules bonded to each other, often by two bonds, which makes a ring of four or five atoms."""
    mol = _kekulised(one)
    n = mol.GetNumAtoms()
    mol.InsertMol(_kekulised(other))
    a, b = rng.randrange(n), rng.randrange(n, mol.GetNumAtoms())
    mol.AddBond(a, b, _SINGLE if rng.random() < 0.8 else _DOUBLE)
    beside = [atom.GetIdx() for atom in mol.GetAtomWithIdx(a).GetNeighbors() if atom.GetIdx() < n]
    beside_other = [atom.GetIdx() for atom in mol.GetAtomWithIdx(b).GetNeighbors() if atom.GetIdx() >= n]
    if beside and beside_other and rng.random() < 0.6:
        last = rng.choice(beside_other)
        if rng.random() < 0.6:
            between = mol.AddAtom(Chem.Atom(rng.choice((6, 7, 8, 16))))
            mol.AddBond(last, between, _SINGLE)
            last = between
        mol.AddBond(rng.choice(beside), last, _SINGLE)
    return _written(mol, one)


def vary(rng: random.Random, smiles: str) -> str:
    """The molecule with other elements, bond orders, substituents or rings."""
    mol = _kekulised(smiles)
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind = rng.random()
        atom = mol.GetAtomWithIdx(rng.randrange(mol.GetNumAtoms()))
        if kind < 0.5 or not mol.GetNumBonds():
            atom.SetAtomicNum(rng.choice((6, 6, 7, 7, 8, 16)))
        elif kind < 0.75:
            mol.GetBondWithIdx(rng.randrange(mol.GetNumBonds())).SetBondType(rng.choice((_SINGLE, _DOUBLE)))
        elif kind < 0.9:
            added = mol.AddAtom(Chem.Atom(rng.choice((6, 7, 8, 16))))
            mol.AddBond(atom.GetIdx(), added, rng.choice((_SINGLE, _DOUBLE)))
        else:
            other = rng.randrange(mol.GetNumAtoms())
            if other != atom.GetIdx() and mol.GetBondBetweenAtoms(other, atom.GetIdx()) is None:
                mol.AddBond(other, atom.GetIdx(), _SINGLE)
    return _written(mol, smiles)


def relative(rng: random.Random, bank: list[str]) -> str:
    """A random relative of some molecules."""
    found = rng.choice(bank)
    if rng.random() < 0.5:
        found = join(rng, found, rng.choice(bank))
    return vary(rng, found) if rng.random() < 0.5 else found
