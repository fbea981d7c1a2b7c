"""Find the largest connected motif of several molecules, which is the gold of REL-C2 records.

The largest motif has the most bonds, and of those the most atoms. As published, elements and bond orders
must match, as in RDKit's ``FindMCS`` with its default parameters; with ``whole_rings`` rings match only
rings too, and only whole rings. A kernel (`relfast_kernels.motif`) lists all places in one of the molecules
where a largest motif lies. If these are not all the same motif, the group has no clear motif; so gold never
depends on the order of a search. A search that exceeds its steps has no result.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from rdkit import Chem
from relfast_kernels.compiled import native
from relfast_kernels.entry import Spare, dtype_of
from relfast_kernels.motif import layouts

from relfast.chem.clean import parse_clean
from relfast.chem.matching import contains
from relfast.chem.molecule import ORDERS, Molecule, parse
from relfast.support.system import uninterrupted


class Motif(NamedTuple):
    """A motif as canonical SMILES without stereo, with its heavy atoms and bonds."""

    smiles: str
    n_atoms: int
    n_bonds: int


def largest_motif(
    molecules: Sequence[Molecule], min_atoms: int, max_steps: int, *, whole_rings: bool = False
) -> Motif | None:
    """The largest connected motif of two or more molecules, or None if there is no clear one.

    None if the motif has fewer than ``min_atoms`` heavy atoms; if several different motifs are equally
    large; if the search takes more than ``max_steps`` steps; or if the motif, cut out of the molecule with
    the fewest bonds (the first of these), is not a molecule that the scorer can parse and find in all
    molecules (half an aromatic system, a charge that others lack). Molecules must have no stereo. Ctrl-C
    takes effect after the search.
    """
    with uninterrupted():
        found = largest_motifs(molecules, min_atoms, max_steps, whole_rings=whole_rings)
        cut = _cut(found) if found.masks else None
        if cut is None or not all(contains(one, cut) for one in molecules):
            return None
        return Motif(cut.text, cut.heavy_atoms, cut.n_bonds)


def _cut(found: Motifs) -> Molecule | None:
    """The motif of a group, if all found motifs are the same and the scorer can parse it."""
    places = found.places
    fragments = {
        Chem.MolFragmentToSmiles(found.query.mol, atoms, bonds, isomericSmiles=False)
        for atoms, bonds in places
    }
    # hydrogens replace the bonds that were cut, which can change the canonical order: compare the keys
    keys = {None if motif is None else motif.key for motif in map(parse, fragments)}
    motif = parse(keys.pop()) if len(keys) == 1 else None
    if motif is None or parse_clean(motif.text)[0] is None or motif.heavy_atoms != len(places[0][0]):
        return None
    return motif


Row = npt.NDArray[Any]
"""A molecule as the motif kernel reads it: an `Atom` of `relfast_kernels.motif.layouts` for each of its
atoms."""


# Calls of the motif kernels: native machine code, or numba if machine code cannot be cached.


UNIT: Final = "motif"

Ints = npt.NDArray[np.int64]


def _largest(rows: Sequence[Row], min_atoms: int, max_steps: int) -> tuple[int, ...]:
    """The largest motifs of molecules, as bit masks of the first molecule's bonds; empty if the search
    exceeds its steps or there are too many motifs. See `relfast_kernels.motif.grow`."""
    spare = _searches(len(rows) - 1)
    search = spare.take()
    for space in (search.work, search.known, search.images, search.frames, search.motifs):
        space.fill(0)
    search.min_atoms, search.limit = min_atoms, max_steps
    search.put(
        # as bytes: to join records NumPy looks at each of their fields, which takes as long as the search
        atoms=np.concatenate([row.view(np.uint8) for row in rows]).view(rows[0].dtype),
        starts=np.array([0, *itertools.accumulate(map(len, rows))], np.int64),
    )
    is_whole, n = native.functions(UNIT)["largest"](search), search.found.motifs
    found = tuple(search.motifs[:n].tolist()) if is_whole and n <= layouts.MAX_MOTIFS else ()
    spare.append(search)
    return found


@lru_cache(maxsize=16)
def _searches(k: int) -> Spare[Any]:
    """What searches in groups of ``k`` molecules beside the query are given, with their work space."""
    return Spare(
        lambda: layouts.Search(
            atoms=np.zeros(1, dtype_of(layouts.Atom)),
            starts=np.zeros(1, np.int64),
            work=np.zeros(layouts.WORK_SIZE + k, np.int64),
            known=np.zeros((k, layouts.PER_MOLECULE), np.int64),
            images=np.zeros((layouts.DEPTHS, k, layouts.SECTION), np.int8),
            frames=np.zeros((layouts.DEPTHS, layouts.FRAME_SIZE), np.int64),
            motifs=np.zeros(layouts.MAX_MOTIFS, np.int64),
        )
    )


def similar(
    prints: npt.NDArray[np.uint64], counts: Ints, index: int, lowest: float, highest: float
) -> tuple[Ints, npt.NDArray[np.float64]]:
    """The indices of fingerprints whose similarity to fingerprint ``index`` is in the bounds, and the
    similarities (`relfast_kernels.motif`). ``counts``: bits set in each fingerprint."""
    n = len(prints)
    asked = layouts.Prints(
        prints=prints, counts=counts, index=index, lowest=lowest, highest=highest,
        places=np.empty(n, np.int64), shares=np.empty(n),
    )  # fmt: skip
    found = native.functions(UNIT)["similar"](asked)
    return asked.places[:found].copy(), asked.shares[:found].copy()


# Molecules in the layout of the motif kernel, and the motifs that it finds.


CACHED_ROWS: Final = 10_000
"""Molecules whose rows are cached, at some 2 kB each."""

_CHARGES: Final = 32
_HYDROGENS: Final = 16
"""A leaf's code is its charge times the first, plus its hydrogens, which are cut to the second."""


@lru_cache(maxsize=CACHED_ROWS)
def packed(molecule: Molecule) -> Row | None:
    """The molecule in the kernel's layout; None if it is too large or has bonds of unusual orders."""
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
    row = []
    for atom, bonds, ring in zip(mol.GetAtoms(), around, in_ring, strict=True):
        # ``twin`` tells leaves (atoms with one bond) of the same element apart
        twin = 0
        if len(bonds) == 1:
            twin = _CHARGES * atom.GetFormalCharge() + min(atom.GetTotalNumHs(), _HYDROGENS)
        padded = [*sorted(bonds), *[0] * (layouts.MAX_DEGREE - len(bonds))]
        row.append((2 * atom.GetAtomicNum() + ring, twin, len(bonds), padded))
    return np.array(row, dtype_of(layouts.Atom))


@lru_cache(maxsize=CACHED_ROWS)
def _without_rings(molecule: Molecule) -> Row | None:
    """`packed`, but nothing is said of rings, and aromatic bonds are single ones, which is what ``FindMCS``
    takes for the same by default."""
    row = packed(molecule)
    if row is None:
        return None
    row = row.copy()
    row["label"] &= ~1
    bonds = row["bonds"]
    bonds &= ~layouts.RING_BOND
    aromatic = bonds & (layouts.RING_BOND - 1) == ORDERS[Chem.BondType.AROMATIC]
    bonds[aromatic] += ORDERS[Chem.BondType.SINGLE] - ORDERS[Chem.BondType.AROMATIC]
    return row


def _ends(molecule: Molecule) -> list[tuple[int, int]]:
    """The pairs of atoms that a molecule's bonds join, in the kernel's order of bonds."""
    row = packed(molecule)
    assert row is not None
    bonds, degrees = row["bonds"].tolist(), row["degree"].tolist()
    return [
        (at, bond >> 4) for at, degree in enumerate(degrees) for bond in bonds[at][:degree] if bond >> 4 > at
    ]


Place = tuple[list[int], list[int]]
"""A place of a motif in a molecule: indices of its atoms and of its bonds."""


class Motifs(NamedTuple):
    """The largest motifs of a group: all places where they lie in one of its molecules.

    Attributes
    ----------
    query
        That molecule, the one with the fewest bonds (the first of these).
    masks
        One bit mask of the query's bonds for each place. All places of all motifs are listed, except that
        interchangeable leaves count once. Empty if the search exceeded its steps, all motifs are smaller than
        ``min_atoms``, there are too many, or the kernel cannot read a molecule.
    """

    query: Molecule
    masks: tuple[int, ...]

    @property
    def places(self) -> list[Place]:
        """The places as RDKit's indices of atoms and bonds."""
        ends, mol = _ends(self.query), self.query.mol
        found = []
        for mask in self.masks:
            pairs = [pair for at, pair in enumerate(ends) if mask >> at & 1]
            bonds = [mol.GetBondBetweenAtoms(*pair).GetIdx() for pair in pairs]
            found.append((sorted({atom for pair in pairs for atom in pair}), bonds))
        return found


def largest_motifs(
    molecules: Sequence[Molecule], min_atoms: int, max_steps: int, *, whole_rings: bool = False
) -> Motifs:
    """The largest motifs of two or more molecules; without places if the kernel cannot read them all."""
    n_bonds = [molecule.n_bonds for molecule in molecules]
    query = n_bonds.index(min(n_bonds))
    rows = map(packed if whole_rings else _without_rings, molecules)
    known = [row for row in rows if row is not None]
    if n_bonds[query] > layouts.MAX_ATOMS or len(known) < len(molecules):
        return Motifs(molecules[query], ())
    known.insert(0, known.pop(query))
    return Motifs(molecules[query], _largest(known, min_atoms, max_steps))
