"""What a walk through sentences comes to: `relfast.tasks.rel_a.walk.Walk.answer`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import NO_PANEL, REASONS, UNKNOWN
from relfast_kernels.text.choices.clauses import FITS, MENTIONED, PLACE, SHORT
from relfast_kernels.text.choices.state import (
    FINAL,
    STATE,
    TAKEN_BACK,
    VERDICTS,
    WALK_DENIED,
    WEAKER,
    WITHDRAWN,
    bit_of,
)
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.words import is_blank

N_CHOICES: Final = 8
_NO_ANSWER: Final = REASONS.index("no_answer")
_SEVERAL: Final = REASONS.index("several_answers")
_OUT_OF_RANGE: Final = REASONS.index("out_of_range")


@kernel
def _item_number(text: Any, start: int, end: int) -> Any:
    """The number of the only line of a text that begins as a list's item does; -1: it is not the only one."""
    found = np.int64(-1)
    line = start
    while line < end:
        at = line
        while at < end and (
            text[at] == 32
            or text[at] == 9
            or text[at] == 62
            or text[at] == 42
            or text[at] == 95
            or text[at] == 35
        ):
            at += 1
        if at < end and text[at] == 40:
            at += 1
        first = at
        value = np.int64(0)
        while at < end and at < first + 2 and is_digit(text[at]):
            value = 10 * value + np.int64(text[at]) - 48
            at += 1
        if at > first and at + 1 < end and (text[at] == 46 or text[at] == 41):
            if text[at + 1] >= 0x80:
                return np.int64(-2)
            if is_blank(text[at + 1]):
                if found >= 0:
                    return np.int64(-1)
                found = value
        while line < end and text[line] != 10:
            line += 1
        line += 1
    return found


@kernel
def _reads_as(value: Any) -> Any:
    if value == 0:
        return NO_PANEL, _SEVERAL
    if not 1 <= value <= N_CHOICES:
        return NO_PANEL, _OUT_OF_RANGE
    return value - 1, 0


@kernel
def _only(values: Any) -> Any:
    """The number of a bit; 0 where there are several."""
    if values & (values - 1) != 0:
        return np.int64(0)
    value = np.int64(0)
    while values > 1:
        values >>= 1
        value += 1
    return value


@kernel
def walked_to(text: Any, start: int, end: int, work: Any) -> Any:
    """What the walk has found, as `relfast_kernels.text.rel_a_strict.read_choice` gives it."""
    if work[STATE] != 0:
        return _reads_as(work[FINAL])
    if work[WITHDRAWN] != 0:
        return NO_PANEL, _NO_ANSWER
    if work[VERDICTS] != 0:
        return _reads_as(_only(work[VERDICTS]))
    for force in (FITS, SHORT, MENTIONED, PLACE):
        place = WEAKER + 4 * force
        if work[place] == 0:
            continue
        values = work[place + 3]
        if (force == FITS or force == SHORT) and work[place + 2] != 0:
            values = bit_of(work[place + 1], work)
        if values & work[WALK_DENIED]:
            values &= ~work[WALK_DENIED]
            if values == 0:
                continue
        return _reads_as(_only(values))
    item = _item_number(text, start, end)
    if item == -2:
        return UNKNOWN, 0
    if item >= 0 and work[TAKEN_BACK] == 0:
        return _reads_as(item)
    return NO_PANEL, _NO_ANSWER
