"""Global alignment of solution steps (Needleman-Wunsch 1970) and the cosine similarities that it scores.

The table is float64 over float32 similarities, its borders are ``i * gap``, and ties go to a match, then
to skipping the benchmark's step, then to skipping the model's: ReAlign's `align_steps`, to the bit.

A ragged batch is a flat array of matrices: pair ``p`` has ``rows[p] * columns[p]`` similarities in row
order from ``cells[p]`` on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import (
    Array,
    Byte,
    Bytes,
    Const,
    Doubles,
    Float,
    Float32,
    Int,
    Ints,
    Singles,
    Struct,
)
from relfast_kernels.layouts import MATCH, SKIP_BENCHMARK, SKIP_LLM

PRODUCTS = 16
"""Partial sums of a dot product. Their order is fixed, so a similarity has the same bits in every batch,
thread and process; BLAS does not promise that for matrices of different shapes."""


@kernel
def fill(
    similarity: Singles,
    codes: Bytes,
    table: Doubles,
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
    similarity: Singles,
    codes: Bytes,
    rows: int,
    columns: int,
    threshold: float,
    path: Bytes,
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


class Batch(Struct):
    """What `align_batch` is given and returns, and work space."""

    n_pairs: int = Int
    n_cells: int = Int
    n_moves: int = Int
    n_codes: int = Int
    breadth: int = Int
    gap: float = Float
    threshold: float = Float
    similarity: Singles = Const(Float32, "n_cells")
    cells: Ints = Const(Int, "n_pairs")
    rows: Ints = Const(Int, "n_pairs")
    columns: Ints = Const(Int, "n_pairs")
    path: Bytes = Array(Byte, "n_moves")
    begin: Ints = Array(Int, "n_pairs")
    end: Ints = Const(Int, "n_pairs")
    matches: Ints = Array(Int, "n_pairs")
    total: Doubles = Array(Float, "n_pairs")
    diverged: Ints = Array(Int, "n_pairs")
    codes: Bytes = Array(Byte, "n_codes")
    table: Doubles = Array(Float, 2, "breadth")


@kernel
def align_pairs(batch: Batch) -> int:
    """The entry: aligns each pair. ``end[p]`` is where the part of ``path`` that belongs to pair p ends."""
    for p in range(batch.n_pairs):
        rows, columns, end = batch.rows[p], batch.columns[p], batch.end[p]
        matrix = batch.similarity[batch.cells[p] : batch.cells[p] + rows * columns]
        fill(matrix, batch.codes, batch.table, rows, columns, batch.gap)
        first = end - rows - columns
        start, batch.matches[p], batch.total[p], batch.diverged[p] = trace_back(
            matrix, batch.codes, rows, columns, batch.threshold, batch.path[first:end]
        )
        batch.begin[p] = first + start
    return 0


def align_batch(
    similarity: Singles,
    cells: Ints,
    rows: Ints,
    columns: Ints,
    gap: float,
    threshold: float,
) -> tuple[
    Bytes,
    Ints,
    Ints,
    Ints,
    Doubles,
    Ints,
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
    _functions()["align"](
        Batch(
            similarity=similarity, cells=cells, rows=rows, columns=columns, gap=gap, threshold=threshold,
            path=path, begin=begin, end=end, matches=matches, total=total, diverged=diverged, codes=codes,
            table=np.empty((2, breadth), np.float64),
        )
    )  # fmt: skip
    return path, begin, end, matches, total, diverged


class Selections(Struct):
    """Vectors of length 1, two selections of them, the similarities between those, and work space."""

    n_vectors: int = Int
    n_dimensions: int = Int
    n_rows: int = Int
    n_columns: int = Int
    vectors: Singles = Const(Float32, "n_vectors", "n_dimensions")
    rows_of: Ints = Const(Int, "n_rows")
    columns_of: Ints = Const(Int, "n_columns")
    similarity: Singles = Array(Float32, "n_rows", "n_columns")
    partial: Singles = Array(Float32, PRODUCTS)


@kernel
def compare(chosen: Selections) -> int:
    """`cosines` for two `Selections`."""
    one = np.float32(1.0)
    for i in range(chosen.n_rows):
        for j in range(chosen.n_columns):
            row, column = chosen.rows_of[i], chosen.columns_of[j]
            if row == column:
                chosen.similarity[i, j] = one
            else:
                product = dot(chosen.vectors[row], chosen.vectors[column], chosen.partial)
                chosen.similarity[i, j] = min(product, one)
    return 0


def cosines(vectors: Singles, rows_of: Ints, columns_of: Ints) -> Singles:
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
    similarity = np.empty((rows_of.size, columns_of.size), np.float32)
    _functions()["cosines"](
        Selections(
            vectors=vectors, rows_of=rows_of, columns_of=columns_of, similarity=similarity,
            partial=np.empty(PRODUCTS, np.float32),
        )
    )  # fmt: skip
    return similarity


@kernel
def dot(a: Singles, b: Singles, partial: Singles) -> Any:
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


ENTRIES = {"align": (align_pairs, Batch), "cosines": (compare, Selections)}
"""Name → function and what it is given."""


def _flat(values: ArrayLike, kind: DTypeLike = np.int64) -> Any:
    return np.ascontiguousarray(values, kind)


def _functions() -> Any:
    from relfast_kernels.compiled import native

    return native.functions("align")
