"""REL-B1: its gold, and the answer by the rule of `relfast.tasks.rel_b.extract` (``reference`` policy)."""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    B1,
    CORRECT,
    FAST,
    FOUND,
    GOLD_SHIFT,
    GOLD_YES,
    LINE_KEY,
    LINE_VOTE,
    MAX_TAXA,
    PRED_SHIFT,
    SLOW,
    TP_SHIFT,
)
from relfast_kernels.text.characters import CHUNK
from relfast_kernels.text.find import ONE, TWO, find_byte
from relfast_kernels.text.json_scan import (
    BACKSLASH,
    QUOTE,
    is_digit,
    is_escaped,
    same_bytes,
    skip_spaces,
    string_end,
)
from relfast_kernels.text.words import find_letter, has_digit, is_word, skip_white


@kernel
def _has_yes(data: Any, start: int, end: int) -> bool:
    """Whether "yes" occurs in any case."""
    hits = False
    for k in range(np.uint64(start), np.uint64(max(start, end - 2))):
        hits |= ((data[k] | 32) == 121) & ((data[k + ONE] | 32) == 101) & ((data[k + TWO] | 32) == 115)
    return hits


@kernel
def _has_no(data: Any, start: int, end: int) -> bool:
    """Whether "no" occurs; the ``n`` of an escaped line end before an ``o`` is none."""
    for chunk in range(start, end - 1, CHUNK):
        stop = min(chunk + CHUNK, end - 1)
        hits = False
        for j in range(np.uint64(chunk), np.uint64(stop)):
            hits |= ((data[j] | 32) == 110) & ((data[j + ONE] | 32) == 111)
        if hits:
            for k in range(chunk, stop):
                if (
                    (data[k] | 32) == 110
                    and (data[k + 1] | 32) == 111
                    and not (data[k] == 110 and k > start and is_escaped(data, k, start))
                ):
                    return True
    return False


@kernel
def _find_taxa(data: Any, start: int, end: int, spans: Any) -> int:
    """Numbers after ``taxon``, else all numbers that stand as words, as (start, end) rows of ``spans``.

    Returns how many, or -1 if there are more than fit.
    """
    n = 0
    hits = False
    for j in range(np.uint64(start), np.uint64(max(start, end - 2))):
        hits |= ((data[j] | 32) == 120) & ((data[j + ONE] | 32) == 111) & ((data[j + TWO] | 32) == 110)
    at = start if hits else end
    while at < end:
        at = find_letter(data, at, end, 120)
        if at >= end:
            break
        if (
            at - 2 >= start
            and at + 2 < end
            and (data[at - 2] | 32) == 116
            and (data[at - 1] | 32) == 97
            and (data[at + 1] | 32) == 111
            and (data[at + 2] | 32) == 110
            and not (data[at - 2] == 116 and is_escaped(data, at - 2, start))
        ):
            k = at + 3
            if k < end and (data[k] == 95 or data[k] == 32):
                k += 1
            elif k + 1 < end and data[k] == BACKSLASH and skip_white(data, k, k + 1) > k:
                k += 2
            first = k
            while k < end and is_digit(data[k]):
                k += 1
            if k > first:
                if n >= MAX_TAXA:
                    return -1
                spans[n, 0], spans[n, 1] = first, k
                n += 1
        at += 1
    if n:
        return n
    for chunk in range(start, end, CHUNK):
        stop = min(chunk + CHUNK, end)
        if not has_digit(data, chunk, stop):
            continue
        for k in range(chunk, stop):
            if is_digit(data[k]) and not (k > start and is_word(data, k - 1, start)):
                after = k
                while after < end and is_digit(data[after]):
                    after += 1
                if after < end and is_word(data, after, start):
                    continue
                if n >= MAX_TAXA:
                    return -1
                spans[n, 0], spans[n, 1] = k, after
                n += 1
    return n


@kernel
def _distinct(data: Any, spans: Any, n: int) -> int:
    """Keep the first of equal spans; how many are left."""
    kept = 0
    for k in range(n):
        fresh = True
        for other in range(kept):
            if same_bytes(data, spans[k, 0], spans[k, 1], spans[other, 0], spans[other, 1]):
                fresh = False
                break
        if fresh:
            spans[kept, 0], spans[kept, 1] = spans[k, 0], spans[k, 1]
            kept += 1
    return kept


@kernel
def _vote_of_taxa(data: Any, label: int, spans: Any, n: int) -> Any:
    """`relfast.tasks.rel_b.claim.vote` of a label (0 no, 1 yes) and distinct taxa."""
    vote = np.uint32(2 + label)
    for k in range(n):
        value = np.uint32(2166136261)
        for at in range(spans[k, 0], spans[k, 1]):
            value = np.uint32((value ^ np.uint32(data[at])) * np.uint32(16777619))
        vote = np.uint32(vote + value * np.uint32(2654435761))
    return vote


@kernel
def _changes_in_lower_case(data: Any, start: int, end: int) -> bool:
    """Whether a text may differ from itself in lower case: a capital, or anything beyond ASCII."""
    for at in range(start, end):
        if 65 <= data[at] <= 90 or data[at] > 126:
            return True
    return False


@kernel
def gold_taxa(data: Any, at: int, end: int, spans: Any) -> Any:
    """The items of a list of plain integers or plain strings; (how many or -1, index after the list).

    Gold is compared in lower case: a string that is not its own lower case takes the exact way.
    """
    n = 0
    if at >= end or data[at] != 91:
        return -1, at
    at = skip_spaces(data, at + 1, end)
    if at < end and data[at] == 93:
        return 0, at + 1
    while at < end:
        if n >= MAX_TAXA:
            return -1, at
        if data[at] == QUOTE:
            close = string_end(data, at + 1, end)
            if close < 0 or find_byte(data, at + 1, close, BACKSLASH) < close:
                return -1, at
            if _changes_in_lower_case(data, at + 1, close):
                return -1, at
            spans[n, 0], spans[n, 1] = at + 1, close
            at = close + 1
        else:
            after = at
            while after < end and is_digit(data[after]):
                after += 1
            # no sign, fraction, exponent or leading zero: such a number's text is str() of it
            if after == at or (data[at] == 48 and after > at + 1):
                return -1, at
            spans[n, 0], spans[n, 1] = at, after
            at = after
        n += 1
        at = skip_spaces(data, at, end)
        if at >= end:
            return -1, at
        if data[at] == 93:
            return n, at + 1
        if data[at] != 44:
            return -1, at
        at = skip_spaces(data, at + 1, end)
    return -1, at


@kernel
def _label_of(data: Any, start: int, end: int) -> int:
    """1 for a gold label "yes" in any case, 0 for "no", -1 for anything else."""
    if start < 0:
        return -1
    if end - start == 3:
        if (data[start] | 32) == 121 and (data[start + 1] | 32) == 101 and (data[start + 2] | 32) == 115:
            return 1
    elif end - start == 2 and (data[start] | 32) == 110 and (data[start + 1] | 32) == 111:
        return 0
    return -1


@kernel
def score_taxa(
    data: Any,
    start: int,
    end: int,
    label: int,
    label_end: int,
    n_gold: int,
    pred_spans: Any,
    gold_spans: Any,
    row: Any,
) -> int:
    """A response against the text of its gold label (at -1: none) and the ``n_gold`` taxa in ``gold_spans``:
    `FAST` with key and vote filled in, or `SLOW`."""
    gold_label = _label_of(data, label, label_end)
    if gold_label < 0 or (gold_label == 1 and n_gold == 0):
        return SLOW
    yes, no = _has_yes(data, start, end), _has_no(data, start, end)
    pred_label = -1 if yes == no else 1 if yes else 0
    n_pred = _find_taxa(data, start, end, pred_spans)
    if n_pred < 0:
        return SLOW
    n_pred = _distinct(data, pred_spans, n_pred)
    key = B1
    vote = np.uint32(0)
    if pred_label >= 0:
        key |= FOUND
        vote = _vote_of_taxa(data, pred_label, pred_spans, n_pred)
    if gold_label == 0:
        if pred_label == 0 and n_pred == 0:
            key |= CORRECT
    else:
        n_gold = _distinct(data, gold_spans, n_gold)
        tp = 0
        for k in range(n_pred):
            for other in range(n_gold):
                if same_bytes(
                    data, pred_spans[k, 0], pred_spans[k, 1], gold_spans[other, 0], gold_spans[other, 1]
                ):
                    tp += 1
                    break
        if pred_label == 1 and tp > 0:
            key |= CORRECT
        key |= GOLD_YES | tp << TP_SHIFT | n_pred << PRED_SHIFT | n_gold << GOLD_SHIFT
    row[LINE_KEY] = key
    row[LINE_VOTE] = np.int64(vote)
    return FAST
