"""Two molecules held against each other: containment, identity, and the largest substructure in common.

A molecule is read once for many comparisons: its graph, both ways it is packed, and what is asked of it. That
is one int64 array of `PREPARED_SIZE`, which comparisons only read (what a search numbers anew it copies
first), so that several threads can share one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.layouts import (
    BEST_ATOMS,
    BEST_BONDS,
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
    PREPARED_FACTS,
    PREPARED_FINGERPRINT,
    PREPARED_RADICALS,
    PREPARED_RINGS,
    PREPARED_SETTLED,
    PREPARED_SIZE,
    STATE_SIZE,
    STEPS,
    UNFINISHED,
)
from relfast_kernels.mcs.packed import LABELS, PACKED_SIZE, pack
from relfast_kernels.mcs.search import largest_common
from relfast_kernels.smiles.graph_code import fingerprint, hydrogens_print
from relfast_kernels.smiles.layouts import (
    AROMATIC_BOND,
    BONDS,
    CHARGES,
    DEGREE,
    FINGERPRINT_MASK,
    FLAGS,
    GRAPH_SIZE,
    HAS_ISOTOPE,
    LABEL,
    LETTERS,
    MATCH_SIZE,
    MAX_DEGREE,
    NEUTRAL,
    RADICALS,
)
from relfast_kernels.smiles.parser import read_canonical, read_plain
from relfast_kernels.smiles.subgraph import contains
from relfast_kernels.smiles.valence import is_settled

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


GRAPH: Final = PREPARED_FACTS
LOOSE: Final = GRAPH + GRAPH_SIZE
"""Packed for rings broken at will."""
WHOLE: Final = LOOSE + PACKED_SIZE
"""Packed for whole rings."""
assert WHOLE + PACKED_SIZE <= PREPARED_SIZE


_CARBON, _NITROGEN, _OXYGEN = 3 * LETTERS, 14 * LETTERS, 15 * LETTERS
_GUARDS: Final = 0x80_8080_8080_8080


@kernel
def _counts(graph: Ints, n: int) -> int:
    """The atoms of carbon, nitrogen, oxygen and others, and the aromatic, double and other bonds, a byte
    each; of no use where there are more bonds than are packed."""
    counts = 0
    for atom in range(n):
        element = graph[LABEL + atom] // CHARGES
        place = 0 if element == _CARBON else 8 if element == _NITROGEN else 16 if element == _OXYGEN else 24
        counts += 1 << place
        for at in range(graph[DEGREE + atom]):
            bond = graph[BONDS + MAX_DEGREE * atom + at]
            if bond >> 3 > atom:
                order = bond & 7
                counts += 1 << (32 if order == AROMATIC_BOND else 40 if order == 2 else 48)
    return counts


@kernel
def may_contain(target: Ints, query: Ints) -> bool:
    """Whether one prepared molecule has as many of each as another, without which it cannot contain it."""
    if target[PREPARED_BONDS] < 0 or query[PREPARED_BONDS] < 0:
        return True
    left = (target[PREPARED_COUNTS] | _GUARDS) - query[PREPARED_COUNTS]
    return bool(left & _GUARDS == _GUARDS)


@kernel
def prepare(text: Bytes, by_rdkit: bool, loose: bool, whole: bool, prepared: Ints) -> int:
    """Read a SMILES for comparisons.

    Parameters
    ----------
    text
        uint8: the SMILES.
    by_rdkit
        Whether RDKit wrote it, without stereo: its aromatic letters are taken at their word then.
    loose, whole
        Which ways of packing are wanted.
    prepared
        int64, `PREPARED_SIZE`, out. `PREPARED_BONDS` is `UNKNOWN` where there are too many for a search.

    Returns
    -------
    int
        The number of atoms; `INVALID` where it certainly is no molecule, `UNKNOWN` where only RDKit can say,
        which goes for isotopes, too.
    """
    graph = prepared[GRAPH : GRAPH + GRAPH_SIZE]
    n = read_canonical(text, 0, len(text), graph) if by_rdkit else read_plain(text, 0, len(text), graph)
    if n <= 0:
        return n
    if graph[FLAGS] & HAS_ISOTOPE:
        # an isotope lies in the same one only
        return UNKNOWN
    charged, radical = False, False
    for atom in range(n):
        charged |= graph[LABEL + atom] % CHARGES != NEUTRAL
        radical |= graph[RADICALS + atom] != 0
    bonds = 0
    if loose:
        bonds = pack(graph, n, False, prepared[LOOSE : LOOSE + PACKED_SIZE])
    rings = 0
    if whole:
        packed = prepared[WHOLE : WHOLE + PACKED_SIZE]
        bonds = pack(graph, n, True, packed)
        for atom in range(n):
            rings |= (packed[LABELS + atom] & 1) << atom
    prepared[PREPARED_RINGS] = rings
    prepared[PREPARED_ATOMS] = n
    prepared[PREPARED_BONDS] = bonds
    printed = fingerprint(graph, n)
    prepared[PREPARED_FINGERPRINT] = printed
    # of what RDKit wrote hydrogens are not known
    prepared[PREPARED_CLEAN_PRINT] = (printed + hydrogens_print(graph, n)) & FINGERPRINT_MASK
    prepared[PREPARED_SETTLED] = 1 if not by_rdkit and is_settled(graph, n) else 0
    prepared[PREPARED_CHARGED] = 1 if charged else 0
    prepared[PREPARED_RADICALS] = 1 if radical else 0
    prepared[PREPARED_COUNTS] = _counts(graph, n)
    return n
