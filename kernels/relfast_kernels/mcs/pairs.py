"""Comparing two molecules: substructures, identity, and the largest common substructure.

A molecule is read once for many comparisons: its graph, both packed forms, and the facts that they need. That
is one int64 array of `PREPARED_SIZE`, which comparisons only read (a search renumbers a
copy), so that several threads can share one.

Substructures are searched in the graphs themselves, since only they have charges, unpaired electrons,
fragments and any number of bonds (`contains`), by backtracking: the query's atoms in an order in which each
(but the first of a fragment) has a bond to an earlier one, each tried on what images are left.
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
    PAIR,
    PREPARED,
    PREPARED_FACTS,
    PREPARED_SIZE,
    STATE_SIZE,
    STEPS,
    UNFINISHED,
)
from relfast_kernels.mcs.packed import PACKED_SIZE, pack
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
    SECTION,
)
from relfast_kernels.smiles.parser import read_canonical, read_plain
from relfast_kernels.smiles.valence import is_settled

Ints = npt.NDArray[np.int64]

MAX_STEPS: Final = 20_000
"""Images tried before it is left to RDKit: real pairs need some hundreds; this is 0.1 ms."""

# sections of the workspace
_ORDER: Final = 0
"""The query's atoms in the order of the search."""
_ANCHOR: Final = SECTION
"""For each place in the order, an earlier neighbour of its atom, -1 for the first of a fragment."""
_IMAGE: Final = 2 * SECTION
"""For each query atom its image, -1 without."""
_TAKEN: Final = 3 * SECTION
_NEXT: Final = 4 * SECTION
"""For each place, the candidate to try next."""
assert _NEXT + SECTION == MATCH_SIZE


@kernel
def _search_order(query: Ints, n: int, work: Ints) -> None:
    """Put the query's atoms in the order of the search: fragment by fragment, breadth first."""
    for atom in range(n):
        work[_IMAGE + atom] = -1
    placed = 0
    done = 0
    for root in range(n):
        if work[_IMAGE + root] != -1:
            continue
        work[_IMAGE + root] = 0
        work[_ORDER + placed] = root
        work[_ANCHOR + placed] = -1
        placed += 1
        while done < placed:
            atom = work[_ORDER + done]
            done += 1
            for at in range(query[DEGREE + atom]):
                other = query[BONDS + MAX_DEGREE * atom + at] >> 3
                if work[_IMAGE + other] == -1:
                    work[_IMAGE + other] = 0
                    work[_ORDER + placed] = other
                    work[_ANCHOR + placed] = atom
                    placed += 1


@kernel
def _order_between(graph: Ints, a: int, b: int) -> int:
    for at in range(graph[DEGREE + a]):
        bond = graph[BONDS + MAX_DEGREE * a + at]
        if bond >> 3 == b:
            return int(bond & 7)
    return 0


@kernel
def _fits(target: Ints, query: Ints, atom: int, image: int, work: Ints) -> bool:
    """Whether an atom can be mapped to an image, given the images of the atoms before it."""
    if work[_TAKEN + image] or target[DEGREE + image] < query[DEGREE + atom]:
        return False
    label = query[LABEL + atom]
    if target[LABEL + image] != label and (
        label % CHARGES != NEUTRAL or target[LABEL + image] // CHARGES != label // CHARGES
    ):
        return False
    if query[RADICALS + atom] and query[RADICALS + atom] != target[RADICALS + image]:
        return False
    for at in range(query[DEGREE + atom]):
        bond = query[BONDS + MAX_DEGREE * atom + at]
        there = work[_IMAGE + (bond >> 3)]
        if there >= 0 and _order_between(target, image, there) != bond & 7:
            return False
    return True


@kernel
def contains(target: Ints, n_target: int, query: Ints, n_query: int, work: Ints) -> int:
    """1 if the query is a substructure of the target, 0 if not, `UNKNOWN` if it takes too long to tell.
    ``work`` is int64, `MATCH_SIZE`.
    """
    if n_query > n_target:
        return 0
    _search_order(query, n_query, work)
    for atom in range(n_query):
        work[_IMAGE + atom] = -1
    for atom in range(n_target):
        work[_TAKEN + atom] = 0
    place = 0
    work[_NEXT] = 0
    steps = 0
    while place >= 0:
        if place == n_query:
            return 1
        atom, anchor = work[_ORDER + place], work[_ANCHOR + place]
        if work[_IMAGE + atom] >= 0:
            work[_TAKEN + work[_IMAGE + atom]] = 0
            work[_IMAGE + atom] = -1
        n_candidates = n_target
        if anchor >= 0:
            n_candidates = target[DEGREE + work[_IMAGE + anchor]]
        found = -1
        while found < 0 and work[_NEXT + place] < n_candidates:
            image = work[_NEXT + place]
            if anchor >= 0:
                image = target[BONDS + MAX_DEGREE * work[_IMAGE + anchor] + image] >> 3
            work[_NEXT + place] += 1
            steps += 1
            if steps > MAX_STEPS:
                return UNKNOWN
            if _fits(target, query, atom, image, work):
                found = image
        if found < 0:
            place -= 1
            continue
        work[_IMAGE + atom] = found
        work[_TAKEN + found] = 1
        place += 1
        if place < n_query:
            work[_NEXT + place] = 0
    return 0


Bytes = npt.NDArray[np.uint8]

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
        Whether rings are only matched as wholes, and charges and aromatic bonds must agree.
    limit
        Steps that the search may take.
    work
        int64, `SEARCH_WORK`.
    result
        int64, `PAIR_SIZE`, out: `Pair.bonds`, `Pair.atoms` and `Pair.steps`.

    Returns
    -------
    int
        0; `UNKNOWN` if one of them has too many bonds; `UNFINISHED` if the search ran out of steps.
    """
    if first[PREPARED.bonds] < 0 or second[PREPARED.bonds] < 0:
        return UNKNOWN
    place = WHOLE if whole_rings else LOOSE
    query, target, state = work[:PACKED_SIZE], work[_SECOND:_STATE], work[_STATE:SEARCH_WORK]
    if first[PREPARED.bonds] > second[PREPARED.bonds]:
        first, second = second, first
    for at in range(PACKED_SIZE):
        query[at] = first[place + at]
        target[at] = second[place + at]
    found = largest_common(query, target, state, limit)
    result[PAIR.bonds] = state[BEST_BONDS]
    result[PAIR.atoms] = state[BEST_ATOMS]
    result[PAIR.steps] = state[STEPS]
    return UNFINISHED if found == UNKNOWN else 0


@kernel
def _is_within(target: Ints, query: Ints, work: Ints) -> int:
    """Whether the query is a substructure of the target as RDKit has it: 1, 0 or `UNKNOWN`."""
    if query[PREPARED.bonds] > target[PREPARED.bonds] >= 0 or not may_contain(target, query):
        return 0
    return contains(
        target[GRAPH : GRAPH + GRAPH_SIZE],
        target[PREPARED.atoms],
        query[GRAPH : GRAPH + GRAPH_SIZE],
        query[PREPARED.atoms],
        work[:MATCH_SIZE],
    )


@kernel
def first_part(whole: Ints, parts: Ints, n_parts: int, work: Ints) -> int:
    """The index of the first of several prepared molecules (``parts``) that is a substructure of ``whole``;
    ``n_parts`` if none is, `UNKNOWN` where only RDKit can tell."""
    if whole[PREPARED.bonds] < 0:
        return UNKNOWN
    for at in range(n_parts):
        found = _is_within(whole, parts[at * PREPARED_SIZE : (at + 1) * PREPARED_SIZE], work)
        if found == UNKNOWN:
            return UNKNOWN
        if found:
            return at
    return n_parts


@kernel
def _is_equal_in_size(first: Ints, second: Ints) -> bool:
    """Whether two molecules, one of which is a substructure of the other, are substructures of each other."""
    if first[PREPARED.bonds] < 0 or second[PREPARED.bonds] < 0:
        return False
    if first[PREPARED.charged] or second[PREPARED.charged]:
        return False
    if first[PREPARED.radicals] or second[PREPARED.radicals]:
        return False
    return bool(first[PREPARED.counts] == second[PREPARED.counts])


@kernel
def judge(
    first: Ints, text: Bytes, whole_rings: bool, limit: int, second: Ints, work: Ints, result: Ints
) -> int:
    """Compare a SMILES with a prepared molecule.

    Parameters
    ----------
    first
        int64, `PREPARED_SIZE`: the molecule.
    text
        uint8: the SMILES, as a model wrote it.
    whole_rings, limit, work, result
        As in `common`; all other fields of ``result`` are set, too. The common substructure is searched only
        if neither contains the other or, with ``whole_rings``, if they differ.
    second
        int64, `PREPARED_SIZE`: workspace, in which the SMILES is prepared.

    Returns
    -------
    int
        0 if there is a result; else as `common` and `prepare`.
    """
    n = prepare(text, False, not whole_rings, whole_rings, second)
    if n <= 0:
        return n
    in_first = _is_within(first, second, work)
    in_second = in_first
    if in_first == 0 or not _is_equal_in_size(first, second):
        in_second = _is_within(second, first, work)
    if UNKNOWN in (in_first, in_second):
        return UNKNOWN
    result[PAIR.n_first] = first[PREPARED.atoms]
    result[PAIR.n_atoms] = n
    result[PAIR.fingerprint] = second[PREPARED.clean_print if whole_rings else PREPARED.fingerprint]
    result[PAIR.settled] = second[PREPARED.settled]
    result[PAIR.in_first] = in_first
    result[PAIR.in_second] = in_second
    if (in_first and in_second) or (not whole_rings and (in_first or in_second)):
        return 0
    return common(first, second, whole_rings, limit, work, result)


GRAPH: Final = PREPARED_FACTS
LOOSE: Final = GRAPH + GRAPH_SIZE
"""Packed form in which rings may be matched in part."""
WHOLE: Final = LOOSE + PACKED_SIZE
"""Packed form for whole rings."""
assert WHOLE + PACKED_SIZE <= PREPARED_SIZE


_CARBON, _NITROGEN, _OXYGEN = 3 * LETTERS, 14 * LETTERS, 15 * LETTERS
_GUARDS: Final = 0x80_8080_8080_8080


@kernel
def _counts(graph: Ints, n: int) -> int:
    """The numbers of carbon, nitrogen, oxygen and other atoms, and of aromatic, double and other bonds, a
    byte each; useless if there are more bonds than can be packed."""
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
    """Whether the target has at least the query's `_counts`, without which it cannot contain it."""
    if target[PREPARED.bonds] < 0 or query[PREPARED.bonds] < 0:
        return True
    left = (target[PREPARED.counts] | _GUARDS) - query[PREPARED.counts]
    return bool(left & _GUARDS == _GUARDS)


@kernel
def prepare(text: Bytes, by_rdkit: bool, loose: bool, whole: bool, prepared: Ints) -> int:
    """Read a SMILES for comparisons.

    Parameters
    ----------
    text
        uint8: the SMILES.
    by_rdkit
        Whether RDKit wrote it, without stereo: then it is trusted that its lower-case atoms are aromatic.
    loose, whole
        Which packed forms are wanted.
    prepared
        int64, `PREPARED_SIZE`, out. `PREPARED.bonds` is `UNKNOWN` if there are too many for a search.

    Returns
    -------
    int
        The number of atoms; `INVALID` if it certainly is no molecule, `UNKNOWN` if only RDKit can tell,
        as of isotopes.
    """
    graph = prepared[GRAPH : GRAPH + GRAPH_SIZE]
    n = read_canonical(text, 0, len(text), graph) if by_rdkit else read_plain(text, 0, len(text), graph)
    if n <= 0:
        return n
    if graph[FLAGS] & HAS_ISOTOPE:
        # an isotope matches the same isotope only
        return UNKNOWN
    charged, radical = False, False
    for atom in range(n):
        charged |= graph[LABEL + atom] % CHARGES != NEUTRAL
        radical |= graph[RADICALS + atom] != 0
    bonds = 0
    if loose:
        bonds = pack(graph, n, False, prepared[LOOSE : LOOSE + PACKED_SIZE])
    if whole:
        bonds = pack(graph, n, True, prepared[WHOLE : WHOLE + PACKED_SIZE])
    prepared[PREPARED.atoms] = n
    prepared[PREPARED.bonds] = bonds
    printed = fingerprint(graph, n)
    prepared[PREPARED.fingerprint] = printed
    # the hydrogens of text that RDKit wrote are not known
    prepared[PREPARED.clean_print] = (printed + hydrogens_print(graph, n)) & FINGERPRINT_MASK
    prepared[PREPARED.settled] = 1 if not by_rdkit and is_settled(graph, n) else 0
    prepared[PREPARED.charged] = 1 if charged else 0
    prepared[PREPARED.radicals] = 1 if radical else 0
    prepared[PREPARED.counts] = _counts(graph, n)
    return n
