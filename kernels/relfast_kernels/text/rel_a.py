"""The answer to REL-A by the rule of `relfast.tasks.rel_a.extract` (``reference`` policy)."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    CORRECT,
    FOUND,
    GOLD_VALUE_SHIFT,
    PRED_VALUE_SHIFT,
    RECORD_KEY,
    RECORD_VOTE,
)
from relfast_kernels.text.characters import CHUNK
from relfast_kernels.text.find import ONE, TWO
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.words import has_digit, is_word, skip_white

MAX_DIGITS = 4000
"""Digits of an answer number read here; Python refuses more than 4,300, which the exact way reports."""


@kernel
def _find_choice(data: Any, start: int, end: int) -> Any:
    """The chosen panel, or -1 where nothing names one; -2 where the exact way must decide."""
    # "answer" in any case, looked for by its middle
    last = max(start, end - 2)
    for chunk in range(start, last, CHUNK):
        stop = min(chunk + CHUNK, last)
        hits = False
        for j in range(np.uint64(chunk), np.uint64(stop)):
            hits |= ((data[j] | 32) == 115) & ((data[j + ONE] | 32) == 119) & ((data[j + TWO] | 32) == 101)
        if not hits:
            continue
        for at in range(chunk, stop):
            if (
                (data[at + 1] | 32) == 119
                and (data[at] | 32) == 115
                and (data[at + 2] | 32) == 101
                and at - 2 >= start
                and at + 3 < end
                and (data[at - 2] | 32) == 97
                and (data[at - 1] | 32) == 110
                and (data[at + 3] | 32) == 114
            ):
                after = skip_white(data, at + 4, end)
                if after < end and data[after] == 35:
                    after += 1
                after = skip_white(data, after, end)
                if after < end and is_digit(data[after]):
                    value: Any = 0
                    n_digits = 0
                    while after < end and is_digit(data[after]):
                        value = min(10 * value + np.int64(data[after]) - 48, 1000)
                        n_digits += 1
                        after += 1
                    if n_digits > MAX_DIGITS:
                        return -2
                    return value - 1 if 1 <= value <= 8 else 0
    zero = -1
    for chunk in range(start, end, CHUNK):
        stop = min(chunk + CHUNK, end)
        if not has_digit(data, chunk, stop):
            continue
        for k in range(chunk, stop):
            byte = data[k]
            if byte < 48 or byte > 56:
                continue
            before = k > start and is_word(data, k - 1, start)
            after_is_word = k + 1 < end and is_word(data, k + 1, start)
            if not before and not after_is_word:
                if byte == 48:
                    zero = 0
                else:
                    return np.int64(byte) - 49
    return zero


@kernel
def score_choice(data: Any, start: int, end: int, task: int, target: int, details: bool, row: Any) -> bool:
    """A response against its gold panel: key and vote filled in, or False: the exact way must decide."""
    pred = _find_choice(data, start, end)
    if pred < -1:
        return False
    key, vote = task, 0
    if pred >= 0:
        key |= FOUND
        vote = 2 + pred
    pred = max(pred, 0)
    if pred == target:
        key |= CORRECT
    if details:
        key |= pred << PRED_VALUE_SHIFT | target << GOLD_VALUE_SHIFT
    row[RECORD_KEY] = key
    row[RECORD_VOTE] = vote
    return True
