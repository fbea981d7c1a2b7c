"""What can at most become of a partial solution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.bits import n_bits, place_of
from relfast_kernels.mcs.count import (
    atoms_in_common,
    by_closure,
    degrees_forbid,
    ends_of,
    in_common,
    without_ring,
)
from relfast_kernels.mcs.packed import CLASS, CYCLIC, ENDS, FIRST, INCIDENT, OF_CLASS, reach
from relfast_kernels.mcs.state import (
    ANCHOR,
    BEST_ATOMS,
    BEST_BONDS,
    BOND,
    COMMON,
    FREE,
    IMAGE,
    IMAGES,
    MATCHED,
    N_CLASSES,
    N_LABELS,
    N_MATCHED,
    OPEN,
    TOUCHED,
    TOUCHED_THERE,
)

Ints = npt.NDArray[np.int64]


@kernel
def narrow(query: Ints, target: Ints, state: Ints, frame: int) -> bool:
    """Drop what can no longer be matched and choose the bond to branch on; False if nothing can be gained."""
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
        ours = left & query[INCIDENT + atom] & query[OF_CLASS + kind]
        left &= ~ours
        theirs = free_front & target[INCIDENT + state[IMAGE + atom]] & target[OF_CLASS + kind]
        if theirs == 0:
            is_open &= ~ours
            continue
        options = n_bits(theirs)
        total += min(n_bits(ours), options)
        front |= ours
        front_there |= theirs
        while ours:
            low = ours & -ours
            ours ^= low
            bond = place_of(low)
            cost = 8 * options - n_bits(query[INCIDENT + (query[ENDS + bond] ^ atom)] & is_open)
            if cost < least:
                least = cost
                chosen = bond
                anchor = atom
    if chosen < 0:
        return False
    inner, inner_there = 0, 0
    ours_inside, theirs_inside = is_open & ~touched, free & ~touched_there
    at_most = total
    for kind in range(n_classes):
        ours = ours_inside & query[OF_CLASS + kind]
        theirs = theirs_inside & target[OF_CLASS + kind]
        if ours and theirs:
            inner |= ours
            inner_there |= theirs
            at_most += min(n_bits(ours), n_bits(theirs))
    if at_most < best:
        return False
    inner, atoms = reach(query, ends_of(query, front) & ~matched, inner)
    inner_there, atoms_there = reach(
        target, ends_of(target, front_there) & ~state[frame + IMAGES], inner_there
    )
    at_most = total + in_common(query, target, n_classes, inner, inner_there)
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
            n_atoms + atoms_in_common(query, target, state[N_LABELS], atoms, atoms_there),
        )
        if most <= state[BEST_ATOMS]:
            return False
    state[frame + OPEN] = front | inner
    state[frame + FREE] = front_there | inner_there
    state[frame + BOND] = chosen
    state[frame + ANCHOR] = anchor
    return True
