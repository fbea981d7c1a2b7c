"""Which formula an ordinary molecule is an isomer of: from the letters where they tell it, else from RDKit.

Ordinary is what constitutional isomers are made of: no charges, no radicals, every atom with its lowest
valence (as `relfast.chem.isomers` has them). A carbene, a zwitterion or a sulfone is an isomer of none.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Final

from relfast.chem.smiles_text import MAX_CHARS

_VALENCES: Final = {
    "H": 1, "B": 3, "C": 4, "N": 3, "O": 2, "P": 3, "S": 2, "F": 1, "Cl": 1, "Br": 1, "I": 1,
}  # fmt: skip

_TOKEN: Final = re.compile(r"(Cl|Br|[BCNOPSFIcnos])|([-=#/\\])|([()])|(%[0-9]{2}|[0-9])")
_PLAIN: Final = re.compile(r"(?:Cl|Br|[BCNOPSFIcnos()\-=#/\\0-9]|%[0-9]{2})++")
_ORDERS: Final = {"=": 2, "#": 3}

CACHED: Final = 50_000
"""Texts whose formula is kept per process, at some 200 bytes each."""

NO_ISOMER: Final = ""
"""The formula of what is no ordinary molecule."""


def _written(atoms: Counter[str], hydrogens: int) -> str:
    return " ".join(f"{element}{n}" for element, n in sorted(atoms.items())) + f" H{hydrogens}"


@lru_cache(maxsize=CACHED)
def formula_of_text(smiles: str) -> str | None:
    """The formula of a molecule, `NO_ISOMER` if it is not ordinary; None where the letters do not tell.

    They tell where there is nothing in brackets, and no atom in lower case between others only, which is not
    aromatic (``C1=Cc1``). The text must be a molecule: what is none can have any formula.
    """
    if _PLAIN.fullmatch(smiles) is None:
        return None
    elements: list[str] = []
    bonds: list[int] = []
    open_rings: dict[str, tuple[int, int, bool]] = {}
    branches: list[int] = []
    # atoms in lower case with a bond that has no sign to another: RDKit takes it for an aromatic one
    joined: set[int] = set()
    last, order, plain = -1, 1, True
    for element, bond, branch, ring in _TOKEN.findall(smiles):
        if element:
            elements.append(element)
            bonds.append(0)
            here = len(elements) - 1
            if last >= 0:
                bonds[last] += order
                bonds[here] += order
                if plain and element.islower() and elements[last].islower():
                    joined |= {last, here}
            last, order, plain = here, 1, True
        elif bond:
            order, plain = _ORDERS.get(bond, 1), False
        elif branch == "(":
            branches.append(last)
        elif branch:
            if not branches:
                return None
            last = branches.pop()
        else:
            name = ring.lstrip("%").lstrip("0")
            if last < 0:
                return None
            if name in open_rings:
                there, earlier, was_plain = open_rings.pop(name)
                order = max(order, earlier)
                if plain and was_plain and elements[there].islower() and elements[last].islower():
                    joined |= {there, last}
                bonds[there] += order
                bonds[last] += order
            else:
                open_rings[name] = last, order, plain
            order, plain = 1, True
    hydrogens = 0
    for at, (element, used) in enumerate(zip(elements, bonds, strict=True)):
        if element.islower() and at not in joined:
            return None
        free = _VALENCES[element.capitalize()] - used
        if free < 0:
            return NO_ISOMER
        if element.islower():
            # in a ring of the letters' kind an atom of carbon has a third bond at least, others have all
            free = max(0, free - 1) if element == "c" else 0
        hydrogens += free
    return _written(Counter(map(str.capitalize, elements)), hydrogens)


def ordinary_formula(smiles: str) -> str:
    """The same of any clean molecule, by RDKit where the letters do not tell."""
    known = formula_of_text(smiles) if len(smiles) <= MAX_CHARS else None
    return _by_rdkit(smiles) if known is None else known


@lru_cache(maxsize=CACHED)
def _by_rdkit(smiles: str) -> str:
    from relfast.chem.clean import parse_clean

    molecule, _ = parse_clean(smiles)
    if molecule is None:
        return NO_ISOMER
    elements: Counter[str] = Counter()
    hydrogens = 0
    for atom in molecule.mol.GetAtoms():
        element = atom.GetSymbol()
        if (
            atom.GetFormalCharge()
            or atom.GetNumRadicalElectrons()
            or atom.GetTotalValence() != _VALENCES.get(element)
        ):
            return NO_ISOMER
        if element == "H":
            hydrogens += 1
        else:
            elements[element] += 1
        hydrogens += atom.GetTotalNumHs()
    return _written(elements, hydrogens)
