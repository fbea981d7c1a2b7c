"""Enumerate all constitutional isomers of a formula, as canonical SMILES; results are cached on disk.

An isomer is a connected multigraph over the heavy atoms with the valences below, rings and multiple bonds
included; hydrogens fill the free valences. No stereo, no charges, no radicals. Kekulé forms that RDKit
reads as one aromatic molecule count once: 1,2-dihydroxybenzene is one of the 15,065 C6H6O2, not two of
15,066.

The results are checked against known counts (C6H6 has 217, C8H18 has 18) and against the isomers in the
published REL-C3 records. For 30 of their 53 formulas the molecules are the same; for the other 23 the
published sets lack some molecules with a multiple bond inside a ring (C4H5Br: 20 of 21, without
``CC1=CC1Br``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt
from rdkit import Chem, rdBase
from rdkit.Chem import rdMolDescriptors
from relfast_kernels.caches import UntrustedError, user_cache
from relfast_kernels.compiled import native
from relfast_kernels.isomers import ENTER, Isomers

from relfast.chem import molecule  # noqa: F401 -- silences RDKit's log
from relfast.errors import UsageError
from relfast.support.system import uninterrupted

VALENCES: Final = {"C": 4, "N": 3, "O": 2, "S": 2, "F": 1, "Cl": 1, "Br": 1, "I": 1}
"""Valence of each element. The order, highest valence first, is the order of atoms in the search."""

MAX_HEAVY_ATOMS: Final = 10
"""Formulas of 8 heavy atoms have up to some 10^5 isomers (ten seconds, mostly for writing the SMILES); each
further atom costs a factor of ten."""

MAX_ISOMERS: Final = 2_000_000
"""An enumeration with more isomers is an error: 2 million SMILES are 200 MB in memory."""

CHUNK: Final = 4_096
"""Structures per call of the kernel; their SMILES take 0.1 s to write, then progress is reported."""

RingFilter = Literal["all", "unstrained"]
"""``unstrained`` leaves out triple and cumulated double bonds inside a ring, as in ``C1#CC1``."""

Progress = Callable[[str, int], None]
"""Called with a formula and the number of its isomers found so far."""

_FORMULA: Final = re.compile(r"(?:[A-Z][a-z]?[0-9]{0,3})+", re.ASCII)
_PART: Final = re.compile(r"([A-Z][a-z]?)([0-9]{0,3})", re.ASCII)
_BONDS: Final = (None, Chem.BondType.SINGLE, Chem.BondType.DOUBLE, Chem.BondType.TRIPLE)
_STRAINED: Final = tuple(Chem.MolFromSmarts(smarts) for smarts in ("*#;@*", "*=;@*=;@*"))


def parse_formula(formula: str) -> dict[str, int]:
    """Element → count of a formula such as ``C5H8Br2``.

    Raises
    ------
    UsageError
        The text is not a formula, has an element that is not in `VALENCES`, or no or too many heavy atoms.
    """
    if not _FORMULA.fullmatch(formula):
        raise UsageError(f"{formula!r} is no molecular formula; write it like C5H8Br2")
    counts: dict[str, int] = {}
    for element, digits in _PART.findall(formula):
        if element != "H" and element not in VALENCES:
            raise UsageError(f"{formula}: element {element} is not one of H, {', '.join(VALENCES)}")
        counts[element] = counts.get(element, 0) + int(digits or 1)
    heavy = sum(counts.values()) - counts.get("H", 0)
    if not 1 <= heavy <= MAX_HEAVY_ATOMS:
        raise UsageError(f"{formula} has {heavy} heavy atoms; from 1 to {MAX_HEAVY_ATOMS} can be enumerated")
    return counts


def hill(formula: str) -> str:
    """The formula in Hill order (C, H, then by alphabet), as the published records write it."""
    counts = parse_formula(formula)
    first = [e for e in ("C", "H") if "C" in counts and e in counts]
    order = first + sorted(e for e in counts if e not in first)
    return "".join(e + (str(counts[e]) if counts[e] > 1 else "") for e in order if counts[e])


@lru_cache(maxsize=100_000)
def formula_of(smiles: str) -> str:
    """The molecular formula of a SMILES, in Hill order."""
    return str(rdMolDescriptors.CalcMolFormula(Chem.MolFromSmiles(smiles)))


def structures(formula: str, chunk: int = CHUNK) -> Iterator[tuple[list[str], npt.NDArray[np.int8]]]:
    """Every connected multigraph of a formula once, in chunks: (element symbols, ``(k, n, n)`` bond orders).

    Raises
    ------
    UsageError
        See `parse_formula`.
    """
    counts = parse_formula(formula)
    atoms = [element for element in VALENCES for _ in range(counts.get(element, 0))]
    elements = list(VALENCES)
    valences = np.array([VALENCES[a] for a in atoms], dtype=np.int64)
    blocks = np.array([elements.index(a) for a in atoms], dtype=np.int8)
    n = len(atoms)
    twice_bonds = int(valences.sum()) - counts.get("H", 0)
    if twice_bonds < 0 or twice_bonds % 2:
        return
    if n == 1:
        if twice_bonds == 0:
            yield atoms, np.zeros((1, 1, 1), dtype=np.int8)
        return
    search = Isomers(
        valences=valences,
        blocks=blocks,
        matrix=np.zeros((n, n), np.int8),
        free=valences.copy(),
        out=np.zeros((chunk, n, n), np.int8),
        work=np.empty((2, n + 1, n), np.int8),
        places=np.empty((2, n + 1), np.int64),
    )
    cursor = search.cursor
    cursor.i, cursor.j, cursor.left, cursor.step = 0, 1, twice_bonds // 2, ENTER
    write = native.functions("isomers")["next"]
    found = chunk
    while found == chunk:
        found = write(search)
        yield atoms, search.out[:found].copy()


@lru_cache(maxsize=8)
def _unbonded(atoms: tuple[str, ...]) -> Any:
    """A molecule of these atoms without bonds, to be copied: creating atoms takes half of `_smiles`' time."""
    mol = Chem.RWMol()
    for element in atoms:
        mol.AddAtom(Chem.Atom(element))
    return mol


def _smiles(atoms: Sequence[str], bonds: npt.NDArray[np.int8]) -> str:
    """The canonical SMILES of a structure: element symbols and a matrix of bond orders."""
    mol = Chem.RWMol(_unbonded(tuple(atoms)))
    for i, row in enumerate(bonds.tolist()):
        for j, order in enumerate(row[:i]):
            if order:
                mol.AddBond(j, i, _BONDS[order])
    Chem.SanitizeMol(mol)
    return str(Chem.MolToSmiles(mol))


def _enumerate(formula: str, progress: Progress | None) -> tuple[str, ...]:
    found: set[str] = set()
    for atoms, chunk in structures(formula):
        found.update(_smiles(atoms, bonds) for bonds in chunk)
        if progress is not None:
            progress(formula, len(found))
        if len(found) > MAX_ISOMERS:
            raise UsageError(f"{formula} has more than {MAX_ISOMERS:,} isomers")
    return tuple(sorted(found))


def is_strained(smiles: str) -> bool:
    """Whether a ring of a molecule has a triple bond or two cumulated double bonds."""
    mol = Chem.MolFromSmiles(smiles)
    with uninterrupted():
        return any(mol.HasSubstructMatch(pattern) for pattern in _STRAINED)


@lru_cache(maxsize=1_024)
def _universe(formula: str, keep: RingFilter, progress: Progress | None) -> tuple[str, ...]:
    """The isomers of a formula in Hill order, from the disk cache or enumerated and cached."""
    # formulas are unambiguous file names even if case is ignored: C4H8Co is rejected, since Co is not allowed
    kept = read_kept(formula)
    if kept is None:
        found = _enumerate(formula, progress)
        write_kept(formula, "\n".join(found).encode("ascii"))
    else:
        found = tuple(kept.decode("ascii").split())
    return found if keep == "all" else tuple(s for s in found if not is_strained(s))


def isomers(formula: str, keep: RingFilter = "all", progress: Progress | None = None) -> tuple[str, ...]:
    """All constitutional isomers of a formula, as sorted canonical SMILES: C2H6O has ``CCO`` and ``COC``.

    Parameters
    ----------
    formula
        Elements H, C, N, O, S, F, Cl, Br, I, in any order; at most `MAX_HEAVY_ATOMS` heavy atoms.
    keep
        ``all``, or ``unstrained`` (no triple or cumulated double bond inside a ring).
    progress
        Called after every few thousand isomers of an enumeration; not called for cached formulas.

    Raises
    ------
    UsageError
        The formula cannot be enumerated, or has more than `MAX_ISOMERS` isomers.
    """
    if keep not in get_args(RingFilter):
        raise UsageError(f"isomers to keep: {' or '.join(get_args(RingFilter))}, not {keep!r}")
    return _universe(hill(formula), keep, progress)


# Molecules with the same heavy atoms as another and two hydrogens more or fewer.


_LOWER: Final = {Chem.BondType.TRIPLE: Chem.BondType.DOUBLE, Chem.BondType.DOUBLE: Chem.BondType.SINGLE}
_HIGHER: Final = {order: other for other, order in _LOWER.items()}


@lru_cache(maxsize=20_000)
def two_hydrogens_apart(smiles: str) -> tuple[str, ...]:
    """Sorted canonical SMILES of the molecules that differ from one by a single edit of a bond.

    An edit raises or lowers the order of a bond by one, or closes or opens a ring.
    """
    mol = Chem.MolFromSmiles(smiles)
    Chem.Kekulize(mol, clearAromaticFlags=True)
    hydrogens = [atom.GetTotalNumHs() for atom in mol.GetAtoms()]
    for atom in mol.GetAtoms():
        atom.SetNoImplicit(False)
        atom.SetNumExplicitHs(0)
    found: set[str | None] = set()
    for bond in mol.GetBonds():
        ends = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        order = bond.GetBondType()
        changed = [_LOWER.get(order), _HIGHER.get(order) if all(hydrogens[end] for end in ends) else None]
        for other in changed:
            if other is not None:
                edited = Chem.RWMol(mol)
                edited.GetBondBetweenAtoms(*ends).SetBondType(other)
                found.add(_written(edited))
        if bond.IsInRing() and order == Chem.BondType.SINGLE:
            edited = Chem.RWMol(mol)
            edited.RemoveBond(*ends)
            found.add(_written(edited))
    for ends in combinations(range(len(hydrogens)), 2):
        if all(hydrogens[end] for end in ends) and mol.GetBondBetweenAtoms(*ends) is None:
            edited = Chem.RWMol(mol)
            edited.AddBond(*ends, Chem.BondType.SINGLE)
            found.add(_written(edited))
    return tuple(sorted(one for one in found if one is not None))


def _written(mol: Any) -> str | None:
    if Chem.SanitizeMol(mol, catchErrors=True) != Chem.SanitizeFlags.SANITIZE_NONE:
        return None
    return str(Chem.MolToSmiles(mol, isomericSmiles=False))


_FORMAT: Final = 3


def kept_name(name: str) -> str:
    """The file name of a cached result; every version of RDKit has its own file."""
    return f"{name}-rdkit{rdBase.rdkitVersion}"


def _digest(name: str, body: bytes) -> bytes:
    return hashlib.sha256(f"{_FORMAT} {kept_name(name)}\n".encode() + body).hexdigest().encode()


def read_kept(name: str) -> bytes | None:
    """The result cached under a name; None if there is no valid one."""
    cache = user_cache("isomers")
    try:
        digest, _, body = cache.read(kept_name(name)).partition(b"\n")
    except UntrustedError as error:
        cache.say(error)
        return None
    except OSError:
        return None
    return body if digest == _digest(name, body) else None


def write_kept(name: str, body: bytes) -> None:
    """Cache a result; does nothing if the cache cannot be written."""
    cache = user_cache("isomers")
    try:
        cache.write(kept_name(name), _digest(name, body) + b"\n" + body)
    except UntrustedError as error:
        cache.say(error)
    except OSError:
        return  # unwritable or full: the next process computes the result again
