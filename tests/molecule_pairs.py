"""Pairs of molecules whose largest common substructure is worth knowing: alike, unlike, symmetric, long."""

from __future__ import annotations

import random
from functools import cache
from typing import Final

import aromatics
from corpora import rel_records
from rdkit import Chem, RDLogger
from spellings import spell

CAGES: Final = (
    "C12C3C4C1C5C2C3C45", "C1C2CC3CC1CC(C2)C3", "C1CC2CCC1CC2", "C1CC2CCC1C2", "C1N2CN3CN1CN(C2)C3", "C12C3C1C23", "C1CC12CC2",
    "C1C2C3CC4C1C5C2C3C45", "C1CC2CC1C1C2C2CC1C1C2C2CC1CC2", "C12C3C4C5C1C6C2C7C3C8C4C9C5C6C7C89", "O1P2OP3OP1OP(O2)O3",
    "B12OB3OB(O1)OB(O2)O3", "C1CC2CCC3CCC1N23", "C1C2CC3C1C1CC2CC3C1", "C1CN2CCN1CC2", "C1OC2OC3OC1OC(O2)O3", "C1SC2SC1SC2",
    "CC1(C)C2CCC1(C)C(=O)C2", "CC12CCC(CC1)C(C)(C)O2", "C1=CC2C3C=CC(C13)C1C=CC2C=C1",
)  # fmt: skip

FUSED: Final = (
    "c1ccccc1", "c1ccc2ccccc2c1", "c1ccc2cc3ccccc3cc2c1", "c1ccc2c(c1)ccc1ccccc12", "c1cc2ccc3cccc4ccc(c1)c2c34", "C1CC2CCC3CCCC4CCC(C1)C2C34",
    "c1ccc2c(c1)oc1ccccc12", "c1ccc2c(c1)[nH]c1ccccc12", "c1ccc2ncccc2c1", "c1ccc2[nH]ccc2c1", "O=C1c2ccccc2C(=O)c2ccccc12", "c1ccsc1-c1cccs1",
    "c1ccc2c(c1)c1ccccc1c1ccccc21", "c1cc2cccc3c4cccc5cccc(c(c1)c23)c54", "c1ccc(-c2ccc(-c3ccccc3)cc2)cc1", "C1CCC2C(C1)CCC1C2CCC2CCCC12",
    "c1ccc2c3c(cccc13)CC2", "c1ccc2c(c1)Cc1ccccc12", "C1=CC2=CC=CC3=CC=CC1=C23", "c1ccc2nc3ccccc3nc2c1", "c1cnc2c(c1)ccc1cccnc12",
)  # fmt: skip

ODD: Final = (
    "O=[N+]([O-])c1ccccc1", "C[n+]1ccccc1", "[O-][n+]1ccccc1", "C[N+](C)(C)C", "[Na+].CC(=O)[O-]", "C[S+](C)[O-]", "F[B-](F)(F)F",
    "C[Si](C)(C)C", "c1cc[se]c1", "CN=[N+]=[N-]", "[C-]#[N+]C", "[CH2]C", "C[O]", "c1ccccc1[O]", "[13CH3]C", "C[13CH2]N", "Cc1c[nH]cn1",
    "Cc1cnc[nH]1", "c1c[nH]nn1", "c1cn[nH]n1", "O=c1cc[nH]cc1", "Oc1ccncc1", "CC.CO", "Cl.CCN", "C1CC1.CCO", "[Na+].[Cl-]",
    "[K+].[O-]c1ccccc1", "CCC[NH3+].CC(=O)[O-]", "[cH-]1cccc1", "[NH4+]", "[Na]", "N", "C[CH]C", "[CH3]", "C[N]C", "c1ccc2[nH]ncc2c1",
    "C[n+]1ccn(C)c1", "[CH2]c1ccccc1", "Cc1ccccc1", "[nH+]1ccccc1", "c1ccc[cH+]cc1",
)  # fmt: skip

UNITS: Final = (
    "C",
    "CC",
    "CO",
    "CCO",
    "CC(C)",
    "C(C)(C)",
    "C=C",
    "CC(=O)N",
    "OC(=O)C",
    "C(c1ccccc1)",
    "C1CCC1",
    "C(F)(F)",
    "S",
    "CCN",
    "c1ccc(cc1)",
)
"""Repeating units, each open at both ends."""


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


def edited(smiles: str, rng: random.Random) -> str:
    """A relative of a molecule: some atoms and bonds changed, added, or removed."""
    for _ in range(20):
        mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
        Chem.Kekulize(mol, clearAromaticFlags=True)
        for _ in range(rng.choice([1, 1, 2, 3, 5])):
            n = mol.GetNumAtoms()
            change, atom, other = rng.randrange(5), rng.randrange(n), rng.randrange(n)
            if change == 0:
                mol.GetAtomWithIdx(atom).SetAtomicNum(rng.choice([6, 7, 8, 16]))
            elif change == 1:
                mol.AddBond(atom, mol.AddAtom(Chem.Atom(rng.choice([6, 6, 7, 8, 9]))), Chem.BondType.SINGLE)
            elif change == 2 and n > 2:
                mol.RemoveAtom(atom)
            elif change == 3 and mol.GetNumBonds():
                bond = mol.GetBondWithIdx(rng.randrange(mol.GetNumBonds()))
                bond.SetBondType(rng.choice([Chem.BondType.SINGLE, Chem.BondType.DOUBLE]))
            elif change == 4 and atom != other and mol.GetBondBetweenAtoms(atom, other) is None:
                mol.AddBond(atom, other, Chem.BondType.SINGLE)
        written = Chem.MolToSmiles(mol)
        if Chem.MolFromSmiles(written):
            return str(written)
    return smiles


def molecule(rng: random.Random) -> str:
    """One of any kind."""
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(CAGES)
    if kind == 1:
        return rng.choice(FUSED)
    if kind == 2:
        return chain(rng)
    if kind == 3:
        return aromatics.relative(rng, list(FUSED))
    return rng.choice(molecules())


PAIR_KINDS: Final = (
    "cages",
    "fused rings",
    "polymers",
    "records, edited and respelled",
    "records, respelled",
    "any",
    "any",
)
"""What `pair` makes."""


def pair(rng: random.Random) -> tuple[str, str]:
    """Two molecules, often one kind or relatives."""
    return pair_of(rng.randrange(len(PAIR_KINDS)), rng)


def pair_of(kind: int, rng: random.Random) -> tuple[str, str]:
    """Two molecules of one of `PAIR_KINDS`."""
    with _quiet():
        if kind == 0:
            return rng.choice(CAGES), edited(rng.choice(CAGES), rng)
        if kind == 1:
            return rng.choice(FUSED), edited(rng.choice(FUSED), rng)
        if kind == 2:
            return chain(rng), chain(rng)
        if kind == 3:
            one = rng.choice(molecules())
            return one, spell(edited(one, rng), rng)
        if kind == 4:
            return spell(rng.choice(molecules()), rng), rng.choice(molecules())
        return molecule(rng), edited(molecule(rng), rng)


def odd_pair(rng: random.Random) -> tuple[str, str]:
    """Two molecules with charges, unpaired electrons, isotopes, movable hydrogens, or several fragments."""
    with _quiet():
        one, kind = _odd_molecule(rng), rng.random()
        other = _decorated(one, rng) if kind < 0.35 else one if kind < 0.5 else _odd_molecule(rng)
        pair = (
            spell(one, rng) if rng.random() < 0.3 else one,
            spell(other, rng) if rng.random() < 0.5 else other,
        )
        return pair if rng.random() < 0.5 else pair[::-1]


def _odd_molecule(rng: random.Random) -> str:
    kind = rng.random()
    smiles = rng.choice(ODD)
    if kind > 0.4:
        smiles = _decorated(rng.choice(molecules()) if kind > 0.7 else smiles, rng)
    return f"{smiles}.{rng.choice(ODD)}" if rng.random() < 0.2 else smiles


def _decorated(smiles: str, rng: random.Random) -> str:
    """With other charges, unpaired electrons, isotopes, leaves or ions on some atoms."""
    mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
    Chem.Kekulize(mol, clearAromaticFlags=True)
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


class _quiet:
    """Without what RDKit says of edits that make no molecule."""

    def __enter__(self) -> None:
        RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]

    def __exit__(self, *_: object) -> None:
        RDLogger.EnableLog("rdApp.*")  # type: ignore[attr-defined]
