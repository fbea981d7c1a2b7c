"""The largest motifs that all molecules of a group have in common.

A motif is a connected set of bonds of one molecule, the query, that can be placed in each of the others:
atoms on atoms with the same label, bonds on bonds with the same order, ring bonds among them (`rows`; the
others may have more bonds between the images), and each of its ring bonds lies on a ring of the motif. Sought
are all sets with the most bonds and, of those, the most atoms.

How: all motifs with a first bond, then all without it. A bond next to the motif is taken in, or left out for
good, so that no set is met twice. A bond that cannot be placed together with the present set in one of the
molecules cannot be with any larger set: it is left out at once. A molecule's place of the set is kept, and
mostly has room for the next bond; else it is sought anew (`place`).

The bound: bonds of one kind (order and labels) in the motif and in reach are no more than the least number of
them in any molecule; ring bonds at dead ends of what is there and in reach do not count, and a motif of b
bonds has b + 1 atoms less one for each ring that it has closed.

Leaves at one atom that are alike are interchangeable in the motif and as it is written: where one is left out
the ones after it are, too.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.mcs.bits import place_of
from relfast_kernels.mcs.count import ends_of, without_ring
from relfast_kernels.mcs.packed import (
    CYCLIC,
    FIRST,
    N_BONDS,
    OF_CLASS,
    PACKED_SIZE,
    bridges,
    reach,
)
from relfast_kernels.motif.known import KNOWN_SIZE, know
from relfast_kernels.motif.place import PLACE_WORK
from relfast_kernels.motif.query import count_labels, pack, twins
from relfast_kernels.motif.reach import bonds_in_common, choose, choose_root, front_of, within_reach
from relfast_kernels.motif.rows import (
    DEPTHS,
    FOUND_ATOMS,
    FOUND_BONDS,
    FOUND_STEPS,
    FRAME_SIZE,
    PER_MOLECULE,
    SECTION,
    WORK_SIZE,
)
from relfast_kernels.motif.take import is_wanted, keep, lacking, take_in

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]
Images = npt.NDArray[np.int8]

FIRST_TURNS: Final = 3
"""Molecules that a motif is placed in from the beginning."""

# sections of the work space; turns follow
_KINDS: Final = PACKED_SIZE
_COUNTS: Final = _KINDS + SECTION
_LEAST: Final = _COUNTS + SECTION
_RARITY: Final = _LEAST + SECTION
_PLACE: Final = _RARITY + SECTION
assert _PLACE + PLACE_WORK <= WORK_SIZE
assert KNOWN_SIZE <= PER_MOLECULE

_MOTIF, _LEFT, _TAKEN, _IS_NEW = range(FRAME_SIZE)
"""Of each state on the way to the present one: the bonds of the motif, those that may be taken in, the ones
that are gone when the one taken in next has been, and whether it is still to be decided if the motif is
listed (2: now is the time)."""


@kernel
def _from_root(
    packed: Ints,
    rows: Rows,
    starts: Ints,
    known: Ints,
    n_kinds: int,
    least: Ints,
    is_open: int,
    root: int,
    images: Images,
    turns: Ints,
    n_turns: int,
    rarity: Ints,
    frames: Ints,
    work: Ints,
    found: Ints,
    motifs: Ints,
    limit: int,
) -> int:
    """List the largest motifs that have a bond, of the ones in ``is_open``; stops at ``limit`` steps.

    Returns the number of molecules whose turn it is now.
    """
    depth = 0
    taken = take_in(
        packed, rows, starts, known, 0, root, images[0], images[0], turns, n_turns, rarity, work, limit
    )
    if taken < 0:
        found[FOUND_STEPS] += -1 - taken
        return n_turns
    found[FOUND_STEPS] += taken
    frames[0, _MOTIF], frames[0, _LEFT], frames[0, _IS_NEW] = 1 << root, is_open & ~(1 << root), 1
    while depth >= 0 and found[FOUND_STEPS] < limit:
        motif, left = frames[depth, _MOTIF], frames[depth, _LEFT]
        found[FOUND_STEPS] += 1
        atoms = ends_of(packed, motif)
        left = within_reach(packed, n_kinds, least, motif, left, atoms, found)
        # looked at after what is larger: on the way to the first motif nothing is placed in all molecules
        is_back = frames[depth, _IS_NEW] and (left == 0 or frames[depth, _IS_NEW] == 2)
        if is_back and is_wanted(packed, motif, found):
            frames[depth, _IS_NEW] = 0
            turn = lacking(
                packed,
                rows,
                starts,
                known,
                motif,
                images[depth],
                images[DEPTHS - 1, 0],
                turns,
                rarity,
                work,
                found,
                limit,
            )
            if turn < 0:
                keep(packed, motif, found, motifs)
            elif found[FOUND_STEPS] < limit:
                # from now on it is that molecule's turn, too; what is larger than this lacks it as well
                left = 0
                if turn >= n_turns:
                    turns[n_turns], turns[turn] = turns[turn], turns[n_turns]
                    n_turns += 1
        if left == 0:
            depth -= 1
            if depth >= 0:
                # without the bond that was taken in
                frames[depth, _LEFT] &= ~frames[depth, _TAKEN]
                if frames[depth, _IS_NEW]:
                    frames[depth, _IS_NEW] = 2
            continue
        loose = bridges(packed, motif) & packed[CYCLIC] if motif & packed[CYCLIC] else 0
        bond = choose(packed, atoms, front_of(packed, atoms, left), loose)
        gone = 1 << bond | twins(packed, rows[starts[0] :], bond, left, motif)
        taken = take_in(
            packed,
            rows,
            starts,
            known,
            motif,
            bond,
            images[depth],
            images[depth + 1],
            turns,
            n_turns,
            rarity,
            work,
            limit - found[FOUND_STEPS],
        )
        if taken < 0:
            found[FOUND_STEPS] += -1 - taken
            frames[depth, _LEFT] = left & ~gone
            continue
        found[FOUND_STEPS] += taken
        frames[depth, _LEFT], frames[depth, _TAKEN] = left, gone
        depth += 1
        frames[depth, _MOTIF], frames[depth, _LEFT] = motif | 1 << bond, left & ~(1 << bond)
        frames[depth, _IS_NEW] = 1
    return n_turns


@kernel
def largest_motifs(
    rows: Rows,
    starts: Ints,
    min_atoms: int,
    limit: int,
    work: Ints,
    known: Ints,
    images: Images,
    frames: Ints,
    found: Ints,
    motifs: Ints,
) -> bool:
    """List the largest motifs that a molecule and the others of its group have in common.

    Parameters
    ----------
    rows
        int32: molecules as `relfast_kernels.motif.rows` has them.
    starts
        ``(k + 1,)`` int64: where those of the group begin. The first one is the query, which motifs are cut
        out of, of at most `MAX_QUERY_BONDS` bonds.
    min_atoms
        Smaller ones are not sought: a motif of most bonds that has fewer atoms may or may not be found.
    limit
        Steps after which the search is given up.
    work, known, images, frames
        Space: ``(WORK_SIZE + k,)`` and ``(k, PER_MOLECULE)`` int64, ``(DEPTHS, k, SECTION)`` int8,
        ``(DEPTHS, FRAME_SIZE)`` int64.
    found
        ``(FOUND_SIZE,)`` int64, out: `FOUND_BONDS`, … as `relfast_kernels.motif.rows` has them.
    motifs
        ``(MAX_MOTIFS,)`` int64, out: their bonds as bits, numbered by their first atoms and, at one atom, in
        the order of the row.

    Returns
    -------
    bool
        Whether the search came to its end.
    """
    packed = work[:PACKED_SIZE]
    kinds, counts = work[_KINDS : _KINDS + SECTION], work[_COUNTS : _COUNTS + SECTION]
    least, rarity = work[_LEAST : _LEAST + SECTION], work[_RARITY : _RARITY + SECTION]
    place_work = work[_PLACE : _PLACE + PLACE_WORK]
    query, k = rows[starts[0] :], len(starts) - 1
    n_kinds = pack(query, packed, kinds)
    least[:] = packed[N_BONDS]
    for at in range(k):
        know(packed, rows[starts[at + 1] :], kinds, n_kinds, counts, known[at])
        for kind in range(n_kinds):
            least[kind] = min(least[kind], counts[kind])
    is_open = 0
    for kind in range(n_kinds):
        if least[kind]:
            is_open |= packed[OF_CLASS + kind]
    found[:] = 0
    found[FOUND_BONDS], found[FOUND_ATOMS] = max(1, min_atoms - 1), min_atoms
    if bonds_in_common(packed, n_kinds, least, is_open) < found[FOUND_BONDS]:
        return True
    turns = work[WORK_SIZE : WORK_SIZE + k]
    for at in range(k):
        turns[at] = at
    n_turns = min(k, FIRST_TURNS)
    images[:, :k] = -1
    rarity[:] = 0
    count_labels(packed, rows[starts[1] :], rarity)
    while is_open:
        is_open &= ~without_ring(packed, is_open & packed[CYCLIC])
        if not is_open:
            break
        # the part with the most bonds in it
        part, rest, most = 0, is_open, -1
        while rest:
            one, _ = reach(packed, 1 << packed[FIRST + place_of(rest & -rest)], rest)
            rest &= ~one
            at_most = bonds_in_common(packed, n_kinds, least, one)
            if at_most < found[FOUND_BONDS]:
                is_open &= ~one
            elif at_most > most:
                part, most = one, at_most
        if not part:
            break
        root = choose_root(packed, part)
        n_turns = _from_root(
            packed,
            rows,
            starts,
            known,
            n_kinds,
            least,
            part,
            root,
            images,
            turns,
            n_turns,
            rarity,
            frames,
            place_work,
            found,
            motifs,
            limit,
        )
        if found[FOUND_STEPS] >= limit:
            return False
        is_open &= ~(1 << root)
    return True
