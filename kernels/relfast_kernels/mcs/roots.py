"""From where to search: greedy dives, then every pair of atoms that a solution may contain."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.bits import n_bits, place_of
from relfast_kernels.mcs.count import in_common
from relfast_kernels.mcs.orbits import orbit_of, representatives
from relfast_kernels.mcs.packed import (
    CYCLIC,
    INCIDENT,
    LABELS,
    N_ATOMS,
    N_BONDS,
    OF_LABEL,
    USEFUL,
    reach,
    share,
    share_labels,
)
from relfast_kernels.mcs.search import likeness, search
from relfast_kernels.mcs.state import (
    BEST_ATOMS,
    BEST_BONDS,
    BEST_IMAGE,
    N_CLASSES,
    N_LABELS,
    ORBITS,
    STEPS,
)

Ints = npt.NDArray[np.int64]

DIVES: Final = 3

WHOLE_STEPS: Final = 500
"""Steps for finding all of the query in the target; a tenth is enough for most that have it."""


SYMMETRY_FROM: Final = 500
"""Steps after which symmetries are looked for: finding them takes as long as some hundred steps."""


@kernel
def _start(query: Ints, target: Ints, state: Ints) -> int:
    """What both have, and the solution without bonds; the number of classes of bonds in common."""
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
        # one atom is no whole ring
        if not query[INCIDENT + place_of(atoms & -atoms)] & query[CYCLIC]:
            state[BEST_ATOMS] = 1
    return int(state[N_CLASSES])


@kernel
def _dive(query: Ints, target: Ints, state: Ints, tried: int) -> int:
    """A short search from the two atoms most alike, none of them ``tried``; which of the query it was."""
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
    """The atom with the fewest possible images for the bonds that it takes with it, -1 without bonds."""
    least, root = 1 << 30, -1
    for atom in range(query[N_ATOMS]):
        degree = n_bits(query[INCIDENT + atom] & is_open)
        if degree:
            cost = 64 * n_bits(target[OF_LABEL + query[LABELS + atom]]) // degree
            if cost < least:
                least, root = cost, atom
    return root


@kernel
def _search_images(
    query: Ints, target: Ints, state: Ints, is_open: int, root: int, among: int, limit: int
) -> int:
    """Search for all solutions that contain an atom and put it on one ``among`` these; 0 or `UNKNOWN`."""
    images = target[OF_LABEL + query[LABELS + root]] & among
    for there in range(target[N_ATOMS]):
        if not images >> there & 1 or not target[INCIDENT + there] & target[USEFUL]:
            continue
        if search(query, target, state, is_open, target[USEFUL], root, there, limit) == UNKNOWN:
            return UNKNOWN
    return 0


@kernel
def _search_whole(query: Ints, target: Ints, state: Ints) -> bool:
    """Search for the whole query in the target, any deletion pruned; False where it was not found."""
    bonds, atoms = state[BEST_BONDS], state[BEST_ATOMS]
    state[BEST_BONDS] = query[N_BONDS] - 1
    state[BEST_ATOMS] = query[N_ATOMS]
    root = _next_root(query, target, query[USEFUL])
    _search_images(query, target, state, query[USEFUL], root, -1, state[STEPS] + WHOLE_STEPS)
    if state[BEST_BONDS] == query[N_BONDS]:
        return True
    state[BEST_BONDS] = bonds
    state[BEST_ATOMS] = atoms
    return False


@kernel
def largest_common(query: Ints, target: Ints, state: Ints, limit: int) -> int:
    """Find the most bonds, then the most atoms, of a common substructure.

    They are `BEST_BONDS` and `BEST_ATOMS` of ``state``, and its section `BEST_IMAGE` is such a substructure.
    Returns 0, or `UNKNOWN` where ``limit`` steps do not settle it.
    """
    if _start(query, target, state) == 0:
        return 0
    tried = 0
    n_classes = state[N_CLASSES]
    at_most = in_common(query, target, n_classes, query[USEFUL], target[USEFUL])
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
    among = -1
    while True:
        root = _next_root(query, target, is_open)
        if root < 0:
            return 0
        component, _ = reach(query, 1 << root, is_open)
        if not _may_gain(query, target, state, component):
            is_open &= ~component
            continue
        work = state[ORBITS:]
        if among < 0 and state[STEPS] >= SYMMETRY_FROM:
            among = representatives(target, target[USEFUL], work)
        if _search_images(query, target, state, component, root, among, limit) == UNKNOWN:
            return UNKNOWN
        done = 1 << root
        if state[STEPS] >= SYMMETRY_FROM:
            done = orbit_of(query, component, root, (1 << query[N_ATOMS]) - 1, work)
        while done:
            is_open &= ~query[INCIDENT + place_of(done & -done)]
            done &= done - 1


@kernel
def _may_gain(query: Ints, target: Ints, state: Ints, component: int) -> bool:
    """Whether a part of the query may have a better solution."""
    most = in_common(query, target, state[N_CLASSES], component, target[USEFUL])
    return bool(most >= state[BEST_BONDS])
