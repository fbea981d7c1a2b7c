"""Molecules for the chemistry kernels, alone and in pairs: aromatic, caged, charged, symmetric, long, and random
relatives that no list has."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from corpora import rel_records
from rdkit import Chem, rdBase
from rdkit.Chem.EnumerateStereoisomers import EnumerateStereoisomers, StereoEnumerationOptions


def spell(smiles: str, rng: random.Random) -> str:
    """Another SMILES of the same molecule."""
    mol = Chem.MolFromSmiles(smiles)
    style = rng.randrange(7)
    if style == 1:
        Chem.Kekulize(mol, clearAromaticFlags=rng.random() < 0.5)
    elif style == 2:
        mol = Chem.AddHs(mol)
    elif style == 3:
        one = StereoEnumerationOptions(maxIsomers=2, rand=rng.randrange(1 << 30), onlyUnassigned=True)
        mol = next(iter(EnumerateStereoisomers(mol, options=one)), mol)
    options: dict[str, Any] = {
        "canonical": rng.random() < 0.3,
        "doRandom": rng.random() < 0.7,
        "kekuleSmiles": style == 1,
        "allBondsExplicit": style == 4,
        "allHsExplicit": style == 5,
        "isomericSmiles": True,
        "rootedAtAtom": rng.randrange(mol.GetNumAtoms()) if style == 6 else -1,
    }
    return str(Chem.MolToSmiles(mol, **options))


AROMATIC: Final = (
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

CAGES: Final = (
    "C12C3C4C1C5C2C3C45", "C1C2CC3CC1CC(C2)C3", "C1CC2CCC1CC2", "C1CC2CCC1C2", "C1N2CN3CN1CN(C2)C3", "C12C3C1C23", "C1CC12CC2",
    "C1C2C3CC4C1C5C2C3C45", "C1CC2CC1C1C2C2CC1C1C2C2CC1CC2", "C12C3C4C5C1C6C2C7C3C8C4C9C5C6C7C89", "O1P2OP3OP1OP(O2)O3",
    "B12OB3OB(O1)OB(O2)O3", "C1CC2CCC3CCC1N23", "C1C2CC3C1C1CC2CC3C1", "C1CN2CCN1CC2", "C1OC2OC3OC1OC(O2)O3", "C1SC2SC1SC2",
    "CC1(C)C2CCC1(C)C(=O)C2", "CC12CCC(CC1)C(C)(C)O2", "C1=CC2C3C=CC(C13)C1C=CC2C=C1",
)  # fmt: skip

ODD: Final = (
    "O=[N+]([O-])c1ccccc1", "C[n+]1ccccc1", "[O-][n+]1ccccc1", "C[N+](C)(C)C", "[Na+].CC(=O)[O-]", "C[S+](C)[O-]", "F[B-](F)(F)F",
    "C[Si](C)(C)C", "c1cc[se]c1", "CN=[N+]=[N-]", "[C-]#[N+]C", "[CH2]C", "C[O]", "c1ccccc1[O]", "[13CH3]C", "C[13CH2]N", "Cc1c[nH]cn1",
    "Cc1cnc[nH]1", "c1c[nH]nn1", "c1cn[nH]n1", "O=c1cc[nH]cc1", "Oc1ccncc1", "CC.CO", "Cl.CCN", "C1CC1.CCO", "[Na+].[Cl-]",
    "[K+].[O-]c1ccccc1", "CCC[NH3+].CC(=O)[O-]", "[cH-]1cccc1", "[NH4+]", "[Na]", "N", "C[CH]C", "[CH3]", "C[N]C", "c1ccc2[nH]ncc2c1",
    "C[n+]1ccn(C)c1", "[CH2]c1ccccc1", "Cc1ccccc1", "[nH+]1ccccc1", "c1ccc[cH+]cc1",
)  # fmt: skip

UNITS: Final = ("C", "CC", "CO", "CCO", "CC(C)", "C(C)(C)", "C=C", "CC(=O)N", "OC(=O)C", "C(c1ccccc1)", "C1CCC1", "C(F)(F)", "S", "CCN", "c1ccc(cc1)")  # fmt: skip
"""Repeating units, each open at both ends."""

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
    """The molecule with other elements, bond orders, substituents or rings, or without some of its atoms."""
    mol = _kekulised(smiles)
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind = rng.random()
        atom = mol.GetAtomWithIdx(rng.randrange(mol.GetNumAtoms()))
        if kind < 0.45 or not mol.GetNumBonds():
            atom.SetAtomicNum(rng.choice((6, 6, 7, 7, 8, 16)))
        elif kind < 0.65:
            mol.GetBondWithIdx(rng.randrange(mol.GetNumBonds())).SetBondType(rng.choice((_SINGLE, _DOUBLE)))
        elif kind < 0.75:
            mol.RemoveAtom(atom.GetIdx())
        elif kind < 0.9:
            added = mol.AddAtom(Chem.Atom(rng.choice((6, 7, 8, 16))))
            mol.AddBond(atom.GetIdx(), added, rng.choice((_SINGLE, _DOUBLE)))
        else:
            other = rng.randrange(mol.GetNumAtoms())
            if other != atom.GetIdx() and mol.GetBondBetweenAtoms(other, atom.GetIdx()) is None:
                mol.AddBond(other, atom.GetIdx(), _SINGLE)
    return _written(mol, smiles)


def part(rng: random.Random, smiles: str) -> str:
    """The molecule without one to three of its ends."""
    mol = _kekulised(smiles)
    for _ in range(rng.randrange(1, 4)):
        ends = [atom.GetIdx() for atom in mol.GetAtoms() if atom.GetDegree() == 1]
        if len(ends) > 1:
            mol.RemoveAtom(rng.choice(ends))
    return _written(mol, smiles)


def relative(rng: random.Random, bank: Sequence[str]) -> str:
    """A random relative of some molecules."""
    found = rng.choice(bank)
    if rng.random() < 0.5:
        found = join(rng, found, rng.choice(bank))
    return vary(rng, found) if rng.random() < 0.5 else found


@cache
def molecules() -> tuple[str, ...]:
    """Those of the published records of REL-C."""
    found: set[str] = set()
    for task in ("REL-C1", "REL-C2", "REL-C3"):
        for record in rel_records(task):
            answer = record["answer"]
            found.update(answer.get("molecules") or ())
            found.update(answer.get("missing_smiles") or [answer.get("smiles") or ""])
    return tuple(sorted(smiles for smiles in found if smiles and Chem.MolFromSmiles(smiles)))


def chain(rng: random.Random) -> str:
    """A polymer of one unit or two."""
    units = rng.choices(UNITS, k=rng.choice([1, 1, 2]))
    return rng.choice(["", "N", "CC"]) + "".join(rng.choice(units) for _ in range(rng.randrange(2, 13)))


def pair(rng: random.Random) -> tuple[str, str]:
    """Two molecules, often of one kind or relatives."""
    kind = rng.randrange(7)
    with rdBase.BlockLogs():
        if kind < 2:
            bank = CAGES if kind else AROMATIC
            return rng.choice(bank), vary(rng, rng.choice(bank))
        if kind == 2:
            return chain(rng), chain(rng)
        one = rng.choice(molecules())
        if kind == 3:
            return one, spell(vary(rng, one), rng)
        if kind == 4:
            return spell(one, rng), rng.choice(molecules())
        if kind == 5:
            return one, spell(part(rng, one), rng)
        some = (*(rng.choice(bank) for bank in (CAGES, AROMATIC)), chain(rng), relative(rng, AROMATIC), one)
        return rng.choice(some), vary(rng, rng.choice(some))


def odd_pair(rng: random.Random) -> tuple[str, str]:
    """Two molecules with charges, unpaired electrons, isotopes, movable hydrogens, or several fragments."""
    with rdBase.BlockLogs():
        one, kind = _odd_molecule(rng), rng.random()
        other = _decorated(one, rng) if kind < 0.35 else one if kind < 0.5 else _odd_molecule(rng)
        pair = [spell(each, rng) if rng.random() < 0.4 else each for each in (one, other)]
        rng.shuffle(pair)
        return pair[0], pair[1]


def _odd_molecule(rng: random.Random) -> str:
    kind = rng.random()
    smiles = rng.choice(ODD)
    if kind > 0.4:
        smiles = _decorated(rng.choice(molecules()) if kind > 0.7 else smiles, rng)
    return f"{smiles}.{rng.choice(ODD)}" if rng.random() < 0.2 else smiles


def _decorated(smiles: str, rng: random.Random) -> str:
    """With other charges, unpaired electrons, isotopes, leaves or ions on some atoms."""
    mol = _kekulised(smiles)
    for _ in range(rng.choice([1, 1, 2, 3])):
        atom, change = mol.GetAtomWithIdx(rng.randrange(mol.GetNumAtoms())), rng.random()
        if change < 0.4:
            atom.SetFormalCharge(-1 if atom.GetAtomicNum() in (8, 16) else rng.choice([-1, 1, 1]))
        elif change < 0.55:
            atom.SetNumRadicalElectrons(1)
            atom.SetNoImplicit(False)
        elif change < 0.62:
            atom.SetIsotope(13)
        elif change < 0.8:
            leaf = mol.AddAtom(Chem.Atom(rng.choice([6, 7, 8, 9, 16])))
            mol.AddBond(atom.GetIdx(), leaf, Chem.BondType.SINGLE)
            mol.GetAtomWithIdx(leaf).SetFormalCharge(-1 if rng.random() < 0.4 else 0)
        elif change < 0.95 and mol.GetNumAtoms() > 3:
            mol.RemoveAtom(atom.GetIdx())
        else:
            mol.AddAtom(Chem.Atom(rng.choice([6, 7, 8, 17])))
    try:
        written = str(Chem.MolToSmiles(mol))
    except RuntimeError:
        return smiles
    return written if Chem.MolFromSmiles(written) else smiles
