"""Depth first, branch and bound."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.bits import n_bits, place_of
from relfast_kernels.mcs.bound import narrow
from relfast_kernels.mcs.packed import (
    CLASS,
    CYCLIC,
    ENDS,
    HASHES,
    INCIDENT,
    N_ATOMS,
    OF_CLASS,
    ROUNDS,
    bridges,
)
from relfast_kernels.mcs.state import (
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
    N_MATCHED,
    OPEN,
    STEPS,
    TOUCHED,
    TOUCHED_THERE,
)
from relfast_kernels.smiles.layouts import SECTION

Ints = npt.NDArray[np.int64]


@kernel
def likeness(query: Ints, target: Ints, atom: int, image: int) -> int:
    """How far the surroundings of two atoms are the same, in bonds."""
    alike = 0
    for far in range(ROUNDS):
        place = HASHES + far * SECTION
        alike += query[place + atom] == target[place + image]
    return alike


@kernel
def _keep_if_better(query: Ints, state: Ints, frame: int) -> None:
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
    """Make the next frame: this one with one more atom matched. False if a deleted bond comes true."""
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
    """The bonds to be tried as images of the one to branch on."""
    bond, anchor = state[frame + BOND], state[frame + ANCHOR]
    image = state[IMAGE + anchor]
    free = state[frame + FREE]
    found = free & target[INCIDENT + image] & target[OF_CLASS + query[CLASS + bond]]
    state[frame + CANDIDATES] = found
    state[frame + FORCED] = 0
    new = query[ENDS + bond] ^ anchor
    if query[INCIDENT + new] & state[frame + OPEN] == 1 << bond and not query[CYCLIC] >> bond & 1:
        # a leaf to a leaf: no other way to use either is better
        while found:
            low = found & -found
            found ^= low
            if target[INCIDENT + (target[ENDS + place_of(low)] ^ image)] & free == low:
                state[frame + CANDIDATES] = low
                state[frame + FORCED] = 1
                return


@kernel
def _take_candidate(query: Ints, target: Ints, state: Ints, frame: int) -> int:
    """The most alike of the candidates' far ends, -1 if there are no more."""
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
    """Delete the bond that was branched on; of leaves that are interchangeable, all that are left."""
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
    """Find the best solution in which one atom has a given image, if it is better than the best one so far.

    ``is_open`` and ``free`` are the bonds of query and target that may be matched, ``limit`` the number of
    steps after which it returns `UNKNOWN`, else 0.
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
