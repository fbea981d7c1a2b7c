"""The maximum common substructure of two molecules, with its cut-short flag."""

from __future__ import annotations

from typing import NamedTuple

from rdkit import Chem
from rdkit.Chem import rdFMCS

from relfast.chem.common_substructure import largest_common
from relfast.chem.molecule import Molecule


class CommonSubstructure(NamedTuple):
    """Heavy atoms of the common substructure, and whether the search was cut short by its deadline."""

    heavy_atoms: int
    canceled: bool


def exact_common_substructure(a: Molecule, b: Molecule, *, whole_rings: bool = False) -> int | None:
    """The heavy atoms of the largest common substructure, if a kernel says.

    They are those that `common_substructure` finds if nothing cuts it short. With ``whole_rings`` they are
    the most there are under the rules of `strict_common_substructure`, which now and then finds fewer.
    """
    if not (a.ordinary and b.ordinary):
        return None
    found = largest_common(a.written, b.written, by_rdkit=True, whole_rings=whole_rings)
    return None if found is None else found.atoms


def common_substructure(a: Molecule, b: Molecule, timeout: int) -> CommonSubstructure:
    """The published measure: RDKit's defaults (elements and bond orders, rings broken at will).

    RDKit reads the clock only between seeds, so ``timeout`` (s) is no guarantee; a worker's deadline is.
    """
    result = rdFMCS.FindMCS([a.mol, b.mol], timeout=timeout)
    if a.ordinary and b.ordinary:
        # all atoms are heavy: no need to read the pattern again to count them
        return CommonSubstructure(int(result.numAtoms) if result.smartsString else 0, bool(result.canceled))
    return CommonSubstructure(_heavy_atoms(result), bool(result.canceled))


def strict_common_substructure(a: Molecule, b: Molecule, timeout: int) -> CommonSubstructure:
    """Rings match rings only, whole rings only, and charges count.

    RDKit looks at whether rings are closed only on the query's side and on the best candidate so far, so that
    what it finds is not always the largest.
    """
    parameters = rdFMCS.MCSParameters()
    parameters.Timeout = timeout
    parameters.AtomCompareParameters.RingMatchesRingOnly = True
    parameters.AtomCompareParameters.MatchFormalCharge = True
    parameters.BondCompareParameters.RingMatchesRingOnly = True
    parameters.BondCompareParameters.CompleteRingsOnly = True
    parameters.BondTyper = rdFMCS.BondCompare.CompareOrderExact
    result = rdFMCS.FindMCS([a.mol, b.mol], parameters)
    return CommonSubstructure(_heavy_atoms(result), bool(result.canceled))


def _heavy_atoms(result: rdFMCS.MCSResult) -> int:
    if not result.numAtoms or not result.smartsString:
        return 0
    pattern = Chem.MolFromSmarts(result.smartsString)
    return 0 if pattern is None else int(pattern.GetNumHeavyAtoms())
