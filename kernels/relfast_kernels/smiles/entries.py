"""Tables as functions over pointers, for `relfast_kernels.compiled.native`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import carray
from relfast_kernels.smiles.layouts import (
    CODE_COLUMNS,
    GRAPH_SIZE,
    MAX_CODE,
    N_COUNTERS,
    RESULT_COLUMNS,
    SIZE_COLUMNS,
    TEXT_COLUMNS,
    WORK_SIZE,
)
from relfast_kernels.smiles.lists import match_lists
from relfast_kernels.smiles.table import code_of, fingerprint_of, learn


def _match(
    data: Any,
    n_bytes: int,
    sizes: Any,
    n_records: int,
    strict: int,
    classes: Any,
    links: Any,
    n_texts: int,
    results: Any,
    kept: Any,
    n_kept: int,
    text_slots: Any,
    texts_index: Any,
    texts: Any,
    max_texts: int,
    text_bytes: int,
    code_slots: Any,
    codes_index: Any,
    codes: Any,
    max_codes: int,
    code_bytes: int,
    used: Any,
    graph: Any,
    work: Any,
) -> int:
    match_lists(
        carray(data, n_bytes, np.uint8),
        carray(sizes, SIZE_COLUMNS * n_records, np.int64),
        strict != 0,
        carray(classes, n_texts, np.int64),
        carray(links, n_texts, np.int64),
        carray(results, RESULT_COLUMNS * n_records, np.int64),
        carray(kept, n_kept, np.int64),
        carray(text_slots, 2 * max_texts, np.int32),
        carray(texts_index, TEXT_COLUMNS * max_texts, np.int64),
        carray(texts, text_bytes, np.uint8),
        carray(code_slots, 2 * max_codes, np.int32),
        carray(codes_index, CODE_COLUMNS * max_codes, np.int64),
        carray(codes, code_bytes, np.uint8),
        carray(used, N_COUNTERS, np.int64),
        carray(graph, GRAPH_SIZE, np.int64),
        carray(work, WORK_SIZE, np.int64),
    )
    return 0


def _learn(
    data: Any,
    n_bytes: int,
    code: Any,
    code_length: int,
    fingerprint: int,
    text_slots: Any,
    texts_index: Any,
    texts: Any,
    max_texts: int,
    text_bytes: int,
    code_slots: Any,
    codes_index: Any,
    codes: Any,
    max_codes: int,
    code_bytes: int,
    used: Any,
) -> int:
    return learn(
        carray(data, n_bytes, np.uint8),
        carray(code, code_length, np.uint8),
        fingerprint,
        carray(text_slots, 2 * max_texts, np.int32),
        carray(texts_index, TEXT_COLUMNS * max_texts, np.int64),
        carray(texts, text_bytes, np.uint8),
        carray(code_slots, 2 * max_codes, np.int32),
        carray(codes_index, CODE_COLUMNS * max_codes, np.int64),
        carray(codes, code_bytes, np.uint8),
        carray(used, N_COUNTERS, np.int64),
    )


def _code(data: Any, n_bytes: int, by_rdkit: int, code: Any, graph: Any, work: Any) -> int:
    return code_of(
        carray(data, n_bytes, np.uint8),
        by_rdkit != 0,
        carray(code, 2 * MAX_CODE, np.uint8),
        carray(graph, GRAPH_SIZE, np.int64),
        carray(work, WORK_SIZE, np.int64),
    )


def _fingerprint(data: Any, n_bytes: int, graph: Any) -> int:
    return fingerprint_of(carray(data, n_bytes, np.uint8), carray(graph, GRAPH_SIZE, np.int64))


ENTRIES = {
    "match": (_match, "pipiippippipppiipppiippp"),
    "learn": (_learn, "pipiipppiipppiip"),
    "code": (_code, "piippp"),
    "fingerprint": (_fingerprint, "pip"),
}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
