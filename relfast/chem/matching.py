"""Substructure and identity, with the guards that keep RDKit from searching for ever.

``C.C.C.C.C.C.N.N`` against a steroid takes RDKit's matcher more than 20 s, and it has no timeout. Two
exact shortcuts answer nearly all such questions: a query cannot be contained in a target that has fewer
atoms, bonds or atoms of some element; and a disconnected query is searched largest fragment first.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

from rdkit import Chem
from rdkit.Chem import rdFMCS

from relfast.chem.clean import parse_clean
from relfast.chem.common_substructure import COMMON_MOTIFS, largest_common
from relfast.chem.molecule import CACHED_MOLECULES, DUMMY, Molecule, parse
from relfast.chem.smiles_table import SmilesTable

SMALL: Final = 32
"""Atoms of a connected query that is searched for without further ado."""


def contains(target: Molecule, query: Molecule) -> bool:
    """Whether ``query`` is a substructure of ``target``, as RDKit's ``HasSubstructMatch`` has it.

    Every query atom needs an atom of its own, of its own element (a dummy takes any), and every bond a
    bond of its own. Holds for molecules from SMILES; 200,000 random pairs gave no false rejection. Counting
    elements takes longer than searching for a small connected query does, so those are not counted.
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

    The matcher assigns atoms in index order; starting with lone atoms multiplies the search by their
    arrangements before the first real constraint is met (15 s against 0.2 ms).
    """
    fragments = Chem.GetMolFrags(mol)
    if len(fragments) < 2:
        return mol
    order = [atom for fragment in sorted(fragments, key=len, reverse=True) for atom in fragment]
    return Chem.RenumberAtoms(mol, order)


def same_molecule(a: Molecule, b: Molecule) -> bool:
    """The published identity: without stereo, each is a substructure of the other.

    This is not equality of canonical SMILES: places of hydrogens and atom maps do not count, ``~`` and
    ``*`` match anything (and the relation is then not transitive).
    """
    if (a.n_atoms != b.n_atoms or a.n_bonds != b.n_bonds) and a.ordinary and b.ordinary:
        # taking the stereo off takes neither atoms nor bonds: no need to parse again
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


# When two SMILES are the same molecule for the published scorers.


def flat_molecule(smiles: object) -> Molecule | None:
    """The molecule without stereo.

    None for no molecule, and for one that is not even the same as itself: what does not parse again
    without stereo, what has no atoms. Raises what RDKit raises.
    """
    molecule = parse(smiles)
    flat = None if molecule is None else molecule.flat
    return None if flat is None or flat.n_atoms == 0 else flat


def same(a: str, b: object) -> bool:
    """Whether two texts are the same molecule. Raises what RDKit raises."""
    mol_a, mol_b = parse(a), parse(b)
    return mol_a is not None and mol_b is not None and same_molecule(mol_a, mol_b)


def teach(table: SmilesTable, smiles: object) -> None:
    """Tell the table what RDKit says of a text that it cannot read, if RDKit says anything that decides."""
    if not isinstance(smiles, str):
        return
    try:
        flat = flat_molecule(smiles)
        if flat is None:
            table.learn(smiles, b"", 0)
            return
        code = table.code_of(flat.key, by_rdkit=False)
    except RuntimeError:
        # read but not written: comparing it will say so
        return
    if code is None and not flat.has_radicals:
        code = table.code_of(flat.key, by_rdkit=True)
    if code is not None:
        table.learn(smiles, code, flat.fingerprint)


# The maximum common substructure of two molecules, with its cut-short flag.


def exact_common_substructure(a: Molecule, b: Molecule, *, whole_rings: bool = False) -> int | None:
    """The heavy atoms of the largest common substructure, if a kernel says.

    They are those that `common_substructure` finds if nothing cuts it short. With ``whole_rings`` they are
    the most there are under the rules of `strict_common_substructure`, which now and then finds fewer.
    """
    if not (a.ordinary and b.ordinary):
        return None
    found = largest_common(a.written, b.written, by_rdkit=True, whole_rings=whole_rings)
    return None if found is None else found[1]


def common_substructure(a: Molecule, b: Molecule, timeout: int) -> tuple[int, bool]:
    """Heavy atoms of the common substructure, and whether the search was cut short by its deadline.

    The published measure: RDKit's defaults (elements and bond orders, rings broken at will). RDKit reads the
    clock only between seeds, so ``timeout`` (s) is no guarantee; a worker's deadline is.
    """
    result = rdFMCS.FindMCS([a.mol, b.mol], timeout=timeout)
    if a.ordinary and b.ordinary:
        # all atoms are heavy: no need to read the pattern again to count them
        return int(result.numAtoms) if result.smartsString else 0, bool(result.canceled)
    return _heavy_atoms(result), bool(result.canceled)


def strict_common_substructure(a: Molecule, b: Molecule, timeout: int) -> tuple[int, bool]:
    """The same where rings match rings only, whole rings only, and charges count.

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
    return _heavy_atoms(result), bool(result.canceled)


def _heavy_atoms(result: rdFMCS.MCSResult) -> int:
    if not result.numAtoms or not result.smartsString:
        return 0
    pattern = Chem.MolFromSmarts(result.smartsString)
    return 0 if pattern is None else int(pattern.GetNumHeavyAtoms())


# Whether a molecule lies in another with its rings whole, and which common motif does, by RDKit.


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
