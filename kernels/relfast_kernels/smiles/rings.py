"""Which bonds are in a ring: those without which their ends are still connected."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.smiles.layouts import BONDS, BRANCHES, DEGREE, MAX_DEGREE, RING_BONDS, RINGS, SECTION

Ints = npt.NDArray[np.int64]

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
