"""The alignment kernel against its textbook twin, alone and in batches."""

from __future__ import annotations

import numpy as np
import pytest
from naive_realign import align, first_divergence
from numpy.typing import NDArray
from seeds import fresh

from relfast.tasks.realign.alignment import (
    MOVES,
    Alignment,
    align_matrices,
)

Matrix = NDArray[np.float32]

# few different values, so that ties are everywhere; values next to the gap and the threshold; and one so
# small that a sum shows when it was added
TIED = np.array([-0.2, -0.1, 0.0, 0.1, 0.2, 0.7, 0.69999999, 1.0, -1.0, 8.640161e-15], np.float32)


def order_shows() -> Matrix:
    """Two ones and 8.6e-15 on the path: its mean ends in …696 added from the last match, in …695 rounded once."""
    item = np.full((7, 3), -0.2, np.float32)
    item[3, 0] = item[4, 1] = 1.0
    item[6, 2] = 8.640161e-15
    return item


def batch(items: list[Matrix]) -> list[Alignment]:
    rows = np.array([item.shape[0] for item in items], np.int64)
    columns = np.array([item.shape[1] for item in items], np.int64)
    flat = np.concatenate([item.ravel() for item in items]) if items else np.empty(0, np.float32)
    return list(align_matrices(flat.astype(np.float32), rows, columns))


def path_of(found: Alignment) -> list[tuple[str, int | None, int | None]]:
    path: list[tuple[str, int | None, int | None]] = []
    i = j = 0
    for move in found.moves.tolist():
        in_benchmark, in_llm = MOVES[move] != "skip_llm", MOVES[move] != "skip_benchmark"
        path.append((MOVES[move], i if in_benchmark else None, j if in_llm else None))
        i, j = i + in_benchmark, j + in_llm
    return path


def check(item: Matrix, found: Alignment) -> None:
    path, average = align(item, *item.shape)
    assert path_of(found) == path
    assert found.avg_score == average
    assert found.first_divergence == first_divergence(path, item)
    assert found.scores.tolist() == [float(item[a, b]) for kind, a, b in path if kind == "match"]


@pytest.mark.parametrize("seed", range(20))
def test_batch_equals_the_textbook(seed: int) -> None:
    rng = np.random.default_rng(fresh(seed).getrandbits(64))
    sizes = rng.integers(0, 10, (120, 2))
    items = [
        rng.choice(TIED, size) if at % 3 else rng.uniform(-1, 1, size).astype(np.float32)
        for at, size in enumerate(sizes)
    ]
    for item, found in zip(items, batch(items), strict=True):
        check(item, found)


def test_means_are_added_from_the_last_match_to_the_first() -> None:
    found = batch([order_shows()])
    assert found[0].avg_score == 0.6666666666666696
    first, second, last = found[0].scores.tolist()
    assert (last + second + first) / 3 == 0.6666666666666696
    assert (first + second + last) / 3 != 0.6666666666666696


def test_sizes() -> None:
    rng = np.random.default_rng(1)
    for rows, columns in [(12, 14), (1, 1), (65, 64), (1, 5000), (200, 30)]:
        items = [rng.choice(TIED, (rows, columns))]
        items += [rng.random((int(a), int(b)), np.float32) for a, b in rng.integers(1, 12, (11, 2))]
        for item, found in zip(items, batch(items), strict=True):
            check(item, found)


def test_not_a_number_breaks_nothing_beside_it() -> None:
    broken = np.full((3, 3), np.nan, np.float32)
    whole = np.eye(3, dtype=np.float32)
    _, found = batch([broken, whole])
    check(whole, found)
