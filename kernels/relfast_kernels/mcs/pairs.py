"""Two molecules held against each other: containment, identity, and the largest substructure in common."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.layouts import (
    COMMON_ATOMS,
    COMMON_BONDS,
    COMMON_STEPS,
    PAIR_ATOMS,
    PAIR_FINGERPRINT,
    PAIR_FIRST_ATOMS,
    PAIR_IN_FIRST,
    PAIR_IN_SECOND,
    PAIR_PART,
    PAIR_SETTLED,
    PREPARED_ATOMS,
    PREPARED_BONDS,
    PREPARED_CHARGED,
    PREPARED_CLEAN_PRINT,
    PREPARED_COUNTS,
    PREPARED_FINGERPRINT,
    PREPARED_RADICALS,
    PREPARED_RINGS,
    PREPARED_SETTLED,
    PREPARED_SIZE,
    UNFINISHED,
)
from relfast_kernels.mcs.packed import PACKED_SIZE
from relfast_kernels.mcs.prepared import GRAPH, LOOSE, WHOLE, may_contain, prepare
from relfast_kernels.mcs.roots import largest_common
from relfast_kernels.mcs.state import BEST_ATOMS, BEST_BONDS, STATE_SIZE, STEPS
from relfast_kernels.smiles.layouts import GRAPH_SIZE, MATCH_SIZE
from relfast_kernels.smiles.subgraph import contains

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

_SECOND: Final = PACKED_SIZE
_STATE: Final = 2 * PACKED_SIZE
SEARCH_WORK: Final = _STATE + STATE_SIZE
assert SEARCH_WORK >= MATCH_SIZE


@kernel
def common(first: Ints, second: Ints, whole_rings: bool, limit: int, work: Ints, result: Ints) -> int:
    """The largest common substructure of two prepared molecules, as `relfast_kernels.mcs` defines it.

    Parameters
    ----------
    first, second
        int64, `PREPARED_SIZE`.
    whole_rings
        Whether rings count only as wholes, and charges and aromatic bonds as such.
    limit
        Steps that the search may take.
    work
        int64, `SEARCH_WORK`.
    result
        int64, `PAIR_SIZE`, out: `COMMON_BONDS`, `COMMON_ATOMS` and `COMMON_STEPS`.

    Returns
    -------
    int
        0; `UNKNOWN` where one of them has too many bonds; `UNFINISHED` where the steps did not suffice.
    """
    if first[PREPARED_BONDS] < 0 or second[PREPARED_BONDS] < 0:
        return UNKNOWN
    place = WHOLE if whole_rings else LOOSE
    query, target, state = work[:PACKED_SIZE], work[_SECOND:_STATE], work[_STATE:SEARCH_WORK]
    if first[PREPARED_BONDS] > second[PREPARED_BONDS]:
        first, second = second, first
    for at in range(PACKED_SIZE):
        query[at] = first[place + at]
        target[at] = second[place + at]
    found = largest_common(query, target, state, limit)
    result[COMMON_BONDS] = state[BEST_BONDS]
    result[COMMON_ATOMS] = state[BEST_ATOMS]
    result[COMMON_STEPS] = state[STEPS]
    return UNFINISHED if found == UNKNOWN else 0


@kernel
def _is_within(target: Ints, query: Ints, rings: bool, work: Ints) -> int:
    """Whether a molecule lies in another as RDKit has it, its ring atoms on ring atoms where ``rings`` asks
    for that: 1, 0 or `UNKNOWN`."""
    if query[PREPARED_BONDS] > target[PREPARED_BONDS] >= 0 or not may_contain(target, query):
        return 0
    return contains(
        target[GRAPH : GRAPH + GRAPH_SIZE],
        target[PREPARED_ATOMS],
        target[PREPARED_RINGS] if rings else 0,
        query[GRAPH : GRAPH + GRAPH_SIZE],
        query[PREPARED_ATOMS],
        query[PREPARED_RINGS] if rings else 0,
        work[:MATCH_SIZE],
    )


@kernel
def first_part(whole: Ints, parts: Ints, n_parts: int, work: Ints) -> int:
    """Which of several prepared molecules, `PREPARED_SIZE` each, is the first that lies in one with its ring
    atoms on ring atoms; ``n_parts`` if none does, `UNKNOWN` where only RDKit can say."""
    if whole[PREPARED_BONDS] < 0:
        return UNKNOWN
    for at in range(n_parts):
        found = _is_within(whole, parts[at * PREPARED_SIZE : (at + 1) * PREPARED_SIZE], True, work)
        if found == UNKNOWN:
            return UNKNOWN
        if found:
            return at
    return n_parts


@kernel
def _is_equal_in_size(first: Ints, second: Ints) -> bool:
    """Whether of two molecules, one of which lies in the other, the other lies in the one, too."""
    if first[PREPARED_BONDS] < 0 or second[PREPARED_BONDS] < 0:
        return False
    if first[PREPARED_CHARGED] or second[PREPARED_CHARGED]:
        return False
    if first[PREPARED_RADICALS] or second[PREPARED_RADICALS]:
        return False
    return bool(first[PREPARED_COUNTS] == second[PREPARED_COUNTS])


@kernel
def judge(
    first: Ints, text: Bytes, whole_rings: bool, limit: int, second: Ints, work: Ints, result: Ints
) -> int:
    """Hold a SMILES against a prepared molecule.

    Parameters
    ----------
    first
        int64, `PREPARED_SIZE`: the molecule.
    text
        uint8: the SMILES, as a model wrote it.
    whole_rings, limit, work, result
        As in `common`; of ``result`` all other places, too. What they have in common is sought only where
        neither lies in the other or, with ``whole_rings``, where they are not the same; only then, too,
        whether the second lies in the first with its rings in rings.
    second
        int64, `PREPARED_SIZE`: space for what is read.

    Returns
    -------
    int
        As `common` and `prepare` have it, 0 for a result.
    """
    n = prepare(text, False, not whole_rings, whole_rings, second)
    if n <= 0:
        return n
    in_first = _is_within(first, second, False, work)
    in_second = in_first
    if in_first == 0 or not _is_equal_in_size(first, second):
        in_second = _is_within(second, first, False, work)
    if UNKNOWN in (in_first, in_second):
        return UNKNOWN
    result[PAIR_FIRST_ATOMS] = first[PREPARED_ATOMS]
    result[PAIR_ATOMS] = n
    result[PAIR_FINGERPRINT] = second[PREPARED_CLEAN_PRINT if whole_rings else PREPARED_FINGERPRINT]
    result[PAIR_SETTLED] = second[PREPARED_SETTLED]
    result[PAIR_IN_FIRST] = in_first
    result[PAIR_IN_SECOND] = in_second
    result[PAIR_PART] = 0
    if whole_rings:
        if in_first and in_second:
            return 0
        if first[PREPARED_BONDS] < 0 or second[PREPARED_BONDS] < 0:
            return UNKNOWN
        part = 0
        if in_first:
            if second[PREPARED_RADICALS]:
                return UNKNOWN
            part = _is_within(first, second, True, work)
            if part == UNKNOWN:
                return UNKNOWN
        result[PAIR_PART] = part
    elif in_first or in_second:
        return 0
    return common(first, second, whole_rings, limit, work, result)
