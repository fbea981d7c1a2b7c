"""The molecule that motifs are cut out of, as bits, and what its group has of its bonds and atoms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.bits import place_of
from relfast_kernels.mcs.count import ends_of
from relfast_kernels.mcs.packed import (
    CLASS,
    CYCLIC,
    ENDS,
    FIRST,
    INCIDENT,
    LABELS,
    N_ATOMS,
    N_BONDS,
    OF_CLASS,
    ORDERS,
)
from relfast_kernels.motif.known import kind_of
from relfast_kernels.motif.rows import (
    ATOM_BONDS,
    ATOM_DEGREE,
    ATOM_LABEL,
    ATOM_SIZE,
    ATOM_TWIN,
    ATOMS,
    RING_BOND,
    SECTION,
)

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]


@kernel
def pack(row: Rows, packed: Ints, kinds: Ints) -> int:
    """The query's bonds as bits; the number of their kinds."""
    n = row[0]
    bonds, n_kinds, cyclic = 0, 0, 0
    packed[INCIDENT : INCIDENT + SECTION] = 0
    packed[OF_CLASS : OF_CLASS + SECTION] = 0
    for atom in range(n):
        start = ATOMS + ATOM_SIZE * atom
        packed[LABELS + atom] = row[start + ATOM_LABEL]
        for at in range(row[start + ATOM_DEGREE]):
            other = row[start + ATOM_BONDS + at] >> 4
            order = row[start + ATOM_BONDS + at] & 15
            if other < atom:
                continue
            kind = kind_of(row[start + ATOM_LABEL], row[ATOMS + ATOM_SIZE * other + ATOM_LABEL], order)
            found = 0
            while found < n_kinds and kinds[found] != kind:
                found += 1
            if found == n_kinds:
                kinds[found] = kind
                n_kinds += 1
            packed[FIRST + bonds] = atom
            packed[ENDS + bonds] = atom ^ other
            packed[ORDERS + bonds] = order
            packed[CLASS + bonds] = found
            packed[OF_CLASS + found] |= 1 << bonds
            packed[INCIDENT + atom] |= 1 << bonds
            packed[INCIDENT + other] |= 1 << bonds
            if order & RING_BOND:
                cyclic |= 1 << bonds
            bonds += 1
    packed[N_ATOMS] = n
    packed[N_BONDS] = bonds
    packed[CYCLIC] = cyclic
    return n_kinds


@kernel
def count_labels(packed: Ints, row: Rows, rarity: Ints) -> None:
    """For each query atom, how often its label occurs in a molecule."""
    for atom in range(packed[N_ATOMS]):
        for there in range(row[0]):
            rarity[atom] += row[ATOMS + ATOM_SIZE * there + ATOM_LABEL] == packed[LABELS + atom]


@kernel
def twins(packed: Ints, row: Rows, bond: int, is_open: int, motif: int) -> int:
    """Open bonds to leaves that are like this one, where this one is to a leaf; else none."""
    atoms = ends_of(packed, motif) if motif else 0
    first = packed[FIRST + bond]
    other = packed[ENDS + bond] ^ first
    anchor = first if atoms >> first & 1 else other
    leaf = anchor ^ first ^ other
    alike = 0
    if packed[INCIDENT + leaf] == 1 << bond and atoms >> anchor & 1:
        left = packed[INCIDENT + anchor] & is_open & packed[OF_CLASS + packed[CLASS + bond]]
        twin = row[ATOMS + ATOM_SIZE * leaf + ATOM_TWIN]
        while left:
            low = left & -left
            left ^= low
            there = packed[ENDS + place_of(low)] ^ anchor
            if packed[INCIDENT + there] == low and row[ATOMS + ATOM_SIZE * there + ATOM_TWIN] == twin:
                alike |= low
    return alike
