"""Entries of the unit ``mcs`` for `relfast_kernels.compiled.native`: plain functions over pointers."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import carray
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs.layouts import PAIR_SIZE, PAIR_WORK_SIZE, PREPARED_SIZE
from relfast_kernels.mcs.pairs import SEARCH_WORK, common, first_part, judge, prepare
from relfast_kernels.smiles.layouts import MAX_SMILES

assert SEARCH_WORK <= PAIR_WORK_SIZE


def _prepare(text: Any, n: int, by_rdkit: int, prepared: Any) -> int:
    return prepare(
        carray(text, n, np.uint8), by_rdkit != 0, True, True, carray(prepared, PREPARED_SIZE, np.int64)
    )


def _common(first: Any, second: Any, whole_rings: int, limit: int, work: Any, result: Any) -> int:
    return common(
        carray(first, PREPARED_SIZE, np.int64),
        carray(second, PREPARED_SIZE, np.int64),
        whole_rings != 0,
        limit,
        carray(work, PAIR_WORK_SIZE, np.int64),
        carray(result, PAIR_SIZE, np.int64),
    )


def _judge(
    golds: Any, n_golds: int, chosen: Any, text: Any, n_bytes: int, spans: Any, n: int, whole_rings: int,
    limit: int, second: Any, work: Any, statuses: Any, results: Any,
) -> int:  # fmt: skip
    """`judge` for many texts, each with its gold among many; one that is too long is `UNKNOWN`."""
    prepared = carray(golds, (n_golds, PREPARED_SIZE), np.int64)
    texts, places = carray(text, n_bytes, np.uint8), carray(spans, (n, 2), np.int64)
    numbers, all_statuses = carray(chosen, n, np.int64), carray(statuses, n, np.int64)
    pairs = carray(results, (n, PAIR_SIZE), np.int64)
    parsed, workspace = carray(second, PREPARED_SIZE, np.int64), carray(work, PAIR_WORK_SIZE, np.int64)
    for at in range(n):
        first, last = places[at, 0], places[at, 1]
        if not 0 < last - first <= MAX_SMILES:
            all_statuses[at] = UNKNOWN
            continue
        all_statuses[at] = judge(
            prepared[numbers[at]], texts[first:last], whole_rings != 0, limit, parsed, workspace, pairs[at]
        )
    return 0


def _part(prepared: Any, parts: Any, n_parts: int, work: Any) -> int:
    return first_part(
        carray(prepared, PREPARED_SIZE, np.int64),
        carray(parts, n_parts * PREPARED_SIZE, np.int64),
        n_parts,
        carray(work, PAIR_WORK_SIZE, np.int64),
    )


ENTRIES = {
    "prepare": (_prepare, "piip"),
    "common": (_common, "ppiipp"),
    "judge": (_judge, "pippipiiipppp"),
    "judge_one": (_judge, "pippipiiipppp"),
    "part": (_part, "ppip"),
}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
