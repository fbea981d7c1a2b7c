"""Atoms that a symmetry of their graph carries into each other: of those one stands for all.

A symmetry is found atom by atom, breadth first, as any map of a graph on itself that keeps labels, classes
and degrees. One that takes too long to find is not used: then some atoms are searched that need not be.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.bits import n_bits, place_of
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.packed import CLASS, ENDS, INCIDENT, LABELS, N_ATOMS, OF_CLASS
from relfast_kernels.smiles.layouts import SECTION

Ints = npt.NDArray[np.int64]

SYMMETRY_STEPS: Final = 400
"""Images tried for one symmetry; the largest cages need some hundred."""

# sections of the workspace
_ORDER: Final = 0
_REACHED_BY: Final = SECTION
"""For each place in the order the bond by which its atom was reached, and where that came from."""
_FROM: Final = 2 * SECTION
_IMAGE: Final = 3 * SECTION
_LEFT: Final = 4 * SECTION
"""For each place the bonds that are still to be tried as images of the one by which it was reached."""
ORBIT_WORK: Final = 5 * SECTION


@kernel
def _order_from(packed: Ints, bonds: int, root: int, work: Ints) -> int:
    """The atoms that a set of bonds connects with one, breadth first; how many."""
    work[_ORDER] = root
    placed, done, seen = 1, 0, 1 << root
    while done < placed:
        atom = work[_ORDER + done]
        done += 1
        around = packed[INCIDENT + atom] & bonds
        while around:
            low = around & -around
            around ^= low
            other = packed[ENDS + place_of(low)] ^ atom
            if not seen >> other & 1:
                seen |= 1 << other
                work[_ORDER + placed] = other
                work[_REACHED_BY + placed] = place_of(low)
                work[_FROM + placed] = atom
                placed += 1
    return placed


@kernel
def _keeps(packed: Ints, bonds: int, atom: int, image: int, matched: int, work: Ints) -> bool:
    """Whether an atom and its image look the same to each other and to what is matched."""
    around, around_there = packed[INCIDENT + atom] & bonds, packed[INCIDENT + image] & bonds
    if packed[LABELS + atom] != packed[LABELS + image] or n_bits(around) != n_bits(around_there):
        return False
    while around:
        low = around & -around
        around ^= low
        bond = place_of(low)
        other = packed[ENDS + bond] ^ atom
        if matched >> other & 1:
            there = around_there & packed[INCIDENT + work[_IMAGE + other]]
            if there == 0 or packed[CLASS + place_of(there)] != packed[CLASS + bond]:
                return False
    return True


@kernel
def _is_symmetric(packed: Ints, bonds: int, n: int, image: int, work: Ints) -> bool:
    """Whether a symmetry carries the first atom of the order to another.

    With as many bonds at each image as at its atom, a map that keeps bonds keeps their absence, too.
    """
    root = work[_ORDER]
    if not _keeps(packed, bonds, root, image, 0, work):
        return False
    work[_IMAGE + root] = image
    matched, taken, place, steps = 1 << root, 1 << image, 1, 0
    fresh = True
    while place < n:
        atom = work[_ORDER + place]
        at = work[_IMAGE + work[_FROM + place]]
        if fresh:
            kind = packed[CLASS + work[_REACHED_BY + place]]
            work[_LEFT + place] = packed[INCIDENT + at] & bonds & packed[OF_CLASS + kind]
        left = work[_LEFT + place]
        found = -1
        while left:
            low = left & -left
            left ^= low
            there = packed[ENDS + place_of(low)] ^ at
            steps += 1
            if steps > SYMMETRY_STEPS:
                return False
            if not taken >> there & 1 and _keeps(packed, bonds, atom, there, matched, work):
                found = there
                break
        work[_LEFT + place] = left
        fresh = found >= 0
        if fresh:
            work[_IMAGE + atom] = found
            matched |= 1 << atom
            taken |= 1 << found
            place += 1
            continue
        place -= 1
        if place == 0:
            return False
        atom = work[_ORDER + place]
        matched ^= 1 << atom
        taken ^= 1 << work[_IMAGE + atom]
    return True


@kernel
def orbit_of(packed: Ints, bonds: int, root: int, atoms: int, work: Ints) -> int:
    """Those of a set of atoms that a symmetry of what ``bonds`` connect carries ``root`` to.

    ``bonds`` are of classes that both graphs have; ``work``: int64, `ORBIT_WORK`.
    """
    n = _order_from(packed, bonds, root, work)
    within = 0
    for place in range(n):
        within |= 1 << work[_ORDER + place]
    found = 1 << root & atoms
    left = atoms & within & ~found
    while left:
        low = left & -left
        left ^= low
        if _is_symmetric(packed, bonds, n, place_of(low), work):
            found |= low
    return found


@kernel
def representatives(packed: Ints, bonds: int, work: Ints) -> int:
    """One atom of each orbit."""
    chosen = 0
    left = (1 << packed[N_ATOMS]) - 1
    while left:
        low = left & -left
        chosen |= low
        left &= ~(low | orbit_of(packed, bonds, place_of(low), left, work))
    return chosen
