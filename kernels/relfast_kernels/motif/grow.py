"""The largest motifs (connected substructures) that all molecules of a group have in common.

A motif is a connected set of bonds of one molecule, the query, that can be placed in (mapped into) each of
the others: atoms on atoms with the same label, bonds on bonds with the same order, ring bonds on ring bonds
(`rows`; the others may have more bonds between the images), and each of its ring bonds lies on a ring of the
motif. Sought are all sets with the most bonds and, of those, the most atoms.

How: first all motifs with a certain bond, then all without it. A bond next to the motif is taken in, or left
out for good, so that no set is met twice. A bond that cannot be placed together with the present set in one
of the molecules cannot be with any larger set: it is left out at once. The set's place in each molecule is
kept, and mostly has room for the next bond; else a new one is searched (`place`).

The bound: of each kind of bonds (order and labels) the motif and what is in reach can use no more than any
molecule has; ring bonds at dead ends of the motif and what is in reach do not count; and a motif of b bonds
has b + 1 atoms less one for each ring that it has closed.

Leaves at one atom that are alike are interchangeable in the motif and as it is written: where one is left out
the ones after it are, too.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from relfast_kernels.bits import n_bits, place_of
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Doubles, Ints, Ints8, Rows, Words
from relfast_kernels.mcs.layouts import PACKED_SIZE
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
    bridges,
    ends_of,
    reach,
    without_ring,
)
from relfast_kernels.motif.layouts import (
    DEPTHS,
    FRAME_SIZE,
    MAX_DEGREE,
    MAX_MOTIFS,
    PER_MOLECULE,
    RING_BOND,
    SECTION,
    WORK_SIZE,
    Atom,
    Largest,
    Prints,
    Search,
)

# sections of ``known``, facts about a molecule before anything is placed in it; its atoms are bits
WITH_LABEL: Final = 0
"""For each atom of the query, the molecule's atoms with its label."""
WITH_BONDS: Final = SECTION
"""For each kind of bond, and each number up to `MAX_DEGREE`, the atoms with at least so many of that kind."""
BESIDE: Final = WITH_BONDS + MAX_DEGREE * SECTION
"""For each atom and each order of bond, the neighbours by such bonds."""
N_ORDERS: Final = 16
KNOWN_SIZE: Final = BESIDE + N_ORDERS * SECTION
assert KNOWN_SIZE <= PER_MOLECULE

# sections of the workspace
_ORDER: Final = 0
"""The atoms of a set of bonds, each but the first with a bond of the set to an earlier one."""
_BACK: Final = SECTION
"""For each place in the order, the bonds of its atom to earlier atoms."""
_OPTIONS: Final = 2 * SECTION
"""For each place, the images that are left to try."""
_DOMAINS: Final = 3 * SECTION
"""For each atom, the images that it may have, whatever the other atoms' images are."""
_N_PLACED: Final = 4 * SECTION
PLACE_WORK: Final = 4 * SECTION + 1


class Group(NamedTuple):
    """The molecules that motifs are placed in.

    ``known``: (k, `PER_MOLECULE`), filled in by `know`; ``turns``: (k,), the order in which they are tried;
    ``rarity``: how often the label of each query atom occurs; ``work``: `PLACE_WORK`. All int64.
    """

    known: Ints
    turns: Ints
    rarity: Ints
    work: Ints


@kernel
def order_atoms(query: Ints, bonds: int, group: Group) -> None:
    """Put the atoms of a connected set of bonds in the order in which `place` takes them.

    The rarest one first; then always one with the most bonds to earlier ones, the rarest of these,
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
    """A molecule's atoms with the label of an atom and at least its bonds of each kind within a set."""
    domain = int(known[WITH_LABEL + atom])
    around = query[INCIDENT + atom] & bonds
    while around:
        kind = query[CLASS + place_of(around & -around)]
        alike = around & query[OF_CLASS + kind]
        around &= ~alike
        domain &= known[WITH_BONDS + MAX_DEGREE * kind + n_bits(alike) - 1]
    return domain


@kernel
def place(query: Ints, bonds: int, known: Ints, image: Ints8, work: Ints, limit: int) -> int:
    """Find images in a molecule for the atoms of a set of bonds, which are in order (`order_atoms`).

    ``known``: as `know` fills it in. ``image`` (int8, one for each query atom) receives the images, -1
    elsewhere. Returns the steps that were taken (candidates tried); ``-1 - steps`` if there are no
    such images, or ``limit`` steps did not tell.
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
            # back from a dead end: undo the image
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
def extend(query: Ints, known: Ints, image: Ints8, bond: int) -> bool:
    """Place one more bond without moving an atom, if that is possible.

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
    """A bond's kind as a number: its order, and the labels of its atoms."""
    return (min(label, other) * 1_024 + max(label, other)) * 16 + order


@kernel
def _add_bit(known: Ints, kind: int, atom: int) -> None:
    """Record that an atom has one more bond of a kind."""
    at = WITH_BONDS + MAX_DEGREE * kind
    while known[at] >> atom & 1:
        at += 1
    known[at] |= 1 << atom


@kernel
def know(query: Ints, row: Rows[Atom], kinds: Ints, n_kinds: int, counts: Ints, known: Ints) -> None:
    """Fill in the facts about a molecule, `KNOWN_SIZE`, and count its bonds of each kind."""
    n = len(row)
    counts[:n_kinds] = 0
    known[WITH_BONDS : WITH_BONDS + MAX_DEGREE * n_kinds] = 0
    known[BESIDE : BESIDE + N_ORDERS * n] = 0
    for atom in range(n):
        label = row[atom].label
        for at in range(row[atom].degree):
            # as int64: in int32, numpy's shifts leave nothing of 1 << 32
            bond = int(row[atom].bonds[at])
            other, order = bond >> 4, bond & 15
            known[BESIDE + N_ORDERS * atom + order] |= 1 << other
            if other < atom:
                continue
            kind = kind_of(label, row[other].label, order)
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
            with_label |= (row[there].label == label) << there
        known[WITH_LABEL + atom] = with_label


@kernel
def take_in(
    packed: Ints, group: Group, n_turns: int, motif: int, bond: int, before: Ints8, after: Ints8,
    limit: int,
) -> int:  # fmt: skip
    """Place a motif and one more bond in the first ``n_turns`` molecules by their turns.

    Returns the steps taken, ``-1 - steps`` if it is impossible.

    A molecule that lacks the larger motif comes first the next time.
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
def is_wanted(packed: Ints, motif: int, found: Largest) -> bool:
    """Whether a set of bonds is a motif (its ring bonds are on rings of it), and no larger one is known."""
    bonds = n_bits(motif)
    if bonds < found.bonds:
        return False
    if bonds == found.bonds and n_bits(ends_of(packed, motif)) < found.atoms:
        return False
    return not motif & packed[CYCLIC] or not bridges(packed, motif) & packed[CYCLIC]


@kernel
def lacking(
    packed: Ints, group: Group, motif: int, placed: Ints8, image: Ints8, found: Largest, limit: int
) -> int:
    """The turn of a molecule that lacks a motif, -1 if none does; skips those in which it is ``placed``."""
    order_atoms(packed, motif, group)
    first = packed[FIRST + place_of(motif & -motif)]
    for turn in range(len(group.turns)):
        at = group.turns[turn]
        if placed[at, first] >= 0:
            continue
        taken = place(packed, motif, group.known[at], image, group.work, limit - found.steps)
        found.steps += taken if taken >= 0 else -1 - taken
        if taken < 0:
            return turn
    return -1


@kernel
def keep(packed: Ints, motif: int, found: Largest, motifs: Ints) -> None:
    """List a motif; those listed are dropped if it is larger."""
    bonds, atoms = n_bits(motif), n_bits(ends_of(packed, motif))
    if bonds > found.bonds or atoms > found.atoms:
        found.bonds, found.atoms, found.motifs = bonds, atoms, 0
    if found.motifs < MAX_MOTIFS:
        motifs[found.motifs] = motif
    found.motifs += 1


FIRST_TURNS: Final = 3
"""Molecules that every motif is placed in from the beginning."""

# sections of the work space; turns follow
_KINDS: Final = PACKED_SIZE
_COUNTS: Final = _KINDS + SECTION
_LEAST: Final = _COUNTS + SECTION
_RARITY: Final = _LEAST + SECTION
_PLACE: Final = _RARITY + SECTION
assert _PLACE + PLACE_WORK <= WORK_SIZE

_MOTIF, _LEFT, _TAKEN, _IS_NEW = range(FRAME_SIZE)
"""Fields of each state on the way to the present one: the bonds of the motif; those that may be taken in;
those to leave out once the bond that is taken in next has been searched; and whether the motif may still have
to be listed (2: now is the time to decide)."""


class Query(NamedTuple):
    """The molecule that motifs are cut out of: ``packed``, its bonds as bits (`relfast_kernels.mcs.packed`),
    its atoms (``row``), and for each of its kinds of bonds the ``least`` number in any molecule of the
    group."""

    packed: Ints
    row: Rows[Atom]
    least: Ints
    n_kinds: int


@kernel
def pack(row: Rows[Atom], packed: Ints, kinds: Ints) -> int:
    """Write the query's bonds as bits to ``packed``; the number of their kinds."""
    n = len(row)
    bonds, n_kinds, cyclic = 0, 0, 0
    packed[INCIDENT : INCIDENT + SECTION] = 0
    packed[OF_CLASS : OF_CLASS + SECTION] = 0
    for atom in range(n):
        packed[LABELS + atom] = row[atom].label
        for at in range(row[atom].degree):
            other = row[atom].bonds[at] >> 4
            order = row[atom].bonds[at] & 15
            if other < atom:
                continue
            kind = kind_of(row[atom].label, row[other].label, order)
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
def count_labels(packed: Ints, row: Rows[Atom], rarity: Ints) -> None:
    """Add, for each query atom, how often its label occurs in a molecule."""
    for atom in range(packed[N_ATOMS]):
        for there in range(len(row)):
            rarity[atom] += row[there].label == packed[LABELS + atom]


@kernel
def twins(query: Query, bond: int, is_open: int, motif: int) -> int:
    """If a bond leads to a leaf, the open bonds to leaves that are interchangeable with it; else 0."""
    packed, row = query.packed, query.row
    atoms = ends_of(packed, motif) if motif else 0
    first = packed[FIRST + bond]
    other = packed[ENDS + bond] ^ first
    anchor = first if atoms >> first & 1 else other
    leaf = anchor ^ first ^ other
    alike = 0
    if packed[INCIDENT + leaf] == 1 << bond and atoms >> anchor & 1:
        left = packed[INCIDENT + anchor] & is_open & packed[OF_CLASS + packed[CLASS + bond]]
        twin = row[leaf].twin
        while left:
            low = left & -left
            left ^= low
            there = packed[ENDS + place_of(low)] ^ anchor
            if packed[INCIDENT + there] == low and row[there].twin == twin:
                alike |= low
    return alike


@kernel
def bonds_in_common(query: Query, bonds: int) -> int:
    """Upper bound on how many bonds of a set all molecules of the group can have, kind by kind."""
    total = 0
    for kind in range(query.n_kinds):
        total += min(n_bits(bonds & query.packed[OF_CLASS + kind]), query.least[kind])
    return total


@kernel
def within_reach(query: Query, motif: int, left: int, atoms: int, found: Largest) -> int:
    """The bonds that may still be taken in; 0 if no motif as large as the largest known can come of it."""
    packed = query.packed
    if packed[CYCLIC]:
        gone = without_ring(packed, (motif | left) & packed[CYCLIC])
        if gone & motif:
            return 0
        left &= ~gone
    left, reached = reach(packed, atoms, left)
    best = found.bonds
    at_most = bonds_in_common(query, motif | left)
    if at_most < best:
        return 0
    if at_most == best:
        rings = n_bits(motif) + 1 - n_bits(atoms)
        if min(n_bits(reached | atoms), at_most + 1 - rings) < found.atoms:
            return 0
    return left


@kernel
def front_of(packed: Ints, atoms: int, left: int) -> int:
    """The bonds of ``left`` at these atoms."""
    front = 0
    while atoms:
        front |= packed[INCIDENT + place_of(atoms & -atoms)] & left
        atoms &= atoms - 1
    return front


@kernel
def choose(packed: Ints, atoms: int, front: int, loose: int) -> int:
    """The bond to take in next: one that closes a ring, else one that continues a ring, else any."""
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
def choose_root(packed: Ints, part: int) -> int:
    """The bond of a part to begin with: of a kind that is rare there, with many bonds around it."""
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


@kernel
def _from_root(search: Search, query: Query, group: Group, is_open: int, root: int, n_turns: int) -> int:
    """List the largest motifs with the bond ``root`` among the bonds ``is_open``; stops at ``limit`` steps.

    Returns the number of molecules that motifs are placed in at once from now on.
    """
    images, frames, found, limit = search.images, search.frames, search.found, search.limit
    packed, turns = query.packed, group.turns
    depth = 0
    taken = take_in(packed, group, n_turns, 0, root, images[0], images[0], limit)
    if taken < 0:
        found.steps += -1 - taken
        return n_turns
    found.steps += taken
    frames[0, _MOTIF], frames[0, _LEFT], frames[0, _IS_NEW] = 1 << root, is_open & ~(1 << root), 1
    while depth >= 0 and found.steps < limit:
        motif, left = frames[depth, _MOTIF], frames[depth, _LEFT]
        found.steps += 1
        atoms = ends_of(packed, motif)
        left = within_reach(query, motif, left, atoms, found)
        # a motif is judged after all larger ones that grow from it: on the way to the first one nothing is
        # placed in all molecules
        is_back = frames[depth, _IS_NEW] and (left == 0 or frames[depth, _IS_NEW] == 2)
        if is_back and is_wanted(packed, motif, found):
            frames[depth, _IS_NEW] = 0
            turn = lacking(packed, group, motif, images[depth], images[DEPTHS - 1, 0], found, limit)
            if turn < 0:
                keep(packed, motif, found, search.motifs)
            elif found.steps < limit:
                # from now on motifs are placed in that molecule at once; it lacks all larger ones as well
                left = 0
                if turn >= n_turns:
                    turns[n_turns], turns[turn] = turns[turn], turns[n_turns]
                    n_turns += 1
        if left == 0:
            depth -= 1
            if depth >= 0:
                # now leave out the bond that was taken in
                frames[depth, _LEFT] &= ~frames[depth, _TAKEN]
                if frames[depth, _IS_NEW]:
                    frames[depth, _IS_NEW] = 2
            continue
        loose = bridges(packed, motif) & packed[CYCLIC] if motif & packed[CYCLIC] else 0
        bond = choose(packed, atoms, front_of(packed, atoms, left), loose)
        gone = 1 << bond | twins(query, bond, left, motif)
        left_steps = limit - found.steps
        taken = take_in(packed, group, n_turns, motif, bond, images[depth], images[depth + 1], left_steps)
        if taken < 0:
            found.steps += -1 - taken
            frames[depth, _LEFT] = left & ~gone
            continue
        found.steps += taken
        frames[depth, _LEFT], frames[depth, _TAKEN] = left, gone
        depth += 1
        frames[depth, _MOTIF], frames[depth, _LEFT] = motif | 1 << bond, left & ~(1 << bond)
        frames[depth, _IS_NEW] = 1
    return n_turns


@kernel
def largest_motifs(search: Search) -> int:
    """List the largest motifs that a molecule and the others of its group have in common; 1 if the search
    came to its end, else 0."""
    work, starts, atoms, known, found = search.work, search.starts, search.atoms, search.known, search.found
    packed = work[:PACKED_SIZE]
    kinds, counts = work[_KINDS : _KINDS + SECTION], work[_COUNTS : _COUNTS + SECTION]
    least, rarity = work[_LEAST : _LEAST + SECTION], work[_RARITY : _RARITY + SECTION]
    row, k = atoms[: starts[1]], search.k
    n_kinds = pack(row, packed, kinds)
    least[:] = packed[N_BONDS]
    for at in range(k):
        know(packed, atoms[starts[at + 1] : starts[at + 2]], kinds, n_kinds, counts, known[at])
        for kind in range(n_kinds):
            least[kind] = min(least[kind], counts[kind])
    is_open = 0
    for kind in range(n_kinds):
        if least[kind]:
            is_open |= packed[OF_CLASS + kind]
    found.motifs, found.steps = 0, 0
    found.bonds, found.atoms = max(1, search.min_atoms - 1), search.min_atoms
    query = Query(packed, row, least, n_kinds)
    if bonds_in_common(query, is_open) < found.bonds:
        return 1
    turns = work[WORK_SIZE : WORK_SIZE + k]
    for at in range(k):
        turns[at] = at
    n_turns = min(k, FIRST_TURNS)
    group = Group(known, turns, rarity, work[_PLACE : _PLACE + PLACE_WORK])
    search.images[:, :k] = -1
    rarity[:] = 0
    count_labels(packed, atoms[starts[1] : starts[2]], rarity)
    while is_open:
        is_open &= ~without_ring(packed, is_open & packed[CYCLIC])
        if not is_open:
            break
        # the part with the most bonds in it
        part, rest, most = 0, is_open, -1
        while rest:
            one, _ = reach(packed, 1 << packed[FIRST + place_of(rest & -rest)], rest)
            rest &= ~one
            at_most = bonds_in_common(query, one)
            if at_most < found.bonds:
                is_open &= ~one
            elif at_most > most:
                part, most = one, at_most
        if not part:
            break
        root = choose_root(packed, part)
        n_turns = _from_root(search, query, group, part, root, n_turns)
        if found.steps >= search.limit:
            return 0
        is_open &= ~(1 << root)
    return 1


@kernel
def _n_bits(word: np.uint64) -> int:
    n = 0
    while word != 0:
        word &= word - np.uint64(1)
        n += 1
    return n


@kernel
def similar(
    prints: Words, counts: Ints, index: int, lowest: float, highest: float, places: Ints, shares: Doubles
) -> int:
    """Find the fingerprints whose Tanimoto similarity to one is within bounds; how many there are.

    Parameters
    ----------
    prints
        ``(n, words)`` uint64: fingerprints as bits.
    counts
        ``(n,)`` int64: how many bits of each are set.
    index
        The one to compare with; it does not count itself.
    lowest, highest
        Bounds of the similarity: bits set in both over bits set in either, 0 for two without any.
    places, shares
        ``(n,)`` int64 and float64, out: their indices, ascending, and their similarities.
    """
    found = 0
    count = counts[index]
    for at in range(len(prints)):
        if at == index:
            continue
        other_count = counts[at]
        # no more bits can be common than the smaller count; with some room for rounding
        if min(count, other_count) + 1e-6 < lowest * max(count, other_count):
            continue
        common = 0
        for word in range(prints.shape[1]):
            common += _n_bits(prints[index, word] & prints[at, word])
        either = count + other_count - common
        share = common / either if either else 0.0
        if lowest <= share <= highest:
            places[found] = at
            shares[found] = share
            found += 1
    return found


@kernel
def _similar(asked: Prints) -> int:
    """`similar` for `Prints`."""
    return similar(
        asked.prints, asked.counts, asked.index, asked.lowest, asked.highest, asked.places, asked.shares
    )


ENTRIES = {"largest": (largest_motifs, Search), "similar": (_similar, Prints)}
"""Name → function and what it is given."""
