"""Reading lines and writing rows as functions over pointers, for `relfast_kernels.compiled.native`."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import carray, kernel, pointer
from relfast_kernels.layouts import (
    GOLD_COLUMNS,
    GOLD_PARTS,
    JUDGE_GOLDS,
    JUDGE_PARTS,
    JUDGE_RECORDS,
    JUDGE_SCRATCH,
    JUDGE_SETTINGS,
    JUDGE_SIZE,
    JUDGE_WORK,
    LINE_COLUMNS,
    MAX_TAXA,
    MAX_TOKENS,
    PATTERN_WORK,
    RECORD_COLUMNS,
    RECORD_TEXT_END,
    SET_SIZE,
    STATE_SIZE,
    TAXA_SLOTS,
    TEMPLATE_PARTS,
    TEMPLATE_SLOTS,
    TOKEN_COLUMNS,
    WORK_PARTS,
)
from relfast_kernels.text.columns import (
    FORM_COLUMNS,
    MOST_MEMBERS,
    SAID_COLUMNS,
    SAY_COLUMNS,
    STEP_COLUMNS,
    TABLE_PARTS,
    TEST_COLUMNS,
    WAY_COLUMNS,
)
from relfast_kernels.text.find import find_lines
from relfast_kernels.text.gold import GOLD_SIZE
from relfast_kernels.text.lines import Golds, Work, judge_texts, scan_lines, score_lines
from relfast_kernels.text.marks import LOOKED_AT
from relfast_kernels.text.projection import Table
from relfast_kernels.text.reasoning import cut_among
from relfast_kernels.text.rows import add_template, write_rows


def _cut(
    text: Any, n: int, out: Any, pool: Any, n_pool: int, places: Any, n_places: int, beginnings: Any,
    own_only: int, result: Any,
) -> int:  # fmt: skip
    """`cut_among` of a whole text: whether what is left is in ``out``; ``result``: from and up to where."""
    span = carray(result, 2, np.int64)
    span[0], span[1], copied = cut_among(
        carray(text, n, np.uint8),
        0,
        n,
        carray(out, n, np.uint8),
        0,
        carray(pool, n_pool, np.uint8),
        carray(places, n_places, np.int64),
        carray(beginnings, LOOKED_AT * 256, np.uint8),
        own_only != 0,
    )
    return 1 if copied else 0


def _find_lines(data: Any, n: int, lines: Any, max_lines: int) -> int:
    return find_lines(carray(data, n, np.uint8), n, carray(lines, (max_lines + 1, LINE_COLUMNS), np.int64))


@kernel
def _table_of(parts: Any) -> Any:
    return Table(
        carray(pointer(parts[0]), parts[1], np.uint8),
        carray(pointer(parts[2]), (parts[3], 2), np.int64),
        carray(pointer(parts[4]), parts[5], np.int64),
        carray(pointer(parts[6]), (parts[7], STEP_COLUMNS), np.int64),
        carray(pointer(parts[8]), (parts[9], 2), np.int64),
        carray(pointer(parts[10]), (parts[11], TEST_COLUMNS), np.int64),
        carray(pointer(parts[12]), (parts[13], WAY_COLUMNS), np.int64),
        carray(pointer(parts[14]), (parts[15], FORM_COLUMNS), np.int64),
        carray(pointer(parts[16]), (parts[17], SAID_COLUMNS), np.int64),
        carray(pointer(parts[18]), (parts[19], SAY_COLUMNS), np.int64),
    )


@kernel
def _golds_of(parts: Any) -> Any:
    return Golds(
        carray(pointer(parts[0]), parts[1], np.uint8),
        carray(pointer(parts[2]), (parts[3], GOLD_COLUMNS), np.int64),
        carray(pointer(parts[4]), parts[5], np.int64),
        carray(pointer(parts[6]), parts[7], np.int64),
    )


@kernel
def _work_of(parts: Any) -> Any:
    return Work(
        carray(pointer(parts[0]), (MAX_TOKENS, TOKEN_COLUMNS), np.int64),
        carray(pointer(parts[1]), 2 * MAX_TOKENS, np.int64),
        carray(pointer(parts[2]), 2 * MAX_TOKENS, np.int64),
        carray(pointer(parts[3]), MOST_MEMBERS, np.int64),
        carray(pointer(parts[4]), GOLD_SIZE, np.int64),
        carray(pointer(parts[5]), (2, MAX_TAXA, 2), np.int64),
        carray(pointer(parts[6]), (2, TAXA_SLOTS + 1), np.int64),
        carray(pointer(parts[7]), PATTERN_WORK, np.int64),
    )


def _scan(
    data: Any,
    n: int,
    lines: Any,
    n_lines: int,
    settings: Any,
    chosen: Any,
    n_chosen: int,
    table: Any,
    golds: Any,
    work: Any,
    records: Any,
    max_records: int,
    scratch: Any,
    scratch_size: int,
    state: Any,
) -> Any:
    return scan_lines(
        carray(data, n, np.uint8),
        carray(lines, (n_lines + 1, LINE_COLUMNS), np.int64),
        carray(settings, SET_SIZE, np.int64),
        carray(chosen, n_chosen, np.uint8),
        _table_of(carray(table, 2 * TABLE_PARTS, np.int64)),
        _golds_of(carray(golds, 2 * GOLD_PARTS, np.int64)),
        _work_of(carray(work, WORK_PARTS, np.int64)),
        carray(records, (max_records, RECORD_COLUMNS), np.int64),
        carray(scratch, scratch_size, np.uint8),
        carray(state, STATE_SIZE, np.int64),
    )


def _score(
    data: Any,
    n: int,
    lines: Any,
    n_lines: int,
    start: int,
    settings: Any,
    golds: Any,
    work: Any,
    records: Any,
    max_records: int,
    scratch: Any,
    scratch_size: int,
    state: Any,
) -> Any:
    return score_lines(
        carray(data, n, np.uint8),
        carray(lines, (n_lines + 1, LINE_COLUMNS), np.int64),
        start,
        carray(settings, SET_SIZE, np.int64),
        _golds_of(carray(golds, 2 * GOLD_PARTS, np.int64)),
        _work_of(carray(work, WORK_PARTS, np.int64)),
        carray(records, (max_records, RECORD_COLUMNS), np.int64),
        carray(scratch, scratch_size, np.uint8),
        carray(state, STATE_SIZE, np.int64),
    )


def _judge(data: Any, n: int, context: Any) -> int:
    # ctypes passes a plain integer in 32 bits
    n &= 0x7FFF_FFFF
    about = carray(context, JUDGE_PARTS, np.int64)
    records = carray(pointer(about[JUDGE_RECORDS]), (n, RECORD_COLUMNS), np.int64)
    return judge_texts(
        carray(data, records[n - 1, RECORD_TEXT_END], np.uint8),
        carray(pointer(about[JUDGE_SETTINGS]), SET_SIZE, np.int64),
        _golds_of(carray(pointer(about[JUDGE_GOLDS]), 2 * GOLD_PARTS, np.int64)),
        _work_of(carray(pointer(about[JUDGE_WORK]), WORK_PARTS, np.int64)),
        records,
        carray(pointer(about[JUDGE_SCRATCH]), about[JUDGE_SIZE], np.uint8),
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
    "scan": (_scan, "pipippippppipip"),
    "score": (_score, "pipiippppipip"),
    "cut": (_cut, "pippipipip"),
    "judge": (_judge, "pip"),
    "judge_long": (_judge, "pip"),
    "add": (_add, "iipip"),
    "write": (_write, "pipipiiipipppipipipp"),
}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
