"""The largest motifs that all molecules of a group have in common.

A motif is a connected set of bonds of one molecule, the query, that can be placed in each of the others:
atoms on atoms with the same label, bonds on bonds with the same order, ring bonds among them (`rows`; the
others may have more bonds between the images), and each of its ring bonds lies on a ring of the motif. Sought
are all sets with the most bonds and, of those, the most atoms.

How: all motifs with a first bond, then all without it. A bond next to the motif is taken in, or left out for
good, so that no set is met twice. A bond that cannot be placed together with the present set in one of the
molecules cannot be with any larger set: it is left out at once. A molecule's place of the set is kept, and
mostly has room for the next bond; else it is sought anew (`place`).

The bound: bonds of one kind (order and labels) in the motif and in reach are no more than the least number of
them in any molecule; ring bonds at dead ends of what is there and in reach do not count, and a motif of b
bonds has b + 1 atoms less one for each ring that it has closed.

Leaves at one atom that are alike are interchangeable in the motif and as it is written: where one is left out
the ones after it are, too.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.bits import n_bits, place_of
from relfast_kernels.mcs.count import ends_of, without_ring
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
    PACKED_SIZE,
    bridges,
    reach,
)
from relfast_kernels.motif.place import PLACE_WORK, add_bond, extend, order_atoms, place
from relfast_kernels.motif.rows import (
    ATOM_BONDS,
    ATOM_DEGREE,
    ATOM_LABEL,
    ATOM_SIZE,
    ATOM_TWIN,
    ATOMS,
    FOUND_ATOMS,
    FOUND_BONDS,
    FOUND_MOTIFS,
    FOUND_SIZE,
    FOUND_STEPS,
    MAX_ATOMS,
    MAX_MOTIFS,
    MAX_QUERY_BONDS,
    RING_BOND,
    ROW_SIZE,
)

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]
Images = npt.NDArray[np.int8]

FIRST_TURNS: Final = 3
"""Molecules that a motif is placed in from the beginning."""

_SECTION: Final = 64
_MAX_DEPTH: Final = MAX_QUERY_BONDS + 1

_MOTIF, _LEFT, _TAKEN, _IS_NEW, _FRAME_SIZE = range(5)
"""Of each state on the way to the present one: the bonds of the motif, those that may be taken in, the ones that
are gone when the one taken in next has been, and 0 if it was decided whether the motif is listed, 2 if now is
the time."""


@kernel
def _kind(label: int, other: int, order: int) -> int:
    return (min(label, other) * 1_024 + max(label, other)) * 16 + order


@kernel
def _pack(row: Rows, packed: Ints, kinds: Ints) -> int:
    """The query's bonds as bits; the number of their kinds."""
    n = row[0]
    bonds, n_kinds, cyclic = 0, 0, 0
    packed[INCIDENT : INCIDENT + _SECTION] = 0
    packed[OF_CLASS : OF_CLASS + _SECTION] = 0
    for atom in range(n):
        start = ATOMS + ATOM_SIZE * atom
        packed[LABELS + atom] = row[start + ATOM_LABEL]
        for at in range(row[start + ATOM_DEGREE]):
            other = row[start + ATOM_BONDS + at] >> 4
            order = row[start + ATOM_BONDS + at] & 15
            if other < atom:
                continue
            kind = _kind(row[start + ATOM_LABEL], row[ATOMS + ATOM_SIZE * other + ATOM_LABEL], order)
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
def _least(row: Rows, kinds: Ints, n_kinds: int, least: Ints, counts: Ints, has: Ints) -> None:
    """Count the bonds of each kind at each atom of a molecule, and lower the numbers of bonds of each kind to those that a molecule has."""
    counts[:n_kinds] = 0
    has[:] = 0
    for atom in range(row[0]):
        start = ATOMS + ATOM_SIZE * atom
        for at in range(row[start + ATOM_DEGREE]):
            other = row[start + ATOM_BONDS + at] >> 4
            if other < atom:
                continue
            kind = _kind(
                row[start + ATOM_LABEL],
                row[ATOMS + ATOM_SIZE * other + ATOM_LABEL],
                row[start + ATOM_BONDS + at] & 15,
            )
            for found in range(n_kinds):
                if kinds[found] == kind:
                    counts[found] += 1
                    has[atom] = add_bond(has[atom], found)
                    has[other] = add_bond(has[other], found)
                    break
    for found in range(n_kinds):
        least[found] = min(least[found], counts[found])


@kernel
def _at_most(packed: Ints, n_kinds: int, least: Ints, bonds: int) -> int:
    total = 0
    for kind in range(n_kinds):
        total += min(n_bits(bonds & packed[OF_CLASS + kind]), least[kind])
    return total


@kernel
def _twins(packed: Ints, row: Rows, bond: int, is_open: int, motif: int) -> int:
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


@kernel
def _choose(packed: Ints, atoms: int, front: int, loose: int) -> int:
    """The bond to take in next: one that closes a ring, else one of a ring that is begun, else any."""
    chosen, most = -1, -1
    while front:
        low = front & -front
        front ^= low
        bond = place_of(low)
        first = packed[FIRST + bond]
        other = packed[ENDS + bond] ^ first
        worth = 0
        if atoms >> first & 1 and atoms >> other & 1:
            worth = 4
        elif packed[CYCLIC] & low and packed[INCIDENT + (first if atoms >> first & 1 else other)] & loose:
            worth = 3
        elif packed[CYCLIC] & low:
            worth = 1
        else:
            worth = 2 if packed[INCIDENT + first] & packed[INCIDENT + other] == low else 1
        if worth > most:
            most = worth
            chosen = bond
    return chosen


@kernel
def _take_in(
    packed: Ints,
    rows: Rows,
    has: Ints,
    motif: int,
    bond: int,
    before: Images,
    after: Images,
    turns: Ints,
    n_turns: int,
    rarity: Ints,
    work: Ints,
    limit: int,
) -> int:
    """Place a motif and one more bond in the molecules whose turn it is; the steps taken, ``-1 - steps`` if that
    cannot be.

    The molecule that lacks it comes first the next time.
    """
    steps = 1
    is_ordered = False
    for turn in range(n_turns):
        at = turns[turn]
        if motif:
            after[at] = before[at]
            if extend(packed, rows[at], after[at], bond):
                continue
        if not is_ordered:
            order_atoms(packed, motif | 1 << bond, rarity, work)
            is_ordered = True
        taken = place(packed, motif | 1 << bond, rows[at], has[at], after[at], work, limit - steps)
        if taken < 0:
            for earlier in range(turn, 0, -1):
                turns[earlier] = turns[earlier - 1]
            turns[0] = at
            return taken - steps
        steps += taken
        if steps >= limit:
            return -1 - steps
    return steps


@kernel
def _is_wanted(packed: Ints, motif: int, found: Ints) -> bool:
    """Whether no motif that is known is larger than a set of bonds, and that is one."""
    bonds = n_bits(motif)
    if bonds < found[FOUND_BONDS]:
        return False
    if bonds == found[FOUND_BONDS] and n_bits(ends_of(packed, motif)) < found[FOUND_ATOMS]:
        return False
    return motif & packed[CYCLIC] == 0 or bridges(packed, motif) & packed[CYCLIC] == 0


@kernel
def _lacking(
    packed: Ints,
    rows: Rows,
    has: Ints,
    motif: int,
    placed: Images,
    image: Images,
    turns: Ints,
    rarity: Ints,
    work: Ints,
    found: Ints,
    limit: int,
) -> int:
    """The turn of a molecule that lacks a motif, -1 if none does. Those in which it is ``placed`` do not."""
    order_atoms(packed, motif, rarity, work)
    first = packed[FIRST + place_of(motif & -motif)]
    for turn in range(len(turns)):
        at = turns[turn]
        if placed[at, first] >= 0:
            continue
        taken = place(packed, motif, rows[at], has[at], image, work, limit - found[FOUND_STEPS])
        found[FOUND_STEPS] += taken if taken >= 0 else -1 - taken
        if taken < 0:
            return turn
    return -1


@kernel
def _keep(packed: Ints, motif: int, found: Ints, motifs: Ints) -> None:
    """List a motif that is wanted."""
    bonds, atoms = n_bits(motif), n_bits(ends_of(packed, motif))
    if bonds > found[FOUND_BONDS] or atoms > found[FOUND_ATOMS]:
        found[FOUND_BONDS], found[FOUND_ATOMS], found[FOUND_MOTIFS] = bonds, atoms, 0
    if found[FOUND_MOTIFS] < MAX_MOTIFS:
        motifs[found[FOUND_MOTIFS]] = motif
    found[FOUND_MOTIFS] += 1


@kernel
def _within_reach(
    packed: Ints, n_kinds: int, least: Ints, motif: int, left: int, atoms: int, found: Ints
) -> int:
    """The bonds that may still be taken in, none where no larger or equal motif can come of it."""
    if packed[CYCLIC]:
        gone = without_ring(packed, (motif | left) & packed[CYCLIC])
        if gone & motif:
            return 0
        left &= ~gone
    left, reached = reach(packed, atoms, left)
    best = found[FOUND_BONDS]
    at_most = _at_most(packed, n_kinds, least, motif | left)
    if at_most < best:
        return 0
    if at_most == best:
        rings = n_bits(motif) + 1 - n_bits(atoms)
        if min(n_bits(reached | atoms), at_most + 1 - rings) < found[FOUND_ATOMS]:
            return 0
    return left


@kernel
def _front(packed: Ints, atoms: int, left: int) -> int:
    """The bonds at these atoms."""
    front = 0
    while atoms:
        front |= packed[INCIDENT + place_of(atoms & -atoms)] & left
        atoms &= atoms - 1
    return front


@kernel
def _from_root(
    packed: Ints,
    query: Rows,
    rows: Rows,
    has: Ints,
    n_kinds: int,
    least: Ints,
    is_open: int,
    root: int,
    images: Images,
    turns: Ints,
    n_turns: int,
    rarity: Ints,
    frames: Ints,
    work: Ints,
    found: Ints,
    motifs: Ints,
    limit: int,
) -> int:
    """List the largest motifs that have a bond, of the ones in ``is_open``; the number of molecules whose turn
    it is. Stops at ``limit`` steps."""
    depth = 0
    taken = _take_in(
        packed, rows, has, 0, root, images[0], images[0], turns, n_turns, rarity, work, limit
    )
    if taken < 0:
        found[FOUND_STEPS] += -1 - taken
        return n_turns
    found[FOUND_STEPS] += taken
    frames[0, _MOTIF], frames[0, _LEFT], frames[0, _IS_NEW] = 1 << root, is_open & ~(1 << root), 1
    while depth >= 0 and found[FOUND_STEPS] < limit:
        motif, left = frames[depth, _MOTIF], frames[depth, _LEFT]
        found[FOUND_STEPS] += 1
        atoms = ends_of(packed, motif)
        left = _within_reach(packed, n_kinds, least, motif, left, atoms, found)
        # looked at after what is larger: on the way to the first motif nothing is placed in all molecules
        is_back = frames[depth, _IS_NEW] and (left == 0 or frames[depth, _IS_NEW] == 2)
        if is_back and _is_wanted(packed, motif, found):
            frames[depth, _IS_NEW] = 0
            turn = _lacking(
                packed,
                rows,
                has,
                motif,
                images[depth],
                images[_MAX_DEPTH, 0],
                turns,
                rarity,
                work,
                found,
                limit,
            )
            if turn < 0:
                _keep(packed, motif, found, motifs)
            elif found[FOUND_STEPS] < limit:
                # from now on it is that molecule's turn, too; what is larger than this lacks it as well
                left = 0
                if turn >= n_turns:
                    turns[n_turns], turns[turn] = turns[turn], turns[n_turns]
                    n_turns += 1
        if left == 0:
            depth -= 1
            if depth >= 0:
                # without the bond that was taken in
                frames[depth, _LEFT] &= ~frames[depth, _TAKEN]
                if frames[depth, _IS_NEW]:
                    frames[depth, _IS_NEW] = 2
            continue
        loose = bridges(packed, motif) & packed[CYCLIC] if motif & packed[CYCLIC] else 0
        bond = _choose(packed, atoms, _front(packed, atoms, left), loose)
        gone = 1 << bond | _twins(packed, query, bond, left, motif)
        taken = _take_in(
            packed,
            rows,
            has,
            motif,
            bond,
            images[depth],
            images[depth + 1],
            turns,
            n_turns,
            rarity,
            work,
            limit - found[FOUND_STEPS],
        )
        if taken < 0:
            found[FOUND_STEPS] += -1 - taken
            frames[depth, _LEFT] = left & ~gone
            continue
        found[FOUND_STEPS] += taken
        frames[depth, _LEFT], frames[depth, _TAKEN] = left, gone
        depth += 1
        frames[depth, _MOTIF], frames[depth, _LEFT] = motif | 1 << bond, left & ~(1 << bond)
        frames[depth, _IS_NEW] = 1
    return n_turns


@kernel
def largest_motifs(query: Rows, rows: Rows, min_atoms: int, limit: int, found: Ints, motifs: Ints) -> bool:
    """List the largest motifs that a molecule and the others of its group have in common.

    Parameters
    ----------
    query
        ``(ROW_SIZE,)`` int32: the molecule that they are cut out of, of at most `MAX_QUERY_BONDS` bonds.
    rows
        ``(k, ROW_SIZE)`` int32: the others.
    min_atoms
        Smaller ones are not sought: a motif of most bonds that has fewer atoms may or may not be found.
    limit
        Steps after which the search is given up.
    found
        ``(FOUND_SIZE,)`` int64, out: `FOUND_BONDS`, … as `relfast_kernels.motif.rows` has them.
    motifs
        ``(MAX_MOTIFS,)`` int64, out: their bonds as bits, numbered by their first atoms and, at one atom, in
        the order of the row.

    Returns
    -------
    bool
        Whether the search came to its end.
    """
    packed = np.zeros(PACKED_SIZE, np.int64)
    kinds = np.zeros(_SECTION, np.int64)
    counts = np.zeros(_SECTION, np.int64)
    n_kinds = _pack(query, packed, kinds)
    n_bonds = packed[N_BONDS]
    least = np.full(_SECTION, n_bonds, np.int64)
    k = rows.shape[0]
    has = np.empty((k, MAX_ATOMS), np.int64)
    for at in range(k):
        _least(rows[at], kinds, n_kinds, least, counts, has[at])
    is_open = 0
    for kind in range(n_kinds):
        if least[kind]:
            is_open |= packed[OF_CLASS + kind]
    found[:] = 0
    found[FOUND_BONDS], found[FOUND_ATOMS] = max(1, min_atoms - 1), min_atoms
    if _at_most(packed, n_kinds, least, is_open) < found[FOUND_BONDS]:
        return True
    images = np.empty((_MAX_DEPTH + 1, k, _SECTION), np.int8)
    turns = np.arange(k)
    n_turns = min(k, FIRST_TURNS)
    images[:] = -1
    frames = np.zeros((_MAX_DEPTH + 1, _FRAME_SIZE), np.int64)
    rarity = np.zeros(_SECTION, np.int64)
    _rarities(packed, rows, rarity)
    work = np.zeros(PLACE_WORK, np.int64)
    while is_open:
        is_open &= ~without_ring(packed, is_open & packed[CYCLIC])
        if not is_open:
            break
        # the part with the most bonds in it
        part, rest, most = 0, is_open, -1
        while rest:
            one, _ = reach(packed, 1 << packed[FIRST + place_of(rest & -rest)], rest)
            rest &= ~one
            at_most = _at_most(packed, n_kinds, least, one)
            if at_most < found[FOUND_BONDS]:
                is_open &= ~one
            elif at_most > most:
                part, most = one, at_most
        if not part:
            break
        root = _root(packed, n_kinds, least, part)
        n_turns = _from_root(
            packed,
            query,
            rows,
            has,
            n_kinds,
            least,
            part,
            root,
            images,
            turns,
            n_turns,
            rarity,
            frames,
            work,
            found,
            motifs,
            limit,
        )
        if found[FOUND_STEPS] >= limit:
            return False
        is_open &= ~(1 << root)
    return True


@kernel
def _rarities(packed: Ints, rows: Rows, rarity: Ints) -> None:
    """For each query atom, how often its label occurs in a molecule."""
    for atom in range(packed[N_ATOMS]):
        for there in range(rows[0, 0]):
            rarity[atom] += rows[0, ATOMS + ATOM_SIZE * there + ATOM_LABEL] == packed[LABELS + atom]


@kernel
def _root(packed: Ints, n_kinds: int, least: Ints, part: int) -> int:
    """A bond of the kind that is rarest in the molecules; ring bonds come first, which many solutions have."""
    chosen, lowest = 0, 1 << 30
    rest = part
    while rest:
        low = rest & -rest
        rest ^= low
        bond = place_of(low)
        first = packed[FIRST + bond]
        around = packed[INCIDENT + first] | packed[INCIDENT + (packed[ENDS + bond] ^ first)]
        cost = 16 * n_bits(part & packed[OF_CLASS + packed[CLASS + bond]]) - n_bits(around & part)
        if cost < lowest:
            lowest = cost
            chosen = bond
    return chosen


def warm_up() -> None:
    """Compile for the types that `relfast.chem.motif_rows` passes."""
    row = np.zeros((2, ROW_SIZE), np.int32)
    largest_motifs(row[0], row[1:], 1, 1, np.zeros(FOUND_SIZE, np.int64), np.zeros(MAX_MOTIFS, np.int64))
