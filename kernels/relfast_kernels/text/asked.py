"""Gold records by their question: the longest one that stands in a prompt.

As `relfast.engine.gold_records.GoldRecords.id_asking` finds it. Questions are known by some of their words.
A prompt is looked through from its start for places where one of them may begin, and no further than what is
left is as long as the longest that was found: a template's length, as a rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import ASKED, ASKED_BITS, ASKED_END, ASKED_RECORD, SHORTEST_QUESTION
from relfast_kernels.text.find import load8, same_bytes

NOBODY = -1
"""Instead of a gold record: none asks, or several do."""

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_PLACES = 16


@kernel
def _beginning(text: Any, at: int) -> Any:
    """Word and bit of the `SHORTEST_QUESTION` bytes from ``at`` on, among `ASKED_BITS` words."""
    value = (load8(text, at) ^ (load8(text, at + 8) * _FACTOR)) * _FACTOR
    value ^= value >> np.uint64(29)
    value *= _FACTOR
    return np.int64(value >> np.uint64(58)), value >> np.uint64(52) & np.uint64(63)


@kernel
def _hash(text: Any, start: int, end: int) -> Any:
    """A number for a text of `SHORTEST_QUESTION` bytes or more, by some of its words and the last."""
    value = np.uint64(end - start)
    step = max((end - start) // _PLACES, 8)
    at = start
    while at + 8 <= end:
        value = (value ^ load8(text, at)) * _FACTOR
        value ^= value >> np.uint64(29)
        at += step
    value = (value ^ load8(text, end - 8)) * _FACTOR
    return np.int64(value ^ value >> np.uint64(29))


@kernel
def _place(text: Any, asked: Any, slots: Any, data: Any, start: int, end: int) -> int:
    """Where in ``slots`` a question is, or would be."""
    mask = len(slots) - ASKED_BITS - 1
    at = _hash(data, start, end) & mask
    while slots[at] != 0:
        k = slots[at] - 1
        if same_bytes(text, asked[k, ASKED], asked[k, ASKED_END], data, start, end):
            break
        at = (at + 1) & mask
    return int(at)


@kernel
def index_asked(text: Any, asked: Any, slots: Any) -> int:
    """Fill the table of questions; how many there are.

    Parameters
    ----------
    text : uint8
        What gold records have.
    asked : int64, shape (n, ASKED_COLUMNS)
        Different questions, none shorter than `SHORTEST_QUESTION` bytes.
    slots : int64, shape (a power of two above n, and ASKED_BITS,)
        Zeros; filled.
    """
    words = slots[len(slots) - ASKED_BITS :].view(np.uint64)
    for k in range(asked.shape[0]):
        start, end = asked[k, ASKED], asked[k, ASKED_END]
        slots[_place(text, asked, slots, text, start, end)] = k + 1
        word, bit = _beginning(text, start)
        words[word] |= np.uint64(1) << bit
    return int(asked.shape[0])


@kernel
def find_asked(text: Any, asked: Any, lengths: Any, slots: Any, data: Any, start: int, end: int) -> int:
    """The gold record whose question is the longest that stands in data[start:end], or `NOBODY`.

    Parameters
    ----------
    lengths : int64
        Different lengths of questions in bytes, the longest first.
    """
    words = slots[len(slots) - ASKED_BITS :].view(np.uint64)
    longest, found = 0, -1
    at = start
    while end - at >= max(longest, SHORTEST_QUESTION):
        word, bit = _beginning(data, at)
        if words[word] >> bit & np.uint64(1) != 0:
            for k in range(len(lengths)):
                length = lengths[k]
                if length < longest:
                    break
                if length > end - at:
                    continue
                number = slots[_place(text, asked, slots, data, at, at + length)] - 1
                # of two of one length the first in the file counts
                if number >= 0 and (length > longest or number < found):
                    longest, found = length, number
                if number >= 0:
                    break
        at += 1
    return NOBODY if found < 0 else int(asked[found, ASKED_RECORD])
