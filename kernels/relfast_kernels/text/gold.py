"""A record's task and what its gold says, from the tokens of a line."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    B1,
    C1,
    INTEGER,
    NO_TASK,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.characters import is_ascii
from relfast_kernels.text.find import begins_with, same_as
from relfast_kernels.text.json_scan import is_null, member
from relfast_kernels.text.rel_b import gold_label, gold_taxa
from relfast_kernels.text.rel_c import gold_tag

_TARGET = np.frombuffer(b"target", np.uint8)
_LABEL = np.frombuffer(b"label", np.uint8)
_TAXA = np.frombuffer(b"taxa", np.uint8)
_SMILES = np.frombuffer(b"smiles", np.uint8)
_MISSING_SMILES = np.frombuffer(b"missing_smiles", np.uint8)
_REL = np.frombuffer(b"rel-", np.uint8)
_REALIGN = np.frombuffer(b"realign", np.uint8)
_SEQBENCH = np.frombuffer(b"seqbench", np.uint8)

GOLD_VALUE, GOLD_TAXA, GOLD_TEXT, GOLD_TEXT_END = range(4)
GOLD_SIZE: Final = 4
"""What is known of a line's gold: its panel or label, how many taxa, where in the scratch space they are."""


@kernel
def task_number(data: Any, start: int, end: int) -> Any:
    """Number of a task name in any case, or -1: ``REL-A1`` … ``REL-A7``, ``REL-B1``, ``REL-C1``."""
    if end - start != 6 or data[start + 3] != 45:
        return -1
    if (data[start] | 32) != 114 or (data[start + 1] | 32) != 101 or (data[start + 2] | 32) != 108:
        return -1
    letter = data[start + 4] | 32
    digit = np.int64(data[start + 5])
    if letter == 97 and 49 <= digit <= 55:
        return digit - 49
    if digit == 49 and letter == 98:
        return B1
    if digit == 49 and letter == 99:
        return C1
    return -1


@kernel
def may_be_task(data: Any, start: int, end: int) -> bool:
    """Whether a name may be that of a task."""
    if not is_ascii(data, start, end):
        return True
    return (
        begins_with(data, start, end, _REL)
        or begins_with(data, start, end, _REALIGN)
        or begins_with(data, start, end, _SEQBENCH)
    )


@kernel
def task_of_gold(data: Any, tape: Any, token: int) -> int:
    """The task whose gold an object is, as `relfast.tasks.infer_task` finds it, or `NO_TASK`."""
    if not is_null(data, tape, member(data, tape, token, _LABEL)):
        return C1 if is_null(data, tape, member(data, tape, token, _TAXA)) else B1
    if not is_null(data, tape, member(data, tape, token, _SMILES)):
        return NO_TASK
    if not is_null(data, tape, member(data, tape, token, _MISSING_SMILES)):
        return NO_TASK
    return NO_TASK if is_null(data, tape, member(data, tape, token, _TARGET)) else 0


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
