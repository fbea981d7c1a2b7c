"""One step of a search for motifs: can a set of bonds be placed, is it in all molecules, is it listed?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.bits import n_bits, place_of
from relfast_kernels.mcs.count import ends_of
from relfast_kernels.mcs.packed import CYCLIC, FIRST, N_ATOMS, bridges
from relfast_kernels.motif.place import extend, order_atoms, place
from relfast_kernels.motif.rows import FOUND_ATOMS, FOUND_BONDS, FOUND_MOTIFS, FOUND_STEPS, MAX_MOTIFS

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]
Images = npt.NDArray[np.int8]


@kernel
def take_in(
    packed: Ints,
    rows: Rows,
    starts: Ints,
    known: Ints,
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
    """Place a motif and one more bond in the molecules whose turn it is.

    Returns the steps taken, ``-1 - steps`` if that cannot be.

    The molecule that lacks it comes first the next time.
    """
    steps = 1
    is_ordered = False
    for turn in range(n_turns):
        at = turns[turn]
        if motif:
            # (numba allocates memory to assign one array to another)
            for atom in range(packed[N_ATOMS]):
                after[at, atom] = before[at, atom]
            if extend(packed, rows[starts[at + 1] :], after[at], bond):
                continue
        if not is_ordered:
            order_atoms(packed, motif | 1 << bond, rarity, work)
            is_ordered = True
        taken = place(
            packed, motif | 1 << bond, rows[starts[at + 1] :], known[at], after[at], work, limit - steps
        )
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
def is_wanted(packed: Ints, motif: int, found: Ints) -> bool:
    """Whether no motif that is known is larger than a set of bonds, and that is one."""
    bonds = n_bits(motif)
    if bonds < found[FOUND_BONDS]:
        return False
    if bonds == found[FOUND_BONDS] and n_bits(ends_of(packed, motif)) < found[FOUND_ATOMS]:
        return False
    return not motif & packed[CYCLIC] or not bridges(packed, motif) & packed[CYCLIC]


@kernel
def lacking(
    packed: Ints,
    rows: Rows,
    starts: Ints,
    known: Ints,
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
        row, left = rows[starts[at + 1] :], limit - found[FOUND_STEPS]
        taken = place(packed, motif, row, known[at], image, work, left)
        found[FOUND_STEPS] += taken if taken >= 0 else -1 - taken
        if taken < 0:
            return turn
    return -1


@kernel
def keep(packed: Ints, motif: int, found: Ints, motifs: Ints) -> None:
    """List a motif that is wanted."""
    bonds, atoms = n_bits(motif), n_bits(ends_of(packed, motif))
    if bonds > found[FOUND_BONDS] or atoms > found[FOUND_ATOMS]:
        found[FOUND_BONDS], found[FOUND_ATOMS], found[FOUND_MOTIFS] = bonds, atoms, 0
    if found[FOUND_MOTIFS] < MAX_MOTIFS:
        motifs[found[FOUND_MOTIFS]] = motif
    found[FOUND_MOTIFS] += 1
