"""Constitutional isomers: connected multigraphs over given atoms, one of each isomorphism class.

Orderly generation (Read 1978, Faradžev 1978): the adjacency matrix is filled row by row, entries in
descending order, and a matrix is kept when no permutation of atoms of one element makes its upper triangle,
read row by row, lexicographically larger. A prefix that already loses to a permutation of its known rows
loses with every completion, so whole branches are cut at the end of a row.

Hydrogens are not vertices: they fill the valences that the ``bonds`` between heavy atoms leave free.
"""

from __future__ import annotations

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Array, Const, Inner, Int, Int8, Ints, Ints8, Struct

MAX_BOND = 3
"""Highest bond order between two atoms."""

ENTER, LOWER, DONE = 0, 1, 2
"""What a search does next: go into an entry of the matrix, lower it, nothing."""


@kernel
def is_maximal(matrix: Ints8, blocks: Ints8, known: int, work: Ints8, places: Ints) -> bool:
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
        Work space, as `Isomers` has it.

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
def _may_connect(matrix: Ints8, last: int, places: Ints) -> bool:
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
def _limit(matrix: Ints8, blocks: Ints8, free: Ints, i: int, j: int, left: int) -> int:
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
    matrix: Ints8, blocks: Ints8, free: Ints, i: int, left: int, work: Ints8, places: Ints
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


class Cursor(Struct):
    """Where a search stands: row and column of an entry, bonds still to place, and the next step (`ENTER`,
    `LOWER` or `DONE`). It starts as ``(0, 1, bonds, ENTER)``."""

    i: int = Int
    j: int = Int
    left: int = Int
    step: int = Int


class Isomers(Struct):
    """A search for isomers of n ≥ 2 heavy atoms, kept between calls of `next_isomers`.

    ``valences``: bonds that each atom can have; ``blocks``, ascending: atoms of one element share a number.
    ``matrix`` and ``free``, zeros and a copy of ``valences`` at the start, are state of the search. ``out``
    receives bond orders, symmetric. ``work`` and ``places`` are work space; ``n_more`` is n + 1.
    """

    cursor: Cursor = Inner(Cursor)
    n: int = Int
    n_more: int = Int
    chunk: int = Int
    valences: Ints = Const(Int, "n")
    blocks: Ints8 = Const(Int8, "n")
    matrix: Ints8 = Array(Int8, "n", "n")
    free: Ints = Array(Int, "n")
    out: Ints8 = Array(Int8, "chunk", "n", "n")
    work: Ints8 = Array(Int8, 2, "n_more", "n")
    places: Ints = Array(Int, 2, "n_more")


@kernel
def next_isomers(search: Isomers) -> int:
    """Write the next isomers to ``out`` and return how many; fewer than ``chunk`` means there are no more."""
    cursor, n = search.cursor, search.n
    blocks, matrix, free, out = search.blocks, search.matrix, search.free, search.out
    i, j, left, step = cursor.i, cursor.j, cursor.left, cursor.step
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
        elif not _row_is_good(matrix, blocks, free, i, left, search.work, search.places):
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
    cursor.i, cursor.j, cursor.left, cursor.step = i, j, left, step
    return found


ENTRIES = {"next": (next_isomers, Isomers)}
"""Name → function and what it is given."""
