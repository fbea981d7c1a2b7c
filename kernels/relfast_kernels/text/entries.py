"""Entries of the unit ``text`` for `relfast_kernels.compiled.native`: scanning lines, and writing the rows of
scored records from templates, each with a sample for the statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    CORRECT,
    KEY_TASK,
    RECORD_GOLD,
    RECORD_GOLD_END,
    RECORD_HASH,
    RECORD_ID,
    RECORD_ID_END,
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
from relfast_kernels.text.find import copy, has_digits, hash_text, put_number
from relfast_kernels.text.layouts import (
    Cut,
    Digested,
    Held,
    Judging,
    Marked,
    Naming,
    Outline,
    Scan,
    Templates,
    Writing,
)
from relfast_kernels.text.lines import (
    digest_id,
    hold_lines,
    judge_text,
    name_taxa,
    rehash_held,
    scan_lines,
    score_lines,
)
from relfast_kernels.text.marked import read_form
from relfast_kernels.text.prompts import key_flags
from relfast_kernels.text.reasoning import PackedMarks, cut_among
from relfast_kernels.text.said import outline

_INDEX = np.frombuffer(b'{"index":', np.uint8)
_ID_KEY = np.frombuffer(b',"id":', np.uint8)
_NULL = np.frombuffer(b"null", np.uint8)

_MANY_DIGITS = 19
"""Integers of fewer digits are exact in 64 bits."""

_BESIDES = 128
"""The most bytes of a row that are in no template and no scratch space."""


@kernel
def _slot_of(templates: Templates, key: int) -> Any:
    """The slot of a key's template, or the free one where it belongs."""
    mask = len(templates.slots) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = np.int64(mixed >> np.uint64(40)) & mask
    while templates.slots[at] != 0 and templates.keys[templates.slots[at] - 1] != key:
        at = (at + 1) & mask
    return at


@kernel
def _write_rows(writing: Writing) -> int:
    """Write rows and samples of records; returns ``writing.stop``, or the first record whose key has no
    template yet, or for whose row there is no room."""
    scratch, records = writing.scan.scratch, writing.scan.records
    templates, out, samples, written = writing.templates, writing.out, writing.samples, writing.written
    n_known, stop, first_index = writing.n_known, writing.stop, writing.first_index
    at, sample = written[WRITTEN_ROWS], written[WRITTEN_SAMPLES]
    last_key, template = -1, -1
    wants = WANTS_NOTHING
    number = writing.start
    while number < stop:
        row = records[number]
        if row[RECORD_KEY] != last_key:
            last_key = row[RECORD_KEY]
            slot = _slot_of(templates, last_key)
            template = templates.slots[slot] - 1
            if not 0 <= template < n_known:
                wants = WANTS_TEMPLATE
                if n_known < len(templates.keys):
                    templates.keys[n_known], templates.slots[slot] = last_key, n_known + 1
                break
        offsets, part = templates.parts, TEMPLATE_PARTS * template
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
        flags = key_flags(scratch, id_start, id_end)
        if id_start == id_end:
            # each line without an id and question is a prompt of its own
            value = np.int64(hash_text(out, index, at))
        at = copy(_ID_KEY, 0, len(_ID_KEY), out, at)
        if id_start == id_end:
            at = copy(_NULL, 0, len(_NULL), out, at)
        at = copy(scratch, id_start, id_end, out, at)
        at = copy(templates.text, offsets[part], offsets[part + 1], out, at)
        at = put_number(out, at, row[RECORD_SAMPLE])
        at = copy(templates.text, offsets[part + 1], offsets[part + 2], out, at)
        if has_taxa:
            at = copy(scratch, pred, pred_end, out, at)
            at = copy(templates.text, offsets[part + 2], offsets[part + 3], out, at)
            at = copy(scratch, gold, gold_end, out, at)
        at = copy(templates.text, offsets[part + 3], offsets[part + 4], out, at)
        templates.counts[template] += 1
        number += 1
        further = SAMPLE_FURTHER if row[RECORD_SAMPLE] > 0 else 0
        samples[sample] = (row[RECORD_KEY] & KEY_TASK) + flags + further
        for k in range(8):
            samples[sample + 1 + k] = (value >> (8 * k)) & 255
        for k in range(4):
            samples[sample + 9 + k] = (row[RECORD_VOTE] >> (8 * k)) & 255
        samples[sample + 13] = 1 if row[RECORD_KEY] & CORRECT else 0
        sample += SAMPLE_BYTES
    written[WRITTEN_ROWS], written[WRITTEN_SAMPLES], written[WRITTEN_WANTS] = at, sample, wants
    return number


@kernel
def _cut(cut: Cut) -> int:
    """`cut_among` for a whole text: whether the rest was copied."""
    names, text = cut.names, cut.text
    kept, own_only = cut.kept, cut.own_only != 0
    marks = PackedMarks(names.pool, names.places, names.beginnings)
    kept.start, kept.end, copied = cut_among(text, 0, len(text), cut.out, 0, marks, own_only)
    return 1 if copied else 0


@kernel
def _form(marked: Marked) -> int:
    """`read_form` of a whole text: the number of the form."""
    found, text = marked.found, marked.text
    found.form, found.start, found.size = read_form(
        text, 0, len(text), marked.how, marked.out, 0, marked.fences
    )
    return found.form


@kernel
def _digest_id(asked: Digested) -> int:
    """`digest_id` of a whole text."""
    return int(digest_id(asked.text, 0, len(asked.text), np.uint64(asked.seed)))


@kernel
def _large_integer(asked: Outline) -> int:
    """Whether a part of a line may hold an integer that some parsers round: `has_digits`."""
    return 1 if has_digits(asked.data, asked.start, asked.end, _MANY_DIGITS) else 0


@kernel
def _hash(asked: Digested) -> int:
    """`hash_text` of a whole text."""
    return int(np.int64(hash_text(asked.text, 0, len(asked.text))))


ENTRIES = {
    "hash": (_hash, Digested),
    "scan": (scan_lines, Scan),
    "score": (score_lines, Scan),
    "hold": (hold_lines, Scan),
    "rehash": (rehash_held, Held),
    "outline": (outline, Outline),
    "large_integer": (_large_integer, Outline),
    "digest_id": (_digest_id, Digested),
    "cut": (_cut, Cut),
    "form": (_form, Marked),
    "name_taxa": (name_taxa, Naming),
    "judge": (judge_text, Judging),
    "judge_long": (judge_text, Judging),
    "write": (_write_rows, Writing),
}
"""Name → function and what it is given."""
