"""Molecular graphs as bitsets, and the classes of bonds that two of them have in common.

A packed graph is one int64 array, cut into sections of `SECTION` places. Bonds are numbered; the bonds at an
atom or of a class are masks. Two bonds may be matched exactly if their classes are equal: a class is an order
with the labels of both ends, so that matching is an equivalence.
"""

from __future__ import annotations

from typing import Final

from relfast_kernels.bits import place_of
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Ints
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.layouts import KEYS, MAX_BONDS, PACKED_SIZE
from relfast_kernels.smiles.layouts import (
    AROMATIC_BOND,
    ATOM_FACTOR,
    BOND_FACTOR,
    BONDS,
    CHARGES,
    DEGREE,
    LABEL,
    MAX_DEGREE,
    SECTION,
)

INCIDENT: Final = 0
"""For each atom its bonds."""
LABELS: Final = SECTION
"""For each atom the label that its image must share; `share_labels` turns it into an index of `OF_LABEL`."""
ENDS: Final = 2 * SECTION
"""For each bond its two ends, xor-ed."""
FIRST: Final = 3 * SECTION
"""For each bond one end."""
CLASS: Final = 4 * SECTION
"""For each useful bond of the query its class."""
OF_CLASS: Final = 5 * SECTION
"""For each class its bonds."""
OF_LABEL: Final = 6 * SECTION
"""For each label its atoms."""
HASHES: Final = 7 * SECTION
"""For each atom a hash of its surroundings, up to `ROUNDS` bonds away: a section for each distance."""
ROUNDS: Final = 3
ORDERS: Final = HASHES + ROUNDS * SECTION
"""For each bond its order."""
# workspace of `bridges`: atoms in the order of the search, the bond to each, bits of the rings closed at it
_TREE: Final = ORDERS + SECTION
_UP: Final = ORDERS + 2 * SECTION
_CLOSED: Final = ORDERS + 3 * SECTION
N_ATOMS: Final = ORDERS + 4 * SECTION
N_BONDS: Final = N_ATOMS + 1
USEFUL: Final = N_ATOMS + 2
"""The bonds whose class the other graph has, too."""
CYCLIC: Final = N_ATOMS + 3
"""The ring bonds, which may be matched only together with a ring that they are in."""
assert N_ATOMS + 8 == PACKED_SIZE

IN_RING: Final = 8
"""Bit of an order: the bond is in a ring."""

_MASK: Final = 0xFFFF_FFFF


@kernel
def reach(packed: Ints, atoms: int, bonds: int) -> tuple[int, int]:
    """The bonds of a set that can be reached from these atoms through the set, and all atoms on the way."""
    seen = 0
    reached = 0
    while atoms:
        low = atoms & -atoms
        atom = place_of(low)
        seen |= low
        there = packed[INCIDENT + atom] & bonds & ~reached
        reached |= there
        while there:
            bit = there & -there
            there ^= bit
            atoms |= 1 << (packed[ENDS + place_of(bit)] ^ atom)
        atoms &= ~seen
    return reached, seen


@kernel
def ends_of(packed: Ints, bonds: int) -> int:
    """The atoms at these bonds."""
    atoms = 0
    while bonds:
        low = bonds & -bonds
        bonds ^= low
        bond = place_of(low)
        first = packed[FIRST + bond]
        atoms |= 1 << first | 1 << (first ^ packed[ENDS + bond])
    return atoms


@kernel
def without_ring(packed: Ints, bonds: int) -> int:
    """Bonds of a set that are in no ring of it: its dead ends, removed one after the other."""
    left = bonds
    peeled = True
    while peeled:
        peeled = False
        rest = left
        while rest:
            low = rest & -rest
            rest ^= low
            bond = place_of(low)
            first = packed[FIRST + bond]
            other = first ^ packed[ENDS + bond]
            if packed[INCIDENT + first] & left == low or packed[INCIDENT + other] & left == low:
                left ^= low
                peeled = True
    return bonds ^ left


@kernel
def bridges(packed: Ints, bonds: int) -> int:
    """The bridges of a set of bonds: those whose ends are not connected by the rest of the set.

    A breadth-first tree of the set; each other bond closes one ring, and has a bit of its own at both of
    its ends. Those bits are xor-ed towards the root: where an atom has none left, its tree bond is
    on no ring.
    """
    found = 0
    left = bonds
    while left:
        # one connected part
        first = packed[FIRST + place_of(left & -left)]
        packed[_TREE] = first
        packed[_UP] = 0
        packed[_CLOSED + first] = 0
        placed, done, seen, closed = 1, 0, 1 << first, 0
        while done < placed:
            atom = packed[_TREE + done]
            done += 1
            around = packed[INCIDENT + atom] & left
            left ^= around
            while around:
                low = around & -around
                around ^= low
                other = packed[ENDS + place_of(low)] ^ atom
                if seen >> other & 1:
                    packed[_CLOSED + atom] ^= 1 << closed
                    packed[_CLOSED + other] ^= 1 << closed
                    closed += 1
                else:
                    seen |= 1 << other
                    packed[_TREE + placed] = other
                    packed[_UP + placed] = low
                    packed[_CLOSED + other] = 0
                    placed += 1
        for at in range(placed - 1, 0, -1):
            atom, bond = packed[_TREE + at], packed[_UP + at]
            rings = packed[_CLOSED + atom]
            if rings == 0:
                found |= bond
            packed[_CLOSED + (packed[ENDS + place_of(bond)] ^ atom)] ^= rings
    return found


@kernel
def pack(graph: Ints, n: int, whole_rings: bool, packed: Ints) -> int:
    """Pack a graph as `relfast_kernels.smiles` reads it; its number of bonds, or `UNKNOWN` for too many.

    Atoms differ by element, bonds by order; an aromatic bond counts as single, with which
    it may be matched. With ``whole_rings`` atoms also differ by charge, atoms and bonds by
    whether they are in a ring, and an aromatic bond has an order of its own.
    """
    bonds = 0
    packed[CYCLIC] = 0
    for atom in range(n):
        packed[INCIDENT + atom] = 0
        label = graph[LABEL + atom]
        packed[LABELS + atom] = 2 * label if whole_rings else label // CHARGES
    for atom in range(n):
        for at in range(graph[DEGREE + atom]):
            bond = graph[BONDS + MAX_DEGREE * atom + at]
            other, order = bond >> 3, bond & 7
            if other < atom:
                continue
            if bonds >= MAX_BONDS:
                return UNKNOWN
            packed[FIRST + bonds] = atom
            packed[ENDS + bonds] = atom ^ other
            packed[ORDERS + bonds] = 1 if order == AROMATIC_BOND and not whole_rings else order
            packed[INCIDENT + atom] |= 1 << bonds
            packed[INCIDENT + other] |= 1 << bonds
            bonds += 1
    packed[N_ATOMS] = n
    packed[N_BONDS] = bonds
    if whole_rings:
        packed[CYCLIC] = ((1 << bonds) - 1) & ~bridges(packed, (1 << bonds) - 1)
        for bond in range(bonds):
            if packed[CYCLIC] >> bond & 1:
                first = packed[FIRST + bond]
                packed[ORDERS + bond] |= IN_RING
                packed[LABELS + first] |= 1
                packed[LABELS + (packed[ENDS + bond] ^ first)] |= 1
    _look_around(packed, n, bonds)
    return bonds


@kernel
def _look_around(packed: Ints, n: int, bonds: int) -> None:
    """Hash the surroundings of each atom (Weisfeiler-Lehman); this only guides the search."""
    before = LABELS
    for far in range(ROUNDS):
        now = HASHES + far * SECTION
        for atom in range(n):
            packed[now + atom] = packed[before + atom] * ATOM_FACTOR & _MASK
        for bond in range(bonds):
            a = packed[FIRST + bond]
            b = packed[ENDS + bond] ^ a
            order = packed[ORDERS + bond]
            there = (packed[before + b] + order) * BOND_FACTOR & _MASK
            packed[now + a] += there ^ there >> 15
            there = (packed[before + a] + order) * BOND_FACTOR & _MASK
            packed[now + b] += there ^ there >> 15
        for atom in range(n):
            packed[now + atom] &= _MASK
        before = now


@kernel
def _key(packed: Ints, bond: int) -> int:
    """A bond's class as a number: its order and the labels of its ends."""
    a = packed[FIRST + bond]
    label = packed[LABELS + a]
    other = packed[LABELS + (packed[ENDS + bond] ^ a)]
    return int(((min(label, other) << 16) + max(label, other)) * 64 + packed[ORDERS + bond])


@kernel
def share(query: Ints, target: Ints, state: Ints) -> int:
    """Number the classes of bonds that both graphs have; the number of classes."""
    n_keys = 0
    for bond in range(query[N_BONDS]):
        key = _key(query, bond)
        found = 0
        while found < n_keys and state[KEYS + found] != key:
            found += 1
        if found == n_keys:
            state[KEYS + found] = key
            query[OF_CLASS + found] = 0
            target[OF_CLASS + found] = 0
            n_keys += 1
        query[CLASS + bond] = found
        query[OF_CLASS + found] |= 1 << bond
    query[USEFUL] = 0
    target[USEFUL] = 0
    for bond in range(target[N_BONDS]):
        key = _key(target, bond)
        found = 0
        while found < n_keys and state[KEYS + found] != key:
            found += 1
        if found < n_keys:
            target[OF_CLASS + found] |= 1 << bond
            target[USEFUL] |= 1 << bond
            query[USEFUL] |= query[OF_CLASS + found]
    # number anew only those classes of the query that the target has, too
    n_classes = 0
    for found in range(n_keys):
        state[KEYS + found] = n_classes
        query[OF_CLASS + n_classes] = query[OF_CLASS + found]
        target[OF_CLASS + n_classes] = target[OF_CLASS + found]
        n_classes += target[OF_CLASS + found] != 0
    for bond in range(query[N_BONDS]):
        query[CLASS + bond] = state[KEYS + query[CLASS + bond]]
    return n_classes


@kernel
def share_labels(query: Ints, target: Ints, state: Ints) -> int:
    """Number the labels of the query's atoms; how many there are. Labels that only the target has become -1.

    Call it after `share`, which needs the original labels.
    """
    n_keys = 0
    for atom in range(query[N_ATOMS]):
        label = query[LABELS + atom]
        found = 0
        while found < n_keys and state[KEYS + found] != label:
            found += 1
        if found == n_keys:
            state[KEYS + found] = label
            query[OF_LABEL + found] = 0
            target[OF_LABEL + found] = 0
            n_keys += 1
        query[LABELS + atom] = found
        query[OF_LABEL + found] |= 1 << atom
    for atom in range(target[N_ATOMS]):
        label = target[LABELS + atom]
        found = 0
        while found < n_keys and state[KEYS + found] != label:
            found += 1
        target[LABELS + atom] = -1
        if found < n_keys:
            target[LABELS + atom] = found
            target[OF_LABEL + found] |= 1 << atom
    return n_keys
