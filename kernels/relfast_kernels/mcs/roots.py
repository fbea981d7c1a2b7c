"""From where to search: greedy dives, then every pair of atoms that a solution may contain."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.bits import n_bits
from relfast_kernels.mcs.bound import in_common, reach
from relfast_kernels.mcs.packed import INCIDENT, LABELS, N_ATOMS, OF_LABEL, USEFUL, share, share_labels
from relfast_kernels.mcs.search import likeness, search
from relfast_kernels.mcs.state import (
    BEST_ATOMS,
    BEST_BONDS,
    BEST_IMAGE,
    N_CLASSES,
    N_LABELS,
    STEPS,
)

Ints = npt.NDArray[np.int64]

DIVES: Final = 3


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
        if query[OF_LABEL + found] and target[OF_LABEL + found]:
            state[BEST_ATOMS] = 1
    return int(state[N_CLASSES])


@kernel
def _dive(query: Ints, target: Ints, state: Ints, tried: int) -> int:
    """A short search from the two atoms most alike, but not those ``tried``; which one of the query it was."""
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
def largest_common(query: Ints, target: Ints, state: Ints, limit: int) -> int:
    """Find the most bonds, then the most atoms, of a common substructure.

    They are `BEST_BONDS` and `BEST_ATOMS` of ``state``, and its section `BEST_IMAGE` is such a substructure.
    Returns 0, or `UNKNOWN` where ``limit`` steps do not settle it.
    """
    if _start(query, target, state) == 0:
        return 0
    tried = 0
    n_classes = state[N_CLASSES]
    for _ in range(DIVES):
        if state[BEST_BONDS] == in_common(query, target, n_classes, query[USEFUL], target[USEFUL]):
            break
        root = _dive(query, target, state, tried)
        if root < 0:
            break
        tried |= 1 << root
        for atom in range(query[N_ATOMS]):
            if state[BEST_IMAGE + atom] >= 0:
                tried |= 1 << atom
    is_open = query[USEFUL]
    while True:
        # the atom with the fewest possible images for the bonds that it takes with it
        least, root = 1 << 30, -1
        for atom in range(query[N_ATOMS]):
            degree = n_bits(query[INCIDENT + atom] & is_open)
            if degree:
                cost = 64 * n_bits(target[OF_LABEL + query[LABELS + atom]]) // degree
                if cost < least:
                    least, root = cost, atom
        if root < 0:
            return 0
        component, _ = reach(query, 1 << root, is_open)
        if not _may_gain(query, target, state, component):
            is_open &= ~component
            continue
        images = target[OF_LABEL + query[LABELS + root]]
        for there in range(target[N_ATOMS]):
            if not images >> there & 1 or not target[INCIDENT + there] & target[USEFUL]:
                continue
            if search(query, target, state, component, target[USEFUL], root, there, limit) == UNKNOWN:
                return UNKNOWN
        is_open &= ~query[INCIDENT + root]


@kernel
def _may_gain(query: Ints, target: Ints, state: Ints, component: int) -> bool:
    """Whether a part of the query may have a better solution."""
    most = in_common(query, target, state[N_CLASSES], component, target[USEFUL])
    return bool(most >= state[BEST_BONDS])
