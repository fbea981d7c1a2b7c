"""What `relfast_kernels.compiled.native` compiles of the search: plain functions over pointers.

``short`` and ``long`` are the same; a caller lets go of the interpreter's lock for the latter only.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import carray

from relfast_kernels.layouts import COMMON_SIZE, COMMON_WORK_SIZE, GRAPH_SIZE
from relfast_kernels.mcs.packed import PACKED_SIZE
from relfast_kernels.mcs.state import STATE_SIZE
from relfast_kernels.mcs.texts import common_substructure

_SECOND: Final = GRAPH_SIZE
_PACKED: Final = 2 * GRAPH_SIZE
_PACKED_SECOND: Final = _PACKED + PACKED_SIZE
_STATE: Final = _PACKED_SECOND + PACKED_SIZE
_END: Final = _STATE + STATE_SIZE
assert _END <= COMMON_WORK_SIZE


def _common(
    data: Any, n_bytes: int, n_first: int, by_rdkit: int, whole_rings: int, limit: int, work: Any, result: Any
) -> int:
    space = carray(work, COMMON_WORK_SIZE, np.int64)
    return common_substructure(
        carray(data, n_bytes, np.uint8),
        n_first,
        by_rdkit != 0,
        whole_rings != 0,
        limit,
        space[:GRAPH_SIZE],
        space[_SECOND:_PACKED],
        space[_PACKED:_PACKED_SECOND],
        space[_PACKED_SECOND:_STATE],
        space[_STATE:_END],
        carray(result, COMMON_SIZE, np.int64),
    )


ENTRIES = {"short": (_common, "piiiiipp"), "long": (_common, "piiiiipp")}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
