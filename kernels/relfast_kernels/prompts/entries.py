"""Counting samples by prompt as functions over pointers, for `relfast_kernels.compiled.native`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import carray
from relfast_kernels.layouts import KIND_COLUMNS, SAMPLE_BYTES, SAMPLE_FURTHER, VOTE_COLUMNS
from relfast_kernels.prompts.count import chain_samples, count_kinds, divide_samples


def _chain(samples: Any, n: int, heads: Any, n_heads: int, before: Any) -> Any:
    return chain_samples(
        carray(samples, SAMPLE_BYTES * n, np.uint8),
        n,
        carray(heads, n_heads, np.int32),
        carray(before, n, np.int32),
    )


def _count(
    samples: Any, n: int, heads: Any, n_heads: int, before: Any, votes: Any, n_votes: int, kinds: Any,
    n_kinds: int, repeated: Any,
) -> int:  # fmt: skip
    return count_kinds(
        carray(samples, SAMPLE_BYTES * n, np.uint8),
        carray(heads, n_heads, np.int32),
        carray(before, n, np.int32),
        carray(votes, (n_votes, VOTE_COLUMNS), np.int64),
        carray(kinds, (n_kinds, KIND_COLUMNS), np.int64),
        carray(repeated, SAMPLE_FURTHER, np.int64),
    )


def _divide(samples: Any, n: int, divided: Any, ends: Any, n_ends: int) -> int:
    return divide_samples(
        carray(samples, SAMPLE_BYTES * n, np.uint8),
        n,
        carray(divided, SAMPLE_BYTES * n, np.uint8),
        carray(ends, n_ends, np.int64),
    )


ENTRIES = {"chain": (_chain, "pipip"), "count": (_count, "pipippipip"), "divide": (_divide, "pippi")}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
