"""Many SMILES held against prepared molecules in one call: what `relfast.chem.common_substructure.judge` says
of each."""

from __future__ import annotations

import ctypes
import threading
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from relfast_kernels.compiled import native
from relfast_kernels.mcs.layouts import PAIR_SIZE, PAIR_WORK_SIZE, PREPARED_SIZE

from relfast.chem.common_substructure import (
    SHORT_STEPS,
    UNIT,
    Compared,
    Prepared,
    compared,
    prepared_in,
)
from relfast.chem.smiles_golds import lazy_memory

FOR_A_THREAD: Final = 64
"""Pairs for which a thread is worth its while: 0.5 ms, of which to start it takes a tenth."""

AT_LEAST: Final = 16
"""Pairs that a thread takes at once, the last ones: after each share it asks for the interpreter's lock."""

MOLECULES: Final = 2_048
"""Molecules that are kept, 26 kB each, in memory that is taken as it is filled."""


Ints = npt.NDArray[np.int64]

_Molecule: Final = ctypes.c_int64 * PREPARED_SIZE


class Gold(NamedTuple):
    """A molecule, and how it was written."""

    text: str
    molecule: Prepared


_Space = tuple[ctypes.Array[ctypes.c_int64], ctypes.Array[ctypes.c_int64]]
"""What a call works in: a molecule that is read, and its search."""


class ManyPairs:
    """Molecules that texts are held against, by number. Safe to use from several threads: molecules are only
    added, and each call has a work space of its own."""

    def __init__(self, functions: Mapping[str, Callable[..., int]], *, whole_rings: bool) -> None:
        self._judge, self._whole_rings = functions["judge_many"], whole_rings
        # a molecule of its own would have to be fetched in seven pages, which takes longer than to read it
        self._memory = lazy_memory(8 * PREPARED_SIZE * MOLECULES, large_pages=True)
        self._spaces: list[_Space] = []
        self._adding = threading.Lock()
        self.golds: list[Gold] = []
        self.n_atoms, self.settled = np.zeros(MOLECULES, np.int64), np.zeros(MOLECULES, np.bool_)
        """Of each molecule what its `Prepared` says."""

    @classmethod
    def open(cls, *, whole_rings: bool) -> ManyPairs | None:
        """None where the machine code is missing."""
        functions = native.load(UNIT)
        return None if functions is None else cls(functions, whole_rings=whole_rings)

    def forget(self) -> None:
        """Forget all molecules."""
        self.golds = []

    @property
    def room(self) -> int:
        """How many more there is room for."""
        return MOLECULES - len(self.golds)

    def add(self, text: str, *, clean: bool) -> int:
        """The number of a molecule from now on; -1 for one that the kernel cannot read, for one that
        ``strict`` does not take for clean where it must be, and without room."""
        with self._adding:
            number = len(self.golds)
            if number == MOLECULES:
                return -1
            molecule = prepared_in(_Molecule.from_buffer(self._memory, 8 * PREPARED_SIZE * number), text)
            if not isinstance(molecule, Prepared) or (clean and not molecule.is_clean):
                return -1
            self.n_atoms[number], self.settled[number] = molecule.n_atoms, molecule.settled
            self.golds.append(Gold(text, molecule))
        return number

    def judge(
        self, chosen: Sequence[int], texts: ctypes.Array[ctypes.c_char], n_bytes: int, spans: Sequence[int]
    ) -> list[Compared]:
        """What each of some texts is to the molecule chosen for it.

        ``texts`` holds them in ASCII, from ``spans[2 * k]`` to ``spans[2 * k + 1]``.
        """
        statuses, results = self.compare(chosen, texts, n_bytes, spans)
        return [
            compared(status, self.golds[number].molecule, result)
            for status, number, result in zip(statuses.tolist(), chosen, results.tolist(), strict=True)
        ]

    def compare(
        self,
        chosen: Sequence[int] | Ints,
        texts: ctypes.Array[ctypes.c_char],
        n_bytes: int,
        spans: Sequence[int] | Ints,
        *,
        steps: int = SHORT_STEPS,
        threads: int = 1,
    ) -> tuple[Ints, Ints]:
        """What the kernel tells of each: its status, shape (n,), and `PAIR_SIZE` numbers that are good where
        that is 0, shape (n, PAIR_SIZE).

        ``steps`` a search may have. Many pairs are dealt out to ``threads``, which need no interpreter.
        """
        n = len(chosen)
        numbers, places = np.array(chosen, np.int64), np.array(spans, np.int64)
        statuses, results = np.zeros(n, np.int64), np.zeros((n, PAIR_SIZE), np.int64)
        at = [memory.ctypes.data for memory in (numbers, places, statuses, results)]

        def run(first: int, end: int) -> None:
            try:
                space = self._spaces.pop()
            except IndexError:  # as many as threads are in here
                space = _Molecule(), (ctypes.c_int64 * PAIR_WORK_SIZE)()
            self._judge(
                self._memory, len(self.golds), at[0] + 8 * first, texts, n_bytes, at[1] + 16 * first,
                end - first, self._whole_rings, steps, *space, at[2] + 8 * first,
                at[3] + 8 * PAIR_SIZE * first,
            )  # fmt: skip
            self._spaces.append(space)

        side_by_side(run, n, max(1, min(threads, n // FOR_A_THREAD)))
        return statuses, results


def side_by_side(run: Callable[[int, int], None], n: int, threads: int) -> None:
    """Have ``run(first, end)`` done for all of 0 to ``n``, in so many threads, the calling one among them.

    Each takes a share, and the next when that is done: one pair can take a thousand times as long as another.
    """
    shares = _shares(n, threads)
    if len(shares) == 1:
        run(*shares[0])
        return
    left = iter(shares)  # a list's: to take from it is one step of the interpreter
    failures: list[BaseException] = []

    def run_there(done: LockType) -> None:
        try:
            for share in left:
                run(*share)
        except BaseException as error:
            failures.append(error)
        finally:
            done.release()

    waiting: list[LockType] = []
    try:
        for _ in range(threads - 1):
            done = allocate_lock()
            done.acquire()
            start_new_thread(run_there, (done,))
            waiting.append(done)
        for share in left:
            run(*share)
    finally:
        # they write where the caller reads
        for done in waiting:
            done.acquire()
    if failures:
        raise failures[0]


def _shares(n: int, threads: int) -> list[tuple[int, int]]:
    """0 to ``n`` in shares that become smaller, so that all threads are done at about the same time."""
    shares: list[tuple[int, int]] = []
    first = 0
    while first < n:
        left = n - first
        end = n if threads == 1 else first + min(left, max(AT_LEAST, left // (2 * threads)))
        shares.append((first, end))
        first = end
    return shares
