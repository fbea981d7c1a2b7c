"""Global alignment of solution steps (Needleman-Wunsch 1970) and the cosine similarities that it scores.

The table is float64 over float32 similarities, its borders are ``i * gap``, and ties go to a match, then
to skipping the benchmark's step, then to skipping the model's: ReAlign's `align_steps`, to the bit.

A ragged batch is a flat array of matrices: pair ``p`` has ``rows[p] * columns[p]`` similarities in row
order from ``cells[p]`` on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import carray, kernel
from relfast_kernels.layouts import MATCH, SKIP_BENCHMARK, SKIP_LLM

PRODUCTS = 16
"""Partial sums of a dot product. Their order is fixed, so a similarity has the same bits in every batch,
thread and process; BLAS does not promise that for matrices of different shapes."""


@kernel
def fill(
    similarity: NDArray[np.float32],
    codes: NDArray[np.uint8],
    table: NDArray[np.float64],
    rows: int,
    columns: int,
    gap: float,
) -> None:
    """Fill a pair's table of ``rows`` × ``columns``; afterwards ``codes``, flat in row order, says how each
    cell was reached. ``table``, of shape ``(2, columns + 1)`` or wider, is scratch."""
    for j in range(columns + 1):
        table[0, j] = j * gap
    for i in range(rows):
        above = table[i & 1]
        here = table[(i & 1) ^ 1]
        here[0] = (i + 1) * gap
        at = i * columns
        for j in range(columns):
            match = above[j] + similarity[at + j]
            up = above[j + 1] + gap
            best = up if up > match else match
            left = here[j] + gap
            codes[at + j] = np.uint8(up > match) | (np.uint8(left > best) << np.uint8(1))
            here[j + 1] = left if left > best else best


@kernel
def trace_back(
    similarity: NDArray[np.float32],
    codes: NDArray[np.uint8],
    rows: int,
    columns: int,
    threshold: float,
    path: NDArray[np.uint8],
) -> tuple[int, int, float, int]:
    """Walk a pair's codes back from the last cell, writing its path into the end of ``path``.

    Bit 1 of a code: the model's step is skipped; else bit 0: the benchmark's is; else the two match.

    Returns
    -------
    (begin, matches, total, diverged)
        ``path[begin:]`` is the path; matches and the sum of their similarities, added in float64 from the
        last match to the first; the 1-based place of the first skip or match under ``threshold``, or 0.
    """
    i, j, end = rows, columns, path.size
    matches = 0
    total = 0.0
    diverged = -1
    while i > 0 or j > 0:
        end -= 1
        if j == 0:
            move = SKIP_BENCHMARK
        elif i == 0:
            move = SKIP_LLM
        else:
            code = codes[(i - 1) * columns + j - 1]
            move = SKIP_LLM if code & 2 else code & 1
        path[end] = move
        if move == MATCH:
            i -= 1
            j -= 1
            score = np.float64(similarity[i * columns + j])
            matches += 1
            total += score
            if score < threshold:
                diverged = end
        else:
            diverged = end
            if move == SKIP_BENCHMARK:
                i -= 1
            else:
                j -= 1
    return end, matches, total, diverged - end + 1 if diverged >= 0 else 0


@kernel
def align_into(
    similarity: Any, cells: Any, rows: Any, columns: Any, gap: float, threshold: float, path: Any, begin: Any,
    end: Any, matches: Any, total: Any, diverged: Any, codes: Any, table: Any,
) -> None:  # fmt: skip
    """`align_batch`, with its results, of which ``end`` is known, and its work space as arguments."""
    for p in range(rows.size):
        matrix = similarity[cells[p] : cells[p] + rows[p] * columns[p]]
        fill(matrix, codes, table, rows[p], columns[p], gap)
        first = end[p] - rows[p] - columns[p]
        start, matches[p], total[p], diverged[p] = trace_back(
            matrix, codes, rows[p], columns[p], threshold, path[first : end[p]]
        )
        begin[p] = first + start


def align_batch(
    similarity: NDArray[np.float32],
    cells: NDArray[np.int64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    gap: float,
    threshold: float,
) -> tuple[
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.int64],
]:
    """Align every pair of a ragged batch.

    Parameters
    ----------
    similarity, cells, rows, columns
        The batch (see the module); ``cells`` int64 offsets. An empty side is allowed.
    gap, threshold
        Score of a skip; similarity under which a match counts as divergence.

    Returns
    -------
    (path, begin, end, matches, total, diverged)
        ``path[begin[p]:end[p]]`` are pair ``p``'s moves in order (`MATCH`, `SKIP_BENCHMARK`, `SKIP_LLM`);
        then per pair the number of matches, the sum of their similarities (see `trace_back`), and the 1-based
        place of the first divergence in the path (0: none).
    """
    similarity, rows, columns = _flat(similarity, np.float32), _flat(rows), _flat(columns)
    cells, pairs = _flat(cells), rows.size
    begin, matches, diverged = (np.zeros(pairs, np.int64) for _ in range(3))
    end, total = np.cumsum(rows + columns), np.zeros(pairs, np.float64)
    path = np.empty(int(end[-1]) if pairs else 0, np.uint8)
    codes, breadth = np.empty(int((rows * columns).max(initial=0)), np.uint8), int(columns.max(initial=0)) + 1
    table, bounds = np.empty((2, breadth), np.float64), np.array([gap, threshold])
    arrays = (cells, rows, columns, bounds, path, begin, end, matches, total, diverged)
    _functions()["align"](
        similarity.ctypes.data, similarity.size, pairs, *(array.ctypes.data for array in arrays), path.size,
        codes.ctypes.data, codes.size, table.ctypes.data, breadth,
    )  # fmt: skip
    return path, begin, end, matches, total, diverged


@kernel
def cosines_into(vectors: Any, rows_of: Any, columns_of: Any, similarity: Any, partial: Any) -> None:
    """`cosines`, with its result and its work space as arguments."""
    one = np.float32(1.0)
    for i in range(rows_of.size):
        for j in range(columns_of.size):
            if rows_of[i] == columns_of[j]:
                similarity[i, j] = one
            else:
                similarity[i, j] = min(dot(vectors[rows_of[i]], vectors[columns_of[j]], partial), one)


def cosines(
    vectors: NDArray[np.float32], rows_of: NDArray[np.int64], columns_of: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Cosine similarities between two selections of vectors, float32 (len(rows_of), len(columns_of)).

    Parameters
    ----------
    vectors
        (texts, dimensions) float32, each of length 1.
    rows_of, columns_of
        int64 indices into ``vectors``.

    A vector is exactly 1 from itself, and nothing is above 1, although the rounded dot product may be.
    """
    vectors = np.ascontiguousarray(vectors, np.float32)
    rows_of, columns_of = _flat(rows_of), _flat(columns_of)
    similarity, partial = (
        np.empty((rows_of.size, columns_of.size), np.float32),
        np.empty(PRODUCTS, np.float32),
    )
    _functions()["cosines"](
        vectors.ctypes.data, *vectors.shape, rows_of.ctypes.data, columns_of.ctypes.data, *similarity.shape,
        similarity.ctypes.data, partial.ctypes.data,
    )  # fmt: skip
    return similarity


@kernel
def dot(a: NDArray[np.float32], b: NDArray[np.float32], partial: NDArray[np.float32]) -> Any:
    """Dot product in float32 by `PRODUCTS` partial sums, added up in a fixed order."""
    for lane in range(PRODUCTS):
        partial[lane] = 0.0
    whole = a.size - a.size % PRODUCTS
    for k in range(0, whole, PRODUCTS):
        for lane in range(PRODUCTS):
            partial[lane] += a[k + lane] * b[k + lane]
    for k in range(whole, a.size):
        partial[k - whole] += a[k] * b[k]
    half = PRODUCTS // 2
    while half > 0:
        for lane in range(half):
            partial[lane] += partial[lane + half]
        half //= 2
    return partial[0]


def _align(
    similarity: Any, n_cells: int, pairs: int, cells: Any, rows: Any, columns: Any, bounds: Any, path: Any,
    begin: Any, end: Any, matches: Any, total: Any, diverged: Any, n_moves: int, codes: Any, n_codes: int,
    table: Any, breadth: int,
) -> int:  # fmt: skip
    gap, threshold = carray(bounds, 2, np.float64)
    align_into(
        carray(similarity, n_cells, np.float32),
        carray(cells, pairs, np.int64),
        carray(rows, pairs, np.int64),
        carray(columns, pairs, np.int64),
        gap,
        threshold,
        carray(path, n_moves, np.uint8),
        carray(begin, pairs, np.int64),
        carray(end, pairs, np.int64),
        carray(matches, pairs, np.int64),
        carray(total, pairs, np.float64),
        carray(diverged, pairs, np.int64),
        carray(codes, n_codes, np.uint8),
        carray(table, (2, breadth), np.float64),
    )
    return 0


def _cosines(
    vectors: Any, n: int, size: int, rows_of: Any, columns_of: Any, n_rows: int, n_columns: int,
    similarity: Any, partial: Any,
) -> int:  # fmt: skip
    cosines_into(
        carray(vectors, (n, size), np.float32),
        carray(rows_of, n_rows, np.int64),
        carray(columns_of, n_columns, np.int64),
        carray(similarity, (n_rows, n_columns), np.float32),
        carray(partial, PRODUCTS, np.float32),
    )
    return 0


ENTRIES = {"align": (_align, "piippppppppppipipi"), "cosines": (_cosines, "piippiipp")}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""


def _flat(values: Any, kind: Any = np.int64) -> Any:
    return np.ascontiguousarray(values, kind)


def _functions() -> Any:
    from relfast_kernels.compiled import native

    return native.functions("align")
