"""Reading lines and writing rows as functions over pointers, for `relfast_kernels.compiled.native`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray

from relfast_kernels.layouts import LINE_COLUMNS, MAX_TAXA
from relfast_kernels.text.lines import scan_lines
from relfast_kernels.text.rows import write_rows


def _scan(data: Any, n: int, lines: Any, max_lines: int, spans: Any) -> int:
    both = carray(spans, (2, MAX_TAXA, 2), np.int64)
    rows = carray(lines, (max_lines, LINE_COLUMNS), np.int64)
    return scan_lines(carray(data, n, np.uint8), n, rows, both[0], both[1])


def _write(
    data: Any,
    n: int,
    lines: Any,
    start: int,
    stop: int,
    first_index: int,
    keys: Any,
    offsets: Any,
    n_templates: int,
    blob: Any,
    blob_size: int,
    out: Any,
    out_size: int,
    samples: Any,
    samples_size: int,
    counts: Any,
    written: Any,
) -> int:
    return write_rows(
        carray(data, n, np.uint8),
        carray(lines, (stop, LINE_COLUMNS), np.int64),
        start,
        stop,
        first_index,
        carray(keys, n_templates, np.int64),
        carray(offsets, n_templates + 1, np.int64),
        carray(blob, blob_size, np.uint8),
        n_templates,
        carray(out, out_size, np.uint8),
        carray(samples, samples_size, np.uint8),
        carray(counts, n_templates, np.int64),
        carray(written, 2, np.int64),
    )


ENTRIES = {"scan": (_scan, "pipip"), "write": (_write, "pipiiippipipipipp")}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
