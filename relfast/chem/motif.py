"""The largest connected motif that many molecules share, as gold of REL-C2.

Elements and bond orders are compared, rings match rings only and whole rings only; the motif with the most
bonds is meant, of those the one with the most atoms. All that are largest are listed by a kernel
(`relfast_kernels.motif`), wherever they lie in one of the molecules. Where they are not all one and the same
the group has no clear motif, so that nothing depends on the order of a search. A search that is cut short
gives nothing: its result is never gold.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from rdkit import Chem
from relfast_kernels.compiled import native
from relfast_kernels.motif import layouts

from relfast.chem.clean import parse_clean
from relfast.chem.matching import contains
from relfast.chem.molecule import ORDERS, Molecule, parse
from relfast.interrupts import uninterrupted

CACHED_CUTS: Final = 20_000
"""Motifs that are kept as they were cut, with all molecules of theirs that are."""

_CHARGED: Final = re.compile(r"\[[^\]]*[+-]")


class Motif(NamedTuple):
    """A motif as canonical SMILES without stereo, with its heavy atoms and bonds."""

    smiles: str
    n_atoms: int
    n_bonds: int


def largest_motif(molecules: Sequence[Molecule], min_atoms: int, max_steps: int) -> Motif | None:
    """The largest connected motif of two or more molecules, or None where there is no clear one.

    A Ctrl-C waits until it is found.

    None if it has fewer than ``min_atoms`` heavy atoms, if several different motifs are equally large, if the
    search took more than ``max_steps`` steps, or if the motif cut out of the smallest molecule (by bonds, the
    first of these) is no molecule that the scorer reads and finds in all of them (half an aromatic system, a
    charge others lack). Molecules must have no stereo.
    """
    with uninterrupted():
        found = largest_motifs(molecules, min_atoms, max_steps)
        if not found.masks:
            return None
        cut, is_everywhere = _cut_once(found)
        if cut is None or not (is_everywhere or all(contains(one, cut) for one in molecules)):
            return None
        return Motif(cut.text, cut.heavy_atoms, cut.n_bonds)


@lru_cache(maxsize=CACHED_CUTS)
def _cut_once(found: Motifs) -> tuple[Molecule | None, bool]:
    """What a group's motifs are, if they are all the same, and a molecule that the scorer reads; and whether
    it certainly lies in all of the group's molecules.

    All that depends only on the molecule that they are cut out of, and one of few bonds is that of many
    groups.
    """
    places = found.places
    fragments = {
        Chem.MolFragmentToSmiles(found.query.mol, atoms, bonds, isomericSmiles=False)
        for atoms, bonds in places
    }
    parsed = [parse(fragment) for fragment in fragments]
    # hydrogens take the place of what was cut off, which can change the canonical order
    cut = {motif.key for motif in parsed if motif is not None}
    motif = parse(cut.pop()) if len(cut) == 1 else None
    if motif is None or parse_clean(motif.text)[0] is None or motif.heavy_atoms != len(places[0][0]):
        return None, False
    return motif, _is_as_cut(motif, found.query.mol, places)


def _is_as_cut(motif: Molecule, mol: Any, places: Sequence[Place]) -> bool:
    """Whether a motif certainly lies where the kernel found one, and so in all molecules of its group.

    Bonds have the orders there that they have in the motif. An atom without charge, isotope and unpaired
    electrons is found wherever its element is. False says nothing.
    """
    if _CHARGED.search(motif.key) or motif.has_radicals:
        return False
    atoms = mol.GetSubstructMatch(motif.mol)
    if not atoms:
        return False
    bonds = [
        mol.GetBondBetweenAtoms(atoms[bond.GetBeginAtomIdx()], atoms[bond.GetEndAtomIdx()]).GetIdx()
        for bond in motif.mol.GetBonds()
    ]
    return any(sorted(bonds) == sorted(there) for _, there in places)


# Molecules of which all is known that is mostly asked, so that RDKit need not parse them.


Row = npt.NDArray[np.int32]
"""A molecule for the kernel that searches for motifs: `relfast_kernels.motif.layouts` says what is in it."""


class StoredMolecule(Molecule):
    """A molecule of a bank that has been read before.

    Attributes
    ----------
    text
        What it is parsed of.
    packed
        It for the kernel that searches for motifs.
    """

    def __init__(self, text: str, key: str, n_bonds: int, packed: Row) -> None:
        self.text, self.packed = text, packed
        self.n_bonds = n_bonds
        self.__dict__["key"] = key

    @cached_property
    def _parsed(self) -> Molecule:
        found = parse(self.text)
        assert found is not None, f"{self.text} was a molecule"
        return found

    def __getattr__(self, name: str) -> Any:
        # what is not known yet: mol, n_atoms, ordinary, connected
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._parsed, name)
        self.__dict__[name] = value
        return value


# The kernels that make REL-C2 records, called as machine code, or by numba where that cannot be kept.


UNIT: Final = "motif"

Ints = npt.NDArray[np.int64]


def _at(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _largest(rows: Sequence[Row], min_atoms: int, max_steps: int) -> tuple[int, ...]:
    """The largest motifs of molecules, as bits of the first one's bonds; none where the search was given up
    or there are too many. `relfast_kernels.motif.grow` says the rest."""
    k, buffer = len(rows) - 1, np.concatenate(rows)
    starts = np.array([0, *itertools.accumulate(map(len, rows[:-1]))], np.int64)
    found, motifs = np.zeros(layouts.FOUND_SIZE, np.int64), np.zeros(layouts.MAX_MOTIFS, np.int64)
    spaces: tuple[npt.NDArray[Any], ...] = (
        np.zeros(layouts.WORK_SIZE + k, np.int64),
        np.zeros((k, layouts.PER_MOLECULE), np.int64),
        np.zeros((layouts.DEPTHS, k, layouts.SECTION), np.int8),
        np.zeros((layouts.DEPTHS, layouts.FRAME_SIZE), np.int64),
        found,
        motifs,
    )
    search = native.functions(UNIT)["largest"]
    is_whole = bool(search(_at(buffer), len(buffer), _at(starts), k, min_atoms, max_steps, *map(_at, spaces)))
    n = int(found[layouts.FOUND.motifs])
    return tuple(motifs[:n].tolist()) if is_whole and n <= layouts.MAX_MOTIFS else ()


def similar(
    prints: npt.NDArray[np.uint64], counts: Ints, index: int, lowest: float, highest: float
) -> tuple[Ints, npt.NDArray[np.float64]]:
    """Where fingerprints are that are similar to one of them, and how similar (`relfast_kernels.motif`)."""
    n, words = prints.shape
    places, shares = np.empty(n, np.int64), np.empty(n)
    bounds = np.array((lowest, highest))
    found = native.functions(UNIT)["similar"](
        _at(prints), n, words, _at(counts), index, _at(bounds), _at(places), _at(shares)
    )
    return places[:found].copy(), shares[:found].copy()


# Molecules as the kernel that searches for motifs reads them, and the motifs that it finds.


CACHED_ROWS: Final = 10_000
"""Molecules whose rows are kept, at some 2 kB each."""

_CHARGES: Final = 32
_HYDROGENS: Final = 16
"""Factors and bounds of what tells leaves apart."""


def packed(molecule: Molecule) -> Row | None:
    """The molecule for the kernel; None if it is too large, or has bonds that are not of the usual orders."""
    return molecule.packed if isinstance(molecule, StoredMolecule) else _packed(molecule)


@lru_cache(maxsize=CACHED_ROWS)
def _packed(molecule: Molecule) -> Row | None:
    mol, n = molecule.mol, molecule.n_atoms
    if not 0 < n <= layouts.MAX_ATOMS or not molecule.definite:
        return None
    around: list[list[int]] = [[] for _ in range(n)]
    in_ring = [0] * n
    for bond in mol.GetBonds():
        code = ORDERS.get(bond.GetBondType())
        if code is None:
            return None
        a, b = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        if bond.IsInRing():
            code |= layouts.RING_BOND
            in_ring[a] = in_ring[b] = 1
        around[a].append(16 * b + code)
        around[b].append(16 * a + code)
    if max(map(len, around)) > layouts.MAX_DEGREE:
        return None
    row = [n]
    for atom, bonds, ring in zip(mol.GetAtoms(), around, in_ring, strict=True):
        # what a leaf is besides its element
        twin = 0
        if len(bonds) == 1:
            twin = _CHARGES * atom.GetFormalCharge() + min(atom.GetTotalNumHs(), _HYDROGENS)
        row += 2 * atom.GetAtomicNum() + ring, twin, len(bonds), *sorted(bonds)
        row += [0] * (layouts.MAX_DEGREE - len(bonds))
    return np.array(row, np.int32)


def _ends(molecule: Molecule) -> list[tuple[int, int]]:
    """The atoms of a molecule's bonds, in the kernel's order."""
    row = packed(molecule)
    assert row is not None
    atoms = row[layouts.ATOMS :].reshape(-1, layouts.ATOM_SIZE).tolist()
    return [
        (at, bond >> 4)
        for at, atom in enumerate(atoms)
        for bond in atom[layouts.ATOM.bonds : layouts.ATOM.bonds + atom[layouts.ATOM.degree]]
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
        Its bonds as bits, one number for each place: all places of all motifs, but for
        interchangeable leaves. Empty where the search was given up, all motifs are smaller than asked for,
        there are too many, or the kernel does not take a molecule.
    """

    query: Molecule
    masks: tuple[int, ...]

    @property
    def places(self) -> list[Place]:
        """The atoms and bonds (RDKit's numbers) of each."""
        ends, mol = _ends(self.query), self.query.mol
        found = []
        for mask in self.masks:
            pairs = [pair for at, pair in enumerate(ends) if mask >> at & 1]
            bonds = [mol.GetBondBetweenAtoms(*pair).GetIdx() for pair in pairs]
            found.append((sorted({atom for pair in pairs for atom in pair}), bonds))
        return found


def largest_motifs(molecules: Sequence[Molecule], min_atoms: int, max_steps: int) -> Motifs:
    """The largest motifs of two or more molecules; none where the kernel does not take them."""
    n_bonds = [molecule.n_bonds for molecule in molecules]
    query = n_bonds.index(min(n_bonds))
    known = [row for row in map(packed, molecules) if row is not None]
    if n_bonds[query] > layouts.MAX_ATOMS or len(known) < len(molecules):
        return Motifs(molecules[query], ())
    known.insert(0, known.pop(query))
    return Motifs(molecules[query], _largest(known, min_atoms, max_steps))
