"""Gold records by id: a table that lines without gold are joined with."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import JOIN_ID, JOIN_ID_END
from relfast_kernels.text.find import hash_text, same_bytes
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.json_strings import QUOTE

NOT_THERE = -1
UNSURE = -2
"""Instead of a gold record: nobody has that id; only the exact way knows."""

_MAX_DIGITS = 18


@kernel
def _place(text: Any, records: Any, slots: Any, data: Any, start: int, end: int, value: Any) -> Any:
    """Where in ``slots`` an id is, or would be."""
    mask = len(slots) - 1
    at = value & mask
    while slots[at] != 0:
        k = slots[at] - 1
        if same_bytes(text, records[k, JOIN_ID], records[k, JOIN_ID_END], data, start, end):
            break
        at = (at + 1) & mask
    return at


@kernel
def index_gold(text: Any, records: Any, slots: Any) -> int:
    """Fill the table of ids; how many different ones there are.

    Parameters
    ----------
    text : uint8
        JSON of ids and answers.
    records : int64, shape (n, JOIN_COLUMNS)
    slots : int64, shape (a power of two above n,)
        Zeros; filled with numbers of records from 1 on.
    """
    n = 0
    for k in range(records.shape[0]):
        start, end = records[k, JOIN_ID], records[k, JOIN_ID_END]
        at = _place(text, records, slots, text, start, end, np.int64(hash_text(text, start, end)))
        if slots[at] == 0:
            n += 1
        slots[at] = k + 1
    return n


@kernel
def find_gold(
    text: Any, records: Any, slots: Any, data: Any, start: int, end: int, value: Any, out: Any, to: int
) -> Any:
    """The gold record of an id in JSON, whose hash is ``value``; ``out`` is work space from ``to`` on.

    Batch APIs make text of every id, so 7 and "7" are the same where only one of them is there.
    """
    found = slots[_place(text, records, slots, data, start, end, value)] - 1
    if found >= 0:
        return found
    quoted = data[start] == QUOTE
    first, stop = (start + 1, end - 1) if quoted else (start, end)
    # what looks like a number, or might be one in another script
    plain = stop > first and stop - first <= _MAX_DIGITS
    if plain and data[first] == 48:
        plain = stop == first + 1
    for k in range(first, stop):
        if not is_digit(data[k]):
            if data[first] == 45:
                return UNSURE
            plain = False
    if not plain:
        return UNSURE if stop - first > _MAX_DIGITS and is_digit(data[first]) else NOT_THERE
    at = to
    if not quoted:
        out[at] = QUOTE
        at += 1
    for k in range(first, stop):
        out[at] = data[k]
        at += 1
    if not quoted:
        out[at] = QUOTE
        at += 1
    return slots[_place(text, records, slots, out, to, at, np.int64(hash_text(out, to, at)))] - 1
