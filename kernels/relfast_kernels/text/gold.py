"""What gold says, from the tokens of its JSON."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    B1,
    C1,
    CORRECT,
    FOUND,
    GOLD_VALUE_SHIFT,
    INTEGER,
    PRED_VALUE_SHIFT,
    RECORD_KEY,
    RECORD_VOTE,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.find import find_byte, same_as
from relfast_kernels.text.rel_b import gold_label, gold_taxa
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


_TARGET = np.frombuffer(b"target", np.uint8)
_LABEL = np.frombuffer(b"label", np.uint8)
_TAXA = np.frombuffer(b"taxa", np.uint8)

GOLD_VALUE, GOLD_TAXA, GOLD_TEXT, GOLD_TEXT_END = range(4)
GOLD_SIZE: Final = 4
"""What is known of a line's gold: its panel or label, how many taxa, where in the scratch space they are."""


@kernel
def read_gold(
    data: Any, tape: Any, token: int, task: int, details: bool, strict: bool, work: Any, out: Any, to: int
) -> int:
    """Read what a task's gold says into ``work.gold``, taxa into the second set; where what is written for
    details ends, or -1: the exact way must read it."""
    value: Any = -1
    n_taxa: Any = 0
    first = to
    at = token + 1
    stop = tape[token, TOKEN_NEXT]
    while at < stop:
        name, name_end = tape[at, TOKEN_START], tape[at, TOKEN_END]
        at += 1
        kind, start, end = tape[at, TOKEN_KIND], tape[at, TOKEN_START], tape[at, TOKEN_END]
        if task < B1:
            if same_as(data, name, name_end, _TARGET):
                if kind != INTEGER or end != start + 1:
                    return -1
                value = np.int64(data[start]) - 48
                if strict and value > 7:
                    return -1
        elif same_as(data, name, name_end, _LABEL):
            if kind != STRING:
                return -1
            value = gold_tag(data, start, end) if task == C1 else gold_label(data, start, end)
            if task == C1 and value < 0:
                if strict:
                    return -1
                value = 2  # a label that nothing equals
        elif task == B1 and same_as(data, name, name_end, _TAXA):
            to = first
            n_taxa, to = gold_taxa(data, tape, at, work.spans[1], work.slots[1], out, to if details else -1)
            if n_taxa < 0:
                return -1
            if not details:
                to = first
        at = tape[at, TOKEN_NEXT]
    if value < 0 or (task == B1 and value == 1 and n_taxa == 0):
        return -1
    if task == B1 and details and to == first:
        out[to] = 91
        out[to + 1] = 93
        to += 2
    gold = work.gold
    gold[GOLD_VALUE], gold[GOLD_TAXA], gold[GOLD_TEXT], gold[GOLD_TEXT_END] = value, n_taxa, first, to
    return to
