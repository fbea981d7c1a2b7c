"""Cycles of atoms that could be part of aromatic rings: which atoms are in one, how many there are, and the
smallest ones, as long as it is certain which of them RDKit finds."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.elements import number_of
from relfast_kernels.smiles.kekule import BEFORE, QUEUE
from relfast_kernels.smiles.layouts import (
    BONDS,
    BRANCHES,
    DEGREE,
    LABEL,
    MAX_DEGREE,
    RING_BONDS,
    RINGS,
    SECTION,
)

Ints = npt.NDArray[np.int64]

MAX_RING: Final = 8
"""Atoms of a ring that is looked for: from nine on RDKit treats oxygen and sulfur in them differently."""

MAX_RINGS: Final = 12
"""Rings of atoms that may be aromatic, in all of the molecule; drugs have four, rarely six."""

# what reading a text needed is free for other use afterwards
_FAR: Final = BRANCHES + 2 * SECTION
_WAYS: Final = BRANCHES + 3 * SECTION
FOUND_RING: Final = RINGS + SECTION
"""The rings, each as a mask of its atoms."""


@kernel
def peeled(graph: Ints, n: int, core: int) -> int:
    """A set of atoms without those that have fewer than two neighbours in it, again and again."""
    peeled = True
    while peeled and core:
        peeled = False
        for atom in range(n):
            if core >> atom & 1:
                beside = 0
                for at in range(graph[DEGREE + atom]):
                    beside += core >> (graph[BONDS + MAX_DEGREE * atom + at] >> 3) & 1
                if beside < 2:
                    core ^= 1 << atom
                    peeled = True
    return core


@kernel
def n_cycles(graph: Ints, n: int, core: int) -> int:
    """How many independent cycles the core has: bonds, less atoms, plus fragments."""
    total = 0
    left = core
    while left:
        root = 0
        while not left >> root & 1:
            root += 1
        left ^= 1 << root
        graph[QUEUE] = root
        done, queued = 0, 1
        ends = 0
        while done < queued:
            atom = graph[QUEUE + done]
            done += 1
            for at in range(graph[DEGREE + atom]):
                other = graph[BONDS + MAX_DEGREE * atom + at] >> 3
                ends += core >> other & 1
                if left >> other & 1:
                    left ^= 1 << other
                    graph[QUEUE + queued] = other
                    queued += 1
        total += ends // 2 - queued + 1
    return total


@kernel
def _reach(graph: Ints, a: int, b: int, blocked: int, most: int, n: int) -> int:
    """Bonds from a to b, not by the bond between them nor through ``blocked``; 0 for more than ``most``.

    Leaves the number of shortest ways in `_WAYS` and one of them in `BEFORE`.
    """
    for atom in range(n):
        graph[BEFORE + atom] = -1
    graph[BEFORE + a] = a
    graph[_FAR + a] = 0
    graph[_WAYS + a] = 1
    graph[QUEUE] = a
    done, queued = 0, 1
    while done < queued:
        atom = graph[QUEUE + done]
        done += 1
        far = graph[_FAR + atom] + 1
        if atom == b or far > most:
            break
        for at in range(graph[DEGREE + atom]):
            other = graph[BONDS + MAX_DEGREE * atom + at] >> 3
            if blocked >> other & 1 or (atom == a and other == b):
                continue
            if graph[BEFORE + other] < 0:
                graph[BEFORE + other] = atom
                graph[_FAR + other] = far
                graph[_WAYS + other] = graph[_WAYS + atom]
                graph[QUEUE + queued] = other
                queued += 1
            elif graph[_FAR + other] == far:
                graph[_WAYS + other] += graph[_WAYS + atom]
    return int(graph[_FAR + b]) if graph[BEFORE + b] >= 0 else 0


@kernel
def _is_in_a_ring(graph: Ints, a: int, b: int, found: int) -> bool:
    """Whether a bond is in one of the rings that were found."""
    for ring in range(found):
        if graph[FOUND_RING + ring] >> a & 1 and graph[FOUND_RING + ring] >> b & 1:
            return True
    return False


@kernel
def find_rings(graph: Ints, n: int, core: int) -> int:
    """Find the rings of the core; their number, or `UNKNOWN`.

    The one shortest cycle through a bond is part of every smallest set of smallest rings. Where such cycles
    are as many as the core has independent ones, no other set has other rings in the core.
    """
    wanted = n_cycles(graph, n, core)
    if wanted > MAX_RINGS:
        return UNKNOWN
    found = 0
    for again in range(2):
        for a in range(n):
            if not core >> a & 1:
                continue
            for at in range(graph[DEGREE + a]):
                b = graph[BONDS + MAX_DEGREE * a + at] >> 3
                if b < a or not core >> b & 1 or _is_in_a_ring(graph, a, b, found) != (again == 1):
                    continue
                if not _reach(graph, a, b, 0, MAX_RING - 1, n) or graph[_WAYS + b] != 1:
                    continue
                ring = 1 << a
                atom = b
                while atom != a:
                    ring |= 1 << atom
                    atom = graph[BEFORE + atom]
                if ring & ~core:
                    continue
                new = True
                for other in range(found):
                    new = new and graph[FOUND_RING + other] != ring
                if new:
                    graph[FOUND_RING + found] = ring
                    found += 1
                    if found == wanted:
                        return found
    return UNKNOWN


@kernel
def is_in_a_large_ring(graph: Ints, atom: int, ring: int, n: int) -> bool:
    """Whether an oxygen or sulfur of a ring may be in one of nine or more atoms, too."""
    if n <= MAX_RING or number_of(graph[LABEL + atom]) not in (8, 16, 34):
        return False
    a, b = -1, -1
    for at in range(graph[DEGREE + atom]):
        other = graph[BONDS + MAX_DEGREE * atom + at] >> 3
        if ring >> other & 1:
            a, b = b, other
    return a >= 0 and _reach(graph, a, b, ring & ~(1 << a) & ~(1 << b), n, n) > 0


# what reading a text needed is free for other use afterwards
_FOUND: Final = BRANCHES
"""For each atom when it was found, counted from one; 0 where it was not."""
_LOWEST: Final = BRANCHES + SECTION
"""The earliest atom that can be reached from what was found after it, by one bond that leads back."""
_NEXT: Final = BRANCHES + 2 * SECTION
_PATH: Final = RINGS


@kernel
def find_ring_bonds(graph: Ints, n: int) -> None:
    """Set RING_BONDS. (Tarjan, "A note on finding the bridges of a graph", 1974.)"""
    for atom in range(n):
        graph[_FOUND + atom] = 0
        graph[RING_BONDS + atom] = (1 << graph[DEGREE + atom]) - 1
    found = 0
    for root in range(n):
        if graph[_FOUND + root]:
            continue
        depth = 0
        graph[_PATH] = root
        found += 1
        graph[_FOUND + root] = found
        graph[_LOWEST + root] = found
        graph[_NEXT + root] = 0
        while depth >= 0:
            atom = graph[_PATH + depth]
            parent = graph[_PATH + depth - 1] if depth else -1
            at = graph[_NEXT + atom]
            if at < graph[DEGREE + atom]:
                graph[_NEXT + atom] = at + 1
                other = graph[BONDS + MAX_DEGREE * atom + at] >> 3
                if other == parent:
                    continue
                if graph[_FOUND + other]:
                    graph[_LOWEST + atom] = min(graph[_LOWEST + atom], graph[_FOUND + other])
                    continue
                found += 1
                graph[_FOUND + other] = found
                graph[_LOWEST + other] = found
                graph[_NEXT + other] = 0
                depth += 1
                graph[_PATH + depth] = other
                continue
            depth -= 1
            if depth < 0:
                break
            graph[_LOWEST + parent] = min(graph[_LOWEST + parent], graph[_LOWEST + atom])
            if graph[_LOWEST + atom] > graph[_FOUND + parent]:
                _unmark(graph, parent, atom)
                _unmark(graph, atom, parent)


@kernel
def _unmark(graph: Ints, atom: int, other: int) -> None:
    for at in range(graph[DEGREE + atom]):
        if graph[BONDS + MAX_DEGREE * atom + at] >> 3 == other:
            graph[RING_BONDS + atom] &= ~(1 << at)
