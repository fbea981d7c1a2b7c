"""REL-B1 under ``strict``: the verdict a response ends with and the taxa listed with it, by the rule of
`relfast.tasks.rel_b.extract`, against gold by that of `relfast.tasks.rel_b.score`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    B1,
    CORRECT,
    FOUND,
    GOLD_SHIFT,
    GOLD_VALUE_SHIFT,
    GOLD_YES,
    PATTERN_WORK,
    PRED_SHIFT,
    PRED_VALUE_SHIFT,
    REASON_SHIFT,
    REASONS,
    RECORD_GOLD,
    RECORD_GOLD_END,
    RECORD_KEY,
    RECORD_PRED,
    RECORD_PRED_END,
    RECORD_VOTE,
    TP_SHIFT,
)
from relfast_kernels.text.answers import MAX_TAXA, SEVERAL, TAXA, read_claim
from relfast_kernels.text.find import begins_with, put_number
from relfast_kernels.text.gold import GOLD_TAXA, GOLD_TEXT, GOLD_TEXT_END, GOLD_VALUE
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.json_strings import QUOTE
from relfast_kernels.text.words import is_blank

_NO_ANSWER, _SEVERAL, _GUESSED = map(REASONS.index, ("no_answer", "several_answers", "guessed_taxa"))
LEAST_PRECISE: Final = 0.9
"""`relfast.tasks.rel_b.score.LEAST_PRECISE`."""

_TAXON, _TAXA = np.frombuffer(b"taxon", np.uint8), np.frombuffer(b"taxa", np.uint8)
GOLD: Final = TAXA + 2 * MAX_TAXA
MAX_GOLD: Final = PATTERN_WORK - GOLD
"""Where numbers of gold's taxa are, and how many there can be."""
_MAX_DIGITS: Final = 18


@kernel
def _gold_number(text: Any, start: int, end: int) -> int:
    """The number that is the plain name of one of gold's taxa, or -1: its name is none."""
    if begins_with(text, start, end, _TAXON):
        start += 5
    elif begins_with(text, start, end, _TAXA):
        start += 4
    else:
        return _digits(text, start, end)
    while start < end and (
        is_blank(text[start])
        or text[start] == 95
        or text[start] == 35
        or text[start] == 58
        or text[start] == 45
    ):
        start += 1
    return _digits(text, start, end)


@kernel
def _digits(text: Any, start: int, end: int) -> int:
    value: Any = 0
    if end <= start or end - start > _MAX_DIGITS:
        return -1
    for at in range(start, end):
        if not is_digit(text[at]):
            return -1
        value = 10 * value + np.int64(text[at]) - 48
    return value  # type: ignore[no-any-return]


@kernel
def _read_gold_names(text: Any, spans: Any, n: int, work: Any) -> int:
    """Write the numbers of gold's taxa to ``work``, each once; how many, or -1: not all are numbers."""
    kept = 0
    for k in range(n):
        number = _gold_number(text, spans[k, 0], spans[k, 1])
        if number < 0 or kept == MAX_GOLD:
            return -1
        known = False
        for other in range(kept):
            known |= work[GOLD + other] == number
        if not known:
            work[GOLD + kept] = number
            kept += 1
    return kept


@kernel
def proven(common: int, n_pred: int, n_gold: int) -> bool:
    """`relfast.tasks.rel_b.score.proven`."""
    wrong = n_pred - common
    return (
        common >= min(2, n_gold)
        and 2 * common >= n_gold
        and (wrong <= (1 - LEAST_PRECISE) * n_pred + 1e-9 or (common == n_gold and wrong == 1))
    )


@kernel
def _f1(common: int, n_pred: int, n_gold: int) -> float:
    if common == 0:
        return 0.0
    precision = common / n_pred
    recall = common / n_gold
    return 2 * precision * recall / (precision + recall)


@kernel
def _share_of_vote(value: int, out: Any, to: int) -> Any:
    """What a taxon adds to `relfast.tasks.rel_b.extract.vote`; its digits are written to ``to``."""
    end = put_number(out, to, value)
    mixed = np.uint32(2166136261)
    for at in range(to, end):
        mixed = np.uint32((mixed ^ np.uint32(out[at])) * np.uint32(16777619))
    return np.uint32(mixed * np.uint32(2654435761))


@kernel
def score_claim(
    text: Any, start: int, end: int, reason: int, gold_data: Any, work: Any, details: bool,
    least: float, scratch: Any, used: int, beyond: int, row: Any,
) -> Any:  # fmt: skip
    """Score text[start:end], UTF-8 of tame characters (`relfast_kernels.text.characters`) without reasoning.

    Parameters
    ----------
    reason
        Not 0 where nothing is left of the response: the place in `REASONS` of why.
    gold_data, work
        Gold as `relfast_kernels.text.gold` left it: ``work.gold``, and its taxa in ``work.spans[1]``, whose
        text is in ``gold_data``. No question shows what they are called otherwise.
    least
        Smallest F1 of a right yes.
    scratch : uint8
        Kept from ``used`` on: JSON of taxa for details. From ``beyond`` on work space: see `read_claim`.
    row
        A record: key, vote and, for details, spans of taxa are filled in.

    Returns
    -------
    (done, used)
        Whether the row is done; else the line takes the exact way.
    """
    numbers = work.patterns
    gold_is_yes = work.gold[GOLD_VALUE] == 1
    n_gold = 0
    if gold_is_yes:
        n_gold = _read_gold_names(gold_data, work.spans[1], work.gold[GOLD_TAXA], numbers)
        if n_gold < 0:
            return False, used
    label: Any = 0
    n_pred: Any = 0
    if reason == 0:
        label, n_pred = read_claim(text, start, end, scratch, beyond, numbers)
        if label < 1:
            reason, label = _SEVERAL if label == SEVERAL else _NO_ANSWER, 0
    key = B1
    vote = np.uint32(1 + label)
    common = 0
    room = beyond - used - 2
    for k in range(n_pred):
        taxon = numbers[TAXA + k]
        room -= put_number(scratch, beyond, taxon) - beyond + 3
        vote = np.uint32(vote + _share_of_vote(taxon, scratch, beyond))
        if gold_is_yes:
            for other in range(n_gold):
                common += numbers[GOLD + other] == taxon
    if details and room < 0:
        return False, used
    if label != 0:
        key |= FOUND
    if gold_is_yes:
        if label == 2 and _f1(common, n_pred, n_gold) >= least:
            if proven(common, n_pred, n_gold):
                key |= CORRECT
            else:
                reason = _GUESSED
        key |= GOLD_YES | common << TP_SHIFT | n_pred << PRED_SHIFT | n_gold << GOLD_SHIFT
    elif label == 1 and n_pred == 0:
        key |= CORRECT
    key |= reason << REASON_SHIFT
    if details:
        row[RECORD_PRED] = used
        scratch[used] = 91
        used += 1
        for k in range(n_pred):
            scratch[used] = QUOTE
            used = put_number(scratch, used + 1, numbers[TAXA + k])
            scratch[used], scratch[used + 1] = QUOTE, 44
            used += 2
        if n_pred > 0:
            used -= 1
        scratch[used] = 93
        used += 1
        row[RECORD_PRED_END] = used
        row[RECORD_GOLD], row[RECORD_GOLD_END] = work.gold[GOLD_TEXT], work.gold[GOLD_TEXT_END]
        key |= label << PRED_VALUE_SHIFT | (2 if gold_is_yes else 1) << GOLD_VALUE_SHIFT
    row[RECORD_KEY] = key
    row[RECORD_VOTE] = np.int64(vote) if label != 0 else 0
    return True, used
