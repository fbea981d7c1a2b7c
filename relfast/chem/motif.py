"""The largest connected motif that many molecules share, as gold of REL-C2.

Elements and bond orders are compared, rings match rings only and whole rings only; of the motifs with most
atoms the one with most bonds is meant. A search that is cut short gives nothing: its result is never gold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from rdkit import Chem
from rdkit.Chem import rdFMCS

from relfast.chem.clean import parse_clean
from relfast.chem.matching import contains
from relfast.chem.molecule import Molecule, parse
from relfast.interrupts import uninterrupted

FIRST_MOLECULES: Final = 8
"""Molecules searched at first. A motif of some that all others contain is the motif of all, for it cannot
grow with more molecules; this makes groups of 20 and more 1.2 to 1.7 times as fast."""


class Motif(NamedTuple):
    """A motif as canonical SMILES without stereo, with its heavy atoms and bonds."""

    smiles: str
    n_atoms: int
    n_bonds: int


class _StepLimit(rdFMCS.MCSProgress):  # type: ignore[misc]
    """Stops a search after a number of steps, not of seconds: the same on every machine."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.left = steps

    def __call__(self, _stat: Any, _parameters: Any) -> bool:
        self.left -= 1
        return self.left > 0


def _search(molecules: Sequence[Molecule], limit: _StepLimit) -> Any:
    parameters = rdFMCS.MCSParameters()
    parameters.MaximizeBonds = True
    parameters.StoreAll = True
    parameters.AtomTyper = rdFMCS.AtomCompare.CompareElements
    parameters.BondTyper = rdFMCS.BondCompare.CompareOrderExact
    parameters.AtomCompareParameters.RingMatchesRingOnly = True
    parameters.BondCompareParameters.RingMatchesRingOnly = True
    parameters.BondCompareParameters.CompleteRingsOnly = True
    parameters.Timeout = 0
    parameters.ProgressCallback = limit
    return rdFMCS.FindMCS([m.mol for m in molecules], parameters)


def largest_motif(molecules: Sequence[Molecule], min_atoms: int, max_steps: int) -> Motif | None:
    """The largest connected motif of two or more molecules, or None where there is no clear one.

    A Ctrl-C waits until it is found.

    None if it has fewer than ``min_atoms`` heavy atoms, if several different motifs are equally large, if the
    search took more than ``max_steps`` steps, or if the motif cut out of the first molecule is no
    molecule that the scorer reads and finds in all of them (half an aromatic system, a charge others lack).
    """
    with uninterrupted():
        return _largest_motif(molecules, min_atoms, max_steps)


def _largest_motif(molecules: Sequence[Molecule], min_atoms: int, max_steps: int) -> Motif | None:
    chosen = list(molecules[:FIRST_MOLECULES])
    others = list(molecules[FIRST_MOLECULES:])
    limit = _StepLimit(max_steps)
    while True:
        result = _search(chosen, limit)
        if result.canceled or limit.left <= 0 or result.numAtoms < min_atoms:
            return None
        patterns = list(result.degenerateSmartsQueryMolDict.values())
        shared = [p for p in patterns if all(m.mol.HasSubstructMatch(p) for m in others)]
        if shared:
            break
        lacking = next(m for m in others if not m.mol.HasSubstructMatch(patterns[0]))
        others.remove(lacking)
        chosen.append(lacking)
    cut = {_cut_out(molecules[0], pattern) for pattern in shared}
    smiles = cut.pop()
    if cut or smiles is None:
        return None
    motif = parse(smiles)
    if motif is None or parse_clean(smiles)[0] is None or motif.heavy_atoms != result.numAtoms:
        return None
    if not all(contains(molecule, motif) for molecule in molecules):
        return None
    return Motif(smiles, motif.heavy_atoms, motif.n_bonds)


def _cut_out(molecule: Molecule, pattern: Any) -> str | None:
    """The matched atoms and bonds as canonical SMILES without stereo; None if that is no molecule."""
    mol = molecule.mol
    atoms = mol.GetSubstructMatch(pattern)
    bonds = [
        mol.GetBondBetweenAtoms(atoms[b.GetBeginAtomIdx()], atoms[b.GetEndAtomIdx()]).GetIdx()
        for b in pattern.GetBonds()
    ]
    fragment = Chem.MolFragmentToSmiles(mol, atoms, bonds, isomericSmiles=False)
    parsed = parse(fragment)
    # hydrogens take the place of what was cut off, which can change the canonical order
    return None if parsed is None else parsed.key
