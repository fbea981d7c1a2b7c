"""Rows of records whose lines have been read: by template, and a sample each."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    BLANK,
    CORRECT,
    KEY_TASK,
    LINE_HASH,
    LINE_ID_END,
    LINE_ID_START,
    LINE_KEY,
    LINE_KIND,
    LINE_VOTE,
    SAMPLE_BYTES,
)

_INDEX = np.frombuffer(b'{"index":', np.uint8)
_ID_KEY = np.frombuffer(b',"id":', np.uint8)


@kernel
def _put(out: Any, at: int, source: Any, start: int, end: int) -> int:
    for k in range(end - start):
        out[at + k] = source[start + k]
    return at + end - start


@kernel
def _put_number(out: Any, at: int, value: int) -> int:
    digits = 1
    rest = value
    while rest >= 10:
        rest //= 10
        digits += 1
    for k in range(digits - 1, -1, -1):
        out[at + k] = 48 + value % 10
        value //= 10
    return at + digits


@kernel
def write_rows(
    data: Any,
    lines: Any,
    start: int,
    stop: int,
    first_index: int,
    keys: Any,
    offsets: Any,
    blob: Any,
    n_templates: int,
    out: Any,
    samples: Any,
    counts: Any,
    written: Any,
) -> int:
    """Rows and samples of lines ``start`` to ``stop``, none of them `SLOW`.

    Parameters
    ----------
    keys, offsets : int64, shapes (t,), (t + 1,)
        Keys of the known templates, and where each one's text lies in ``blob`` (uint8): the row after
        its id, line end included.
    out, samples : uint8
        Filled; large enough (see `relfast.engine.text_fast_path`).
    counts : int64, shape (t,)
        Rows per template, added to.
    written : int64, shape (2,)
        Bytes in ``out`` and in ``samples``; where to go on, and where it stopped.

    Returns
    -------
    int
        ``stop``, or the first line whose key has no template yet.
    """
    at, sample = written[0], written[1]
    last_key, template = -1, -1
    for number in range(start, stop):
        row = lines[number]
        if row[LINE_KIND] == BLANK:
            continue
        if row[LINE_KEY] != last_key:
            last_key, template = row[LINE_KEY], -1
            for k in range(n_templates):
                if keys[k] == last_key:
                    template = k
                    break
        if template < 0:
            written[0], written[1] = at, sample
            return number
        at = _put(out, at, _INDEX, 0, len(_INDEX))
        at = _put_number(out, at, first_index + number)
        at = _put(out, at, _ID_KEY, 0, len(_ID_KEY))
        at = _put(out, at, data, row[LINE_ID_START], row[LINE_ID_END])
        at = _put(out, at, blob, offsets[template], offsets[template + 1])
        counts[template] += 1
        samples[sample] = row[LINE_KEY] & KEY_TASK
        for k in range(8):
            samples[sample + 1 + k] = (row[LINE_HASH] >> (8 * k)) & 255
        for k in range(4):
            samples[sample + 9 + k] = (row[LINE_VOTE] >> (8 * k)) & 255
        samples[sample + 13] = 1 if row[LINE_KEY] & CORRECT else 0
        sample += SAMPLE_BYTES
    written[0], written[1] = at, sample
    return stop
