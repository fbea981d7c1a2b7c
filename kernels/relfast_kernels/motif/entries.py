"""What `relfast_kernels.compiled.native` compiles to make REL-C2 records: functions over pointers."""

from __future__ import annotations

from typing import Any

import numpy as np
from relfast_kernels.compiled.jit import carray
from relfast_kernels.motif.grow import largest_motifs
from relfast_kernels.motif.rows import (
    DEPTHS,
    FOUND_SIZE,
    FRAME_SIZE,
    MAX_MOTIFS,
    PER_MOLECULE,
    SECTION,
    WORK_SIZE,
)
from relfast_kernels.similar import similar


def _largest(
    rows: Any,
    n_places: int,
    starts: Any,
    k: int,
    min_atoms: int,
    limit: int,
    work: Any,
    known: Any,
    images: Any,
    frames: Any,
    found: Any,
    motifs: Any,
) -> int:
    is_whole = largest_motifs(
        carray(rows, n_places, np.int32),
        carray(starts, k + 1, np.int64),
        min_atoms,
        limit,
        carray(work, WORK_SIZE + k, np.int64),
        carray(known, (k, PER_MOLECULE), np.int64),
        carray(images, (DEPTHS, k, SECTION), np.int8),
        carray(frames, (DEPTHS, FRAME_SIZE), np.int64),
        carray(found, FOUND_SIZE, np.int64),
        carray(motifs, MAX_MOTIFS, np.int64),
    )
    return 1 if is_whole else 0


def _similar(
    prints: Any, n: int, n_words: int, counts: Any, index: int, bounds: Any, places: Any, shares: Any
) -> int:
    lowest, highest = carray(bounds, 2, np.float64)
    return similar(
        carray(prints, (n, n_words), np.uint64),
        carray(counts, n, np.int64),
        index,
        lowest,
        highest,
        carray(places, n, np.int64),
        carray(shares, n, np.float64),
    )


ENTRIES = {"largest": (_largest, "pipiiipppppp"), "similar": (_similar, "piipippp")}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
