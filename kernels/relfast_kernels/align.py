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

from relfast_kernels.compiled.jit import kernel
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
    pairs = rows.size
    begin = np.empty(pairs, np.int64)
    end = np.empty(pairs, np.int64)
    matches = np.empty(pairs, np.int64)
    total = np.empty(pairs, np.float64)
    diverged = np.empty(pairs, np.int64)
    size = 0
    most_columns = 0
    most_cells = 0
    for p in range(pairs):
        size += rows[p] + columns[p]
        end[p] = size
        most_columns = max(most_columns, columns[p])
        if rows[p] * columns[p] > LANE_CELLS:
            most_cells = max(most_cells, rows[p] * columns[p])
    path = np.empty(size, np.uint8)
    codes = np.empty(max(most_cells, LANE_CELLS * LANES), np.uint8)
    mixed = np.zeros(LANE_CELLS * LANES, np.float32)
    table = np.empty((2, (most_columns + 1) * LANES), np.float64)

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
    return path, begin, end, matches, total, diverged


@kernel
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
    cells = 0
    for p in range(rows.size):
        cells += rows[p] * columns[p]
    similarity = np.empty(cells, np.float32)
    partial = np.empty(PRODUCTS, np.float32)
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


def warm_up() -> None:
    """Compile everything here for the types that callers use: two small pairs and a large one."""
    rows, columns = np.array([2, 1, LANE_CELLS + 1]), np.array([2, 2, 1])
    vectors = np.ones((2, PRODUCTS), np.float32)
    rows_of, columns_of = np.zeros(int(rows.sum()), np.int64), np.ones(int(columns.sum()), np.int64)
    similarity = cosine_batch(vectors, rows_of, columns_of, rows, columns)
    sizes = rows * columns
    align_batch(similarity, np.cumsum(sizes) - sizes, rows, columns, np.arange(3), -0.1, 0.7)
