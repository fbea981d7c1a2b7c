"""The claim of a response to REL-B1 by the rule of `relfast.tasks.rel_b.strict`: a verdict, and taxa."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    REASONS,
    UNKNOWN,
)
from relfast_kernels.text.patterns.lists import TAXA
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP, number_of, search
from relfast_kernels.text.patterns.plain import BLANKS, LINE_FEED, POINT, find, find_word, has_word
from relfast_kernels.text.patterns.plain_yes import plain_yes
from relfast_kernels.text.patterns.reading import (
    MARGIN,
    groups_of,
    line_end_within,
    may_be_truth,
    obvious_end,
    open_text,
    word,
)
from relfast_kernels.text.patterns.symbols import IS_LETTER, KIND, SYMBOL_OF, constant
from relfast_kernels.text.patterns.taxa import listed_taxa
from relfast_kernels.text.patterns.verdict import (
    NO_ANSWER,
    best_rank,
    find_others,
    find_verdicts,
    insert,
    put,
    settle,
)
from relfast_kernels.text.patterns.yes_no import ADDED, ANSWERED, N_FOUND, OTHERS, START, STATED, STOP, YES

_NO_ANSWER: Final = REASONS.index("no_answer")
_SEVERAL: Final = REASONS.index("several_answers")
_TRUE_FALSE, _PHRASE, _ASKS = map(number_of, ("B_TRUE_FALSE", "B_PHRASE", "B_ASKS"))
_NO, _NONE, _NOT, _NOTS, _ISNT, _ADJECTIVE = groups_of(
    "B_PHRASE", "no", "none", "not", "nots", "isnt", "adjective"
)
_TRUTHS: Final = word("trufalpreabsdetnon")
_HOMOPLASY, _CONVERGENCE = word("homoplasy"), word("convergence")
_HOMOPLAS, _CONVERGEN = word("homoplas"), word("convergen")
_TRUE, _FALSE, _PRESENT, _ABSENT = word("true"), word("false"), word("present"), word("absent")
_BEFORE_NOUN: Final = (KIND & IS_LETTER != 0).astype(np.uint8) | BLANKS
"""What `B_PHRASE` can have before the noun that each of its ways has."""
for _c in "-,'’":
    _BEFORE_NOUN[SYMBOL_OF[_c]] = 1

MAX_NAMED: Final = 512
"""Different taxa of a claim; more take the exact way."""

_NOUGHT, _YES, _ANSWERED, _STATED = map(constant, (0, 1, ANSWERED, STATED))
_ASK_WITHIN: Final = constant(100)


@kernel
def _add_truths(text: Any, low: int, high: int, n: int, work: Any) -> int:
    """Add ``"homoplasy": true`` and the like; how many verdicts there are then, or -1."""
    if not may_be_truth(text, low, high, _TRUTHS):
        return n
    if not (
        has_word(text, low, high, _TRUE)
        or has_word(text, low, high, _FALSE)
        or has_word(text, low, high, _PRESENT)
        or has_word(text, low, high, _ABSENT)
    ):
        return n
    at = search(_TRUE_FALSE, text, low, low, high, work)
    while at >= 0 and n >= 0:
        stop, start, end = work[1], work[2], work[3]
        first = text[start]
        yes = _YES if first == 116 or first == 112 or first == 100 else _NOUGHT
        n = insert(n, start, end, yes, _ANSWERED, work)
        at = search(_TRUE_FALSE, text, low, stop, high, work)
    return n


@kernel
def _is_bare(text: Any, start: int, end: int, work: Any) -> bool:
    """Whether a statement only begins: "homoplasy is"."""
    return (
        work[_NOTS] < 0
        and work[_ADJECTIVE] < 0
        and (
            has_word(text, start, min(end, start + len(_HOMOPLASY)), _HOMOPLASY)
            or has_word(text, start, min(end, start + len(_CONVERGENCE)), _CONVERGENCE)
        )
    )


@kernel
def _phrases(text: Any, low: int, high: int, work: Any) -> int:
    """Write statements without yes and no over the verdicts; how many, or -1."""
    n = 0
    first = find_word(text, low, high, _HOMOPLAS)
    other = find_word(text, low, high if first < 0 else first, _CONVERGEN)
    if other >= 0:
        first = other
    if first < 0:
        return n
    # every statement has one of these words, and before it only some others
    while first > low and _BEFORE_NOUN[text[first - 1]] != 0:
        first -= 1
    at = search(_PHRASE, text, low, first, high, work)
    while at >= 0:
        if n >= N_FOUND:
            return -1
        stop = work[1]
        no = work[_NO] >= 0 or work[_NONE] >= 0 or work[_NOT] >= 0 or work[_NOTS] >= 0 or work[_ISNT] >= 0
        if not _is_bare(text, at, stop, work):
            rest = line_end_within(text, stop, high, _ASK_WITHIN)
            point = find(text, stop, rest, POINT)
            if point >= 0:
                rest = point
            asks = rest > stop and text[rest - 1] == 63
            if not asks and search(_ASKS, text, low, max(low, at - 40), at, work) < 0:
                put(n, at, stop, _NOUGHT if no else _YES, _STATED, work)
                n += 1
        at = search(_PHRASE, text, low, stop, high, work)
    return n


@kernel
def _distinct(n: int, work: Any) -> int:
    """Keep the first of equal taxa; how many are left, or -1: too many to compare."""
    kept = 0
    for k in range(n):
        taxon = work[TAXA + k]
        known = False
        for other in range(kept):
            known |= work[TAXA + other] == taxon
        if not known:
            if kept == MAX_NAMED:
                return -1
            work[TAXA + kept] = taxon
            kept += 1
    return kept


@kernel
def read_claim(text: Any, start: int, end: int, scratch: Any, to: int, work: Any) -> Any:
    """The claim of text[start:end], UTF-8 of tame characters (`relfast_kernels.text.characters`) without
    reasoning, not all white space.

    Parameters
    ----------
    scratch : uint8
        Work space from ``to`` on: `PER_BYTE` times the bytes of the text, and 512.
    work : int64
        `PATTERN_WORK` more.

    Returns
    -------
    (number, n_taxa, reason)
        1 for no, 2 for yes, how many taxa (they stand in ``work`` from `TAXA` on), and 0; or 0, 0 and the
        place in `REASONS` of why there is none; or `UNKNOWN`, 0 and 0: only Python can say.
    """
    if obvious_end(text, start, end, scratch, to, work) == 0:
        return 1, 0, 0
    low, high = open_text(text, start, end, scratch, to, work)
    if low < 0:
        return UNKNOWN, 0, 0
    free = high + MARGIN
    n_taxa = plain_yes(scratch, low, high, free, work)
    if n_taxa >= 0 and not may_be_truth(scratch, low, high, _TRUTHS):
        n_taxa = _distinct(n_taxa, work)
        return (UNKNOWN, 0, 0) if n_taxa < 0 else (2, n_taxa, 0)
    n, form_end = find_verdicts(scratch, low, high, free, work)
    if n >= 0:
        n = _add_truths(scratch, low, high, n, work)
    if n >= 0 and best_rank(n, work) <= ADDED:
        said = _phrases(scratch, low, high, work)
        n = n if said == 0 else said
    if n < 0 or work[HAS_GIVEN_UP] != 0:
        return UNKNOWN, 0, 0
    verdict = settle(scratch, low, high, n, form_end, free, work)
    if work[HAS_GIVEN_UP] != 0:
        return UNKNOWN, 0, 0
    if verdict < 0:
        return 0, 0, _NO_ANSWER if verdict == NO_ANSWER else _SEVERAL
    yes = work[verdict + YES] != 0
    n_others = find_others(scratch, low, n, verdict, free, work) if yes else 0
    n_taxa = listed_taxa(
        scratch,
        low,
        high,
        work[verdict + START],
        work[verdict + STOP],
        _YES if yes else _NOUGHT,
        free,
        _NOUGHT,
        work,
    )
    for k in range(n_others):
        begin, stop = work[OTHERS + 2 * k], work[OTHERS + 2 * k + 1]
        line_end = find(scratch, stop, high, LINE_FEED)
        if line_end < 0:
            line_end = high - 1
        n_taxa = listed_taxa(scratch, low, line_end, begin, stop, _YES, free, n_taxa, work)
    n_taxa = _distinct(n_taxa, work)
    if n_taxa < 0 or work[HAS_GIVEN_UP] != 0:
        return UNKNOWN, 0, 0
    return 2 if yes else 1, n_taxa, 0
