"""Compare pairs of SMILES with a kernel, without RDKit: containment and maximum common substructure.

By default rings may be broken, and the kernel finds as many bonds and atoms as RDKit's ``FindMCS`` with
its default parameters. With ``whole_rings`` it finds the true optimum, which RDKit's search sometimes
misses. The kernel handles molecules that the SMILES kernels read, if the search ends within `MAX_STEPS`;
the rest is left to RDKit. `relfast_kernels.mcs` describes the search.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, Literal, NamedTuple, cast

from relfast_kernels.compiled import native
from relfast_kernels.entry import Int, Rows, Spare, rows_of
from relfast_kernels.mcs import layouts
from relfast_kernels.smiles.layouts import INVALID, MAX_SMILES

from relfast.chem.smiles_table import is_clean_text
from relfast.support.system import lazy_memory

UNIT: Final = "mcs"

MAX_STEPS: Final = 20_000
"""Maximum steps of a search, at most 10 ms. 98 in 100 pairs of drugs need fewer than 1,000."""

CACHED_PREPARED: Final = 1_024
"""Molecules that are cached in prepared form, mostly golds: 26 kB each."""

MOLECULES: Final = 2_048
"""Capacity of `GoldMolecules`, 26 kB a molecule; memory is allocated as it is filled."""


class Pair(NamedTuple):
    """The result of comparing two molecules, the first and the second, in the order of the kernel's `Pair`.

    Attributes
    ----------
    bonds, atoms, steps
        Bonds and atoms of the largest common substructure, if it was searched, and the steps that took.
    in_first, in_second
        Whether the second is a substructure of the first, and the first of the second, as RDKit has it.
    n_first, n_atoms
        Atoms of the first, and of the second.
    fingerprint, settled
        Of the second: 32 bits equal for equal graphs (with whole rings for equal clean molecules, as
        `relfast.chem.clean.vote_of` has them), and whether its graph determines where its hydrogens are.
    """

    bonds: int
    atoms: int
    steps: int
    in_first: int
    in_second: int
    n_first: int
    n_atoms: int
    fingerprint: int
    settled: int


_N_NUMBERS: Final = len(layouts.Pair.declared)
assert tuple(layouts.Pair.declared) == ("status", *Pair._fields)

Compared = Pair | Literal["invalid", "unfinished"] | None
"""Result of a comparison. ``invalid``: a text is certainly not a molecule; ``unfinished``: the search took
too many steps; None: only RDKit can tell."""

Kernel = Callable[..., int]


class Prepared:
    """A molecule that the kernel has read and prepared for comparisons.

    Attributes
    ----------
    memory, address
        The kernel's `Molecule`, a row, and where it is; comparisons only read it.
    n_atoms, settled
        Number of atoms, and whether the graph determines the places of the hydrogens.
    text, is_clean
        The SMILES, and whether ``strict`` accepts it as a clean molecule.
    constant
        Cached result of `constant_in`; False before the first call.
    """

    __slots__ = ("address", "constant", "is_clean", "memory", "n_atoms", "settled", "text")

    def __init__(self, memory: Rows[layouts.Molecule], text: str) -> None:
        self.memory, self.text = memory, text
        self.address = ctypes.addressof(cast(Any, memory))
        self.constant: int | None = False
        self.is_clean = is_clean_text(text)
        self.n_atoms = memory[0].atoms
        self.settled = bool(memory[0].settled)


def prepared_in(
    memory: Rows[layouts.Molecule], text: str, *, by_rdkit: bool = False
) -> Prepared | Literal["invalid"] | None:
    """`prepared` in a row, which the caller must not change afterwards."""
    if not 0 < len(text) <= MAX_SMILES or not text.isascii():
        return None
    n = native.functions(UNIT)["prepare"](
        layouts.Reading(text=text.encode(), by_rdkit=by_rdkit, molecules=memory)
    )
    return Prepared(memory, text) if n > 0 else "invalid" if n == INVALID else None


@lru_cache(maxsize=CACHED_PREPARED)
def _prepared(text: str, by_rdkit: bool) -> Prepared | Literal["invalid"] | None:
    return prepared_in(rows_of(layouts.Molecule, 1), text, by_rdkit=by_rdkit)


def prepared(text: str, *, by_rdkit: bool = False) -> Prepared | Literal["invalid"] | None:
    """A SMILES prepared for comparisons, cached; ``invalid`` if it certainly is not a molecule, None if only
    RDKit can tell.

    ``by_rdkit``: RDKit wrote the SMILES, without stereo; then charges and all elements are read.
    """
    if not 0 < len(text) <= MAX_SMILES:
        return None
    return _prepared(text, by_rdkit)


def largest_common(
    first: str, second: str, *, by_rdkit: bool = False, whole_rings: bool = False, max_steps: int = MAX_STEPS
) -> tuple[int, int] | None:
    """Numbers of bonds and (heavy) atoms of the largest connected common substructure of two molecules:
    the one with the most bonds, then the most atoms.

    ``whole_rings``: atoms match by element, charge and ring membership, bonds by exact order and ring
    membership, and every matched ring bond lies on a ring that is matched completely. ``by_rdkit``: RDKit
    wrote both SMILES, without stereo; then charges and all elements are read. None if one is not a
    molecule or only RDKit can read it, or if the search takes more than ``max_steps``. The result depends
    on the texts only. Thread-safe.
    """
    a, b = prepared(first, by_rdkit=by_rdkit), prepared(second, by_rdkit=by_rdkit)
    if not (isinstance(a, Prepared) and isinstance(b, Prepared)):
        return None
    asked = _COMMON.take()
    # by address, which costs less than the call: both are alive until it is over
    asked.at_first, asked.at_second = a.address, b.address
    asked.whole_rings, asked.limit = whole_rings, max_steps
    status = native.functions(UNIT)["common"](asked)
    found = (asked.found.bonds, asked.found.atoms) if status == 0 else None
    _COMMON.append(asked)
    return found


def _work() -> Rows[int]:
    """Work space of a search."""
    return rows_of(Int, layouts.PAIR_WORK_SIZE)


_COMMON: Final = Spare[Any](
    lambda: layouts.Common(
        first=rows_of(layouts.Molecule, 1), second=rows_of(layouts.Molecule, 1), work=_work()
    )
)


def judge(first: Prepared, text: str, *, whole_rings: bool = False) -> Compared:
    """Compare a prepared molecule (gold) with a SMILES that a model wrote.

    ``invalid`` if the SMILES certainly is not a molecule; ``unfinished`` if the search takes more than
    `MAX_STEPS`; None if only RDKit can tell.
    """
    if not 0 < len(text) <= MAX_SMILES or not text.isascii():
        return None
    comparing = _Comparing(native.functions(UNIT), first.memory, whole_rings)
    (found,) = comparing([(0, 0, len(text))], text.encode())
    return found


class _Comparing:
    """Compares SMILES with golds, for one call at a time."""

    def __init__(
        self, functions: Mapping[str, Kernel], golds: Rows[layouts.Molecule], whole_rings: bool
    ) -> None:
        # judge_one keeps the GIL: getting it back from busy threads takes longer than comparing one pair
        self._judge, self._judge_one = functions["judge"], functions["judge_one"]
        self._asked: Any = layouts.Comparisons(
            golds=golds, whole_rings=whole_rings, limit=MAX_STEPS, second=rows_of(layouts.Molecule, 1),
            work=_work(), texts=b"",
        )  # fmt: skip
        self._have_room(1)

    def _have_room(self, n: int) -> None:
        found = rows_of(layouts.Pair, n)
        # the numbers of all results, which are read at once
        self._numbers: Any = rows_of(Int, _N_NUMBERS * n, found)
        self._asked.put(asked=rows_of(layouts.Asked, n), found=found)

    def __call__(
        self, pairs: Sequence[tuple[int, int, int]], texts: bytes | ctypes.Array[ctypes.c_char]
    ) -> list[Compared]:
        """The results. Each of the ``pairs``: the number of a gold, begin and end of a SMILES in
        ``texts``."""
        asked, n = self._asked, len(pairs)
        if n > asked.most:
            self._have_room(n)
        if asked.texts is not texts:
            asked.texts = texts
        asked.n = n
        for one, (gold, start, end) in zip(asked.asked, pairs, strict=False):
            one.gold, one.start, one.end = gold, start, end
        (self._judge_one if n == 1 else self._judge)(asked)
        numbers = iter(self._numbers[: _N_NUMBERS * n])
        return [
            _STATUSES.get(status) if status else Pair._make(found)
            for status, *found in zip(*[numbers] * _N_NUMBERS, strict=True)
        ]


_STATUSES: Final[Mapping[int, Compared]] = {INVALID: "invalid", layouts.UNFINISHED: "unfinished"}


class GoldMolecules:
    """A store of numbered gold molecules with which SMILES are compared. Thread-safe: molecules are only
    added, and each call has its own work space.

    With ``whole_rings`` (``strict``) only clean molecules are stored.
    """

    def __init__(self, functions: Mapping[str, Kernel], *, whole_rings: bool) -> None:
        self._functions, self._whole_rings, self._most = functions, whole_rings, MOLECULES
        # memory of its own would put a molecule in seven pages: fetching them takes longer than parsing it
        size = ctypes.sizeof(layouts.Molecule)  # type: ignore[arg-type]
        self._memory = lazy_memory(size * MOLECULES, large_pages=True)
        self._rows = rows_of(layouts.Molecule, MOLECULES, self._memory)
        self._idle: list[_Comparing] = []
        self._adding = threading.Lock()
        self.golds: list[Prepared] = []
        self._numbers: dict[str, int] = {}

    @classmethod
    def open(cls, *, whole_rings: bool) -> GoldMolecules | None:
        """An empty store; None if machine code is missing."""
        functions = native.find(UNIT)
        return None if functions is None else cls(functions, whole_rings=whole_rings)

    @property
    def room(self) -> int:
        """The number of molecules that can still be added."""
        return self._most - len(self._numbers)

    def number(self, text: object) -> int:
        """Store a molecule and return its number; -1 if it is not a text, the kernel cannot read it, it is
        not clean (with ``whole_rings``), or there is no room."""
        if type(text) is not str:
            return -1
        number = self._numbers.get(text)
        if number is not None:
            return number
        with self._adding:
            number = len(self.golds)
            if self.room <= 0:
                return -1
            molecule = prepared_in(rows_of(layouts.Molecule, 1, self._rows[number]), text)
            if isinstance(molecule, Prepared) and (molecule.is_clean or not self._whole_rings):
                self.golds.append(molecule)
            else:
                number = -1
            self._numbers[text] = number
        return number

    def judge(
        self, pairs: Sequence[tuple[int, int, int]], texts: bytes | ctypes.Array[ctypes.c_char]
    ) -> list[Compared]:
        """`judge` for many SMILES. Each of the ``pairs``: the number of a stored molecule, begin and end of a
        SMILES in ``texts``, which must be ASCII."""
        try:
            comparing = self._idle.pop()
        except IndexError:  # all are in use by other threads
            comparing = _Comparing(self._functions, self._rows, self._whole_rings)
        found = comparing(pairs, texts)
        self._idle.append(comparing)
        return found


COMMON_MOTIFS: Final = (
    "c1ccccc1", "CCCCC", "CC1CCCC2C1CCC1(C)CCCC21", "COc1ccccc1", "CCc1ccccc1", "CC", "CCCCCCCC",
    "CCC1CCCCC1", "CCNCC", "O=[SH](=O)c1ccccc1", "CCC1CCCC1C", "CC(=O)NC1C(=O)N2C(C(=O)O)=CCSC12",
    "CC1CCCC2C1CCC1(C)C(C=O)CCC21", "CCNCCNCC", "CCCCCCCCCC", "c1ccc(Cc2ccccc2)cc1", "O=C(O)CN1CCC1=O",
    "CNc1ccccc1", "CCC1CCC2(C)CCCC2C1", "Cc1ccc([N+](=O)[O-])o1", "CCC1(C)C(=O)NCNC1=O",
    "CN1c2ccccc2Sc2ccccc21", "CCC(C)C1(C)CCC2C(CCCC2(C)C)C1", "O=c1nccc[nH]1", "CCCCCC",
    "c1ccc2c(c1)CC1CC2CCN1", "CC1CCCC(O)O1", "CC1(C)SC2C(N)C(=O)N2C1C(=O)O", "O=CCCC(C=O)NC=O",
    "CCNCC(O)COc1ccccc1", "CCC=CCCCC", "CCN(CC)CCCCc1ccc(F)cc1", "CCC(O)C(O)CO",
    "CC(C=O)CCC(C)OC1OC(C)CC(N)C1O", "CC(O)CNC(C)C", "O=C(O)Cc1ccccc1", "CCCN(c1ccccc1)c1ccccc1",
    "CC=CC=CC(C)=CC", "COC(=O)C1=CNC(C)=CC1c1ccccc1", "CCN(CC)CCO", "CCOc1ccccc1", "O=CC1CCCN1",
    "CCNCc1ccccc1", "CCCCCCCCCCCC", "CCNC(=O)CNC(C)=O", "OCC1OCC(O)C1O", "CCCCNC",
    "CC1CCC2C1CCC1C3CCCC=C3CCC12", "CC(C)CCCC(C)C", "CCC=CC1C(O)CCC1CC", "CCCCCCOCCCC", "CCCCCC1(C)CCCC1C",
    "COc1ccc2cncnc2c1", "O=c1ccn(C2CCC(CO)O2)c(=O)[nH]1", "CCC=CCCC(C)C(C)C(C)(C)CC",
    "Cn1cncc1[N+](=O)[O-]", "CC(=O)Nc1ccccc1", "Cn1c(=O)c2c(ncn2C)n(C)c1=O", "COc1ccccc1C(=O)NCC1CCCN1C",
    "NCC(O)c1ccccc1", "C", "CCC", "c1ccncc1", "c1ccoc1", "c1ccsc1", "c1cc[nH]c1", "C1CCCCC1", "C1CCNCC1",
    "C1CCOCC1", "C1CNCCN1", "C1COCCN1", "C1CCNC1", "C1CCCC1", "C1CC1", "CCO", "CCN", "C=O", "CC=O",
    "CC(=O)O", "CC(N)=O", "NC=O", "CS", "CF", "CCl", "c1ccc2ccccc2c1", "c1ccc2[nH]ccc2c1", "c1ccc2ncccc2c1",
    "CCCC", "Cc1ccccc1", "Oc1ccccc1", "Nc1ccccc1", "Clc1ccccc1", "Fc1ccccc1", "O=Cc1ccccc1", "CNC=O",
    "CC(C)C", "CS(C)(=O)=O", "N[SH](=O)=O", "O=c1cc[nH]c(=O)[nH]1", "c1ncc2nc[nH]c2n1",
    "c1ccc(-c2ccccc2)cc1", "NCC(=O)NCC=O", "O=C(Nc1ccccc1)c1ccccc1",
)  # fmt: skip
"""The motifs that a constant answer would be chosen from. They are picked greedily from all substructures
of up to 18 atoms of the published REL-C2 golds; half of a motif's weight counts golds as often as they
occur, half counts each gold once."""


@cache
def _motifs() -> tuple[Rows[layouts.Molecule], tuple[int, ...]]:
    """`COMMON_MOTIFS` prepared in one array, largest first; the atoms of each, and 0 for "no motif"."""
    read = [prepared(text, by_rdkit=True) for text in COMMON_MOTIFS]
    motifs = sorted((one for one in read if isinstance(one, Prepared)), key=lambda one: -one.n_atoms)
    memory: Any = [one.memory for one in motifs]
    rows = rows_of(layouts.Molecule, len(motifs), bytearray(b"".join(memory)))
    return rows, (*(motif.n_atoms for motif in motifs), 0)


def constant_in(whole: Prepared) -> int | None:
    """Number of atoms of the largest of `COMMON_MOTIFS` that is a substructure of a molecule; None if only
    RDKit can tell. Cached in the molecule."""
    if whole.constant is False:
        motifs, sizes = _motifs()
        found = native.functions(UNIT)["part"](layouts.Parts(whole=whole.memory, parts=motifs, work=_work()))
        whole.constant = sizes[found] if found >= 0 else None
    return whole.constant
