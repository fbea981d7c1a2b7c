"""Entries of the unit ``text`` for `relfast_kernels.compiled.native`: scanning lines and writing rows."""

from __future__ import annotations

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import hash_text
from relfast_kernels.text.layouts import Cut, Digested, Held, Judging, Marked, Outline, Scan, Writing
from relfast_kernels.text.lines import (
    digest_id,
    hold_lines,
    judge_text,
    outline,
    rehash_held,
    scan_lines,
    score_lines,
)
from relfast_kernels.text.marked import read_form
from relfast_kernels.text.reasoning import PackedMarks, cut_among
from relfast_kernels.text.rows import write_rows


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
    "digest_id": (_digest_id, Digested),
    "cut": (_cut, Cut),
    "form": (_form, Marked),
    "judge": (judge_text, Judging),
    "judge_long": (judge_text, Judging),
    "write": (write_rows, Writing),
}
"""Name → function and what it is given."""
