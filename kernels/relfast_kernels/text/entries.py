"""Reading lines and writing rows as functions over pointers, for `relfast_kernels.compiled.native`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import carray, kernel, pointer
from relfast_kernels.layouts import (
    ASKED_COLUMNS,
    JOIN_COLUMNS,
    LINE_COLUMNS,
    MAX_TAXA,
    MAX_TOKENS,
    PATH_COLUMNS,
    PATTERN_WORK,
    PROMPTS_SIZE,
    READ_COLUMNS,
    READ_CUT,
    READ_PATTERNS,
    READ_SHIFT,
    READ_SIZE,
    READ_WORK,
    RECORD_COLUMNS,
    SET_SIZE,
    SMALL_SIZE,
    STATE_SIZE,
    TAXA_SHIFT,
    TAXA_SLOTS,
    TEMPLATE_PARTS,
    TEMPLATE_SLOTS,
    TOKEN_COLUMNS,
    UNCUT,
)
from relfast_kernels.text.asked import index_asked
from relfast_kernels.text.entry import ENTRY_SIZE, Joined, Work
from relfast_kernels.text.join import index_gold
from relfast_kernels.text.line_ends import find_lines
from relfast_kernels.text.lines import scan_lines
from relfast_kernels.text.members import N_FIELDS
from relfast_kernels.text.responses import read_one
from relfast_kernels.text.rows import add_template, write_rows

_ENTRY = N_FIELDS
_GOLD = _ENTRY + ENTRY_SIZE


@kernel
def _read_with(text: Any, packed: int, about: Any) -> int:
    n = packed >> READ_SHIFT
    return read_one(
        carray(text, n, np.uint8),
        n,
        packed & (READ_CUT - 1),
        packed & READ_CUT != 0,
        carray(pointer(about[READ_WORK]), about[READ_SIZE], np.uint8),
        carray(pointer(about[READ_PATTERNS]), PATTERN_WORK, np.int64),
    )


def _read(text: Any, packed: int, context: Any) -> int:
    # ctypes passes a plain integer in 32 bits
    return _read_with(text, packed & 0x7FFF_FFFF, carray(context, READ_COLUMNS, np.int64))


def _read_many(texts: Any, packed: Any, n: int, results: Any, taxa: Any, room: int, context: Any) -> int:
    """Read several responses; how many taxa they name. They stand in ``taxa`` one after the other; a response
    whose taxa do not fit is left to Python."""
    places, sizes = carray(texts, n, np.int64), carray(packed, n, np.int64)
    found, named = carray(results, n, np.int64), carray(taxa, room, np.int64)
    about = carray(context, READ_COLUMNS, np.int64)
    patterns = carray(pointer(about[READ_PATTERNS]), PATTERN_WORK, np.int64)
    n_named = 0
    for k in range(n):
        result = _read_with(pointer(places[k]), sizes[k], about)
        if result > 0:
            n_taxa = result >> TAXA_SHIFT
            if n_named + n_taxa > room:
                result = UNCUT
            else:
                for other in range(n_taxa):
                    named[n_named + other] = patterns[other]
                n_named += n_taxa
        found[k] = result
    return n_named


def _find_lines(data: Any, n: int, lines: Any, max_lines: int) -> int:
    return find_lines(carray(data, n, np.uint8), n, carray(lines, (max_lines + 1, LINE_COLUMNS), np.int64))


def _scan(
    data: Any,
    n: int,
    lines: Any,
    n_lines: int,
    settings: Any,
    chosen: Any,
    n_chosen: int,
    gold: Any,
    gold_size: int,
    gold_records: Any,
    n_gold: int,
    gold_slots: Any,
    n_slots: int,
    asked: Any,
    n_asked: int,
    lengths: Any,
    n_lengths: int,
    asked_slots: Any,
    n_asked_slots: int,
    tape: Any,
    samples: Any,
    small: Any,
    spans: Any,
    slots: Any,
    words: Any,
    records: Any,
    max_records: int,
    scratch: Any,
    scratch_size: int,
    state: Any,
    patterns: Any,
    paths: Any,
    n_paths: int,
    steps: Any,
    n_steps: int,
) -> Any:
    numbers = carray(small, SMALL_SIZE, np.int64)
    return scan_lines(
        carray(data, n, np.uint8),
        carray(lines, (n_lines + 1, LINE_COLUMNS), np.int64),
        carray(settings, SET_SIZE, np.int64),
        Joined(
            carray(gold, gold_size, np.uint8),
            carray(gold_records, (n_gold, JOIN_COLUMNS), np.int64),
            carray(gold_slots, n_slots, np.int64),
            carray(asked, (n_asked, ASKED_COLUMNS), np.int64),
            carray(lengths, n_lengths, np.int64),
            carray(asked_slots, n_asked_slots, np.int64),
            carray(chosen, n_chosen, np.uint8),
            carray(paths, (n_paths, PATH_COLUMNS), np.int64),
            carray(steps, n_steps, np.uint8),
        ),
        Work(
            carray(tape, (MAX_TOKENS, TOKEN_COLUMNS), np.int64),
            carray(samples, MAX_TOKENS, np.int64),
            numbers[:_ENTRY],
            numbers[_ENTRY:_GOLD],
            numbers[_GOLD:],
            carray(spans, (2, MAX_TAXA, 2), np.int64),
            carray(slots, (2, TAXA_SLOTS + 1), np.int64),
            carray(words, PROMPTS_SIZE, np.uint64),
            carray(patterns, PATTERN_WORK, np.int64),
        ),
        carray(records, (max_records, RECORD_COLUMNS), np.int64),
        carray(scratch, scratch_size, np.uint8),
        carray(state, STATE_SIZE, np.int64),
    )


def _index(text: Any, size: int, records: Any, n: int, slots: Any, n_slots: int) -> int:
    return index_gold(
        carray(text, size, np.uint8),
        carray(records, (n, JOIN_COLUMNS), np.int64),
        carray(slots, n_slots, np.int64),
    )


def _index_asked(text: Any, size: int, asked: Any, n: int, slots: Any, n_slots: int) -> int:
    return index_asked(
        carray(text, size, np.uint8),
        carray(asked, (n, ASKED_COLUMNS), np.int64),
        carray(slots, n_slots, np.int64),
    )


def _add(key: int, number: int, keys: Any, max_templates: int, slots: Any) -> int:
    return add_template(
        key, number, carray(keys, max_templates, np.int64), carray(slots, TEMPLATE_SLOTS, np.int64)
    )


def _write(
    data: Any,
    n: int,
    scratch: Any,
    scratch_size: int,
    records: Any,
    start: int,
    stop: int,
    first_index: int,
    keys: Any,
    max_templates: int,
    slots: Any,
    offsets: Any,
    blob: Any,
    blob_size: int,
    out: Any,
    out_size: int,
    samples: Any,
    samples_size: int,
    counts: Any,
    written: Any,
) -> int:
    return write_rows(
        carray(data, n, np.uint8),
        carray(scratch, scratch_size, np.uint8),
        carray(records, (stop, RECORD_COLUMNS), np.int64),
        start,
        stop,
        first_index,
        carray(keys, max_templates, np.int64),
        carray(slots, TEMPLATE_SLOTS, np.int64),
        carray(offsets, TEMPLATE_PARTS * max_templates + 1, np.int64),
        carray(blob, blob_size, np.uint8),
        carray(out, out_size, np.uint8),
        carray(samples, samples_size, np.uint8),
        carray(counts, max_templates, np.int64),
        carray(written, 3, np.int64),
    )


ENTRIES = {
    "find_lines": (_find_lines, "pipi"),
    "scan": (_scan, "pipippipipipipipipipppppppipipppipi"),
    "read": (_read, "pip"),
    "read_many": (_read_many, "ppippip"),
    "read_much": (_read_many, "ppippip"),
    "index": (_index, "pipipi"),
    "index_asked": (_index_asked, "pipipi"),
    "add": (_add, "iipip"),
    "write": (_write, "pipipiiipipppipipipp"),
}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
