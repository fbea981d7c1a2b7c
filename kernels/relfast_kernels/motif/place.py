"""Where a set of query bonds lies in a molecule: one way to place it, kept for each molecule of a group."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.bits import n_bits, place_of
from relfast_kernels.mcs.count import ends_of
from relfast_kernels.mcs.packed import CLASS, ENDS, FIRST, INCIDENT, LABELS, OF_CLASS, ORDERS
from relfast_kernels.motif.known import BESIDE, MAX_BITS, N_ORDERS, WITH_BONDS, WITH_LABEL, add_bond
from relfast_kernels.motif.rows import (
    ATOM_BONDS,
    ATOM_DEGREE,
    ATOM_LABEL,
    ATOM_SIZE,
    ATOMS,
    MAX_ATOMS,
    MAX_DEGREE,
)

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]
Images = npt.NDArray[np.int8]

# sections of the workspace, of `_SECTION` places
_SECTION: Final = 64
_ORDER: Final = 0
"""The atoms of a set of bonds, each but the first with a bond of the set to an earlier one."""
_ANCHOR: Final = _SECTION
"""For each place in the order an earlier neighbour of its atom."""
_NEXT: Final = 2 * _SECTION
"""For each place the candidate that comes next."""
_NEEDS: Final = 3 * _SECTION
"""For each atom how many of its bonds are of each kind, as `add_bond` counts them."""
_N_PLACED: Final = 4 * _SECTION
_TAKEN: Final = 4 * _SECTION + 1
"""For each atom of the molecule whether it is an image."""
_BACK: Final = _TAKEN + MAX_ATOMS
"""For each place in the order the bonds of its atom to earlier ones."""
_OPTIONS: Final = _BACK + _SECTION
"""For each place the images that are left to try."""
_DOMAINS: Final = _OPTIONS + _SECTION
"""For each atom the images that it may have by itself."""
PLACE_WORK: Final = _DOMAINS + _SECTION

_EIGHTS: Final = 0x888_8888_8888_8888


@kernel
def order_atoms(query: Ints, bonds: int, rarity: Ints, work: Ints) -> None:
    """Put the atoms of a connected set of bonds in the order in which `place` takes them.

    The rarest one first; then always one with as many bonds to earlier ones as can be, the rarest of these,
    and of these the one whose neighbour came last.
    """
    atoms = ends_of(query, bonds)
    first, least = 0, 1 << 30
    rest = atoms
    while rest:
        atom = place_of(rest & -rest)
        rest &= rest - 1
        need = 0
        around = query[INCIDENT + atom] & bonds
        while around:
            need = add_bond(need, query[CLASS + place_of(around & -around)])
            around &= around - 1
        work[_NEEDS + atom] = need
        if rarity[atom] < least:
            least = rarity[atom]
            first = atom
    work[_ORDER] = first
    placed, seen, touched = 1, 1 << first, query[INCIDENT + first] & bonds
    while seen != atoms:
        chosen, most = -1, -1
        for at in range(placed - 1, -1, -1):
            anchor = work[_ORDER + at]
            around = query[INCIDENT + anchor] & bonds
            while around:
                bond = place_of(around & -around)
                around &= around - 1
                other = query[ENDS + bond] ^ anchor
                if not seen >> other & 1:
                    worth = 1_000 * n_bits(query[INCIDENT + other] & touched) - rarity[other]
                    if worth > most:
                        chosen, most = other, worth
                        work[_ANCHOR + placed] = anchor
        work[_ORDER + placed] = chosen
        work[_BACK + placed] = query[INCIDENT + chosen] & touched
        placed += 1
        seen |= 1 << chosen
        touched |= query[INCIDENT + chosen] & bonds
    work[_N_PLACED] = placed


@kernel
def order_between(row: Rows, a: int, b: int) -> int:
    """The order of the bond between two atoms of a molecule, 0 without one."""
    start = ATOMS + ATOM_SIZE * a
    for at in range(row[start + ATOM_DEGREE]):
        bond = row[start + ATOM_BONDS + at]
        if bond >> 4 == b:
            return int(bond & 15)
    return 0


@kernel
def _bonds_fit(query: Ints, around: int, row: Rows, image: Images, atom: int, there: int) -> bool:
    """Whether an atom's bonds to those with images are bonds of the molecule."""
    while around:
        bond = place_of(around & -around)
        around &= around - 1
        other = image[query[ENDS + bond] ^ atom]
        if other >= 0 and order_between(row, there, other) != query[ORDERS + bond]:
            return False
    return True


@kernel
def place(query: Ints, bonds: int, row: Rows, known: Ints, image: Images, work: Ints, limit: int) -> int:
    """Find a place in a molecule for a set of bonds whose atoms are in order.

    ``known``: what `know` has filled in. ``image`` (int8, one for each query atom) receives the images, -1
    elsewhere. Returns the steps that were taken (candidates looked at); ``-1 - steps`` where there is no
    place, or ``limit`` steps did not tell.
    """
    if row[0] <= MAX_BITS:
        return _place_bits(query, bonds, known, image, work, limit)
    return _place_one_by_one(query, bonds, row, known, image, work, limit)


@kernel
def _domain(query: Ints, bonds: int, known: Ints, atom: int) -> int:
    """The atoms of a molecule that have an atom's label and as many bonds of each kind as it has in a set."""
    domain = int(known[WITH_LABEL + atom])
    around = query[INCIDENT + atom] & bonds
    while around:
        kind = query[CLASS + place_of(around & -around)]
        alike = around & query[OF_CLASS + kind]
        around &= ~alike
        domain &= known[WITH_BONDS + MAX_DEGREE * kind + n_bits(alike) - 1]
    return domain


@kernel
def _place_bits(query: Ints, bonds: int, known: Ints, image: Images, work: Ints, limit: int) -> int:
    """`place` in a molecule whose atoms are bits."""
    image[:] = -1
    n = work[_N_PLACED]
    steps = 1
    for at in range(n):
        atom = work[_ORDER + at]
        work[_DOMAINS + atom] = _domain(query, bonds, known, atom)
        if not work[_DOMAINS + atom]:
            return -1 - steps
    at, taken = 0, 0
    work[_OPTIONS] = work[_DOMAINS + work[_ORDER]]
    while True:
        atom = work[_ORDER + at]
        if image[atom] >= 0:
            # back here: the image is of no use
            taken ^= 1 << int(image[atom])
            image[atom] = -1
        options = work[_OPTIONS + at]
        if not options:
            if at == 0:
                return -1 - steps
            at -= 1
            continue
        low = options & -options
        work[_OPTIONS + at] = options ^ low
        image[atom] = place_of(low)
        taken |= low
        steps += 1
        at += 1
        if at == n:
            return steps
        if steps >= limit:
            return -1 - steps
        atom = work[_ORDER + at]
        options = work[_DOMAINS + atom] & ~taken
        back = work[_BACK + at]
        while back:
            bond = place_of(back & -back)
            back &= back - 1
            there = int(image[query[ENDS + bond] ^ atom])
            options &= known[BESIDE + N_ORDERS * there + query[ORDERS + bond]]
        work[_OPTIONS + at] = options


@kernel
def _place_one_by_one(
    query: Ints, bonds: int, row: Rows, has: Ints, image: Images, work: Ints, limit: int
) -> int:
    """`place` in a molecule of any size. ``has``: for each atom its bonds of each kind (`add_bond`)."""
    image[:] = -1
    n = work[_N_PLACED]
    taken = work[_TAKEN : _TAKEN + MAX_ATOMS]
    taken[:] = 0
    steps = 0
    at = 0
    work[_NEXT] = 0
    while at >= 0:
        atom = work[_ORDER + at]
        if image[atom] >= 0:
            # back here: the image is of no use
            taken[image[atom]] = 0
            image[atom] = -1
        found = -1
        if at == 0:
            n_options, start = row[0], 0
        else:
            start = ATOMS + ATOM_SIZE * int(image[work[_ANCHOR + at]])
            n_options = row[start + ATOM_DEGREE]
        label, need = query[LABELS + atom], work[_NEEDS + atom]
        around = query[INCIDENT + atom] & bonds
        option = work[_NEXT + at]
        while option < n_options and found < 0:
            there = option if at == 0 else row[start + ATOM_BONDS + option] >> 4
            option += 1
            steps += 1
            if taken[there] != 0 or row[ATOMS + ATOM_SIZE * there + ATOM_LABEL] != label:
                continue
            # a count that is less than needed borrows the highest of its four bits
            if ((has[there] | _EIGHTS) - need) & _EIGHTS != _EIGHTS:
                continue
            if _bonds_fit(query, around, row, image, atom, there):
                found = there
        work[_NEXT + at] = option
        if found < 0:
            at -= 1
        else:
            image[atom] = found
            taken[found] = 1
            at += 1
            if at == n:
                return steps
            work[_NEXT + at] = 0
        if steps >= limit:
            break
    return -1 - steps


@kernel
def extend(query: Ints, row: Rows, image: Images, bond: int) -> bool:
    """Place one more bond without moving an atom, if that can be.

    ``image`` is that of the bonds before, or all -1.
    """
    a = query[FIRST + bond]
    b = query[ENDS + bond] ^ a
    order = query[ORDERS + bond]
    if image[a] >= 0 and image[b] >= 0:
        return bool(order_between(row, image[a], image[b]) == order)
    if image[a] < 0:
        a, b = b, a
        if image[a] < 0:
            return False
    start = ATOMS + ATOM_SIZE * int(image[a])
    for at in range(row[start + ATOM_DEGREE]):
        option = row[start + ATOM_BONDS + at]
        there = option >> 4
        if option & 15 != order or row[ATOMS + ATOM_SIZE * there + ATOM_LABEL] != query[LABELS + b]:
            continue
        is_free = True
        for other in image:
            if other == there:
                is_free = False
                break
        if is_free:
            image[b] = there
            return True
    return False
