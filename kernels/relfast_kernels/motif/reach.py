"""What may still be taken into a motif, and what comes next."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.bits import n_bits, place_of
from relfast_kernels.mcs.count import without_ring
from relfast_kernels.mcs.packed import CLASS, CYCLIC, ENDS, FIRST, INCIDENT, OF_CLASS, reach
from relfast_kernels.motif.rows import FOUND_ATOMS, FOUND_BONDS

Ints = npt.NDArray[np.int64]


@kernel
def bonds_in_common(packed: Ints, n_kinds: int, least: Ints, bonds: int) -> int:
    total = 0
    for kind in range(n_kinds):
        total += min(n_bits(bonds & packed[OF_CLASS + kind]), least[kind])
    return total


@kernel
def within_reach(
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
    at_most = bonds_in_common(packed, n_kinds, least, motif | left)
    if at_most < best:
        return 0
    if at_most == best:
        rings = n_bits(motif) + 1 - n_bits(atoms)
        if min(n_bits(reached | atoms), at_most + 1 - rings) < found[FOUND_ATOMS]:
            return 0
    return left


@kernel
def front_of(packed: Ints, atoms: int, left: int) -> int:
    """The bonds at these atoms."""
    front = 0
    while atoms:
        front |= packed[INCIDENT + place_of(atoms & -atoms)] & left
        atoms &= atoms - 1
    return front


@kernel
def choose(packed: Ints, atoms: int, front: int, loose: int) -> int:
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
