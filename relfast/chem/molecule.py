"""`Molecule`: a SMILES that is parsed once, and whose derived forms are computed lazily and cached; and
parsing under ``strict``, which takes a "clean" molecule only: one whole molecule, in plain SMILES."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

from rdkit import Chem, RDLogger
from rdkit.Chem import rdMolDescriptors
from relfast_kernels.smiles import layouts
from relfast_kernels.smiles.layouts import FINGERPRINT_MASK, MAX_SMILES

from relfast.chem.smiles_table import flaw_of_text

# Bad SMILES make RDKit log more than anything else (33 MB for 8 kB of open brackets); nobody reads that.
RDLogger.DisableLog("rdApp.*")

CACHED_MOLECULES: Final = 20_000
"""Distinct SMILES cached per process: about 5 kB each with their derived forms, so 100 MB at most."""

CACHED_CHARS: Final = 1_000
"""Maximum characters of a cached SMILES. Published golds have at most 90; huge ones would fill the memory."""

DUMMY: Final = 0
"""The atomic number of a dummy atom (``*``)."""

# atoms outside brackets, bonds, branches, rings; brackets that begin with a letter other than H
_ORDINARY: Final = re.compile(r"(?:[A-Za-z0-9()=#\-+/\\%.:]|\[(?!H)[A-Za-z][^\[\]*]*\])*+")

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")

ORDERS: Final = {
    Chem.BondType.SINGLE: 1,
    Chem.BondType.DOUBLE: 2,
    Chem.BondType.TRIPLE: 3,
    Chem.BondType.AROMATIC: layouts.AROMATIC_BOND,
}
"""Bond orders as the kernels encode them."""
_OTHER_ORDER: Final = 5


def _letters(symbol: str) -> int:
    """An element's letters as a number."""
    return (ord(symbol[0]) - 64) * layouts.LETTERS + (ord(symbol[1]) - 96 if symbol[1:] else 0)


def _label(atom: Any) -> int:
    """An atom's element and charge as one number, as the kernels encode them."""
    return layouts.CHARGES * _letters(atom.GetSymbol()) + layouts.NEUTRAL + int(atom.GetFormalCharge())


def _scramble(value: int, factor: int) -> int:
    value *= factor
    return (value ^ (value >> 29)) & layouts.FINGERPRINT_MASK


class Molecule:
    """A parsed molecule.

    Attributes
    ----------
    mol, text
        RDKit's molecule, as the published scorer gets it from ``MolFromSmiles``, and the SMILES.
    n_atoms, n_bonds
        Numbers of atoms and bonds; hydrogens count only if they are explicit atoms.
    ordinary
        Whether certainly no atom is a hydrogen or a dummy, with or without stereo.
    connected
        Whether the molecule is ``ordinary`` and certainly one fragment.
    """

    def __init__(self, mol: Any, smiles: str) -> None:
        self.mol, self.text = mol, smiles
        self.ordinary = _ORDINARY.fullmatch(smiles) is not None
        self.connected = "." not in smiles and self.ordinary
        self.n_atoms: int = mol.GetNumAtoms()
        self.n_bonds: int = mol.GetNumBonds()

    @cached_property
    def key(self) -> str:
        """Canonical SMILES without stereo and isotopes."""
        return str(Chem.MolToSmiles(self.mol, isomericSmiles=False))

    @cached_property
    def written(self) -> str:
        """A non-canonical SMILES without stereo and isotopes, for the kernels to read."""
        return str(Chem.MolToSmiles(self.mol, isomericSmiles=False, canonical=False))

    @cached_property
    def flat(self) -> Molecule | None:
        """The molecule without stereo: `key`, parsed again; None if `key` does not parse."""
        return parse(self.key)

    @property
    def definite(self) -> bool:
        """Whether every atom and bond matches only equal ones: no wildcards, no unusual bonds."""
        return not any(odd in self.key for odd in "*~>$")

    @cached_property
    def has_radicals(self) -> bool:
        """Whether an atom has unpaired electrons; only atoms in brackets can."""
        return "[" in self.key and any(atom.GetNumRadicalElectrons() for atom in self.mol.GetAtoms())

    @cached_property
    def fingerprint(self) -> int:
        """A 32-bit hash of the graph, the same as `relfast_kernels.smiles.graph_code.fingerprint`'s."""
        labels = [64 * _label(atom) for atom in self.mol.GetAtoms()]
        bonds = [
            (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), ORDERS.get(bond.GetBondType(), _OTHER_ORDER))
            for bond in self.mol.GetBonds()
        ]
        far = labels.copy()
        for a, b, order in bonds:
            far[a] += order
            far[b] += order
        around = [label >> 6 for label in labels]
        for a, b, order in bonds:
            around[a] += _scramble(8 * far[b] + order, layouts.BOND_FACTOR)
            around[b] += _scramble(8 * far[a] + order, layouts.BOND_FACTOR)
        return (
            sum(_scramble(atom & layouts.FINGERPRINT_MASK, layouts.ATOM_FACTOR) for atom in around)
            & layouts.FINGERPRINT_MASK
        )

    @cached_property
    def hydrogens_print(self) -> int:
        """A 32-bit hash of the places of hydrogens, as
        `relfast_kernels.smiles.graph_code.hydrogens_print`."""
        total = 0
        for atom in self.mol.GetAtoms():
            value = 64 * _label(atom) + 8 * atom.GetDegree() + atom.GetTotalNumHs()
            total += _scramble(_scramble(value, layouts.HYDROGEN_FACTOR), layouts.HYDROGEN_FACTOR)
        return total & layouts.FINGERPRINT_MASK

    @property
    def heavy_atoms(self) -> int:
        return int(self.mol.GetNumHeavyAtoms())

    @cached_property
    def elements(self) -> Counter[int]:
        """Atomic number → number of atoms; dummies have atomic number 0."""
        return Counter(atom.GetAtomicNum() for atom in self.mol.GetAtoms())


def _parse(smiles: str) -> Molecule | None:
    # RDKit takes UTF-8, which cannot encode lone surrogates
    mol = Chem.MolFromSmiles(smiles) if smiles and _SURROGATE.search(smiles) is None else None
    return None if mol is None else Molecule(mol, smiles)


_parse_cached = lru_cache(maxsize=CACHED_MOLECULES)(_parse)


def parse(smiles: object) -> Molecule | None:
    """The molecule that the published scorer parses from ``smiles``, or None.

    None for anything but text, empty text, text with a lone surrogate, and text that RDKit rejects.
    Whatever RDKit accepts beyond SMILES (a name after a blank, CXSMILES, bytes above 127 at the ends) is
    accepted, as published.
    """
    if not isinstance(smiles, str):
        return None
    return _parse_cached(smiles) if len(smiles) <= CACHED_CHARS else _parse(smiles)


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
