"""What can at most become of a partial solution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relfast_kernels.bits import n_bits, place_of
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.layouts import (
    ANCHOR,
    BEST_ATOMS,
    BEST_BONDS,
    BOND,
    COMMON,
    FREE,
    IMAGE,
    IMAGES,
    MATCHED,
    N_CLASSES,
    N_LABELS,
    N_MATCHED,
    OPEN,
    TOUCHED,
    TOUCHED_THERE,
)
from relfast_kernels.mcs.packed import CLASS, CYCLIC, ENDS, FIRST, INCIDENT, LABELS, OF_CLASS, OF_LABEL, reach

Ints = npt.NDArray[np.int64]


@kernel
def narrow(query: Ints, target: Ints, state: Ints, frame: int) -> bool:
    """Drop what can no longer be matched and choose the bond to branch on; False if nothing can be gained."""
    is_open, touched, matched = state[frame + OPEN], state[frame + TOUCHED], state[frame + MATCHED]
    free, touched_there = state[frame + FREE], state[frame + TOUCHED_THERE]
    bonds = state[frame + N_MATCHED]
    best = state[BEST_BONDS]
    n_classes = state[N_CLASSES]
    if query[CYCLIC]:
        gone = without_ring(query, (state[frame + COMMON] | is_open) & query[CYCLIC])
        if gone & state[frame + COMMON]:
            return False
        is_open &= ~gone
    front, front_there = 0, 0
    total = bonds
    chosen, anchor, least = -1, -1, 1 << 30
    free_front = free & touched_there
    left = is_open & touched
    while left:
        bond = place_of(left & -left)
        atom = query[FIRST + bond]
        if not matched >> atom & 1:
            atom ^= query[ENDS + bond]
        kind = query[CLASS + bond]
        ours = left & query[INCIDENT + atom] & query[OF_CLASS + kind]
        left &= ~ours
        theirs = free_front & target[INCIDENT + state[IMAGE + atom]] & target[OF_CLASS + kind]
        if theirs == 0:
            is_open &= ~ours
            continue
        options = n_bits(theirs)
        total += min(n_bits(ours), options)
        front |= ours
        front_there |= theirs
        while ours:
            low = ours & -ours
            ours ^= low
            bond = place_of(low)
            cost = 8 * options - n_bits(query[INCIDENT + (query[ENDS + bond] ^ atom)] & is_open)
            if cost < least:
                least = cost
                chosen = bond
                anchor = atom
    if chosen < 0:
        return False
    inner, inner_there = 0, 0
    ours_inside, theirs_inside = is_open & ~touched, free & ~touched_there
    at_most = total
    for kind in range(n_classes):
        ours = ours_inside & query[OF_CLASS + kind]
        theirs = theirs_inside & target[OF_CLASS + kind]
        if ours and theirs:
            inner |= ours
            inner_there |= theirs
            at_most += min(n_bits(ours), n_bits(theirs))
    if at_most < best:
        return False
    inner, atoms = reach(query, ends_of(query, front) & ~matched, inner)
    inner_there, atoms_there = reach(
        target, ends_of(target, front_there) & ~state[frame + IMAGES], inner_there
    )
    at_most = total + in_common(query, target, n_classes, inner, inner_there)
    if at_most < best:
        return False
    at_most -= degrees_forbid(query, target, n_classes, inner, inner_there)
    at_most -= max(0, total - bonds - by_closure(query, target, state, front, front_there, matched))
    if at_most < best:
        return False
    if at_most == best:
        n_atoms = n_bits(matched)
        most = min(
            best - bonds + n_atoms,
            n_atoms + atoms_in_common(query, target, state[N_LABELS], atoms, atoms_there),
        )
        if most <= state[BEST_ATOMS]:
            return False
    state[frame + OPEN] = front | inner
    state[frame + FREE] = front_there | inner_there
    state[frame + BOND] = chosen
    state[frame + ANCHOR] = anchor
    return True


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
