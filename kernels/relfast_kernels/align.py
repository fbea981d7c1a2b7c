"""Global alignment of steps (Needleman-Wunsch 1970) and the cosine similarities it runs on.

The table is float64 over float32 similarities, its borders are ``i * gap``, and ties go to match, then
to skipping the benchmark's step, then to skipping the model's: ReAlign's `align_steps`, to the bit.

A ragged batch is a flat array of matrices: pair ``p`` has ``rows[p] * columns[p]`` similarities in row
order from ``cells[p]`` on. Small pairs are filled `LANES` at a time, interleaved, so that one vector
instruction works on one cell of each; a cell's value depends on its own pair only, whatever stands
beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relfast_kernels.compiled.jit import carray, kernel
from relfast_kernels.layouts import MATCH, SKIP_BENCHMARK, SKIP_LLM

LANES = 8
"""Pairs side by side: eight float64 are one AVX-512 register (two of AVX2). 0.3 ns a cell against 1.2
for the same loop left scalar; 16 and 32 gain nothing and pad more."""

LANE_CELLS = 4096
"""Largest table (of a group of lanes, padded) that is interleaved: its codes, 32 kB, still fit a level-1
cache. Larger pairs are filled alone."""

PRODUCTS = 16
"""Partial sums of a dot product. Their order is fixed, so a similarity has the same bits in every batch,
thread and process; a BLAS promises that for no two shapes."""

# Unsigned, so that the compiler needs no wrap-around test at `t + _STRIDE` and sees the distance between
# what a cell writes and what its right neighbour reads: without that it does not vectorise.
_STRIDE = np.uint64(LANES)


@kernel
def spread(row: NDArray[np.float32], lane: NDArray[np.float32]) -> None:
    """Write a row (or several that follow each other) into its lane: every `LANES`-th element."""
    for j in range(np.uint64(row.size)):
        lane[j * _STRIDE] = row[j]


@kernel
def fill_row(
    similarity: NDArray[np.float32],
    codes: NDArray[np.uint8],
    above: NDArray[np.float64],
    here: NDArray[np.float64],
    gap: float,
) -> None:
    """One row of `LANES` interleaved tables: one loop over columns and lanes, so that it vectorises.

    Cell ``t``'s left neighbour was written `LANES` steps before it.
    """
    for t in range(np.uint64(similarity.size)):
        match = above[t] + similarity[t]
        up = above[t + _STRIDE] + gap
        best = up if up > match else match
        left = here[t] + gap
        codes[t] = np.uint8(up > match) | (np.uint8(left > best) << np.uint8(1))
        here[t + _STRIDE] = left if left > best else best


@kernel
def fill_lanes(
    similarity: NDArray[np.float32],
    codes: NDArray[np.uint8],
    table: NDArray[np.float64],
    rows: int,
    columns: int,
    gap: float,
) -> None:
    """Fill `LANES` interleaved tables of ``rows`` × ``columns``.

    ``similarity`` and ``codes`` are flat, ``[row, column, lane]``; ``table`` is scratch of two rows,
    ``(2, (columns + 1) * LANES)``. Afterwards ``codes`` holds how each cell was reached.
    """
    width = columns * LANES
    for j in range(columns + 1):
        for lane in range(LANES):
            table[0, j * LANES + lane] = j * gap
    for i in range(rows):
        above = table[i & 1]
        here = table[(i & 1) ^ 1]
        for lane in range(LANES):
            here[lane] = (i + 1) * gap
        row = similarity[i * width : (i + 1) * width]
        code = codes[i * width : (i + 1) * width]
        fill_row(row, code, above, here, gap)


@kernel
def fill_one(
    similarity: NDArray[np.float32],
    codes: NDArray[np.uint8],
    table: NDArray[np.float64],
    rows: int,
    columns: int,
    gap: float,
) -> None:
    """Fill one table: `fill_lanes` with a single lane, ``table`` of shape ``(2, columns + 1)``."""
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
    width: int,
    stride: int,
    lane: int,
    threshold: float,
    path: NDArray[np.uint8],
) -> tuple[int, int, float, int]:
    """Walk one pair's codes from the end, writing its path into the end of ``path``.

    ``width`` and ``stride`` are the distances between rows and between columns in ``codes``, ``lane`` the
    first element. A code's bit 1 is a skip of the model's step; else bit 0 is a skip of the benchmark's.

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
            code = codes[(i - 1) * width + (j - 1) * stride + lane]
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
    similarity: Any,
    cells: Any,
    rows: Any,
    columns: Any,
    order: Any,
    gap: float,
    threshold: float,
    path: Any,
    begin: Any,
    end: Any,
    matches: Any,
    total: Any,
    diverged: Any,
    codes: Any,
    mixed: Any,
    table: Any,
) -> None:
    """`align_batch` with its results, of which ``end`` is known, and its work space as arguments."""
    pairs = rows.size
    at = 0
    while at < pairs:
        # as many of the next pairs as fit side by side; one that is too large goes alone
        height = rows[order[at]]
        breadth = columns[order[at]]
        together = 0
        while together < LANES and at + together < pairs:
            p = order[at + together]
            if max(height, rows[p]) * max(breadth, columns[p]) > LANE_CELLS:
                break
            height = max(height, rows[p])
            breadth = max(breadth, columns[p])
            together += 1
        if together == 0:
            p = order[at]
            own = similarity[cells[p] : cells[p] + height * breadth]
            fill_one(own, codes, table, height, breadth, gap)
            width, stride, together = breadth, 1, 1
        else:
            for lane in range(together):
                p = order[at + lane]
                if columns[p] == breadth:
                    # the rows lie one after another on both sides: one run, twice as fast as row by row
                    spread(similarity[cells[p] : cells[p] + rows[p] * breadth], mixed[lane:])
                    continue
                for i in range(rows[p]):
                    source = cells[p] + i * columns[p]
                    spread(similarity[source : source + columns[p]], mixed[i * breadth * LANES + lane :])
            fill_lanes(mixed, codes, table, height, breadth, gap)
            width, stride = breadth * LANES, LANES
        for lane in range(together):
            p = order[at + lane]
            first = end[p] - rows[p] - columns[p]
            own = similarity[cells[p] : cells[p] + rows[p] * columns[p]]
            start, matches[p], total[p], diverged[p] = trace_back(
                own, codes, rows[p], columns[p], width, stride, lane, threshold, path[first : end[p]]
            )
            begin[p] = first + start
        at += together


def align_batch(
    similarity: NDArray[np.float32],
    cells: NDArray[np.int64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    order: NDArray[np.int64],
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
    order
        The pairs in the order in which they are put side by side; sorted by columns and then rows, little
        is padded. It does not change any result.
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
    cells, order, pairs = _flat(cells), _flat(order), rows.size
    begin, matches, diverged = (np.zeros(pairs, np.int64) for _ in range(3))
    end, total = np.cumsum(rows + columns), np.zeros(pairs, np.float64)
    sizes = rows * columns
    most_cells = int(sizes[sizes > LANE_CELLS].max(initial=LANE_CELLS * LANES))
    path = np.empty(int(end[-1]) if pairs else 0, np.uint8)
    codes, mixed = np.empty(most_cells, np.uint8), np.zeros(LANE_CELLS * LANES, np.float32)
    breadth = (int(columns.max(initial=0)) + 1) * LANES
    table, bounds = np.empty((2, breadth), np.float64), np.array([gap, threshold])
    arrays = (cells, rows, columns, order, bounds, path, begin, end, matches, total, diverged)
    _functions()["align"](
        similarity.ctypes.data, similarity.size, pairs, *(array.ctypes.data for array in arrays), path.size,
        codes.ctypes.data, codes.size, mixed.ctypes.data, table.ctypes.data, breadth,
    )  # fmt: skip
    return path, begin, end, matches, total, diverged


@kernel
def cosines_into(
    vectors: Any, rows_of: Any, columns_of: Any, rows: Any, columns: Any, similarity: Any, partial: Any
) -> None:
    """`cosine_batch` with its result and its work space as arguments."""
    one = np.float32(1.0)
    at = 0
    row = 0
    column = 0
    for p in range(rows.size):
        for i in range(row, row + rows[p]):
            for j in range(column, column + columns[p]):
                if rows_of[i] == columns_of[j]:
                    similarity[at] = one
                else:
                    similarity[at] = min(dot(vectors[rows_of[i]], vectors[columns_of[j]], partial), one)
                at += 1
        row += rows[p]
        column += columns[p]


def cosine_batch(
    vectors: NDArray[np.float32],
    rows_of: NDArray[np.int64],
    columns_of: NDArray[np.int64],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Cosine similarities of the pairs of a ragged batch, flat, in row order.

    Parameters
    ----------
    vectors
        (texts, dimensions) float32, each of length 1.
    rows_of, columns_of
        int64 rows of ``vectors``: the steps of all pairs one after another, ``rows[p]`` and
        ``columns[p]`` of them for pair ``p``.

    A text is exactly 1 from itself, and nothing is above 1, although the rounded dot product may be.
    """
    vectors = np.ascontiguousarray(vectors, np.float32)
    rows_of, columns_of, rows, columns = map(_flat, (rows_of, columns_of, rows, columns))
    similarity = np.empty(int((rows * columns).sum()), np.float32)
    partial = np.empty(PRODUCTS, np.float32)
    indices = (rows_of, columns_of, rows, columns, similarity)
    _functions()["cosines"](
        vectors.ctypes.data, *vectors.shape, rows_of.size, columns_of.size, rows.size,
        *(array.ctypes.data for array in indices), similarity.size, partial.ctypes.data,
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
    similarity: Any, n_cells: int, pairs: int, cells: Any, rows: Any, columns: Any, order: Any, bounds: Any,
    path: Any, begin: Any, end: Any, matches: Any, total: Any, diverged: Any, n_moves: int,
    codes: Any, n_codes: int, mixed: Any, table: Any, breadth: int,
) -> int:  # fmt: skip
    gap, threshold = carray(bounds, 2, np.float64)
    align_into(
        carray(similarity, n_cells, np.float32),
        carray(cells, pairs, np.int64),
        carray(rows, pairs, np.int64),
        carray(columns, pairs, np.int64),
        carray(order, pairs, np.int64),
        gap,
        threshold,
        carray(path, n_moves, np.uint8),
        carray(begin, pairs, np.int64),
        carray(end, pairs, np.int64),
        carray(matches, pairs, np.int64),
        carray(total, pairs, np.float64),
        carray(diverged, pairs, np.int64),
        carray(codes, n_codes, np.uint8),
        carray(mixed, LANE_CELLS * LANES, np.float32),
        carray(table, (2, breadth), np.float64),
    )
    return 0


def _cosines(
    vectors: Any, n: int, size: int, n_rows: int, n_columns: int, pairs: int, rows_of: Any, columns_of: Any,
    rows: Any, columns: Any, similarity: Any, n_cells: int, partial: Any,
) -> int:  # fmt: skip
    cosines_into(
        carray(vectors, (n, size), np.float32),
        carray(rows_of, n_rows, np.int64),
        carray(columns_of, n_columns, np.int64),
        carray(rows, pairs, np.int64),
        carray(columns, pairs, np.int64),
        carray(similarity, n_cells, np.float32),
        carray(partial, PRODUCTS, np.float32),
    )
    return 0


ENTRIES = {"align": (_align, "piipppppppppppipippi"), "cosines": (_cosines, "piiiiipppppip")}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""


def _flat(values: Any, kind: Any = np.int64) -> Any:
    return np.ascontiguousarray(values, kind)


def _functions() -> Any:
    from relfast_kernels.compiled import native

    return native.functions("align")
