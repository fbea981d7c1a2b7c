"""Constitutional isomers: connected multigraphs over given atoms, one of each isomorphism class.

Orderly generation (Read 1978, Faradžev 1978): the adjacency matrix is filled row by row, entries in
descending order, and a matrix is kept when no permutation of atoms of one element makes its upper triangle,
read row by row, lexicographically larger. A prefix that already loses to a permutation of its known rows
loses with every completion, so whole branches are cut at the end of a row.

Hydrogens are not vertices: they fill the valences that the ``bonds`` between heavy atoms leave free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import carray, kernel

Bonds = npt.NDArray[np.int8]
Counts = npt.NDArray[np.int64]

MAX_BOND = 3
"""Highest bond order between two atoms."""

ENTER, LOWER, DONE = 0, 1, 2


@kernel
def is_maximal(matrix: Bonds, blocks: Bonds, known: int, work: Bonds, places: Counts) -> bool:
    """Whether no permutation inside the blocks makes the matrix larger, as far as its known rows tell.

    Parameters
    ----------
    matrix
        ``(n, n)`` int8, symmetric; entries of two unknown vertices are not looked at.
    blocks
        ``(n,)`` int8, ascending: vertices of one block may change places.
    known
        Rows ``0 … known-1`` (and with them those columns) are final.
    work, places
        Work space, as `next_isomers` has it.

    A depth-first search over the images of vertex 0, 1, …: the images chosen so far split the other
    vertices into cells, and sorting a cell by its bonds to the newest image gives the largest next row.
    """
    n = matrix.shape[0]
    order, cell, at = work[0], work[1], places[0]
    at[0] = 0
    for q in range(n):
        order[0, q] = q
        cell[0, q] = blocks[q]
    p = 0
    while p >= 0:
        slot = p + at[p]
        if p == known or slot >= n or cell[p, slot] != cell[p, p]:
            p -= 1
            continue
        at[p] += 1
        v = order[p, slot]
        if v >= known:
            continue
        is_twin = False
        for earlier in range(p, slot):
            w = order[p, earlier]
            if w < known:
                same = True
                for u in range(n):
                    if u != v and u != w and matrix[v, u] != matrix[w, u]:
                        same = False
                        break
                if same:
                    is_twin = True
                    break
        # exchanging twins changes nothing: the earlier one has been tried for both
        if is_twin:
            continue
        verdict = 0
        q = p + 1
        names = 0
        start = p
        while start < n and verdict == 0:
            stop = start
            while stop < n and cell[p, stop] == cell[p, start]:
                stop += 1
            for value in range(MAX_BOND, -1, -1):
                names += 1
                for s in range(start, stop):
                    u = order[p, s]
                    if s == slot or matrix[v, u] != value:
                        continue
                    order[p + 1, q] = u
                    cell[p + 1, q] = names
                    if verdict == 0 and value != matrix[p, q]:
                        verdict = 1 if value > matrix[p, q] else -1
                    q += 1
                if verdict != 0:
                    break
            start = stop
        if verdict > 0:
            return False
        if verdict == 0 and p + 1 < n:
            p += 1
            at[p] = 0
    return True


@kernel
def _may_connect(matrix: Bonds, last: int, places: Counts) -> bool:
    """Whether the graph can still become connected when rows up to ``last`` are final."""
    n = matrix.shape[0]
    seen, stack = places[0], places[1]
    for u in range(n):
        seen[u] = 0
    for root in range(last + 1):
        if seen[root] != 0:
            continue
        seen[root] = 1
        stack[0] = root
        top, size, is_open = 1, 0, False
        while top > 0:
            top -= 1
            v = stack[top]
            size += 1
            if v > last:
                is_open = True
            for u in range(n):
                if seen[u] == 0 and matrix[v, u] > 0:
                    seen[u] = 1
                    stack[top] = u
                    top += 1
        if not is_open and size < n:
            return False
    return True


@kernel
def _limit(matrix: Bonds, blocks: Bonds, free: Counts, i: int, j: int, left: int) -> int:
    """The highest bond order that entry ``(i, j)`` may take."""
    most = int(min(MAX_BOND, free[i], free[j], left))
    if j - 1 > i and blocks[j - 1] == blocks[j]:
        for row in range(i):
            if matrix[row, j - 1] != matrix[row, j]:
                return most
        # two columns that are equal so far could change places: the larger entry stands first
        return min(most, int(matrix[i, j - 1]))
    return most


@kernel
def _row_is_good(
    matrix: Bonds, blocks: Bonds, free: Counts, i: int, left: int, work: Bonds, places: Counts
) -> bool:
    """Whether row ``i``, just filled, leaves a way to a connected maximal matrix."""
    n = matrix.shape[0]
    rest = 0
    for u in range(i + 1, n):
        rest += free[u]
    if 2 * left > rest:
        return False
    return _may_connect(matrix, i, places) and is_maximal(
        matrix, blocks, n if i == n - 2 else i + 1, work, places
    )


@kernel
def next_isomers(
    valences: Counts, blocks: Bonds, cursor: Counts, matrix: Bonds, free: Counts, out: Bonds, work: Bonds,
    places: Counts,
) -> int:  # fmt: skip
    """Write the next isomers to ``out`` and return how many; fewer than ``len(out)`` means there are no more.

    Parameters
    ----------
    valences
        ``(n,)`` int64, n ≥ 2: bonds that each heavy atom can have.
    blocks
        ``(n,)`` int8, ascending: atoms of one element share a number.
    cursor
        ``(4,)`` int64, kept between calls: row and column of the entry the search stands at, bonds still to
        place, and the next step (``ENTER``, ``LOWER`` or ``DONE``). Starts as ``(0, 1, bonds, ENTER)``.
    matrix, free
        ``(n, n)`` int8 zeros and ``(n,)`` int64 copy of ``valences`` at the start; then state of the search.
    out
        ``(k, n, n)`` int8: receives bond orders, symmetric.
    work, places
        Work space: ``(2, n + 1, n)`` int8, ``(2, n + 1)`` int64.
    """
    n = len(valences)
    i, j, left, step = cursor[0], cursor[1], cursor[2], cursor[3]
    found = 0
    while step != DONE and found < len(out):
        if step == ENTER:
            value = _limit(matrix, blocks, free, i, j, left)
        else:
            # back to the last entry that can be lowered; those behind it are zero again
            while matrix[i, j] == 0:
                j -= 1
                if j == i:
                    i -= 1
                    j = n - 1
                    if i < 0:
                        break
            if i < 0:
                step = DONE
                break
            value = int(matrix[i, j]) - 1
        change = value - int(matrix[i, j])
        matrix[i, j] = value
        matrix[j, i] = value
        free[i] -= change
        free[j] -= change
        left -= change
        step = ENTER
        if j < n - 1:
            j += 1
        elif not _row_is_good(matrix, blocks, free, i, left, work, places):
            step = LOWER
        elif i < n - 2:
            i += 1
            j = i + 1
        else:
            if left == 0:
                # entry by entry: numba allocates memory to assign one array to another
                for u in range(n):
                    for v in range(n):
                        out[found, u, v] = matrix[u, v]
                found += 1
            step = LOWER
    cursor[0], cursor[1], cursor[2], cursor[3] = i, j, left, step
    return found


def _next(
    valences: Any, blocks: Any, n: int, cursor: Any, matrix: Any, free: Any, out: Any, chunk: int, work:
    Any, places: Any,
) -> int:  # fmt: skip
    return next_isomers(
        carray(valences, n, np.int64),
        carray(blocks, n, np.int8),
        carray(cursor, 4, np.int64),
        carray(matrix, (n, n), np.int8),
        carray(free, n, np.int64),
        carray(out, (chunk, n, n), np.int8),
        carray(work, (2, n + 1, n), np.int8),
        carray(places, (2, n + 1), np.int64),
    )


ENTRIES = {"next": (_next, "ppippppipp")}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
