"""What is known of a molecule before a motif is placed in it."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.packed import LABELS, N_ATOMS
from relfast_kernels.motif.rows import (
    ATOM_BONDS,
    ATOM_DEGREE,
    ATOM_LABEL,
    ATOM_SIZE,
    ATOMS,
    MAX_ATOMS,
    MAX_DEGREE,
    SECTION,
)

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]

# sections of what is known of a molecule before anything is placed in it
HAS: Final = 0
"""For each atom how many of its bonds are of each kind, as `add_bond` counts them."""
WITH_LABEL: Final = HAS + MAX_ATOMS
"""For each atom of the query the atoms with its label, as bits."""
WITH_BONDS: Final = WITH_LABEL + SECTION
"""For each kind, and each number up to `MAX_DEGREE`, the atoms with at least so many bonds of that kind."""
BESIDE: Final = WITH_BONDS + MAX_DEGREE * SECTION
"""For each atom, and each order of bond, the atoms at its other ends."""
N_ORDERS: Final = 16
KNOWN_SIZE: Final = BESIDE + N_ORDERS * SECTION

MAX_BITS: Final = 62
"""Atoms of molecules that are bits of a non-negative int64."""

_KINDS: Final = 15
"""Kinds of bonds that are counted: four bits each of an int64. Atoms have fewer than 8 bonds."""


@kernel
def kind_of(label: int, other: int, order: int) -> int:
    """A bond's kind: its order, and the labels of its atoms."""
    return (min(label, other) * 1_024 + max(label, other)) * 16 + order


@kernel
def add_bond(count: int, kind: int) -> int:
    """Count one more bond of a kind."""
    return count + (1 << 4 * kind) if kind < _KINDS else count


@kernel
def _add_bit(known: Ints, kind: int, atom: int) -> None:
    """An atom has one bond of a kind more than before."""
    at = WITH_BONDS + MAX_DEGREE * kind
    while known[at] >> atom & 1:
        at += 1
    known[at] |= 1 << atom


@kernel
def know(query: Ints, row: Rows, kinds: Ints, n_kinds: int, counts: Ints, known: Ints) -> None:
    """Fill in what is known of a molecule, `KNOWN_SIZE`, and count its bonds of each kind."""
    n = row[0]
    counts[:n_kinds] = 0
    known[HAS : HAS + n] = 0
    as_bits = n <= MAX_BITS
    if as_bits:
        known[WITH_BONDS : WITH_BONDS + MAX_DEGREE * n_kinds] = 0
        known[BESIDE : BESIDE + N_ORDERS * n] = 0
        for atom in range(query[N_ATOMS]):
            known[WITH_LABEL + atom] = 0
    for atom in range(n):
        start = ATOMS + ATOM_SIZE * atom
        label = row[start + ATOM_LABEL]
        for at in range(row[start + ATOM_DEGREE]):
            other, order = row[start + ATOM_BONDS + at] >> 4, row[start + ATOM_BONDS + at] & 15
            if as_bits:
                known[BESIDE + N_ORDERS * atom + order] |= 1 << other
            if other < atom:
                continue
            kind = kind_of(label, row[ATOMS + ATOM_SIZE * other + ATOM_LABEL], order)
            for found in range(n_kinds):
                if kinds[found] == kind:
                    counts[found] += 1
                    known[HAS + atom] = add_bond(known[HAS + atom], found)
                    known[HAS + other] = add_bond(known[HAS + other], found)
                    if as_bits:
                        _add_bit(known, found, atom)
                        _add_bit(known, found, other)
                    break
    if as_bits:
        for atom in range(query[N_ATOMS]):
            label = query[LABELS + atom]
            with_label = 0
            for there in range(n):
                with_label |= (row[ATOMS + ATOM_SIZE * there + ATOM_LABEL] == label) << there
            known[WITH_LABEL + atom] = with_label
