"""A digest of all that the records of a row can depend on beside id and responses."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ROW_UNSEEN,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
    VLLM,
)
from relfast_kernels.text.digest import digest
from relfast_kernels.text.entry import ENTRY_ANSWER, ENTRY_DIALECT, ENTRY_QUESTION, ENTRY_TASK
from relfast_kernels.text.members import IN_DIGEST, N_FIELDS, field_number
from relfast_kernels.text.tools import OF_BESIDE, OF_TASK, hides_row, path_to, paths_for

_OF_MAP, _OF_ID, _OF_PATH = N_FIELDS, 2 * N_FIELDS, 3 * N_FIELDS
"""Where the numbers of what is no member of the row begin."""


@kernel
def _with_value(data: Any, tape: Any, token: int, number: int, seed: Any, value: Any) -> Any:
    mixed = value ^ np.uint64(number * 8 + tape[token, TOKEN_KIND])
    return digest(data, tape[token, TOKEN_START], tape[token, TOKEN_END], seed, mixed)


@kernel
def digest_row(data: Any, tape: Any, entry: Any, seed: Any, with_id: bool, id_hash: Any, mapped: bool) -> Any:
    """A digest (int64) of all that the records of a row can depend on beside id and responses, ``with_id`` of
    the id's hash too: equal only for rows whose records are equal but for those."""
    dialect = entry[ENTRY_DIALECT]
    value = np.uint64(dialect)
    hidden = hides_row(dialect)
    at = 1
    stop = 0 if hidden else tape[0, TOKEN_NEXT]
    while at < stop:
        number = field_number(data, tape[at, TOKEN_START], tape[at, TOKEN_END])
        at += 1
        if number >= 0 and IN_DIGEST[number]:
            value = _with_value(data, tape, at, number, seed, value)
        at = tape[at, TOKEN_NEXT]
    if dialect >= VLLM:
        first, _ = paths_for(dialect, OF_TASK)
        _, last = paths_for(dialect, OF_BESIDE)
        for path in range(first, last):
            token = path_to(data, tape, path)
            if token:
                value = _with_value(data, tape, token, _OF_PATH + path, seed, value)
    if mapped:
        for place in (ENTRY_TASK, ENTRY_ANSWER, ENTRY_QUESTION):
            if entry[place]:
                value = _with_value(data, tape, entry[place], _OF_MAP + place, seed, value)
    if with_id:
        value = (value ^ np.uint64(_OF_ID) ^ np.uint64(id_hash)) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    unseen = np.uint64(ROW_UNSEEN)
    return np.int64(value | unseen if hidden else value & ~unseen)
