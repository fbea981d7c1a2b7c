"""The answer to REL-C1 by the rule of `relfast.tasks.rel_c.extract` (``reference`` policy)."""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    C1,
    CORRECT,
    FOUND,
    GOLD_VALUE_SHIFT,
    PRED_VALUE_SHIFT,
    RECORD_KEY,
    RECORD_VOTE,
)
from relfast_kernels.text.find import find_byte
from relfast_kernels.text.words import skip_white


@kernel
def _find_tag(data: Any, start: int, end: int) -> int:
    """1 for the first ``<Yes>``, 0 for the first ``<No>``, -1 for neither."""
    at = start
    while True:
        at = find_byte(data, at, end, 60)
        if at >= end:
            return -1
        k = skip_white(data, at + 1, end)
        label = -1
        if k + 2 < end and (data[k] | 32) == 121 and (data[k + 1] | 32) == 101 and (data[k + 2] | 32) == 115:
            label = 1
            k += 3
        elif k + 1 < end and (data[k] | 32) == 110 and (data[k + 1] | 32) == 111:
            label = 0
            k += 2
        if label >= 0:
            k = skip_white(data, k, end)
            if k < end and data[k] == 62:
                return label
        at += 1


@kernel
def gold_tag(data: Any, start: int, end: int) -> int:
    """1 for the label ``Yes``, 0 for ``No``, -1 for any other."""
    if end - start == 3 and data[start] == 89 and data[start + 1] == 101 and data[start + 2] == 115:
        return 1
    return 0 if end - start == 2 and data[start] == 78 and data[start + 1] == 111 else -1


@kernel
def score_tag(data: Any, start: int, end: int, gold: int, details: bool, row: Any) -> bool:
    """A response against its gold label (1 yes, 0 no, 2 any other): key and vote filled in, or False: the
    exact way must decide."""
    if details and gold > 1:
        return False
    tag = _find_tag(data, start, end)
    key, vote = C1, 0
    if tag >= 0:
        key |= FOUND
        vote = 2 + tag
        if tag == gold:
            key |= CORRECT
    if details:
        key |= (tag + 1) << PRED_VALUE_SHIFT | (gold + 1) << GOLD_VALUE_SHIFT
    row[RECORD_KEY] = key
    row[RECORD_VOTE] = vote
    return True
