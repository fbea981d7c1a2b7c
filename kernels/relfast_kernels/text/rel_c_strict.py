"""The label that a response to REL-C1 settles on by the rule of `relfast.tasks.rel_c.label`."""

from __future__ import annotations

from typing import Any, Final

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import REASONS, UNKNOWN
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP, begins, has, number_of, search
from relfast_kernels.text.patterns.plain import has_word
from relfast_kernels.text.patterns.reading import (
    MARGIN,
    groups_of,
    line_end_within,
    may_be_truth,
    obvious_end,
    open_text,
    word,
)
from relfast_kernels.text.patterns.symbols import constant
from relfast_kernels.text.patterns.verdict import (
    NO_ANSWER,
    best_rank,
    find_verdicts,
    insert,
    put,
    settle,
)
from relfast_kernels.text.patterns.yes_no import ADDED, ANSWERED, N_FOUND, STATED, YES

_NO_ANSWER: Final = REASONS.index("no_answer")
_SEVERAL: Final = REASONS.index("several_answers")
_TRUE_FALSE, _PHRASE, _NO_PHRASE, _VERB, _REFUSES = map(
    number_of, ("C_TRUE_FALSE", "C_PHRASE", "C_NO_PHRASE", "C_VERB", "C_REFUSES")
)
(_NOT,) = groups_of("C_PHRASE", "not")
_TRUTHS: Final = word("trufal")
_ISOMERS: Final = word("isomers")
_NOUGHT, _YES, _ANSWERED, _STATED = map(constant, (0, 1, ANSWERED, STATED))
_ASK_WITHIN: Final = constant(80)


@kernel
def _add_truths(text: Any, low: int, high: int, n: int, work: Any) -> int:
    """Add ``"isomers": true`` and the like; how many verdicts there are then, or -1."""
    if not may_be_truth(text, low, high, _TRUTHS):
        return n
    at = search(_TRUE_FALSE, text, low, low, high, work)
    while at >= 0 and n >= 0:
        stop, start, end = work[1], work[2], work[3]
        n = insert(n, start, end, _YES if text[start] == 116 else _NOUGHT, _ANSWERED, work)
        at = search(_TRUE_FALSE, text, low, stop, high, work)
    return n


@kernel
def _phrases(text: Any, low: int, high: int, work: Any) -> int:
    """Write statements without yes or no over the verdicts; how many, or -1."""
    n = 0
    if not has_word(text, low, high, _ISOMERS):
        return n
    at = search(_PHRASE, text, low, low, high, work)
    while at >= 0:
        if n >= N_FOUND:
            return -1
        stop = work[1]
        is_not = work[_NOT] >= 0
        asks = False
        for k in range(stop, line_end_within(text, stop, high, _ASK_WITHIN)):
            asks |= text[k] == 63
        if not asks and not has(_NO_PHRASE, text, max(low, at - 40), at, work):
            no = (
                is_not
                or not has(_VERB, text, at, min(stop, at + 40), work)
                or begins(_REFUSES, text, at, stop, work)
            )
            put(n, at, stop, _NOUGHT if no else _YES, _STATED, work)
            n += 1
        at = search(_PHRASE, text, low, stop, high, work)
    return n


@kernel
def read_label(text: Any, start: int, end: int, scratch: Any, to: int, work: Any) -> Any:
    """The label of text[start:end], UTF-8 of tame characters (`relfast_kernels.text.characters`) without
    reasoning, not all white space.

    Parameters
    ----------
    scratch : uint8
        Work space from ``to`` on: `PER_BYTE` times the bytes of the text, and 512.
    work : int64
        `PATTERN_WORK` more.

    Returns
    -------
    (number, reason)
        1 for No, 2 for Yes, and 0; or 0 and the place in `REASONS` of why there is none; or `UNKNOWN` and 0:
        only Python can say.
    """
    label = obvious_end(text, start, end, scratch, to, work)
    if label >= 0:
        return 1 + label, 0
    low, high = open_text(text, start, end, scratch, to, work)
    if low < 0:
        return UNKNOWN, 0
    free = high + MARGIN
    n, form_end = find_verdicts(scratch, low, high, free, work)
    if n >= 0:
        n = _add_truths(scratch, low, high, n, work)
    if n >= 0 and best_rank(n, work) <= ADDED:
        said = _phrases(scratch, low, high, work)
        n = n if said == 0 else said
    if n < 0 or work[HAS_GIVEN_UP] != 0:
        return UNKNOWN, 0
    verdict = settle(scratch, low, high, n, form_end, free, work)
    if work[HAS_GIVEN_UP] != 0:
        return UNKNOWN, 0
    if verdict < 0:
        return 0, _NO_ANSWER if verdict == NO_ANSWER else _SEVERAL
    return 1 + work[verdict + YES], 0
