"""Textbook twins of `relfast_kernels.isomers`: every matrix, every permutation."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.int8]


def block_permutations(blocks: list[int]) -> list[list[int]]:
    """All permutations of the vertices that keep each in its block."""
    members = [[v for v, b in enumerate(blocks) if b == block] for block in sorted(set(blocks))]
    found = []
    for images in product(*(permutations(group) for group in members)):
        order = [0] * len(blocks)
        for group, image in zip(members, images, strict=True):
            for v, w in zip(group, image, strict=True):
                order[v] = w
        found.append(order)
    return found


def upper(matrix: Matrix) -> tuple[int, ...]:
    n = len(matrix)
    return tuple(int(matrix[i, j]) for i in range(n) for j in range(i + 1, n))


def is_maximal(matrix: Matrix, blocks: list[int]) -> bool:
    """Whether no permutation inside the blocks gives a lexicographically larger upper triangle."""
    own = upper(matrix)
    return all(upper(matrix[np.ix_(order, order)]) <= own for order in block_permutations(blocks))


def is_connected(matrix: Matrix) -> bool:
    seen, stack = {0}, [0]
    while stack:
        v = stack.pop()
        for u in np.flatnonzero(matrix[v]).tolist():
            if u not in seen:
                seen.add(u)
                stack.append(u)
    return len(seen) == len(matrix)


def isomers(valences: list[int], blocks: list[int], bonds: int) -> set[tuple[int, ...]]:
    """Upper triangles of all connected maximal matrices with ``bonds`` bonds in sum."""
    n = len(valences)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    found = set()
    for entries in product(range(4), repeat=len(pairs)):
        if sum(entries) != bonds:
            continue
        matrix = np.zeros((n, n), dtype=np.int8)
        for (i, j), order in zip(pairs, entries, strict=True):
            matrix[i, j] = matrix[j, i] = order
        if (matrix.sum(axis=1) <= valences).all() and is_connected(matrix) and is_maximal(matrix, blocks):
            found.add(entries)
    return found
