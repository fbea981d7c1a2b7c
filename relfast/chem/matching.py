"""Substructure search, identity of molecules and MCS with RDKit, with guards against endless searches.

``C.C.C.C.C.C.N.N`` against a steroid takes RDKit's matcher more than 20 s, and it has no timeout. Two
exact shortcuts handle nearly all such cases: a target with fewer atoms, bonds or atoms of some element
cannot contain a query; and a disconnected query is searched largest fragment first.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

from rdkit import Chem
from rdkit.Chem import rdFMCS

from relfast.chem.common_substructure import COMMON_MOTIFS, largest_common
from relfast.chem.molecule import CACHED_MOLECULES, DUMMY, Molecule, parse, parse_clean
from relfast.chem.smiles_table import SmilesTable

SMALL: Final = 32
"""Connected queries of at most this many atoms are searched without counting elements first."""


def contains(target: Molecule, query: Molecule) -> bool:
    """Whether ``query`` is a substructure of ``target``, by RDKit's ``HasSubstructMatch``.

    Rejections without a search are exact for molecules from SMILES, as every query atom needs a distinct
    target atom of its element (a dummy matches any) and every bond a distinct bond; 200,000 random pairs
    gave no false rejection. Counting elements takes longer than searching for a small connected query, so
    it is left out.
    """
    if not 0 < query.n_atoms <= target.n_atoms or query.n_bonds > target.n_bonds:
        return False
    if query.n_atoms > SMALL or not query.connected:
        have = target.elements
        if any(have[number] < n for number, n in query.elements.items() if number != DUMMY):
            return False
    mol = query.mol if query.connected else _largest_fragment_first(query.mol)
    return bool(target.mol.HasSubstructMatch(mol))


def _largest_fragment_first(mol: Any) -> Any:
    """The same molecule with its atoms ordered fragment by fragment, largest first.

    The matcher assigns atoms in index order. Starting with lone atoms would multiply the search by their
    arrangements before the first real constraint applies (15 s instead of 0.2 ms).
    """
    fragments = Chem.GetMolFrags(mol)
    if len(fragments) < 2:
        return mol
    order = [atom for fragment in sorted(fragments, key=len, reverse=True) for atom in fragment]
    return Chem.RenumberAtoms(mol, order)


def same_molecule(a: Molecule, b: Molecule) -> bool:
    """Whether two molecules are the same to the published scorer: without stereo, each contains the other.

    This differs from equality of canonical SMILES: places of hydrogens and atom maps do not matter, and
    ``~`` and ``*`` match anything (the relation is then not transitive).
    """
    if (a.n_atoms != b.n_atoms or a.n_bonds != b.n_bonds) and a.ordinary and b.ordinary:
        # removing stereo removes neither atoms nor bonds: no need to parse again
        return False
    flat_a, flat_b = a.flat, b.flat
    if flat_a is None or flat_b is None or flat_a.n_atoms == 0 or flat_b.n_atoms == 0:
        return False
    if a.key == b.key:
        return True
    if flat_a.n_atoms != flat_b.n_atoms or flat_a.n_bonds != flat_b.n_bonds:
        return False
    if flat_a.definite and flat_b.definite and flat_a.fingerprint != flat_b.fingerprint:
        return False
    return contains(flat_b, flat_a) and contains(flat_a, flat_b)


# Identity of two SMILES in the published scorers.


def flat_molecule(smiles: object) -> Molecule | None:
    """The molecule of a SMILES without stereo.

    None if the text is not a molecule, or a molecule that would not even equal itself: without stereo it
    does not parse again, or it has no atoms. Raises what RDKit raises.
    """
    molecule = parse(smiles)
    flat = None if molecule is None else molecule.flat
    return None if flat is None or flat.n_atoms == 0 else flat


def same(a: str, b: object) -> bool:
    """Whether two SMILES are the same molecule (`same_molecule`). Raises what RDKit raises."""
    mol_a, mol_b = parse(a), parse(b)
    return mol_a is not None and mol_b is not None and same_molecule(mol_a, mol_b)


def teach(table: SmilesTable, smiles: object) -> None:
    """Let the table learn RDKit's molecule of a text that the kernel cannot read, if it has a usable code."""
    if not isinstance(smiles, str):
        return
    try:
        flat = flat_molecule(smiles)
        if flat is None:
            table.learn(smiles, b"", 0)
            return
        code = table.code_of(flat.key, by_rdkit=False)
    except RuntimeError:
        # RDKit parses this SMILES but cannot write it: the comparison will fail in the same way
        return
    if code is None and not flat.has_radicals:
        code = table.code_of(flat.key, by_rdkit=True)
    if code is not None:
        table.learn(smiles, code, flat.fingerprint)


# The maximum common substructure of two molecules, and whether the search ran out of time.


def exact_common_substructure(a: Molecule, b: Molecule, *, whole_rings: bool = False) -> int | None:
    """The number of heavy atoms of the largest common substructure by a kernel; None if it cannot tell.

    The number is that of `common_substructure` without a time limit. With ``whole_rings`` it is the
    optimum under the rules of `strict_common_substructure`, which sometimes finds less.
    """
    if not (a.ordinary and b.ordinary):
        return None
    found = largest_common(a.written, b.written, by_rdkit=True, whole_rings=whole_rings)
    return None if found is None else found[1]


def common_substructure(a: Molecule, b: Molecule, timeout: int) -> tuple[int, bool]:
    """The number of heavy atoms of the common substructure, and whether the search ran out of time.

    The published measure, with RDKit's defaults: elements and bond orders match, rings may be broken.
    RDKit checks the time only between seeds, so it can exceed ``timeout`` (s); a worker's deadline still
    holds.
    """
    result = rdFMCS.FindMCS([a.mol, b.mol], timeout=timeout)
    if a.ordinary and b.ordinary:
        # all atoms are heavy: no need to parse the pattern to count them
        return int(result.numAtoms) if result.smartsString else 0, bool(result.canceled)
    return _heavy_atoms(result), bool(result.canceled)


MAX_SEEDS: Final = 5_000
"""Candidates that RDKit grows in a search under ``strict``: 0.6 s for molecules of 90 atoms. Of 3,048 pairs
of a published gold and a published molecule RDKit searches 12, each with far fewer."""


class _Seeds(rdFMCS.MCSProgress):  # type: ignore[misc]
    """Ends a search after `MAX_SEEDS` candidates."""

    def __init__(self) -> None:
        super().__init__()
        self._n = 0

    def __call__(self, _: object, __: object) -> bool:
        self._n += 1
        return self._n < MAX_SEEDS


def strict_common_substructure(a: Molecule, b: Molecule) -> tuple[int, bool]:
    """Like `common_substructure`, but rings match only rings, only whole rings match, charges must match, and
    the search ends after `MAX_SEEDS` candidates, never by a clock.

    RDKit checks that rings are closed only in the query and only for the best candidate so far, so that
    its result is not always the largest.
    """
    parameters = rdFMCS.MCSParameters()
    # held by this name, too: RDKit does not keep it alive
    parameters.ProgressCallback = progress = _Seeds()
    parameters.AtomCompareParameters.RingMatchesRingOnly = True
    parameters.AtomCompareParameters.MatchFormalCharge = True
    parameters.BondCompareParameters.RingMatchesRingOnly = True
    parameters.BondCompareParameters.CompleteRingsOnly = True
    parameters.BondTyper = rdFMCS.BondCompare.CompareOrderExact
    result = rdFMCS.FindMCS([a.mol, b.mol], parameters)
    del progress
    return _heavy_atoms(result), bool(result.canceled)


def _heavy_atoms(result: rdFMCS.MCSResult) -> int:
    if not result.numAtoms or not result.smartsString:
        return 0
    pattern = Chem.MolFromSmarts(result.smartsString)
    return 0 if pattern is None else int(pattern.GetNumHeavyAtoms())


# The largest common motif in a molecule, by RDKit.


@cache
def _constants() -> tuple[Molecule, ...]:
    """`COMMON_MOTIFS`, largest first."""
    parsed = [parse_clean(smiles)[0] for smiles in COMMON_MOTIFS]
    molecules = [molecule for molecule in parsed if molecule is not None]
    return tuple(sorted(molecules, key=lambda molecule: -molecule.heavy_atoms))


@lru_cache(maxsize=CACHED_MOLECULES)
def best_constant(smiles: str) -> int:
    """Number of atoms of the largest of `COMMON_MOTIFS` that is a substructure of a clean molecule."""
    whole, _ = parse_clean(smiles)
    if whole is None:
        return 0
    return next((part.heavy_atoms for part in _constants() if contains(whole, part)), 0)
