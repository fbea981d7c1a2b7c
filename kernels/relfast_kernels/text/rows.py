"""Rows of records whose lines have been read: by template, and a sample each."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    CORRECT,
    IN_DATA,
    KEY_TASK,
    NOWHERE,
    RECORD_GOLD,
    RECORD_GOLD_END,
    RECORD_HASH,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_KEY,
    RECORD_LINE,
    RECORD_PRED,
    RECORD_PRED_END,
    RECORD_SAMPLE,
    RECORD_VOTE,
    SAMPLE_BYTES,
    SAMPLE_FURTHER,
    TEMPLATE_PARTS,
    WANTS_NOTHING,
    WANTS_ROOM,
    WANTS_TEMPLATE,
    WRITTEN_ROWS,
    WRITTEN_SAMPLES,
    WRITTEN_WANTS,
)
from relfast_kernels.text.find import copy, hash_text, put_number

_INDEX = np.frombuffer(b'{"index":', np.uint8)
_ID_KEY = np.frombuffer(b',"id":', np.uint8)
_NULL = np.frombuffer(b"null", np.uint8)

_BESIDES = 128
"""Bytes of a row that are in no template and no scratch space."""


@kernel
def template_of(key: int, keys: Any, slots: Any) -> int:
    """Number of a key's template, or -1. ``slots`` holds numbers of templates from 1 on, at the places of
    their keys."""
    mask = len(slots) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = np.int64(mixed >> np.uint64(40)) & mask
    while slots[at] != 0:
        if keys[slots[at] - 1] == key:
            return int(slots[at] - 1)
        at = (at + 1) & mask
    return -1


@kernel
def add_template(key: int, number: int, keys: Any, slots: Any) -> int:
    """Give a key its template, whose number is free; that number."""
    mask = len(slots) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = np.int64(mixed >> np.uint64(40)) & mask
    while slots[at] != 0:
        at = (at + 1) & mask
    slots[at] = number + 1
    keys[number] = key
    return number


@kernel
def write_rows(
    data: Any,
    scratch: Any,
    records: Any,
    start: int,
    stop: int,
    first_index: int,
    keys: Any,
    slots: Any,
    offsets: Any,
    blob: Any,
    out: Any,
    samples: Any,
    counts: Any,
    written: Any,
) -> int:
    """Rows and samples of records ``start`` to ``stop``.

    Parameters
    ----------
    keys, slots : int64
        Keys of the known templates, and where each is found: `template_of`.
    offsets : int64, shape (TEMPLATE_PARTS * templates + 1,)
        Where each part of each template lies in ``blob`` (uint8).
    out, samples : uint8
        Filled; the second is large enough.
    counts : int64, shape (templates,)
        Rows per template, added to.
    written : int64, shape (3,)
        Bytes in ``out`` and in ``samples``, and why it stopped.

    Returns
    -------
    int
        ``stop``, or the first record whose key has no template yet, or for whose row there is no room.
    """
    at, sample = written[WRITTEN_ROWS], written[WRITTEN_SAMPLES]
    last_key, template = -1, -1
    wants = WANTS_NOTHING
    number = start
    while number < stop:
        row = records[number]
        if row[RECORD_KEY] != last_key:
            last_key = row[RECORD_KEY]
            template = template_of(last_key, keys, slots)
        if template < 0:
            wants = WANTS_TEMPLATE
            break
        part = TEMPLATE_PARTS * template
        id_start, id_end = row[RECORD_ID], row[RECORD_ID_END]
        pred, pred_end = row[RECORD_PRED], row[RECORD_PRED_END]
        gold, gold_end = row[RECORD_GOLD], row[RECORD_GOLD_END]
        has_taxa = offsets[part + 3] > offsets[part + 2]
        size = offsets[part + 4] - offsets[part] + id_end - id_start + _BESIDES
        if has_taxa:
            size += pred_end - pred + gold_end - gold
        if at + size > len(out):
            wants = WANTS_ROOM
            break
        at = copy(_INDEX, 0, len(_INDEX), out, at)
        index = at
        at = put_number(out, at, first_index + row[RECORD_LINE])
        value = row[RECORD_HASH]
        place = row[RECORD_ID_PLACE]
        if place == NOWHERE:
            # each such line is a prompt of its own
            value = np.int64(hash_text(out, index, at))
        at = copy(_ID_KEY, 0, len(_ID_KEY), out, at)
        if place == NOWHERE:
            at = copy(_NULL, 0, len(_NULL), out, at)
        else:
            at = copy(data if place == IN_DATA else scratch, id_start, id_end, out, at)
        at = copy(blob, offsets[part], offsets[part + 1], out, at)
        at = put_number(out, at, row[RECORD_SAMPLE])
        at = copy(blob, offsets[part + 1], offsets[part + 2], out, at)
        if has_taxa:
            at = copy(scratch, pred, pred_end, out, at)
            at = copy(blob, offsets[part + 2], offsets[part + 3], out, at)
            at = copy(scratch, gold, gold_end, out, at)
        at = copy(blob, offsets[part + 3], offsets[part + 4], out, at)
        counts[template] += 1
        number += 1
        samples[sample] = (row[RECORD_KEY] & KEY_TASK) + (SAMPLE_FURTHER if row[RECORD_SAMPLE] > 0 else 0)
        for k in range(8):
            samples[sample + 1 + k] = (value >> (8 * k)) & 255
        for k in range(4):
            samples[sample + 9 + k] = (row[RECORD_VOTE] >> (8 * k)) & 255
        samples[sample + 13] = 1 if row[RECORD_KEY] & CORRECT else 0
        sample += SAMPLE_BYTES
    written[WRITTEN_ROWS], written[WRITTEN_SAMPLES], written[WRITTEN_WANTS] = at, sample, wants
    return number
