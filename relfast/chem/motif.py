"""The largest connected motif that many molecules share, as gold of REL-C2.

Elements and bond orders are compared, rings match rings only and whole rings only; the motif with the most
bonds is meant, of those the one with the most atoms. All that are largest are listed by a kernel
(`relfast_kernels.motif`), wherever they lie in one of the molecules. Where they are not all one and the same
the group has no clear motif, so that nothing depends on the order of a search. A search that is cut short
gives nothing: its result is never gold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from rdkit import Chem

from relfast.chem.clean import parse_clean
from relfast.chem.matching import contains
from relfast.chem.molecule import Molecule, parse
from relfast.chem.motif_rdkit import motifs_by_rdkit
from relfast.chem.motif_rows import Motifs, Place, largest_motifs
from relfast.interrupts import uninterrupted

CACHED_CUTS: Final = 20_000
"""Motifs that are kept as they were cut, with all molecules of theirs that are."""

CACHED_CONTAINED: Final = 100_000
"""Pairs of a molecule and a motif of which it is kept whether the motif lies in it."""

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
        return _largest_motif(molecules, min_atoms, max_steps)


def _largest_motif(molecules: Sequence[Molecule], min_atoms: int, max_steps: int) -> Motif | None:
    found = largest_motifs(molecules, min_atoms, max_steps)
    if found is None:
        places = motifs_by_rdkit(molecules, min_atoms, max_steps)
        smiles, cut, is_everywhere = *_cut(molecules[0], places), False
    elif found.masks:
        smiles, cut, is_everywhere = _cut_once(found)
    else:
        return None
    if cut is None or not (is_everywhere or all(_contains(one, cut) for one in molecules)):
        return None
    return Motif(smiles, cut.heavy_atoms, cut.n_bonds)


_contains = lru_cache(maxsize=CACHED_CONTAINED)(contains)


@lru_cache(maxsize=CACHED_CUTS)
def _cut_once(found: Motifs) -> tuple[str, Molecule | None, bool]:
    """`_cut` of a group's motifs, and whether what it is certainly lies in all its molecules.

    All that depends only on the molecule that they are cut out of, and one of few bonds is that of many
    groups.
    """
    smiles, cut = _cut(found.query, found.places)
    return smiles, cut, cut is not None and _is_as_cut(cut, found)


def _cut(molecule: Molecule, places: Sequence[Place]) -> tuple[str, Molecule | None]:
    """What these atoms and bonds are, if they are all the same, and a molecule that the scorer reads."""
    cut = _cut_out(molecule, places)
    if len(cut) != 1:
        return "", None
    (smiles,) = cut
    motif = parse(smiles)
    if motif is None or parse_clean(smiles)[0] is None or motif.heavy_atoms != len(places[0][0]):
        return "", None
    return smiles, motif


def _is_as_cut(motif: Molecule, found: Motifs) -> bool:
    """Whether a motif certainly lies where the kernel found one, and so in all molecules of its group.

    Bonds have the orders there that they have in the motif. An atom without charge, isotope and unpaired
    electrons is found wherever its element is. False says nothing.
    """
    if _CHARGED.search(motif.key) or motif.has_radicals:
        return False
    mol = found.query.mol
    atoms = mol.GetSubstructMatch(motif.mol)
    if not atoms:
        return False
    bonds = [
        mol.GetBondBetweenAtoms(atoms[bond.GetBeginAtomIdx()], atoms[bond.GetEndAtomIdx()]).GetIdx()
        for bond in motif.mol.GetBonds()
    ]
    return any(sorted(bonds) == sorted(there) for _, there in found.places)


def _cut_out(molecule: Molecule, places: Iterable[Place]) -> set[str]:
    """The parts of these atoms and bonds as canonical SMILES without stereo; those that are molecules."""
    fragments = {
        Chem.MolFragmentToSmiles(molecule.mol, atoms, bonds, isomericSmiles=False) for atoms, bonds in places
    }
    parsed = [parse(fragment) for fragment in fragments]
    # hydrogens take the place of what was cut off, which can change the canonical order
    return {motif.key for motif in parsed if motif is not None}
