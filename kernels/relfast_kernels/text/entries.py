"""Entries of the unit ``text`` for `relfast_kernels.compiled.native`: scanning lines and writing rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import carray, kernel, pointer
from relfast_kernels.layouts import (
    AT_COUNTS,
    AT_FILTER,
    AT_GOLDS,
    AT_HELD,
    AT_HELD_SLOTS,
    AT_KEYS,
    AT_LINES,
    AT_PARTS,
    AT_RECORDS,
    AT_ROWS,
    AT_SAMPLES,
    AT_SCRATCH,
    AT_SETTINGS,
    AT_SLOTS,
    AT_STATE,
    AT_TABLE,
    AT_TEMPLATES,
    AT_WORK,
    AT_WRITTEN,
    CONTEXT_SIZE,
    FIRST_INDEX,
    GOLD_COLUMNS,
    GOLD_PARTS,
    HELD_COLUMNS,
    LINE_COLUMNS,
    MAX_TAXA,
    MAX_TOKENS,
    MOST_TEMPLATES,
    N_FILTER,
    N_HELD,
    N_HELD_SLOTS,
    N_KEYS,
    N_LINES,
    N_RECORDS,
    N_ROWS,
    N_SAMPLES,
    N_SCRATCH,
    N_TEMPLATES,
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
    WRITTEN_SIZE,
)
from relfast_kernels.text.columns import (
    FORM_COLUMNS,
    GOLD_SIZE,
    MEMBER_COLUMNS,
    MOST_MEMBERS,
    SAID_COLUMNS,
    SAY_COLUMNS,
    STEP_COLUMNS,
    TABLE_PARTS,
    TEST_COLUMNS,
    WAY_COLUMNS,
)
from relfast_kernels.text.find import hash_text
from relfast_kernels.text.lines import (
    Golds,
    Held,
    Work,
    digest_id,
    hold_lines,
    judge_text,
    outline,
    rehash_held,
    scan_lines,
    score_lines,
)
from relfast_kernels.text.marked import FORM_RESULT, FORM_ROOM, read_form
from relfast_kernels.text.marks import LOOKED_AT
from relfast_kernels.text.projection import Table
from relfast_kernels.text.reasoning import cut_among
from relfast_kernels.text.rows import Templates, write_rows


def _cut(
    text: Any, n: int, out: Any, pool: Any, n_pool: int, places: Any, n_places: int, beginnings: Any,
    own_only: int, result: Any,
) -> int:  # fmt: skip
    """`cut_among` for a whole text: whether the rest was copied to ``out``; ``result``: its start and end."""
    span = carray(result, 2, np.int64)
    span[0], span[1], copied = cut_among(
        carray(text, n, np.uint8),
        0,
        n,
        carray(out, n, np.uint8),
        0,
        carray(pool, n_pool, np.uint8),
        carray(places, n_places, np.int64),
        carray(beginnings, LOOKED_AT * 256, np.int64),
        own_only != 0,
    )
    return 1 if copied else 0


def _form(text: Any, n: int, how: int, work: Any, result: Any) -> int:
    """`read_form` of a whole text: what the form holds is written to ``work`` (2 n + `FORM_ROOM` bytes);
    ``result``:
    the form, where it opens, and how many bytes it holds."""
    found = carray(result, FORM_RESULT, np.int64)
    found[0], found[1], found[2] = read_form(
        carray(text, n, np.uint8), 0, n, how, carray(work, 2 * n + FORM_ROOM, np.uint8), 0, found[3:]
    )
    return 0


@kernel
def _table_of(parts: Any) -> Any:
    return Table(
        carray(pointer(parts[0]), parts[1], np.uint8),
        carray(pointer(parts[2]), (parts[3], MEMBER_COLUMNS), np.int64),
        carray(pointer(parts[4]), parts[5], np.int64),
        carray(pointer(parts[6]), (parts[7], STEP_COLUMNS), np.int64),
        carray(pointer(parts[8]), (parts[9], 2), np.int64),
        carray(pointer(parts[10]), (parts[11], TEST_COLUMNS), np.int64),
        carray(pointer(parts[12]), (parts[13], WAY_COLUMNS), np.int64),
        carray(pointer(parts[14]), (parts[15], FORM_COLUMNS), np.int64),
        carray(pointer(parts[16]), (parts[17], SAID_COLUMNS), np.int64),
        carray(pointer(parts[18]), (parts[19], SAY_COLUMNS), np.int64),
        carray(pointer(parts[20]), (parts[21], 2), np.int64),
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
def _held_of(about: Any) -> Any:
    return Held(
        carray(pointer(about[AT_HELD]), (about[N_HELD], HELD_COLUMNS), np.int64),
        carray(pointer(about[AT_HELD_SLOTS]), about[N_HELD_SLOTS], np.int64),
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


@kernel
def _places_of(about: Any) -> Any:
    """Records, scratch space, settings, golds and work space of a context."""
    return (
        carray(pointer(about[AT_RECORDS]), (about[N_RECORDS], RECORD_COLUMNS), np.int64),
        carray(pointer(about[AT_SCRATCH]), about[N_SCRATCH], np.uint8),
        carray(pointer(about[AT_SETTINGS]), SET_SIZE, np.int64),
        _golds_of(carray(pointer(about[AT_GOLDS]), 2 * GOLD_PARTS, np.int64)),
        _work_of(carray(pointer(about[AT_WORK]), WORK_PARTS, np.int64)),
    )


def _scan(data: Any, n: int, context: Any) -> Any:
    about = carray(context, CONTEXT_SIZE, np.int64)
    records, scratch, settings, golds, work = _places_of(about)
    return scan_lines(
        carray(data, n, np.uint8),
        carray(pointer(about[AT_LINES]), (about[N_LINES] + 1, LINE_COLUMNS), np.int64),
        settings,
        carray(pointer(about[AT_FILTER]), about[N_FILTER], np.uint8),
        _table_of(carray(pointer(about[AT_TABLE]), 2 * TABLE_PARTS, np.int64)),
        _held_of(about),
        golds,
        work,
        records,
        scratch,
        carray(pointer(about[AT_STATE]), STATE_SIZE, np.int64),
    )


def _score(data: Any, n: int, context: Any, start: int, stop: int) -> Any:
    about = carray(context, CONTEXT_SIZE, np.int64)
    records, scratch, settings, golds, work = _places_of(about)
    return score_lines(
        carray(data, n, np.uint8),
        carray(pointer(about[AT_LINES]), (stop + 1, LINE_COLUMNS), np.int64),
        start,
        settings,
        golds,
        work,
        records,
        scratch,
        carray(pointer(about[AT_STATE]), STATE_SIZE, np.int64),
    )


def _hold(context: Any, start: int, stop: int, base: int, first_line: int, n: int) -> Any:
    about = carray(context, CONTEXT_SIZE, np.int64)
    lines = carray(pointer(about[AT_LINES]), (stop, LINE_COLUMNS), np.int64)
    return hold_lines(lines, start, stop, base, first_line, n, _held_of(about))


def _rehash(context: Any, n: int) -> int:
    return rehash_held(n, _held_of(carray(context, CONTEXT_SIZE, np.int64)))


def _outline(data: Any, context: Any, start: int, end: int, out: Any) -> Any:
    """`outline`: the number of the form in the upper half, the size in the lower one; negative if there is
    none."""
    about = carray(context, CONTEXT_SIZE, np.int64)
    form, size = outline(
        carray(data, end, np.uint8),
        start,
        end,
        _table_of(carray(pointer(about[AT_TABLE]), 2 * TABLE_PARTS, np.int64)),
        _work_of(carray(pointer(about[AT_WORK]), WORK_PARTS, np.int64)),
        carray(out, 2 * (end - start) + 16, np.uint8),
    )
    return form << 32 | size


def _digest_id(text: Any, n: int, seed: int) -> Any:
    return digest_id(carray(text, n, np.uint8), 0, n, np.uint64(seed))


def _judge(data: Any, context: Any) -> int:
    records, scratch, settings, golds, work = _places_of(carray(context, CONTEXT_SIZE, np.int64))
    text = carray(data, records[0, RECORD_TEXT_END], np.uint8)
    judge_text(text, settings, golds, work, records[0], scratch)
    return 0


def _write(data: Any, n: int, context: Any, start: int, stop: int) -> int:
    about = carray(context, CONTEXT_SIZE, np.int64)
    return write_rows(
        carray(data, n, np.uint8),
        carray(pointer(about[AT_SCRATCH]), about[N_SCRATCH], np.uint8),
        carray(pointer(about[AT_RECORDS]), (about[N_RECORDS], RECORD_COLUMNS), np.int64),
        start,
        stop,
        about[FIRST_INDEX],
        Templates(
            carray(pointer(about[AT_KEYS]), MOST_TEMPLATES, np.int64),
            carray(pointer(about[AT_SLOTS]), TEMPLATE_SLOTS, np.int64),
            carray(pointer(about[AT_PARTS]), TEMPLATE_PARTS * MOST_TEMPLATES + 1, np.int64),
            carray(pointer(about[AT_TEMPLATES]), about[N_TEMPLATES], np.uint8),
            carray(pointer(about[AT_COUNTS]), MOST_TEMPLATES, np.int64),
        ),
        about[N_KEYS],
        carray(pointer(about[AT_ROWS]), about[N_ROWS], np.uint8),
        carray(pointer(about[AT_SAMPLES]), about[N_SAMPLES], np.uint8),
        carray(pointer(about[AT_WRITTEN]), WRITTEN_SIZE, np.int64),
    )


def _hash(text: Any, n: int) -> int:
    """`hash_text` of a whole text."""
    return int(np.int64(hash_text(carray(text, n, np.uint8), 0, n)))


ENTRIES = {
    "hash": (_hash, "pi"),
    "scan": (_scan, "pip"),
    "score": (_score, "pipii"),
    "hold": (_hold, "piiiii"),
    "rehash": (_rehash, "pi"),
    "outline": (_outline, "ppiip"),
    "digest_id": (_digest_id, "pii"),
    "cut": (_cut, "pippipipip"),
    "form": (_form, "piipp"),
    "judge": (_judge, "pp"),
    "judge_long": (_judge, "pp"),
    "write": (_write, "pipii"),
}
"""Name → function and its arguments (``p`` pointer, ``i`` int64)."""
