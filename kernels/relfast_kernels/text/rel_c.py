"""The answer to REL-C1 by the rule of `relfast.tasks.rel_c.extract` (``reference`` policy)."""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import C1, CORRECT, FAST, FOUND, LINE_KEY, LINE_VOTE, SLOW
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
def score_tag(data: Any, start: int, end: int, label: int, label_end: int, row: Any) -> int:
    """A response against the text of its gold label (at -1: none): `FAST` with key and vote filled in, or
    `SLOW`."""
    if label < 0:
        return SLOW
    tag = _find_tag(data, start, end)
    key, vote = C1, 0
    if tag >= 0:
        key |= FOUND
        vote = 2 + tag
    gold_yes = label_end - label == 3 and data[label] == 89 and data[label + 1] == 101
    gold_yes = gold_yes and data[label + 2] == 115
    gold_no = label_end - label == 2 and data[label] == 78 and data[label + 1] == 111
    if (tag == 1 and gold_yes) or (tag == 0 and gold_no):
        key |= CORRECT
    row[LINE_KEY] = key
    row[LINE_VOTE] = vote
    return FAST
