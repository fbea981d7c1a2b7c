"""Records of REL-C2 for the strict corpus."""

from __future__ import annotations

import random
from typing import Any, Final

from corpora import rel_records
from rdkit import Chem
from spellings import spell
from strict.corpus import Case

from relfast.chem.common_substructure import COMMON_MOTIFS
from relfast.tasks.rel_c.generate import common_motifs
from relfast.tasks.rel_c.parameters import MotifParameters


def grid(rows: int, columns: int) -> str:
    """A sheet of carbon, every atom bound to those beside it: searches in it branch without end."""
    mol: Any = Chem.RWMol()
    for at in range(rows * columns):
        mol.AddAtom(Chem.Atom(6))
        if at % columns:
            mol.AddBond(at - 1, at, Chem.BondType.SINGLE)
        if at >= columns:
            mol.AddBond(at - columns, at, Chem.BondType.SINGLE)
    return str(Chem.MolToSmiles(mol))


GRID: Final = grid(11, 17)


def cases() -> list[Case]:
    rng = random.Random(12)
    published = rng.sample(rel_records("REL-C2"), 24)
    made = list(common_motifs(6, 3, MotifParameters(sizes=(5, 10))))
    common = {Chem.CanonSmiles(smiles) for smiles in COMMON_MOTIFS}
    return [_case(record, rng, common) for record in (*published, *made)]


def _case(record: dict[str, Any], rng: random.Random, common: set[str]) -> Case:
    gold, given = record["answer"]["smiles"], record["answer"]["molecules"]
    same = Chem.CanonSmiles(gold)
    tags = set()
    if all(Chem.CanonSmiles(smiles, useChiral=0) != same for smiles in given):
        tags.add("larger")
    if same not in common:
        tags.add("uncommon")
    mol = Chem.RWMol(Chem.MolFromSmiles(gold))
    free = next(atom.GetIdx() for atom in mol.GetAtoms() if atom.GetTotalNumHs())
    mol.AddBond(free, mol.AddAtom(Chem.Atom(6)), Chem.BondType.SINGLE)
    words = {
        "right": gold,
        "respelt": spell(gold, rng),
        "given1": given[0],
        "given2": given[1],
        "given3": given[2],
        "shortest": min(given, key=len),
        "larger": str(Chem.MolToSmiles(mol)),
        "grid": GRID,
    }
    return Case(record, words, tags=frozenset(tags))
