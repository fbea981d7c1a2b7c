"""Entries of the unit ``tags`` for `relfast_kernels.compiled.native`: reading tags, over pointers."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import carray
from relfast_kernels.smiles.layouts import SIZE_COLUMNS
from relfast_kernels.tags.layouts import GOLD_COLUMNS, TOLD_COLUMNS
from relfast_kernels.tags.read import gather, read_strict


def _gather(
    data: Any, n_bytes: int, spans: Any, golds: Any, n: int, known: Any, n_known: int, store: Any,
    n_store: int, strict: int, cuts: int, one: int, out: Any, n_out: int, told: Any, sizes: Any,
) -> int:  # fmt: skip
    return gather(
        carray(data, n_bytes, np.uint8),
        carray(spans, n + 1, np.int64),
        carray(golds, n, np.int64),
        carray(known, (n_known, GOLD_COLUMNS), np.int64),
        carray(store, n_store, np.uint8),
        strict != 0,
        cuts != 0,
        one != 0,
        carray(out, n_out, np.uint8),
        carray(told, (n, TOLD_COLUMNS), np.int64),
        carray(sizes, SIZE_COLUMNS * n, np.int64),
    )


def _read(text: Any, size: int, one: int, out: Any, told: Any) -> int:
    """Read the molecules of a text without reasoning as ``strict`` does; how many bytes of ``out`` they take.

    ``out`` has room for one byte more than the text; ``told`` gets their number and how they were read."""
    to: int
    n, to, how = read_strict(
        carray(text, size, np.uint8), 0, size, one != 0, carray(out, size + 1, np.uint8), 0
    )
    reading = carray(told, 2, np.int64)
    reading[0], reading[1] = n, how
    return to


ENTRIES = {
    "gather": (_gather, "pippipipiiiipipp"),
    "read": (_read, "piipp"),
}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
