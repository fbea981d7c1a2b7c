"""What a text says as a line and as a sentence: `relfast.tasks.rel_a.kernel_tables.says`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    SAYS_BOXED,
    SAYS_CONCLUDES,
    SAYS_CORRECTS,
    SAYS_DESCRIBED,
    SAYS_FINAL,
    SAYS_KNOWN,
    SAYS_NAMES,
    SAYS_NO_MORE,
    SAYS_OR,
    SAYS_PLACE,
    SAYS_PLAIN,
    SAYS_QUIET,
    SAYS_REPLACES,
    SAYS_SKIMMED,
    SAYS_STATED,
)
from relfast_kernels.text.choices.clauses import DENIED, MENTIONED, PLACE, SHORT, STATED
from relfast_kernels.text.choices.reading import (
    ASKS,
    BOXED,
    CONCLUDES,
    CORRECTS,
    DESCRIBED,
    FORCE,
    NUMBER,
    OFFERS,
    PLAIN,
    REPLACES,
    RESOLVED,
    read_sentence,
    resolved,
    said_at,
)
from relfast_kernels.text.choices.sentences import WITHOUT_MARKUP, open_sentence
from relfast_kernels.text.choices.skimming import READS, SKIMS, names_a_choice, skim
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP, begins, has, is_all, number_of
from relfast_kernels.text.patterns.symbols import constant

OR, TAKES_BACK, WAIT, CONFIRMS, ERROR, EXAMINES, YES, LIST_ITEM = map(
    number_of,
    ("A_OR", "A_TAKES_BACK", "A_WAIT", "A_CONFIRMS", "A_ERROR", "A_EXAMINES", "A_YES", "A_LIST_ITEM"),
)
NOT_READ: Final = constant(-1)
_BEYOND: Final = constant(15)
_N_CHOICES: Final = 8


@kernel
def shown(value: Any) -> Any:
    return value if 0 <= value <= _N_CHOICES else _BEYOND


@kernel
def takes_back(text: Any, low: int, end: int, work: Any) -> bool:
    """Whether talk takes back what comes before it, or says to wait without a confirmation."""
    if begins(TAKES_BACK, text, low, end, work):
        return True
    return begins(WAIT, text, low, end, work) and not confirms(text, low, end, work)


@kernel
def confirms(text: Any, low: int, end: int, work: Any) -> bool:
    return has(CONFIRMS, text, low, end, work)


@kernel
def says(text: Any, start: int, end: int, out: Any, low: int, work: Any) -> Any:
    """What a text in lower case says, as bits (`relfast_kernels.layouts.SAYS_NAMES` and so on), or
    `NOT_READ`. ``out`` is work space from ``low`` on."""
    stop = open_sentence(text, start, end, out, low, work)
    if stop < 0:
        return NOT_READ
    bits = np.int64(SAYS_KNOWN)
    if begins(OR, out, low, stop, work):
        bits |= SAYS_OR
    excepted = is_all(LIST_ITEM, out, low, stop, work) or begins(WAIT, out, low, stop, work)
    if not names_a_choice(out, low, stop, work):
        if not (excepted or takes_back(out, low, stop, work) or begins(YES, out, low, stop, work)):
            bits |= SAYS_QUIET
        return bits if work[HAS_GIVEN_UP] == 0 else NOT_READ
    bits |= SAYS_NAMES
    skims, denied = skim(out, low, stop, out, low + WITHOUT_MARKUP, work)
    if skims == SKIMS:
        if not excepted and denied == 0 and not takes_back(out, low, stop, work):
            bits |= SAYS_QUIET
        return bits | SAYS_SKIMMED if work[HAS_GIVEN_UP] == 0 else NOT_READ
    if skims != READS:
        return NOT_READ
    n, about = read_sentence(out, low, stop, work)
    if n < 0:
        return NOT_READ
    if about & PLAIN:
        bits |= SAYS_PLAIN
    if about & CONCLUDES:
        bits |= SAYS_CONCLUDES
    if about & ASKS:
        bits |= SAYS_NO_MORE
    is_said = resolved(n, work)
    force, value = work[RESOLVED + FORCE], work[RESOLVED + NUMBER]
    replaces = work[RESOLVED + REPLACES] != 0
    is_final = False
    if is_said:
        if force >= STATED:
            bits |= SAYS_STATED
        if force == PLACE:
            bits |= SAYS_PLACE
        if work[RESOLVED + DESCRIBED] != 0:
            bits |= SAYS_DESCRIBED
        if work[RESOLVED + BOXED] != 0:
            bits |= SAYS_BOXED
        # what it does to a walk that has met nothing yet
        if force == SHORT and begins(ERROR, out, low, stop, work):
            force = STATED
            replaces = True
        if force >= STATED:
            is_final = True
        bits |= shown(value)
    if is_final:
        if not (excepted or work[RESOLVED + DESCRIBED] != 0 or work[RESOLVED + OFFERS] != 0):
            bits |= SAYS_FINAL
            if about & CORRECTS:
                bits |= SAYS_CORRECTS
            if replaces:
                bits |= SAYS_REPLACES
    elif not excepted:
        keeps = is_said and force >= MENTIONED
        offers = False
        for k in range(n):
            keeps = keeps or said_at(k, FORCE, work) == DENIED
            offers = offers or said_at(k, OFFERS, work) != 0
        if offers and (about & ASKS or (is_said and force >= SHORT)):
            keeps = True
        if n == 0 and takes_back(out, low, stop, work):
            keeps = True
        if not keeps:
            bits |= SAYS_QUIET
    return bits if work[HAS_GIVEN_UP] == 0 else NOT_READ
