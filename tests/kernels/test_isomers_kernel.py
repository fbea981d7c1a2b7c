"""The isomer search against its textbook twin."""

from __future__ import annotations

import naive_isomers as naive
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relfast_kernels.isomers import ENTER, is_maximal, next_isomers

VALENCE = (4, 3, 2, 1)


def work_space(n: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    return np.empty((2, n + 1, n), np.int8), np.empty((2, n + 1), np.int64)


def search(valences: list[int], blocks: list[int], bonds: int, chunk: int) -> list[tuple[int, ...]]:
    n = len(valences)
    values = np.array(valences, dtype=np.int64)
    names = np.array(blocks, dtype=np.int8)
    cursor = np.array([0, 1, bonds, ENTER], dtype=np.int64)
    matrix, free = np.zeros((n, n), dtype=np.int8), values.copy()
    out = np.zeros((chunk, n, n), dtype=np.int8)
    found: list[tuple[int, ...]] = []
    while True:
        k = next_isomers(values, names, cursor, matrix, free, out, *work_space(n))
        assert (out[:k] == out[:k].transpose(0, 2, 1)).all()
        found += [naive.upper(m) for m in out[:k]]
        if k < chunk:
            return found


@st.composite
def atoms(draw: st.DrawFn, most: int) -> tuple[list[int], list[int]]:
    """Valences and blocks of two or more atoms, as the enumerator orders them."""
    blocks = sorted(draw(st.lists(st.integers(0, 3), min_size=2, max_size=most)))
    return [VALENCE[b] for b in blocks], blocks


@given(atoms(4), st.integers(0, 9), st.integers(1, 40))
@settings(max_examples=25, deadline=None)
def test_the_search_finds_what_trying_every_matrix_finds(
    given_atoms: tuple[list[int], list[int]], bonds: int, chunk: int
) -> None:
    valences, blocks = given_atoms
    found = search(valences, blocks, bonds, chunk)
    assert len(found) == len(set(found))
    assert set(found) == naive.isomers(valences, blocks, bonds)


@pytest.mark.parametrize(
    ("valences", "blocks", "bonds"),
    [([4] * 5, [0] * 5, 6), ([4, 4, 4, 2, 1], [0, 0, 0, 1, 2], 5), ([4, 3, 3, 2, 2], [0, 1, 1, 2, 2], 5)],
)
def test_five_atoms(valences: list[int], blocks: list[int], bonds: int) -> None:
    assert set(search(valences, blocks, bonds, 7)) == naive.isomers(valences, blocks, bonds)


def test_chunks_of_any_size_give_one_sequence() -> None:
    valences, blocks = [4, 4, 4, 4, 2, 1], [0, 0, 0, 0, 1, 2]
    whole = search(valences, blocks, 7, 10_000)
    assert len(whole) > 100
    for chunk in (1, 2, 13, len(whole), len(whole) + 1):
        assert search(valences, blocks, 7, chunk) == whole


@st.composite
def matrices(draw: st.DrawFn) -> tuple[npt.NDArray[np.int8], list[int]]:
    n = draw(st.integers(2, 6))
    blocks = sorted(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    matrix = np.zeros((n, n), dtype=np.int8)
    for i in range(n):
        for j in range(i + 1, n):
            matrix[i, j] = matrix[j, i] = draw(st.sampled_from([0, 0, 0, 1, 1, 2, 3]))
    if draw(st.booleans()):
        # a random matrix is hardly ever maximal
        matrix = max(
            (matrix[np.ix_(order, order)] for order in naive.block_permutations(blocks)), key=naive.upper
        )
    return matrix, blocks


@given(matrices())
@settings(max_examples=200, deadline=None)
def test_maximality_is_that_of_all_permutations(case: tuple[npt.NDArray[np.int8], list[int]]) -> None:
    matrix, blocks = case
    assert is_maximal(
        matrix, np.array(blocks, dtype=np.int8), len(matrix), *work_space(len(matrix))
    ) == naive.is_maximal(matrix, blocks)


@given(matrices())
@settings(max_examples=200, deadline=None)
def test_a_prefix_is_never_turned_down_wrongly(case: tuple[npt.NDArray[np.int8], list[int]]) -> None:
    matrix, blocks = case
    names = np.array(blocks, dtype=np.int8)
    verdicts = [
        is_maximal(matrix, names, known, *work_space(len(matrix))) for known in range(1, len(matrix) + 1)
    ]
    # known rows only ever add reasons to turn a matrix down
    assert verdicts == sorted(verdicts, reverse=True)
