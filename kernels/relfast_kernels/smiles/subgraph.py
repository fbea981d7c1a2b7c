"""Whether one molecular graph lies in another.

The search is the textbook one: the query's atoms in an order in which each (but the first of a fragment) has
a bond to an earlier one, each tried on the images the earlier ones leave. Elements and bond orders must
agree, charges and unpaired electrons where the query has any; bonds that only the target has do not matter.
Where rings are asked for, ring atoms go on ring atoms and chain atoms on chain atoms: the bond between the
rings of biphenyl is found in fluorene.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.layouts import (
    BONDS,
    CHARGES,
    DEGREE,
    LABEL,
    MATCH_SIZE,
    MAX_DEGREE,
    NEUTRAL,
    RADICALS,
    SECTION,
)

Ints = npt.NDArray[np.int64]

MAX_STEPS: Final = 20_000
"""Images tried before RDKit is asked: real pairs need some hundreds; this is 0.1 ms."""

# sections of the workspace
_ORDER: Final = 0
"""The query's atoms in the order of the search."""
_ANCHOR: Final = SECTION
"""For each place in the order, an earlier neighbour of its atom, -1 for the first of a fragment."""
_IMAGE: Final = 2 * SECTION
"""For each query atom its image, -1 without."""
_TAKEN: Final = 3 * SECTION
_NEXT: Final = 4 * SECTION
"""For each place, which candidate comes next."""
assert _NEXT + SECTION == MATCH_SIZE


@kernel
def _search_order(query: Ints, n: int, work: Ints) -> None:
    """Fragment by fragment, breadth first."""
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
    """Whether an atom can have an image, given those of the atoms before it."""
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
def contains(
    target: Ints, n_target: int, target_rings: int, query: Ints, n_query: int, query_rings: int, work: Ints
) -> int:
    """1 if the query lies in the target, 0 if not, `UNKNOWN` if it takes too long to say.

    ``target_rings`` and ``query_rings`` are their ring atoms as bits, or 0 where those do not matter;
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
            if (query_rings >> atom ^ target_rings >> image) & 1:
                continue
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
