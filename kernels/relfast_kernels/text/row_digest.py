"""A digest of all that the records of a row can depend on beside id and responses."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    FORM_DIGEST,
    FORM_DIGEST_END,
    FORM_HIDES_ROW,
    MOST_MEMBERS,
    ROW_UNSEEN,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.digest import digest
from relfast_kernels.text.entry import ENTRY_ANSWER, ENTRY_FORM, ENTRY_QUESTION, ENTRY_TASK
from relfast_kernels.text.paths import walk
from relfast_kernels.text.projection import member_number

_OF_MAP, _OF_ID, _OF_PATH = MOST_MEMBERS, 2 * MOST_MEMBERS, 3 * MOST_MEMBERS
"""Where the numbers of what is no member of the row begin."""


@kernel
def _with_value(data: Any, tape: Any, token: int, number: int, seed: Any, value: Any) -> Any:
    mixed = value ^ np.uint64(number * 8 + tape[token, TOKEN_KIND])
    return digest(data, tape[token, TOKEN_START], tape[token, TOKEN_END], seed, mixed)


@kernel
def digest_row(
    data: Any, table: Any, work: Any, seed: Any, with_id: bool, id_hash: Any
) -> Any:  # fmt: skip
    """A digest (int64) of all that the records of a row can depend on beside id and responses, ``with_id`` of
    the id's hash too: equal only for rows whose records are equal but for those."""
    tape, entry = work.tape, work.entry
    form = table.forms[entry[ENTRY_FORM]]
    value = np.uint64(entry[ENTRY_FORM])
    at = 1
    stop = tape[0, TOKEN_NEXT] if form[FORM_HIDES_ROW] == 0 else 0
    while at < stop:
        number = member_number(data, tape[at, TOKEN_START], tape[at, TOKEN_END], table)
        at += 1
        if number >= 0 and table.in_digest[number]:
            value = _with_value(data, tape, at, number, seed, value)
        at = tape[at, TOKEN_NEXT]
    for path in range(form[FORM_DIGEST], form[FORM_DIGEST_END]):
        # what a path cannot tell was found to be so before
        for k in range(max(0, walk(data, tape, table, work.fields, 0, path, work.found))):
            value = _with_value(data, tape, work.found[k], _OF_PATH + path, seed, value)
    if table.maps.shape[0] > 0:
        for place in (ENTRY_TASK, ENTRY_ANSWER, ENTRY_QUESTION):
            if entry[place]:
                value = _with_value(data, tape, entry[place], _OF_MAP + place, seed, value)
    if with_id:
        value = (value ^ np.uint64(_OF_ID) ^ np.uint64(id_hash)) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    unseen = np.uint64(ROW_UNSEEN)
    return np.int64(value | unseen if form[FORM_HIDES_ROW] == 2 else value & ~unseen)
