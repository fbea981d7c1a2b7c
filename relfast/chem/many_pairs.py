"""Many SMILES held against prepared molecules in one call: what `relfast.chem.common_substructure.judge` says
of each."""

from __future__ import annotations

import ctypes
import threading
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.layouts import PAIR_SIZE, PAIR_WORK_SIZE, PREPARED_SIZE

from relfast.chem.common_substructure import (
    SHORT_STEPS,
    UNIT,
    Compared,
    Prepared,
    compared,
    prepared,
)
from relfast.chem.smiles_golds import zeros_at

MOLECULES: Final = 2_048
"""Molecules that are kept, 26 kB each, in memory that is taken as it is filled."""


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
        self._memory: list[object] = []
        self._prepared = zeros_at(8 * PREPARED_SIZE * MOLECULES, self._memory)
        self._spaces: list[_Space] = []
        self._adding = threading.Lock()
        self.golds: list[Gold] = []

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
        molecule = prepared(text)
        if not isinstance(molecule, Prepared) or (clean and not molecule.is_clean):
            return -1
        with self._adding:
            if not self.room:
                return -1
            number = len(self.golds)
            place = (self._prepared.value or 0) + 8 * PREPARED_SIZE * number
            ctypes.memmove(place, molecule.memory, 8 * PREPARED_SIZE)
            self.golds.append(Gold(text, molecule))
        return number

    def judge(
        self,
        chosen: Sequence[int],
        texts: ctypes.Array[ctypes.c_char],
        n_bytes: int,
        spans: Sequence[int],
        steps: int = SHORT_STEPS,
    ) -> list[Compared]:
        """What each of some texts is to the molecule chosen for it, within so many ``steps``.

        ``texts`` holds them in ASCII, from ``spans[2 * k]`` to ``spans[2 * k + 1]``.
        """
        n = len(chosen)
        numbers, places = array("q", chosen), array("q", spans)
        statuses, results = array("q", bytes(8 * n)), array("q", bytes(8 * PAIR_SIZE * n))
        try:
            space = self._spaces.pop()
        except IndexError:  # as many as threads are in here
            space = (ctypes.c_int64 * PREPARED_SIZE)(), (ctypes.c_int64 * PAIR_WORK_SIZE)()
        self._judge(
            self._prepared, len(self.golds), numbers.buffer_info()[0], texts, n_bytes,
            places.buffer_info()[0], n, self._whole_rings, steps, *space,
            statuses.buffer_info()[0], results.buffer_info()[0],
        )  # fmt: skip
        self._spaces.append(space)
        found = results.tolist()
        return [
            compared(status, self.golds[number].molecule, found[at : at + PAIR_SIZE])
            for status, number, at in zip(statuses, chosen, range(0, PAIR_SIZE * n, PAIR_SIZE), strict=True)
        ]
