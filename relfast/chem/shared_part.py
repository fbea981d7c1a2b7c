"""Whether a molecule lies in another with its rings whole, and which common motif does, by RDKit.

`relfast.chem.common_substructure` and `relfast.chem.common_motifs` say the same of what a kernel reads.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

from rdkit import Chem

from relfast.chem.clean import parse_clean
from relfast.chem.common_motifs import COMMON_MOTIFS
from relfast.chem.molecule import CACHED_MOLECULES, Molecule

_RING_OR_CHAIN: Final = Chem.AdjustQueryParameters.NoAdjustments()
_RING_OR_CHAIN.adjustRingChain = True
_RING_OR_CHAIN.adjustRingChainFlags = Chem.ADJUST_IGNORENONE


def shared_part(whole: Molecule, part: Molecule) -> bool:
    """Whether a molecule lies in another with its rings in rings and its chains in chains: whole rings only.

    A part has no more atoms than the whole, so the search is as small as a gold is.
    """
    if part.n_atoms > whole.n_atoms or part.n_bonds > whole.n_bonds or part.elements - whole.elements:
        return False
    return bool(whole.mol.HasSubstructMatch(_as_query(part.mol)))


def _as_query(mol: Any) -> Any:
    return Chem.AdjustQueryProperties(mol, _RING_OR_CHAIN)


@cache
def _queries() -> tuple[tuple[Molecule, Any], ...]:
    """The motifs as molecules and queries, largest first."""
    parsed = [parse_clean(smiles)[0] for smiles in COMMON_MOTIFS]
    molecules = [molecule for molecule in parsed if molecule is not None]
    molecules.sort(key=lambda molecule: -molecule.heavy_atoms)
    return tuple((molecule, _as_query(molecule.mol)) for molecule in molecules)


@lru_cache(maxsize=CACHED_MOLECULES)
def best_constant(smiles: str) -> int:
    """Atoms of the largest common motif that lies in a clean molecule."""
    whole, _ = parse_clean(smiles)
    if whole is None:
        return 0
    for part, query in _queries():
        if part.heavy_atoms <= whole.heavy_atoms and whole.mol.HasSubstructMatch(query):
            return part.heavy_atoms
    return 0
