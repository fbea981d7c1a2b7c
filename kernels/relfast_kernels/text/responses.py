"""A response against its gold under either policy, as the key of its row."""

from __future__ import annotations

from typing import Any, Final

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    B1,
    C1,
    CORRECT,
    FOUND,
    GOLD_VALUE_SHIFT,
    NO_PANEL,
    NOT_FOUND,
    PRED_VALUE_SHIFT,
    REASON_SHIFT,
    REASONS,
    RECORD_GOLD,
    RECORD_GOLD_END,
    RECORD_KEY,
    RECORD_VOTE,
    SET_DETAILS,
    SET_STRIP,
    TAXA_SHIFT,
    UNCUT,
    UNKNOWN,
)
from relfast_kernels.text.characters import is_ascii, is_tame
from relfast_kernels.text.gold import GOLD_TAXA, GOLD_TEXT, GOLD_TEXT_END, GOLD_VALUE
from relfast_kernels.text.json_strings import put_text
from relfast_kernels.text.patterns.lists import TAXA
from relfast_kernels.text.patterns.reading import obvious_end
from relfast_kernels.text.patterns.symbols import constant
from relfast_kernels.text.patterns.verdict import NEAR
from relfast_kernels.text.prose import count
from relfast_kernels.text.reasoning import cut_reasoning
from relfast_kernels.text.rel_a import score_choice
from relfast_kernels.text.rel_a_strict import ALL, END, MAX_TEXT, read_choice
from relfast_kernels.text.rel_b import score_taxa
from relfast_kernels.text.rel_b_claim import read_claim
from relfast_kernels.text.rel_b_strict import score_claim
from relfast_kernels.text.rel_c import score_tag
from relfast_kernels.text.rel_c_strict import read_label
from relfast_kernels.text.tails import LEAST, line_in_end, may_end_with_verdict, may_hold_marks, may_open
from relfast_kernels.text.vectors import WIDTH
from relfast_kernels.text.words import skip_white

NOT_DONE, DONE, LEAVES_IT = 0, 1, 2
"""What became of a response: the exact way must score the line, the row has its key, Python must read it."""

MAX_STRICT: Final = 1_000_000
"""Bytes of a response that is read under ``strict``: that policy's limit in characters."""

_NOUGHT: Final = constant(0)
_EMPTY: Final = REASONS.index("empty")
_ONLY_REASONING: Final = REASONS.index("only_reasoning")


@kernel
def score_as_published(
    text: Any, first: int, last: int, task: int, settings: Any, gold_data: Any, work: Any, scratch: Any,
    used: int, beyond: int, row: Any,
) -> Any:  # fmt: skip
    """Score text[first:last] as ``reference`` does.

    Parameters
    ----------
    used, beyond
        From where on ``scratch`` is free: for what is kept, and for what is needed only now.
    row
        A record: its key, vote, and for details its taxa are filled in.

    Returns
    -------
    (done, used)
        `DONE` or `NOT_DONE`.
    """
    if not is_ascii(text, first, last) and not is_tame(text, first, last):
        return NOT_DONE, used
    if settings[SET_STRIP] != 0:
        first, last, copied = cut_reasoning(text, first, last, scratch, beyond)
        if first < 0:
            return NOT_DONE, used
        if copied:
            text = scratch
    gold = work.gold
    details = settings[SET_DETAILS] != 0
    if task < B1:
        done = score_choice(text, first, last, task, gold[GOLD_VALUE], details, row)
    elif task == C1:
        done = score_tag(text, first, last, gold[GOLD_VALUE], details, row)
    else:
        done, to = score_taxa(
            text, first, last, gold[GOLD_VALUE], gold_data, gold[GOLD_TAXA], work.spans, work.slots,
            scratch, used if details else -1, row,
        )  # fmt: skip
        if details:
            used = to
            row[RECORD_GOLD], row[RECORD_GOLD_END] = gold[GOLD_TEXT], gold[GOLD_TEXT_END]
    return DONE if done else NOT_DONE, used


@kernel
def shown_gold(task: int, gold: Any) -> Any:
    """Gold's panel or label as a key numbers it."""
    return gold[GOLD_VALUE] if task < B1 else gold[GOLD_VALUE] + 1


@kernel
def _put(row: Any, task: int, number: int, gold: int, reason: int, details: bool) -> None:
    """Key and vote of a chosen panel or a label, both numbered as in details."""
    key = task | reason << REASON_SHIFT
    vote = 0
    if reason == 0:
        key |= FOUND
        vote = number + 2 if task < B1 else number + 1
    if number == gold:
        key |= CORRECT
    if details:
        key |= number << PRED_VALUE_SHIFT | gold << GOLD_VALUE_SHIFT
    row[RECORD_KEY], row[RECORD_VOTE] = key, vote


@kernel
def score_strictly(
    text: Any, first: int, last: int, task: int, details: bool, least: float, gold_data: Any, work: Any,
    tables: Any, scratch: Any, used: int, beyond: int, row: Any,
) -> Any:  # fmt: skip
    """Score text[first:last] as ``strict`` does; see `score_as_published`. ``done`` can be `LEAVES_IT` too.

    Not so for REL-B1, whose gold Python would have to read with it.
    """
    left = NOT_DONE if task == B1 else LEAVES_IT
    tables.missed[0] = tables.missed[1] = 0
    if last - first > MAX_STRICT or (not is_ascii(text, first, last) and not is_tame(text, first, last)):
        return left, used
    blank = skip_white(text, first, last) == last
    first, last, copied = cut_reasoning(text, first, last, scratch, beyond)
    if first < 0:
        return left, used
    if copied:
        text, beyond = scratch, last
    reason = 0
    if blank:
        reason = _EMPTY
    elif skip_white(text, first, last) == last:
        reason = _ONLY_REASONING
    if task == B1:
        done, used = score_claim(
            text, first, last, _NOUGHT, reason, gold_data, work, details, least, scratch, used, beyond, row
        )
        return DONE if done else NOT_DONE, used
    number: Any = NO_PANEL if task < B1 else 0
    if reason == 0:
        if task < B1:
            number, reason = read_choice(text, first, last, ALL, tables, scratch, beyond, work.patterns)
        else:
            number, reason = read_label(text, first, last, scratch, beyond, work.patterns)
        if number == UNKNOWN:
            return left, used
    _put(row, task, number, shown_gold(task, work.gold), reason, details)
    return DONE, used


@kernel
def _read_end(
    data: Any, first: int, last: int, task: int, tables: Any, scratch: Any, decoded: int, beyond: int,
    patterns: Any,
) -> Any:  # fmt: skip
    """What a response says, by the end of its JSON alone: number and reason as `read_choice`, `read_label` or
    `read_claim` has them, or `UNKNOWN` and 0."""
    size = last - first
    if size < LEAST or size > (MAX_TEXT if task < B1 else MAX_STRICT):
        return UNKNOWN, 0
    if task >= B1 and not may_end_with_verdict(data, first, last):
        return UNKNOWN, 0
    start = line_in_end(data, first, last)
    if start < 0 or may_hold_marks(data, first, last):
        return UNKNOWN, 0
    end = put_text(data, start, last, scratch, decoded)
    if not is_ascii(scratch, decoded, end) and not is_tame(scratch, decoded, end):
        return UNKNOWN, 0
    if task < B1:
        if may_open(data, first, last, tables.words, scratch, end + WIDTH):
            return UNKNOWN, 0
        return read_choice(scratch, decoded, end, END, tables, scratch, beyond, patterns)
    if count(scratch, decoded, end) <= NEAR:
        return UNKNOWN, 0
    found = obvious_end(scratch, decoded, end, scratch, beyond, patterns)
    # a yes of REL-B1 names taxa
    if found < 0 or (task == B1 and found > 0):
        return UNKNOWN, 0
    return 1 + found, 0


@kernel
def score_by_end(
    data: Any, first: int, last: int, task: int, details: bool, least: float, gold_data: Any, work: Any,
    tables: Any, scratch: Any, used: int, decoded: int, row: Any,
) -> Any:  # fmt: skip
    """`score_strictly` of a string's JSON data[first:last] by its end alone: `DONE`, or `NOT_DONE`: all of it
    has to be read. It is written to ``scratch`` from ``decoded`` on."""
    beyond = used + 2 * (last - first) + 8
    number, reason = _read_end(data, first, last, task, tables, scratch, decoded, beyond, work.patterns)
    if number == UNKNOWN:
        return NOT_DONE, used
    if task == B1:
        done, used = score_claim(
            scratch,
            decoded,
            decoded,
            number,
            reason,
            gold_data,
            work,
            details,
            least,
            scratch,
            used,
            beyond,
            row,
        )
        return DONE if done else NOT_DONE, used
    _put(row, task, number, shown_gold(task, work.gold), reason, details)
    return DONE, used


@kernel
def read_one(text: Any, n: int, task: int, is_cut: bool, tables: Any, scratch: Any, patterns: Any) -> int:
    """What the ``strict`` extractor of a task says of a response (UTF-8).

    Parameters
    ----------
    is_cut
        Whether it is without reasoning, and not all white space; else it is cut here, where the kernel knows
        how.
    tables : Tables
        ``missed`` is filled where a text is not known, else zeros.
    scratch : uint8
        Work space: one more than `PER_BYTE` times the bytes of the text, and 512.
    patterns : int64
        `PATTERN_WORK` more. It begins with the taxa of REL-B1.

    Returns
    -------
    int
        The panel or label as details number it, and from bit `TAXA_SHIFT` on how many taxa; `UNKNOWN`: only
        Python can say; `UNCUT`: only Python can cut; or `NOT_FOUND` less the place in `REASONS` of why there
        is none.
    """
    tables.missed[0] = tables.missed[1] = 0
    if not is_ascii(text, 0, n) and not is_tame(text, 0, n):
        return UNKNOWN
    first: Any = 0
    last: Any = n
    free: Any = 0
    if not is_cut:
        if skip_white(text, 0, n) == n:
            return int(NOT_FOUND - _EMPTY)
        first, last, copied = cut_reasoning(text, 0, n, scratch, 0)
        if first < 0:
            return UNCUT
        if copied:
            text, free = scratch, last
        if skip_white(text, first, last) == last:
            return int(NOT_FOUND - _ONLY_REASONING)
    number: Any = 0
    reason: Any = 0
    n_taxa: Any = 0
    if task < B1:
        number, reason = read_choice(text, first, last, ALL, tables, scratch, free, patterns)
    elif task == C1:
        number, reason = read_label(text, first, last, scratch, free, patterns)
    else:
        number, n_taxa, reason = read_claim(text, first, last, scratch, free, patterns)
        for k in range(n_taxa):
            patterns[k] = patterns[TAXA + k]
    if number == UNKNOWN:
        return UNKNOWN
    return int(number | n_taxa << TAXA_SHIFT) if reason == 0 else int(NOT_FOUND - reason)
