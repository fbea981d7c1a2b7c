"""The largest motif of molecules that the kernel does not take, by RDKit's search.

RDKit tests whether rings are whole on one molecule and on its best candidate so far only: now and then a
larger motif is missed, or what it tells is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rdkit import Chem
from rdkit.Chem import rdFMCS

from relfast.chem.molecule import Molecule
from relfast.chem.motif_rows import Place

FIRST_MOLECULES: Final = 8
"""Molecules searched at first. A motif of some that all others contain is the motif of all, for it cannot
grow with more molecules; this makes groups of 20 and more 1.2 to 1.7 times as fast."""

STEPS_OF_OURS: Final = 200
"""Steps of the kernel that RDKit takes as long for as for one of its own, at least."""


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


def motifs_by_rdkit(molecules: Sequence[Molecule], min_atoms: int, max_steps: int) -> list[Place]:
    """Atoms and bonds of the first molecule: one place of each of the largest motifs.

    Empty where they are smaller than ``min_atoms``, or the search took more than ``max_steps`` steps of the
    kernel's.
    """
    chosen = list(molecules[:FIRST_MOLECULES])
    others = list(molecules[FIRST_MOLECULES:])
    limit = _StepLimit(max(1, max_steps // STEPS_OF_OURS))
    while True:
        result = _search(chosen, limit)
        patterns = list(result.degenerateSmartsQueryMolDict.values())
        if result.canceled or limit.left <= 0 or result.numAtoms < min_atoms or not patterns:
            return []
        shared = [p for p in patterns if all(m.mol.HasSubstructMatch(p) for m in others)]
        if shared:
            # of some groups it tells patterns of which a ring is cut open, and no others
            places = [_place(molecules[0], pattern) for pattern in shared]
            return places if all(_has_whole_rings(molecules[0], bonds) for _, bonds in places) else []
        lacking = next(m for m in others if not m.mol.HasSubstructMatch(patterns[0]))
        others.remove(lacking)
        chosen.append(lacking)


def _place(molecule: Molecule, pattern: Any) -> Place:
    atoms = list(molecule.mol.GetSubstructMatch(pattern))
    bonds = [
        molecule.mol.GetBondBetweenAtoms(atoms[b.GetBeginAtomIdx()], atoms[b.GetEndAtomIdx()]).GetIdx()
        for b in pattern.GetBonds()
    ]
    return atoms, bonds


def _has_whole_rings(molecule: Molecule, bonds: list[int]) -> bool:
    """Whether each of these bonds that is in a ring is in a ring of them."""
    part = Chem.PathToSubmol(molecule.mol, bonds)
    Chem.FastFindRings(part)
    in_ring = sum(bond.IsInRing() for bond in part.GetBonds())
    return bool(in_ring == sum(molecule.mol.GetBondWithIdx(bond).IsInRing() for bond in bonds))
