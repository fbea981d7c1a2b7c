"""Reading SMILES and giving graphs canonical codes, against a textbook twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relfast_kernels.smiles import layouts, lists
from relfast_kernels.smiles import table as tables


def new_table(max_texts: int, text_bytes: int, max_codes: int, code_bytes: int) -> tables.Table:
    """An empty table for so many texts and molecules (powers of two), which take so many bytes."""
    return tables.Table(
        np.zeros(2 * max_texts, np.int32),
        np.zeros(max_texts * layouts.TEXT_COLUMNS, np.int64),
        np.zeros(text_bytes, np.uint8),
        np.zeros(2 * max_codes, np.int32),
        np.zeros(max_codes * layouts.CODE_COLUMNS, np.int64),
        np.zeros(code_bytes, np.uint8),
        np.zeros(layouts.N_COUNTERS, np.int64),
        np.zeros(layouts.GRAPH_SIZE, np.int64),
        np.zeros(layouts.WORK_SIZE, np.int64),
    )


TABLE = new_table(1, 16, 4, 4 * layouts.MAX_CODE)


def code_of(text: str, *, by_rdkit: bool = False) -> bytes | int:
    code = np.zeros(2 * layouts.MAX_CODE, np.uint8)
    data = np.frombuffer(text.encode(), np.uint8)
    length = tables.code_of(data, by_rdkit, code, TABLE)
    return code[:length].tobytes() if length > 0 else length


@pytest.mark.slow
def test_symmetrical_molecules() -> None:
    """Colour refinement alone cannot tell these apart, or cannot order their atoms."""
    cubane = "C12C3C4C1C5C2C3C45"
    prismane, bicyclopropenyl = "C12C3C4C1C4C32", "C1(C2C=C2)C=C1"
    hexagon, triangles = "C1CCCCC1", "C1CC1.C1CC1"
    decalin, bicyclopentyl = "C1CCC2CCCCC2C1", "C1CCC(C1)C1CCCC1"
    codes = [
        code_of(text)
        for text in (cubane, prismane, bicyclopropenyl, hexagon, triangles, decalin, bicyclopentyl)
    ]
    assert all(isinstance(code, bytes) for code in codes)
    assert len(set(codes)) == len(codes)
    assert code_of("C23C1C4C2C6C3C1C46") == code_of(cubane)


def match(
    table: Any,
    records: list[tuple[list[str], list[str]]],
    kept: tuple[np.ndarray, list[int]] | None = None,
    strict: bool = False,
) -> list[list[int]]:
    """What is told of records; ``kept`` is memory for classes of golds, and each record's place in it."""
    memory, places = kept or (np.zeros(1, np.int64), [-1] * len(records))
    data = "".join(text + "\n" for gold, pred in records for text in [*gold, *pred])
    n = data.count("\n")
    results = np.zeros(layouts.RESULT_COLUMNS * len(records), np.int64)
    lists.match_lists(
        np.frombuffer(data.encode(), np.uint8),
        np.array(
            [
                n
                for (gold, pred), place in zip(records, places, strict=True)
                for n in (len(gold), len(pred), 0, place)
            ],
            np.int64,
        ),
        strict,
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        results,
        memory,
        table,
    )
    wanted = [layouts.TRUE_POSITIVES, layouts.VOTE, layouts.DECIDED]
    return results.reshape(-1, layouts.RESULT_COLUMNS)[:, wanted].tolist()  # type: ignore[no-any-return]


WORDS = [
    "C", "CC", "C-C", "[CH3][CH3]", "CO", "OC", "CCO", "OCC", "C1CC1", "C1CC", "C(C", "CC(C)(C)C",
    "c1ccccc1", "C1=CC=CC=C1", "C*",
]  # fmt: skip


GOLD_AND_PREDICTIONS = st.tuples(
    st.lists(st.sampled_from(WORDS), max_size=5), st.lists(st.sampled_from(WORDS), max_size=6)
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    records=st.lists(GOLD_AND_PREDICTIONS, max_size=6),
    size=st.sampled_from([1, 4, 64]),
    strict=st.booleans(),
)
def test_golds_that_are_kept_give_what_they_did(
    records: list[tuple[list[str], list[str]]], size: int, strict: bool
) -> None:
    """One memory through many calls, while the table is emptied now and then."""
    table = new_table(size, 16 * size, 4 * size, 4 * layouts.MAX_CODE + 64 * size)
    memory = np.zeros(1_000, np.int64)
    known: dict[tuple[str, ...], int] = {}
    told = [match(table, [record], strict=strict) for record in records]
    for _ in range(2):
        for (gold, pred), expected in zip(records, told, strict=True):
            place = known.setdefault(tuple(gold), 20 * len(known))
            assert match(table, [(gold, pred)], (memory, [place]), strict) == expected
