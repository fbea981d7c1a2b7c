"""Where a set of query bonds lies in a molecule: one way to place it, kept for each molecule of a group."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from relfast_kernels.bits import n_bits, place_of
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.bound import ends_of
from relfast_kernels.mcs.packed import (
    CLASS,
    CYCLIC,
    ENDS,
    FIRST,
    INCIDENT,
    LABELS,
    N_ATOMS,
    OF_CLASS,
    ORDERS,
    bridges,
)
from relfast_kernels.motif.layouts import (
    ATOM_BONDS,
    ATOM_DEGREE,
    ATOM_LABEL,
    ATOM_SIZE,
    ATOMS,
    FOUND_ATOMS,
    FOUND_BONDS,
    FOUND_MOTIFS,
    FOUND_STEPS,
    MAX_DEGREE,
    MAX_MOTIFS,
    PER_MOLECULE,
    SECTION,
)

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]
Images = npt.NDArray[np.int8]

# sections of what is known of a molecule before anything is placed in it; its atoms are bits
WITH_LABEL: Final = 0
"""For each atom of the query the atoms with its label."""
WITH_BONDS: Final = SECTION
"""For each kind of bond, and each number up to `MAX_DEGREE`, the atoms with at least so many of that kind."""
BESIDE: Final = WITH_BONDS + MAX_DEGREE * SECTION
"""For each atom, and each order of bond, the atoms at its other ends."""
N_ORDERS: Final = 16
KNOWN_SIZE: Final = BESIDE + N_ORDERS * SECTION
assert KNOWN_SIZE <= PER_MOLECULE

# sections of the workspace
_ORDER: Final = 0
"""The atoms of a set of bonds, each but the first with a bond of the set to an earlier one."""
_BACK: Final = SECTION
"""For each place in the order the bonds of its atom to earlier ones."""
_OPTIONS: Final = 2 * SECTION
"""For each place the images that are left to try."""
_DOMAINS: Final = 3 * SECTION
"""For each atom the images that it may have by itself."""
_N_PLACED: Final = 4 * SECTION
PLACE_WORK: Final = 4 * SECTION + 1


class Group(NamedTuple):
    """The molecules that motifs are placed in.

    ``known``: (k, `PER_MOLECULE`), what `know` fills in; ``turns``: (k,), the order in which they are tried;
    ``rarity``: how often the label of each query atom occurs; ``work``: `PLACE_WORK`. All int64.
    """

    known: Ints
    turns: Ints
    rarity: Ints
    work: Ints


@kernel
def order_atoms(query: Ints, bonds: int, group: Group) -> None:
    """Put the atoms of a connected set of bonds in the order in which `place` takes them.

    The rarest one first; then always one with as many bonds to earlier ones as can be, the rarest of these,
    and of these the one whose neighbour came last.
    """
    rarity, work = group.rarity, group.work
    atoms = ends_of(query, bonds)
    first, least = 0, 1 << 30
    rest = atoms
    while rest:
        atom = place_of(rest & -rest)
        rest &= rest - 1
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
        work[_ORDER + placed] = chosen
        work[_BACK + placed] = query[INCIDENT + chosen] & touched
        placed += 1
        seen |= 1 << chosen
        touched |= query[INCIDENT + chosen] & bonds
    work[_N_PLACED] = placed


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
def place(query: Ints, bonds: int, known: Ints, image: Images, work: Ints, limit: int) -> int:
    """Find a place in a molecule for a set of bonds whose atoms are in order.

    ``known``: what `know` has filled in. ``image`` (int8, one for each query atom) receives the images, -1
    elsewhere. Returns the steps that were taken (candidates looked at); ``-1 - steps`` where there is no
    place, or ``limit`` steps did not tell.
    """
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
def extend(query: Ints, known: Ints, image: Images, bond: int) -> bool:
    """Place one more bond without moving an atom, if that can be.

    ``image`` is that of the bonds before, or all -1.
    """
    a = query[FIRST + bond]
    b = query[ENDS + bond] ^ a
    if image[a] < 0:
        a, b = b, a
        if image[a] < 0:
            return False
    options = known[BESIDE + N_ORDERS * int(image[a]) + query[ORDERS + bond]]
    if image[b] >= 0:
        return bool(options >> int(image[b]) & 1)
    options &= known[WITH_LABEL + b]
    for there in image:
        if there >= 0:
            options &= ~(1 << int(there))
    if options:
        image[b] = place_of(options & -options)
    return bool(options)


@kernel
def kind_of(label: int, other: int, order: int) -> int:
    """A bond's kind: its order, and the labels of its atoms."""
    return (min(label, other) * 1_024 + max(label, other)) * 16 + order


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
    known[WITH_BONDS : WITH_BONDS + MAX_DEGREE * n_kinds] = 0
    known[BESIDE : BESIDE + N_ORDERS * n] = 0
    for atom in range(n):
        start = ATOMS + ATOM_SIZE * atom
        label = row[start + ATOM_LABEL]
        for at in range(row[start + ATOM_DEGREE]):
            other, order = row[start + ATOM_BONDS + at] >> 4, row[start + ATOM_BONDS + at] & 15
            known[BESIDE + N_ORDERS * atom + order] |= 1 << other
            if other < atom:
                continue
            kind = kind_of(label, row[ATOMS + ATOM_SIZE * other + ATOM_LABEL], order)
            for found in range(n_kinds):
                if kinds[found] == kind:
                    counts[found] += 1
                    _add_bit(known, found, atom)
                    _add_bit(known, found, other)
                    break
    for atom in range(query[N_ATOMS]):
        label = query[LABELS + atom]
        with_label = 0
        for there in range(n):
            with_label |= (row[ATOMS + ATOM_SIZE * there + ATOM_LABEL] == label) << there
        known[WITH_LABEL + atom] = with_label


@kernel
def take_in(
    packed: Ints, group: Group, n_turns: int, motif: int, bond: int, before: Images, after: Images,
    limit: int,
) -> int:  # fmt: skip
    """Place a motif and one more bond in the molecules whose turn it is.

    Returns the steps taken, ``-1 - steps`` if that cannot be.

    The molecule that lacks it comes first the next time.
    """
    steps = 1
    is_ordered = False
    for turn in range(n_turns):
        at = group.turns[turn]
        if motif:
            # (numba allocates memory to assign one array to another)
            for atom in range(packed[N_ATOMS]):
                after[at, atom] = before[at, atom]
            if extend(packed, group.known[at], after[at], bond):
                continue
        if not is_ordered:
            order_atoms(packed, motif | 1 << bond, group)
            is_ordered = True
        taken = place(packed, motif | 1 << bond, group.known[at], after[at], group.work, limit - steps)
        if taken < 0:
            for earlier in range(turn, 0, -1):
                group.turns[earlier] = group.turns[earlier - 1]
            group.turns[0] = at
            return taken - steps
        steps += taken
        if steps >= limit:
            return -1 - steps
    return steps


@kernel
def is_wanted(packed: Ints, motif: int, found: Ints) -> bool:
    """Whether no motif that is known is larger than a set of bonds, and that is one."""
    bonds = n_bits(motif)
    if bonds < found[FOUND_BONDS]:
        return False
    if bonds == found[FOUND_BONDS] and n_bits(ends_of(packed, motif)) < found[FOUND_ATOMS]:
        return False
    return not motif & packed[CYCLIC] or not bridges(packed, motif) & packed[CYCLIC]


@kernel
def lacking(
    packed: Ints, group: Group, motif: int, placed: Images, image: Images, found: Ints, limit: int
) -> int:
    """The turn of a molecule that lacks a motif, -1 if none does. Those in which it is ``placed`` do not."""
    order_atoms(packed, motif, group)
    first = packed[FIRST + place_of(motif & -motif)]
    for turn in range(len(group.turns)):
        at = group.turns[turn]
        if placed[at, first] >= 0:
            continue
        taken = place(packed, motif, group.known[at], image, group.work, limit - found[FOUND_STEPS])
        found[FOUND_STEPS] += taken if taken >= 0 else -1 - taken
        if taken < 0:
            return turn
    return -1


@kernel
def keep(packed: Ints, motif: int, found: Ints, motifs: Ints) -> None:
    """List a motif that is wanted."""
    bonds, atoms = n_bits(motif), n_bits(ends_of(packed, motif))
    if bonds > found[FOUND_BONDS] or atoms > found[FOUND_ATOMS]:
        found[FOUND_BONDS], found[FOUND_ATOMS], found[FOUND_MOTIFS] = bonds, atoms, 0
    if found[FOUND_MOTIFS] < MAX_MOTIFS:
        motifs[found[FOUND_MOTIFS]] = motif
    found[FOUND_MOTIFS] += 1
