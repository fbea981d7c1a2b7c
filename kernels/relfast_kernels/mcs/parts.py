"""Whether a molecule lies in another with its ring atoms on ring atoms and its chain atoms on chain atoms.

A bond keeps its order; that between the rings of biphenyl is found in fluorene.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.bits import place_of
from relfast_kernels.mcs.layouts import PREPARED_SIZE
from relfast_kernels.mcs.packed import ENDS, IN_RING, INCIDENT, LABELS, N_ATOMS, N_BONDS, ORDERS, PACKED_SIZE
from relfast_kernels.mcs.prepared import WHOLE
from relfast_kernels.smiles.layouts import CHARGES, NEUTRAL, SECTION

Ints = npt.NDArray[np.int64]

PART_STEPS: Final = 20_000
"""Images tried before RDKit is asked: 0.2 ms."""

# sections of the workspace
_ORDER: Final = 0
"""The part's atoms in the order of the search: each but the first has a bond to an earlier one."""
_ANCHOR: Final = SECTION
"""For each place in the order an earlier neighbour of its atom."""
_IMAGE: Final = 2 * SECTION
_LEFT: Final = 3 * SECTION
"""For each place the target atoms that are still to be tried."""
PARTS_WORK: Final = 4 * SECTION


@kernel
def _neighbours(packed: Ints, atom: int) -> int:
    atoms = 0
    bonds = packed[INCIDENT + atom]
    while bonds:
        low = bonds & -bonds
        bonds ^= low
        atoms |= 1 << (packed[ENDS + place_of(low)] ^ atom)
    return atoms


@kernel
def _search_order(part: Ints, work: Ints) -> int:
    """Breadth first from the first atom; how many are reached."""
    work[_ORDER] = 0
    placed, done, seen = 1, 0, 1
    while done < placed:
        atom = work[_ORDER + done]
        done += 1
        new = _neighbours(part, atom) & ~seen
        seen |= new
        while new:
            low = new & -new
            new ^= low
            work[_ORDER + placed] = place_of(low)
            work[_ANCHOR + placed] = atom
            placed += 1
    return placed


@kernel
def _fits(part: Ints, whole: Ints, atom: int, image: int, matched: int, work: Ints) -> bool:
    """Whether an atom can have an image, given those of the ``matched`` ones. RDKit's rule for charges: one
    that has none matches any."""
    ours, theirs = part[LABELS + atom], whole[LABELS + image]
    if (ours ^ theirs) & 1:
        return False
    ours, theirs = ours >> 1, theirs >> 1
    if ours != theirs and (ours % CHARGES != NEUTRAL or ours // CHARGES != theirs // CHARGES):
        return False
    bonds = part[INCIDENT + atom]
    while bonds:
        low = bonds & -bonds
        bonds ^= low
        bond = place_of(low)
        other = part[ENDS + bond] ^ atom
        if matched >> other & 1:
            there = whole[INCIDENT + image] & whole[INCIDENT + work[_IMAGE + other]]
            if there == 0 or (whole[ORDERS + place_of(there)] ^ part[ORDERS + bond]) & ~IN_RING:
                return False
    return True


@kernel
def lies_in(part: Ints, whole: Ints, work: Ints) -> int:
    """Whether one graph that is packed for whole rings lies in another: 1 or 0, `UNKNOWN` if it takes too
    long to say, or if the part has several fragments.

    ``work``: int64, `PARTS_WORK`.
    """
    n = part[N_ATOMS]
    if n > whole[N_ATOMS] or part[N_BONDS] > whole[N_BONDS]:
        return 0
    if _search_order(part, work) < n:
        return UNKNOWN
    everywhere = (1 << whole[N_ATOMS]) - 1
    work[_LEFT] = everywhere
    place, matched, taken, steps = 0, 0, 0, 0
    while True:
        left = work[_LEFT + place] & ~taken
        atom = work[_ORDER + place]
        found = -1
        while left:
            low = left & -left
            left ^= low
            steps += 1
            if steps > PART_STEPS:
                return UNKNOWN
            if _fits(part, whole, atom, place_of(low), matched, work):
                found = place_of(low)
                break
        work[_LEFT + place] = left
        if found >= 0:
            work[_IMAGE + atom] = found
            matched |= 1 << atom
            taken |= 1 << found
            place += 1
            if place == n:
                return 1
            work[_LEFT + place] = _neighbours(whole, work[_IMAGE + work[_ANCHOR + place]])
            continue
        place -= 1
        if place < 0:
            return 0
        atom = work[_ORDER + place]
        matched ^= 1 << atom
        taken ^= 1 << work[_IMAGE + atom]


@kernel
def first_part(prepared: Ints, parts: Ints, n_parts: int, work: Ints) -> int:
    """Which of several prepared molecules is the first that lies in one; ``n_parts`` if none does."""
    for at in range(n_parts):
        start = at * PREPARED_SIZE + WHOLE
        found = lies_in(parts[start : start + PACKED_SIZE], prepared[WHOLE : WHOLE + PACKED_SIZE], work)
        if found == UNKNOWN:
            return UNKNOWN
        if found:
            return at
    return n_parts
