"""Pairs of SMILES by a kernel, without RDKit: containment, and the largest substructure in common.

With rings broken at will, the same bonds and atoms as RDKit's ``FindMCS`` finds with its default parameters;
with whole rings, the true optimum, which RDKit's search misses now and then. For molecules that the SMILES
kernels read and searches that end within a number of steps; the rest is left to RDKit. `relfast_kernels.mcs`
says what is searched and how.
"""

from __future__ import annotations

import ctypes
import threading
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache
from typing import Any, Final, Literal

from relfast_kernels.compiled import native
from relfast_kernels.mcs import layouts
from relfast_kernels.mcs.layouts import Pair
from relfast_kernels.smiles.layouts import INVALID, MAX_SMILES

from relfast import deadlines
from relfast.chem.smiles_table import is_clean_text
from relfast.memory import lazy_memory

UNIT: Final = "mcs"

MAX_STEPS: Final = 20_000
"""Steps after which a search is given up, 10 ms at most; 98 in 100 pairs of drugs need fewer than 1,000."""

MAX_CANONICAL: Final = 1_000
"""Longest text by RDKit that is worth a try: graphs of 60 atoms take 200 characters at most."""

CACHED_PREPARED: Final = 1_024
"""Molecules that are kept prepared, gold above all: 26 kB each."""

MOLECULES: Final = 2_048
"""Molecules of `Golds`, 26 kB each, in memory that is taken as it is filled."""


Compared = Pair | Literal["invalid", "unfinished"] | None
"""A pair; what is certainly no molecule; what takes too many steps; what only RDKit can say."""

Kernel = Callable[..., int]

_Prepared = ctypes.c_int64 * layouts.PREPARED_SIZE

_Search = ctypes.c_int64 * layouts.PAIR_WORK_SIZE
"""What a search works in."""


class Prepared:
    """A molecule that the kernel has read.

    Attributes
    ----------
    memory, address
        What comparisons need of it, and where that is; they only read it.
    n_atoms, settled
        Its atoms, and whether its graph decides where its hydrogens are.
    text, is_clean
        How it is written, and whether that is what ``strict`` takes for a clean molecule.
    constant
        What `relfast.chem.common_substructure.constant_in` says of it; False before it was asked.
    """

    __slots__ = ("address", "constant", "is_clean", "memory", "n_atoms", "settled", "text")

    def __init__(self, memory: ctypes.Array[ctypes.c_int64], text: str) -> None:
        self.memory, self.text = memory, text
        self.constant: int | None = False
        self.address = ctypes.c_void_p(ctypes.addressof(memory))
        self.is_clean = is_clean_text(text)
        self.n_atoms = memory[layouts.PREPARED.atoms]
        self.settled = bool(memory[layouts.PREPARED.settled])


def prepared_in(
    memory: ctypes.Array[ctypes.c_int64], text: str, *, by_rdkit: bool = False
) -> Prepared | Literal["invalid"] | None:
    """`prepared` in memory of `PREPARED_SIZE` numbers that the caller keeps as it is from now on."""
    if not 0 < len(text) <= (MAX_CANONICAL if by_rdkit else MAX_SMILES) or not text.isascii():
        return None
    n = native.functions(UNIT)["prepare"](text.encode(), len(text), by_rdkit, memory)
    return Prepared(memory, text) if n > 0 else "invalid" if n == INVALID else None


@lru_cache(maxsize=CACHED_PREPARED)
def _prepared(text: str, by_rdkit: bool) -> Prepared | Literal["invalid"] | None:
    return prepared_in(_Prepared(), text, by_rdkit=by_rdkit)


def prepared(text: str, *, by_rdkit: bool = False) -> Prepared | Literal["invalid"] | None:
    """A molecule made ready for comparisons, ``invalid`` where it certainly is none, None where only RDKit
    can say.

    ``by_rdkit``: RDKit wrote the text, without stereo; charges and all elements are read then.
    """
    if not 0 < len(text) <= (MAX_CANONICAL if by_rdkit else MAX_SMILES):
        return None
    return _prepared(text, by_rdkit)


def largest_common(
    first: str, second: str, *, by_rdkit: bool = False, whole_rings: bool = False, max_steps: int = MAX_STEPS
) -> tuple[int, int] | None:
    """Bonds and (heavy) atoms of the largest connected substructure that two molecules have in common: the
    most bonds, then the most atoms.

    ``whole_rings``: atoms match by element, charge and whether they are in a ring, bonds by exact order and
    whether they are in a ring, and every ring bond that is matched lies on a ring that is matched.
    ``by_rdkit``: both texts are RDKit's, without stereo; charges and all elements are read then.
    None where one is no molecule or only RDKit can read it, or where ``max_steps`` do not suffice. What it
    finds depends on the texts only. Safe to use from several threads.
    """
    ours, theirs = prepared(first, by_rdkit=by_rdkit), prepared(second, by_rdkit=by_rdkit)
    if not (isinstance(ours, Prepared) and isinstance(theirs, Prepared)):
        return None
    result = (ctypes.c_int64 * layouts.PAIR_SIZE)()
    with _untimed_unless_compiled():
        status = native.functions(UNIT)["common"](
            ours.address, theirs.address, whole_rings, max_steps, _Search(), result
        )
    return (result[0], result[1]) if status == 0 else None


def judge(first: Prepared, text: str, *, whole_rings: bool = False) -> Compared:
    """Hold a SMILES by a model against a molecule.

    ``invalid`` where it certainly is no molecule; ``unfinished`` where `MAX_STEPS` do not suffice; None where
    only RDKit can say.
    """
    if not 0 < len(text) <= MAX_SMILES or not text.isascii():
        return None
    with _untimed_unless_compiled():
        span = (0, 0, len(text))
        (found,) = _judge(native.functions(UNIT), first.memory, 1, [span], text.encode(), whole_rings)
    return found


def _untimed_unless_compiled() -> AbstractContextManager[None]:
    """As plain Python `MAX_STEPS` take some seconds: so that no row depends on that, none is charged."""
    return nullcontext() if is_compiled() else deadlines.untimed()


def is_compiled() -> bool:
    """Whether the kernel is machine code; else its source is run as plain Python, some ms a pair."""
    return native.find(UNIT) is not None


def _judge(
    functions: Mapping[str, Kernel],
    golds: ctypes.Array[Any],
    n_golds: int,
    asked: Sequence[tuple[int, int, int]],
    texts: bytes | ctypes.Array[ctypes.c_char],
    whole_rings: bool,
) -> list[Compared]:
    """Hold texts against golds: the number of each one's, and where the text begins and ends."""
    n, size = len(asked), layouts.PAIR_SIZE
    numbers = array("q", [number for number, _, _ in asked])
    spans = array("q", [place for _, *span in asked for place in span])
    statuses, results = array("q", bytes(8 * n)), array("q", bytes(8 * size * n))
    chosen_at, spans_at, *told = (one.buffer_info()[0] for one in (numbers, spans, statuses, results))
    # to get the interpreter's lock back from busy threads takes longer than to compare one pair
    functions["judge_one" if n == 1 else "judge"](
        golds, n_golds, chosen_at, texts, len(texts), spans_at, n, whole_rings, MAX_STEPS, _Prepared(),
        _Search(), *told,
    )  # fmt: skip
    return [
        _STATUSES.get(status) if status else Pair._make(results[size * at : size * (at + 1)])
        for at, status in enumerate(statuses)
    ]


_STATUSES: Final[Mapping[int, Compared]] = {INVALID: "invalid", layouts.UNFINISHED: "unfinished"}


class Golds:
    """Molecules that texts are held against, by number. Safe to use from several threads: molecules are only
    added, and each call has a work space of its own.

    With ``whole_rings`` only those are taken that ``strict`` takes for clean.
    """

    def __init__(self, functions: Mapping[str, Kernel], *, whole_rings: bool) -> None:
        self._functions, self._whole_rings, self._most = functions, whole_rings, MOLECULES
        # a molecule of its own would have to be fetched in seven pages, which takes longer than to read it
        self._memory = lazy_memory(8 * layouts.PREPARED_SIZE * MOLECULES, large_pages=True)
        self._adding = threading.Lock()
        self.golds: list[Prepared] = []
        self._numbers: dict[str, int] = {}

    @classmethod
    def open(cls, *, whole_rings: bool) -> Golds | None:
        """None where the machine code is missing."""
        functions = native.find(UNIT)
        return None if functions is None else cls(functions, whole_rings=whole_rings)

    @property
    def room(self) -> int:
        """How many more there is room for."""
        return self._most - len(self._numbers)

    def number(self, text: object) -> int:
        """The number of a molecule from now on; -1 for one that the kernel cannot read or that is not taken,
        for what is no text, and without room."""
        if type(text) is not str:
            return -1
        number = self._numbers.get(text)
        if number is not None:
            return number
        with self._adding:
            number = len(self.golds)
            if self.room <= 0:
                return -1
            molecule = prepared_in(
                _Prepared.from_buffer(self._memory, 8 * layouts.PREPARED_SIZE * number), text
            )
            if isinstance(molecule, Prepared) and (molecule.is_clean or not self._whole_rings):
                self.golds.append(molecule)
            else:
                number = -1
            self._numbers[text] = number
        return number

    def judge(
        self, asked: Sequence[tuple[int, int, int]], texts: bytes | ctypes.Array[ctypes.c_char]
    ) -> list[Compared]:
        """`judge` of many texts: the number of the molecule that each is held against, and where it begins
        and ends in ``texts``, which are ASCII."""
        return _judge(self._functions, self._memory, self._most, asked, texts, self._whole_rings)


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
"""The motifs that anyone would guess, drawn greedily from all parts of up to 18 atoms of the published REL-C2
golds, half weighted by how often each gold occurs, half each gold alike: what a constant would be chosen to
be."""


@cache
def _motifs() -> tuple[ctypes.Array[ctypes.c_int64], tuple[int, ...]]:
    """The motifs for the kernel, one behind the other, largest first; the atoms of each, and 0 for none."""
    read = [prepared(text, by_rdkit=True) for text in COMMON_MOTIFS]
    motifs = sorted((one for one in read if isinstance(one, Prepared)), key=lambda one: -one.n_atoms)
    size = layouts.PREPARED_SIZE
    memory: ctypes.Array[Any] = (ctypes.c_int64 * (size * len(motifs)))()
    for at, motif in enumerate(motifs):
        memory[size * at : size * (at + 1)] = motif.memory[:]
    return memory, (*(motif.n_atoms for motif in motifs), 0)


def constant_in(whole: Prepared) -> int | None:
    """Atoms of the largest common motif that lies in a molecule; None where only RDKit can say. Found out
    once."""
    if whole.constant is False:
        memory, sizes = _motifs()
        found = native.functions(UNIT)["part"](whole.address, memory, len(sizes) - 1, _Search())
        whole.constant = sizes[found] if found >= 0 else None
    return whole.constant
