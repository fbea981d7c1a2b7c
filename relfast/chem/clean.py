"""Parsing SMILES under ``strict``. A "clean" molecule: one whole molecule, in plain SMILES only."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any, Final, Literal

from rdkit import Chem
from rdkit.Chem import rdMolDescriptors
from relfast_kernels.smiles.layouts import FINGERPRINT_MASK, MAX_SMILES

from relfast.chem.molecule import CACHED_MOLECULES, Molecule, parse
from relfast.chem.smiles_table import flaw_of_text

CACHED_FORMULAS: Final = 50_000
"""SMILES whose formula a process caches, at some 200 bytes each."""

NO_ISOMER: Final = ""
"""`ordinary_formula` of anything but an ordinary molecule."""

_VALENCES: Final = {
    "H": 1, "B": 3, "C": 4, "N": 3, "O": 2, "P": 3, "S": 2, "F": 1, "Cl": 1, "Br": 1, "I": 1,
}  # fmt: skip

_CANONICAL_PASSES: Final = 4
"""Maximum times that a canonical SMILES is parsed and written again, since RDKit may change it every time;
it is stable after two or three."""

_PARAMETERS: Final = Chem.SmilesParserParams()
_PARAMETERS.allowCXSMILES = False
_PARAMETERS.parseName = False


@lru_cache(maxsize=CACHED_MOLECULES)
def _parse_clean(smiles: str) -> tuple[Molecule | None, str | None]:
    flaw = flaw_of_text(smiles)
    if flaw is not None:
        return None, flaw
    mol = Chem.MolFromSmiles(smiles, _PARAMETERS)
    if mol is None:
        return None, "invalid_smiles"
    if mol.GetNumHeavyAtoms() == 0:
        return None, "no_heavy_atom"
    # only atoms in brackets can be special, and checking all atoms takes a while
    for atom in mol.GetAtoms() if "[" in smiles else ():
        if atom.GetIsotope():
            return None, "isotope"
        if atom.GetAtomicNum() == 0 or atom.HasQuery():
            return None, "not_plain_smiles"
    return Molecule(mol, smiles), None


def parse_clean(smiles: Any) -> tuple[Molecule | None, str | None]:
    """The clean molecule of a SMILES and None; or None and the code of what is wrong with the text.

    Codes: ``not_text``, ``empty``, ``too_long``, ``several_fragments``, ``not_plain_smiles`` (names,
    CXSMILES, wildcards, atom maps, anything outside plain SMILES), ``invalid_smiles``,
    ``no_heavy_atom``, ``isotope``.
    """
    if not isinstance(smiles, str):
        return None, "not_text"
    if len(smiles) > MAX_SMILES:
        return None, "too_long"
    return _parse_clean(smiles)


def vote_of(molecule: Molecule) -> int:
    """A 32-bit number for maj@k, equal for equal clean molecules; kernels compute the same number."""
    flat = parse(_settled(molecule.key)) or molecule
    return (flat.fingerprint + flat.hydrogens_print) & FINGERPRINT_MASK


def clean_key(molecule: Molecule, tautomers: Literal["apart", "joined"]) -> str:
    """A text that is equal for clean molecules that are the same.

    ``apart``: canonical SMILES without stereo, parsed and written again until it is stable. ``joined``: the
    formula and RDKit's tautomer hash, the skeleton of elements, charges and bonds regardless of the places of
    hydrogens and double bonds, so that tautomers have the same key.
    """
    if tautomers == "joined":
        return _tautomer_key(molecule.key)
    return _settled(molecule.key)


@lru_cache(maxsize=CACHED_MOLECULES)
def _settled(smiles: str) -> str:
    """A canonical SMILES that does not change when it is parsed and written again."""
    seen = [smiles]
    for _ in range(_CANONICAL_PASSES):
        mol = Chem.MolFromSmiles(seen[-1])
        if mol is None:
            break
        again = str(Chem.MolToSmiles(mol))
        if again in seen:
            # a fixed point, or a cycle: take its smallest member
            return min(seen[seen.index(again) :])
        seen.append(again)
    return seen[-1]


@lru_cache(maxsize=CACHED_MOLECULES)
def _tautomer_key(smiles: str) -> str:
    from rdkit.Chem import rdMolHash

    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        return smiles
    formula = rdMolDescriptors.CalcMolFormula(mol)
    return f"{formula} {rdMolHash.MolHash(mol, rdMolHash.HashFunction.HetAtomTautomer)}"


def same_clean_molecule(a: Molecule, b: Molecule, tautomers: Literal["apart", "joined"]) -> bool:
    """Whether two clean molecules are the same; with ``joined``, tautomers count as the same."""
    if a.heavy_atoms != b.heavy_atoms:
        return False
    if a.key == b.key:
        return True
    return clean_key(a, tautomers) == clean_key(b, tautomers)


@lru_cache(maxsize=CACHED_FORMULAS)
def ordinary_formula(smiles: str) -> str:
    """The formula of an ordinary clean molecule; `NO_ISOMER` for anything else.

    Ordinary molecules, of which constitutional isomers are made, have no charges and no radicals, and
    every atom has its lowest valence (as in `relfast.chem.isomers`). A carbene, a zwitterion or a sulfone
    is not ordinary.
    """
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
    return " ".join(f"{element}{n}" for element, n in sorted(elements.items())) + f" H{hydrogens}"
