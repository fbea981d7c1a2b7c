"""How many bonds or atoms of two sets can be matched at most."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.bits import n_bits, place_of
from relfast_kernels.mcs.packed import CLASS, ENDS, FIRST, INCIDENT, LABELS, OF_CLASS, OF_LABEL
from relfast_kernels.mcs.state import IMAGE

Ints = npt.NDArray[np.int64]


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
    """Bonds of a set that are in no ring of it: those at dead ends, one after the other."""
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
def in_common(query: Ints, target: Ints, n_classes: int, ours: int, theirs: int) -> int:
    """How many bonds of two sets can be matched at most, class by class."""
    total = 0
    for found in range(n_classes):
        total += min(n_bits(ours & query[OF_CLASS + found]), n_bits(theirs & target[OF_CLASS + found]))
    return total


@kernel
def _degrees(packed: Ints, bonds: int) -> tuple[int, int, int, int, int]:
    """The atoms with one or more of these bonds, with two or more, and so on up to five."""
    one, two, three, four, five = 0, 0, 0, 0, 0
    while bonds:
        low = bonds & -bonds
        bonds ^= low
        bond = place_of(low)
        first = packed[FIRST + bond]
        both = 1 << first | 1 << (first ^ packed[ENDS + bond])
        five |= four & both
        four |= three & both
        three |= two & both
        two |= one & both
        one |= both
    return one, two, three, four, five


@kernel
def by_degrees(query: Ints, target: Ints, ours: int, theirs: int) -> int:
    """How many bonds between atoms of one label can be matched at most, by the degrees of the atoms."""
    one, two, three, four, five = _degrees(query, ours)
    first, second, third, fourth, fifth = _degrees(target, theirs)
    ends = min(n_bits(one), n_bits(first)) + min(n_bits(two), n_bits(second))
    ends += min(n_bits(three), n_bits(third)) + min(n_bits(four), n_bits(fourth))
    return (ends + 2 * min(n_bits(five), n_bits(fifth))) // 2


@kernel
def atoms_in_common(query: Ints, target: Ints, n_labels: int, ours: int, theirs: int) -> int:
    total = 0
    for found in range(n_labels):
        total += min(n_bits(ours & query[OF_LABEL + found]), n_bits(theirs & target[OF_LABEL + found]))
    return total


@kernel
def _far_ends(packed: Ints, bonds: int, atom: int) -> int:
    """The other ends of bonds at an atom."""
    atoms = 0
    while bonds:
        low = bonds & -bonds
        bonds ^= low
        atoms |= 1 << (packed[ENDS + place_of(low)] ^ atom)
    return atoms


@kernel
def by_closure(query: Ints, target: Ints, state: Ints, front: int, front_there: int, matched: int) -> int:
    """How many bonds between matched atoms and others can be matched at most.

    Of the bonds of one of the others, only those can be whose images may all end at one atom.
    """
    total = 0
    while front:
        bond = place_of(front & -front)
        new = query[FIRST + bond]
        if matched >> new & 1:
            new ^= query[ENDS + bond]
        at_new = front & query[INCIDENT + new]
        front &= ~at_new
        if at_new & (at_new - 1) == 0:
            total += 1
            continue
        once, twice, thrice, more = 0, 0, 0, 0
        while at_new:
            bond = place_of(at_new & -at_new)
            at_new &= at_new - 1
            image = state[IMAGE + (query[ENDS + bond] ^ new)]
            options = front_there & target[INCIDENT + image] & target[OF_CLASS + query[CLASS + bond]]
            ends = _far_ends(target, options, image)
            more += thrice & ends != 0
            thrice |= twice & ends
            twice |= once & ends
            once |= ends
        total += 1 + (twice != 0) + (thrice != 0) + more
    return total


@kernel
def degrees_forbid(query: Ints, target: Ints, n_classes: int, ours: int, theirs: int) -> int:
    """How many bonds fewer than `in_common` says can be matched, by the degrees of atoms."""
    fewer = 0
    for kind in range(n_classes):
        here = ours & query[OF_CLASS + kind]
        there = theirs & target[OF_CLASS + kind]
        most = min(n_bits(here), n_bits(there))
        if most > 1:
            bond = place_of(here & -here)
            first = query[FIRST + bond]
            if query[LABELS + first] == query[LABELS + (first ^ query[ENDS + bond])]:
                fewer += max(0, most - by_degrees(query, target, here, there))
    return fewer
