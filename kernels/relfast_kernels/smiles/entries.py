"""Entries of the unit ``smiles`` for `relfast_kernels.compiled.native`: tables as functions over pointers."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import carray, kernel, pointer
from relfast_kernels.smiles.layouts import (
    CODE_COLUMNS,
    GRAPH_SIZE,
    MAX_CODE,
    N_COUNTERS,
    RESULT_COLUMNS,
    SIZE_COLUMNS,
    TABLE_MEMORIES,
    TABLE_PARTS,
    TEXT_COLUMNS,
    WORK_SIZE,
)
from relfast_kernels.smiles.table import Table, code_of, learn, match_lists


@kernel
def _table(address: Any) -> Table:
    about = carray(address, TABLE_PARTS, np.int64)
    max_texts, text_bytes, max_codes, code_bytes = (
        about[TABLE_MEMORIES],
        about[TABLE_MEMORIES + 1],
        about[TABLE_MEMORIES + 2],
        about[TABLE_MEMORIES + 3],
    )
    return Table(
        carray(pointer(about[0]), 2 * max_texts, np.int32),
        carray(pointer(about[1]), TEXT_COLUMNS * max_texts, np.int64),
        carray(pointer(about[2]), text_bytes, np.uint8),
        carray(pointer(about[3]), 2 * max_codes, np.int32),
        carray(pointer(about[4]), CODE_COLUMNS * max_codes, np.int64),
        carray(pointer(about[5]), code_bytes, np.uint8),
        carray(pointer(about[6]), N_COUNTERS, np.int64),
        carray(pointer(about[7]), GRAPH_SIZE, np.int64),
        carray(pointer(about[8]), WORK_SIZE, np.int64),
    )


def _match(
    data: Any, n_bytes: int, sizes: Any, n_records: int, strict: int, classes: Any, links: Any, n_texts: int,
    results: Any, table: Any,
) -> int:  # fmt: skip
    match_lists(
        carray(data, n_bytes, np.uint8),
        carray(sizes, SIZE_COLUMNS * n_records, np.int64),
        strict != 0,
        carray(classes, n_texts, np.int64),
        carray(links, n_texts, np.int64),
        carray(results, RESULT_COLUMNS * n_records, np.int64),
        _table(table),
    )
    return 0


def _learn(data: Any, n_bytes: int, code: Any, code_length: int, fingerprint: int, table: Any) -> int:
    return learn(
        carray(data, n_bytes, np.uint8), carray(code, code_length, np.uint8), fingerprint, _table(table)
    )


def _code(data: Any, n_bytes: int, by_rdkit: int, code: Any, table: Any) -> int:
    return code_of(
        carray(data, n_bytes, np.uint8), by_rdkit != 0, carray(code, 2 * MAX_CODE, np.uint8), _table(table)
    )


ENTRIES = {
    "match": (_match, "pipiippipp"),
    "learn": (_learn, "pipiip"),
    "code": (_code, "piipp"),
}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
