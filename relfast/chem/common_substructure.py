"""The largest common substructure of two SMILES by a kernel, without RDKit.

The same bonds and atoms as RDKit's ``FindMCS`` finds with its default parameters, for molecules that the
SMILES kernels read and searches that end within a number of steps; the rest is left to RDKit.
`relfast_kernels.mcs` says what is searched and how.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.layouts import (
    COMMON_ATOMS,
    COMMON_BONDS,
    COMMON_SIZE,
    COMMON_WORK_SIZE,
    MAX_SMILES,
    UNFINISHED,
)

from relfast.chem.smiles_table import MAX_CANONICAL

UNIT: Final = "mcs"

SHORT_STEPS: Final = 1_000
"""Steps for which the interpreter's lock is kept, 0.3 ms: 98 in 100 pairs of drugs need fewer."""

MAX_STEPS: Final = 20_000
"""Steps after which a search is given up, 10 ms at most."""

_RETRY_SECONDS: Final = 2.0
"""How often a process without the kernel looks whether it has been compiled meanwhile."""


class LargestCommon(NamedTuple):
    """Bonds and (heavy) atoms of a largest common substructure: the most bonds, then the most atoms."""

    bonds: int
    atoms: int


Kernel = Callable[..., int]

_kernels: tuple[Kernel, Kernel] | None = None
_looked = -_RETRY_SECONDS
_opening = threading.Lock()

_Work = ctypes.c_int64 * COMMON_WORK_SIZE
_Result = ctypes.c_int64 * COMMON_SIZE

_shared_work = _Work()
"""For searches that hold the interpreter's lock from beginning to end."""


def _start_anew() -> None:
    """In a forked child: a thread that is not here may have held the lock."""
    global _opening
    _opening = threading.Lock()


os.register_at_fork(after_in_child=_start_anew)


def _loaded() -> tuple[Kernel, Kernel] | None:
    """The search, with and without the interpreter's lock; None as long as the machine code is missing."""
    global _kernels, _looked
    if _kernels is None and time.monotonic() - _looked >= _RETRY_SECONDS:
        with _opening:
            if _kernels is None:
                functions = native.load(UNIT)
                _looked = time.monotonic()
                _kernels = None if functions is None else (functions["short"], functions["long"])
    return _kernels


def largest_common(
    first: str, second: str, *, by_rdkit: bool = False, whole_rings: bool = False, max_steps: int = MAX_STEPS
) -> LargestCommon | None:
    """The largest connected substructure that two molecules have in common.

    ``whole_rings``: atoms match by element, charge and whether they are in a ring, bonds by exact order and
    whether they are in a ring, and every ring bond that is matched lies on a ring that is matched.
    ``by_rdkit``: both texts are RDKit's, without stereo; charges and all elements are read then.
    None where one is no molecule or only RDKit can read it, where ``max_steps`` do not suffice, or where the
    kernel has not been compiled. What it finds depends on the texts only. Safe to use from several threads; a
    long search lets go of the interpreter's lock.
    """
    kernels = _loaded()
    longest = MAX_CANONICAL if by_rdkit else MAX_SMILES
    if kernels is None or not (0 < len(first) <= longest and 0 < len(second) <= longest):
        return None
    text = first + second
    if not text.isascii():
        return None
    data, n = text.encode(), len(first)
    result = _Result()
    short, long = kernels
    status = short(
        data, len(data), n, by_rdkit, whole_rings, min(SHORT_STEPS, max_steps), _shared_work, result
    )
    if status == UNFINISHED and max_steps > SHORT_STEPS:
        status = long(data, len(data), n, by_rdkit, whole_rings, max_steps, _Work(), result)
    return LargestCommon(result[COMMON_BONDS], result[COMMON_ATOMS]) if status == 0 else None
