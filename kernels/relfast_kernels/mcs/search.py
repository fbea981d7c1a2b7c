"""Depth-first branch and bound, with the upper bound on what can become of a partial solution."""

from __future__ import annotations

from typing import Final

from relfast_kernels.bits import n_bits, place_of
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Ints
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.layouts import (
    ANCHOR,
    BEST_ATOMS,
    BEST_BONDS,
    BEST_IMAGE,
    BOND,
    CANDIDATES,
    COMMON,
    DELETED,
    FORCED,
    FRAME_SIZE,
    FRAMES,
    FREE,
    IMAGE,
    IMAGES,
    MATCHED,
    N_CLASSES,
    N_LABELS,
    N_MATCHED,
    OPEN,
    STEPS,
    TOUCHED,
    TOUCHED_THERE,
)
from relfast_kernels.mcs.packed import (
    CLASS,
    CYCLIC,
    ENDS,
    FIRST,
    HASHES,
    INCIDENT,
    LABELS,
    N_ATOMS,
    N_BONDS,
    OF_CLASS,
    OF_LABEL,
    ROUNDS,
    USEFUL,
    bridges,
    ends_of,
    reach,
    share,
    share_labels,
    without_ring,
)
from relfast_kernels.smiles.layouts import SECTION


@kernel
def narrow(query: Ints, target: Ints, state: Ints, frame: int) -> bool:
    """Drop bonds that cannot be matched any more and choose one to branch on; False: nothing to gain."""
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
        of_query = left & query[INCIDENT + atom] & query[OF_CLASS + kind]
        left &= ~of_query
        of_target = free_front & target[INCIDENT + state[IMAGE + atom]] & target[OF_CLASS + kind]
        if of_target == 0:
            is_open &= ~of_query
            continue
        options = n_bits(of_target)
        total += min(n_bits(of_query), options)
        front |= of_query
        front_there |= of_target
        while of_query:
            low = of_query & -of_query
            of_query ^= low
            bond = place_of(low)
            cost = 8 * options - n_bits(query[INCIDENT + (query[ENDS + bond] ^ atom)] & is_open)
            if cost < least:
                least = cost
                chosen = bond
                anchor = atom
    if chosen < 0:
        return False
    inner, inner_there = 0, 0
    query_inside, target_inside = is_open & ~touched, free & ~touched_there
    at_most = total
    for kind in range(n_classes):
        of_query = query_inside & query[OF_CLASS + kind]
        of_target = target_inside & target[OF_CLASS + kind]
        if of_query and of_target:
            inner |= of_query
            inner_there |= of_target
            at_most += min(n_bits(of_query), n_bits(of_target))
    if at_most < best:
        return False
    inner, atoms = reach(query, ends_of(query, front) & ~matched, inner)
    inner_there, atoms_there = reach(
        target, ends_of(target, front_there) & ~state[frame + IMAGES], inner_there
    )
    at_most = total + in_common(query, target, OF_CLASS, n_classes, inner, inner_there)
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
            n_atoms + in_common(query, target, OF_LABEL, state[N_LABELS], atoms, atoms_there),
        )
        if most <= state[BEST_ATOMS]:
            return False
    state[frame + OPEN] = front | inner
    state[frame + FREE] = front_there | inner_there
    state[frame + BOND] = chosen
    state[frame + ANCHOR] = anchor
    return True


@kernel
def in_common(query: Ints, target: Ints, first: int, n: int, of_query: int, of_target: int) -> int:
    """Upper bound on how many of two sets can be matched, class by class: bonds of ``n`` classes (``first``
    is `OF_CLASS`) or atoms of ``n`` labels (`OF_LABEL`)."""
    total = 0
    for place in range(first, first + n):
        total += min(n_bits(of_query & query[place]), n_bits(of_target & target[place]))
    return total


@kernel
def _degrees(packed: Ints, bonds: int) -> tuple[int, int, int, int, int]:
    """Masks of the atoms with one or more of these bonds, with two or more, and so on up to five."""
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
def by_degrees(query: Ints, target: Ints, of_query: int, of_target: int) -> int:
    """Upper bound on matched bonds between atoms of one label, by the degrees of the atoms."""
    one, two, three, four, five = _degrees(query, of_query)
    first, second, third, fourth, fifth = _degrees(target, of_target)
    ends = min(n_bits(one), n_bits(first)) + min(n_bits(two), n_bits(second))
    ends += min(n_bits(three), n_bits(third)) + min(n_bits(four), n_bits(fourth))
    return (ends + 2 * min(n_bits(five), n_bits(fifth))) // 2


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
    """Upper bound on matched bonds between mapped and unmapped atoms.

    Of the bonds of an unmapped atom, only those can be matched whose possible images meet at one atom.
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
def degrees_forbid(query: Ints, target: Ints, n_classes: int, of_query: int, of_target: int) -> int:
    """By how many bonds the degrees of atoms lower the bound of `in_common`."""
    fewer = 0
    for kind in range(n_classes):
        here = of_query & query[OF_CLASS + kind]
        there = of_target & target[OF_CLASS + kind]
        most = min(n_bits(here), n_bits(there))
        if most > 1:
            bond = place_of(here & -here)
            first = query[FIRST + bond]
            if query[LABELS + first] == query[LABELS + (first ^ query[ENDS + bond])]:
                fewer += max(0, most - by_degrees(query, target, here, there))
    return fewer


@kernel
def likeness(query: Ints, target: Ints, atom: int, image: int) -> int:
    """How far the surroundings of two atoms are the same, in bonds (by their hashes)."""
    alike = 0
    for far in range(ROUNDS):
        place = HASHES + far * SECTION
        alike += query[place + atom] == target[place + image]
    return alike


@kernel
def _keep_if_better(query: Ints, state: Ints, frame: int) -> None:
    """Make a frame's solution the best one if it has more bonds, or as many and more atoms."""
    bonds, atoms = state[frame + N_MATCHED], n_bits(state[frame + MATCHED])
    if bonds > state[BEST_BONDS] or (bonds == state[BEST_BONDS] and atoms > state[BEST_ATOMS]):
        common = state[frame + COMMON]
        if common & query[CYCLIC] and bridges(query, common) & query[CYCLIC]:
            return
        state[BEST_BONDS] = bonds
        state[BEST_ATOMS] = atoms
        for atom in range(query[N_ATOMS]):
            state[BEST_IMAGE + atom] = state[IMAGE + atom] if state[frame + MATCHED] >> atom & 1 else -1


@kernel
def _match(query: Ints, target: Ints, state: Ints, frame: int, atom: int, image: int) -> bool:
    """Push a frame: this one with one more atom mapped. False if a deleted bond comes true."""
    next_frame = frame + FRAME_SIZE
    is_open, deleted, touched = state[frame + OPEN], state[frame + DELETED], state[frame + TOUCHED]
    touched_there = state[frame + TOUCHED_THERE]
    around, around_there = query[INCIDENT + atom], target[INCIDENT + image]
    gained = 0
    common = state[frame + COMMON]
    closing = around & touched & (is_open | deleted)
    while closing:
        low = closing & -closing
        closing ^= low
        bond = place_of(low)
        other = state[IMAGE + (query[ENDS + bond] ^ atom)]
        if around_there & target[INCIDENT + other] & target[OF_CLASS + query[CLASS + bond]]:
            if deleted & low:
                return False
            gained += 1
            common |= low
    state[IMAGE + atom] = image
    state[next_frame + OPEN] = is_open & ~(around & touched)
    state[next_frame + DELETED] = deleted
    state[next_frame + TOUCHED] = touched | around
    state[next_frame + MATCHED] = state[frame + MATCHED] | 1 << atom
    state[next_frame + FREE] = state[frame + FREE] & ~(around_there & touched_there)
    state[next_frame + TOUCHED_THERE] = touched_there | around_there
    state[next_frame + IMAGES] = state[frame + IMAGES] | 1 << image
    state[next_frame + COMMON] = common
    state[next_frame + N_MATCHED] = state[frame + N_MATCHED] + gained
    _keep_if_better(query, state, next_frame)
    return True


@kernel
def _list_candidates(query: Ints, target: Ints, state: Ints, frame: int) -> None:
    """Set the target bonds to be tried as images of the one that is branched on."""
    bond, anchor = state[frame + BOND], state[frame + ANCHOR]
    image = state[IMAGE + anchor]
    free = state[frame + FREE]
    found = free & target[INCIDENT + image] & target[OF_CLASS + query[CLASS + bond]]
    state[frame + CANDIDATES] = found
    state[frame + FORCED] = 0
    new = query[ENDS + bond] ^ anchor
    if query[INCIDENT + new] & state[frame + OPEN] == 1 << bond and not query[CYCLIC] >> bond & 1:
        # map a leaf to a leaf: no other use of either is better
        while found:
            low = found & -found
            found ^= low
            if target[INCIDENT + (target[ENDS + place_of(low)] ^ image)] & free == low:
                state[frame + CANDIDATES] = low
                state[frame + FORCED] = 1
                return


@kernel
def _take_candidate(query: Ints, target: Ints, state: Ints, frame: int) -> int:
    """Take the candidate whose far end is most alike, and return that atom; -1 if there are no more."""
    bond, anchor = state[frame + BOND], state[frame + ANCHOR]
    new, image = query[ENDS + bond] ^ anchor, state[IMAGE + anchor]
    free = state[frame + FREE]
    taken, most, leaves = 0, -1, 0
    left = state[frame + CANDIDATES]
    while left:
        low = left & -left
        left ^= low
        there = target[ENDS + place_of(low)] ^ image
        if target[INCIDENT + there] & free == low:
            leaves |= low
        alike = likeness(query, target, new, there)
        if alike > most:
            most = alike
            taken = low
    if taken == 0:
        return -1
    # leaves are interchangeable: one of them is enough
    state[frame + CANDIDATES] &= ~(leaves if leaves & taken else taken)
    return int(target[ENDS + place_of(taken)] ^ image)


@kernel
def _delete(query: Ints, state: Ints, frame: int) -> None:
    """Delete the bond that was branched on, and with it all leaves that are interchangeable with it."""
    bond, anchor = state[frame + BOND], state[frame + ANCHOR]
    is_open = state[frame + OPEN]
    gone = 1 << bond
    if query[INCIDENT + (query[ENDS + bond] ^ anchor)] & is_open == gone:
        twins = query[INCIDENT + anchor] & is_open & query[OF_CLASS + query[CLASS + bond]]
        while twins:
            low = twins & -twins
            twins ^= low
            if query[INCIDENT + (query[ENDS + place_of(low)] ^ anchor)] & is_open == low:
                gone |= low
    state[frame + OPEN] = is_open & ~gone
    state[frame + DELETED] |= gone


@kernel
def search(
    query: Ints, target: Ints, state: Ints, is_open: int, free: int, root: int, image: int, limit: int
) -> int:
    """Find the best solution that maps ``root`` to ``image``, if it is better than the best one so far.

    ``is_open`` and ``free`` are the bonds of query and target that may be matched. Returns 0, or `UNKNOWN`
    once ``limit`` steps have been taken in all.
    """
    frame = FRAMES
    state[frame + OPEN] = is_open
    state[frame + DELETED] = 0
    state[frame + TOUCHED] = query[INCIDENT + root]
    state[frame + MATCHED] = 1 << root
    state[frame + FREE] = free
    state[frame + TOUCHED_THERE] = target[INCIDENT + image]
    state[frame + IMAGES] = 1 << image
    state[frame + N_MATCHED] = 0
    state[frame + COMMON] = 0
    state[IMAGE + root] = image
    entering = True
    while frame >= FRAMES:
        if entering:
            if state[STEPS] >= limit:
                return UNKNOWN
            state[STEPS] += 1
            entering = False
            if not narrow(query, target, state, frame):
                frame -= FRAME_SIZE
                continue
            _list_candidates(query, target, state, frame)
        there = _take_candidate(query, target, state, frame)
        if there >= 0:
            new = query[ENDS + state[frame + BOND]] ^ state[frame + ANCHOR]
            if _match(query, target, state, frame, new, there):
                frame += FRAME_SIZE
                entering = True
        elif state[frame + FORCED]:
            frame -= FRAME_SIZE
        else:
            _delete(query, state, frame)
            entering = True
    return 0


DIVES: Final = 3

WHOLE_STEPS: Final = 500
"""Steps for finding the whole query in the target; a tenth is enough for most pairs where it is."""


@kernel
def _start(query: Ints, target: Ints, state: Ints) -> int:
    """Number what both share and start with a solution without bonds; the number of shared classes."""
    state[N_CLASSES] = share(query, target, state)
    state[N_LABELS] = share_labels(query, target, state)
    state[BEST_BONDS] = 0
    state[BEST_ATOMS] = 0
    state[STEPS] = 0
    for atom in range(query[N_ATOMS]):
        state[BEST_IMAGE + atom] = -1
    for found in range(state[N_LABELS]):
        atoms = query[OF_LABEL + found]
        if not atoms or not target[OF_LABEL + found]:
            continue
        # a ring atom alone is no whole ring
        if not query[INCIDENT + place_of(atoms & -atoms)] & query[CYCLIC]:
            state[BEST_ATOMS] = 1
    return int(state[N_CLASSES])


@kernel
def _dive(query: Ints, target: Ints, state: Ints, tried: int) -> int:
    """A short search from the two atoms most alike, the query's not ``tried``; that one, or -1."""
    most, root, image = -1, -1, -1
    for atom in range(query[N_ATOMS]):
        degree = n_bits(query[INCIDENT + atom] & query[USEFUL])
        if tried >> atom & 1 or degree == 0:
            continue
        for there in range(target[N_ATOMS]):
            if query[LABELS + atom] == target[LABELS + there]:
                alike = 8 * likeness(query, target, atom, there)
                alike += min(degree, n_bits(target[INCIDENT + there] & target[USEFUL]))
                if alike > most:
                    most, root, image = alike, atom, there
    if root >= 0:
        limit = state[STEPS] + 2 * query[N_ATOMS]
        search(query, target, state, query[USEFUL], target[USEFUL], root, image, limit)
    return root


@kernel
def _next_root(query: Ints, target: Ints, is_open: int) -> int:
    """The query atom with the fewest possible images per open bond, -1 if no bond is open."""
    least, root = 1 << 30, -1
    for atom in range(query[N_ATOMS]):
        degree = n_bits(query[INCIDENT + atom] & is_open)
        if degree:
            cost = 64 * n_bits(target[OF_LABEL + query[LABELS + atom]]) // degree
            if cost < least:
                least, root = cost, atom
    return root


@kernel
def _search_images(query: Ints, target: Ints, state: Ints, is_open: int, root: int, limit: int) -> int:
    """Search for all solutions that contain an atom; 0 or `UNKNOWN`."""
    images = target[OF_LABEL + query[LABELS + root]]
    for there in range(target[N_ATOMS]):
        if not images >> there & 1 or not target[INCIDENT + there] & target[USEFUL]:
            continue
        if search(query, target, state, is_open, target[USEFUL], root, there, limit) == UNKNOWN:
            return UNKNOWN
    return 0


@kernel
def _search_whole(query: Ints, target: Ints, state: Ints) -> bool:
    """Search for the whole query in the target, pruning every deletion; False if it was not found."""
    bonds, atoms = state[BEST_BONDS], state[BEST_ATOMS]
    state[BEST_BONDS] = query[N_BONDS] - 1
    state[BEST_ATOMS] = query[N_ATOMS]
    root = _next_root(query, target, query[USEFUL])
    _search_images(query, target, state, query[USEFUL], root, state[STEPS] + WHOLE_STEPS)
    if state[BEST_BONDS] == query[N_BONDS]:
        return True
    state[BEST_BONDS] = bonds
    state[BEST_ATOMS] = atoms
    return False


@kernel
def largest_common(query: Ints, target: Ints, state: Ints, limit: int) -> int:
    """Find a common substructure with the most bonds and, among those, the most atoms.

    Its size is in `BEST_BONDS` and `BEST_ATOMS` of ``state``, its atoms' images in the section `BEST_IMAGE`.
    Returns 0, or `UNKNOWN` if ``limit`` steps do not settle it.
    """
    if _start(query, target, state) == 0:
        return 0
    tried = 0
    n_classes = state[N_CLASSES]
    at_most = in_common(query, target, OF_CLASS, n_classes, query[USEFUL], target[USEFUL])
    for dive in range(DIVES):
        root = _dive(query, target, state, tried)
        if state[BEST_BONDS] == query[N_BONDS]:
            return 0
        # after one dive, since many pairs are the same molecule
        if dive == 0 and at_most == query[N_BONDS] and _search_whole(query, target, state):
            return 0
        if root < 0 or state[BEST_BONDS] == at_most:
            break
        tried |= 1 << root
        for atom in range(query[N_ATOMS]):
            if state[BEST_IMAGE + atom] >= 0:
                tried |= 1 << atom
    is_open = query[USEFUL]
    while True:
        root = _next_root(query, target, is_open)
        if root < 0:
            return 0
        component, _ = reach(query, 1 << root, is_open)
        if in_common(query, target, OF_CLASS, n_classes, component, target[USEFUL]) < state[BEST_BONDS]:
            is_open &= ~component
            continue
        if _search_images(query, target, state, component, root, limit) == UNKNOWN:
            return UNKNOWN
        is_open &= ~query[INCIDENT + root]
