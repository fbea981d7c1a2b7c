"""What is known of the answer while sentences are read from the last one back, in the work space."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.choices.clauses import DENIED, FITS, MENTIONED, SHORT
from relfast_kernels.text.choices.reading import (
    ASKS,
    CONCLUDES,
    DESCRIBED,
    FORCE,
    NUMBER,
    OFFERS,
    RESOLVED,
    said_at,
)
from relfast_kernels.text.choices.saying import (
    TAKES_BACK,
    WAIT,
    confirms,
)
from relfast_kernels.text.choices.skimming import END_OF_SKIMMING
from relfast_kernels.text.patterns.machine import begins, number_of, search
from relfast_kernels.text.patterns.symbols import constant, to_symbols

LISTED: Final = number_of("A_LISTED")
_MAX_VALUE: Final = 9
_MAX_MET: Final = 50

(
    STATE, FINAL, WALK_OFFERS, WALK_REPLACES, WALK_BOXED, WHOLE, WALK_PLAIN, WALK_CONCLUDES, PANEL_FIRST,
    LAST_LINE, NEIGHBOURS, WALK_DENIED, VERDICTS, ALTERNATIVES, WALK_YES, TAKEN_BACK, CONFIRMED, UNHEARD,
    WITHDRAWN,
    LISTED_KNOWN, WALK_LISTED, TEXT, TEXT_END, FREE, HEARS,
) = (constant(END_OF_SKIMMING + k) for k in range(25))  # fmt: skip
"""What is known of the walk, in the work space: whether there is a final statement, and what of it; choices
as bits; whether talk has confirmed something, or was not looked at for that; what choices are described,
where the text is, and from where on work space is free; whether all talk is looked at."""
WEAKER: Final = constant(END_OF_SKIMMING + 25)
"""Of each force less than a statement's: whether there is any, the last one, whether it concludes, all as
bits."""
N_MET, MET = constant(END_OF_SKIMMING + 48), constant(END_OF_SKIMMING + 49)
"""How many numbers greater than a choice's are known, and which."""
ZEROED: Final = END_OF_SKIMMING + 49
END_OF_WALK: Final = ZEROED + _MAX_MET


_ONE: Final = constant(1)


@kernel
def bit_of(value: Any, work: Any) -> Any:
    """The bit of a number: of greater ones in the order in which they are met; 0: they are too many."""
    if 0 <= value <= _MAX_VALUE:
        return _ONE << value
    n = work[N_MET]
    for k in range(n):
        if work[MET + k] == value:
            return _ONE << (_MAX_VALUE + 1 + k)
    if n == _MAX_MET:
        return np.int64(0)
    work[MET + n] = value
    work[N_MET] = n + 1
    return _ONE << (_MAX_VALUE + 1 + n)


@kernel
def talk(text: Any, low: int, end: int, work: Any) -> None:
    if begins(TAKES_BACK, text, low, end, work):
        work[TAKEN_BACK] = 1
        return
    sure = confirms(text, low, end, work)
    if sure:
        work[CONFIRMED] = 1
    elif begins(WAIT, text, low, end, work):
        work[TAKEN_BACK] = 1


@kernel
def listed_choices(out: Any, work: Any) -> Any:
    """The choices, as bits, that the text describes one by one, if it does; -1: that cannot be said.

    The text stands in ``out`` before the work space.
    """
    if work[LISTED_KNOWN] == 0:
        work[LISTED_KNOWN] = 1
        work[WALK_LISTED] = -1
        start, end, low = work[TEXT], work[TEXT_END], work[FREE]
        if low + (end - start) + 16 > len(out):
            return np.int64(-1)
        stop = to_symbols(out, start, end, out, low)
        if stop < 0:
            return np.int64(-1)
        found = np.int64(0)
        at = search(LISTED, out, low, low, stop, work)
        while at >= 0:
            found |= _ONE << (np.int64(out[work[2]]) - 48)
            at = search(LISTED, out, low, work[1], stop, work)
        work[WALK_LISTED] = found if found & (found - 1) != 0 else 0
    return work[WALK_LISTED]


@kernel
def keep(n: int, about: int, is_said: bool, out: Any, work: Any) -> bool:
    """Keep what is less than a statement; whether that can be done."""
    if not keep_denials(n, work):
        return False
    force = work[RESOLVED + FORCE]
    if is_said and MENTIONED <= force <= FITS:
        value = work[RESOLVED + NUMBER]
        bit = bit_of(value, work)
        if bit == 0:
            return False
        if work[RESOLVED + DESCRIBED] != 0:
            listed = listed_choices(out, work)
            if listed < 0:
                return False
            if listed != 0:
                if force == FITS:
                    work[VERDICTS] |= bit
                return True
        place = WEAKER + 4 * force
        if work[place] == 0:
            work[place], work[place + 1] = 1, value
            work[place + 2] = about & CONCLUDES
        work[place + 3] |= bit
    offers = False
    for k in range(n):
        offers = offers or said_at(k, OFFERS, work) != 0
    if offers and (about & ASKS or (is_said and force >= SHORT)):
        for k in range(n):
            bit = bit_of(said_at(k, NUMBER, work), work)
            if bit == 0:
                return False
            work[ALTERNATIVES] |= bit
    return True


@kernel
def keep_denials(n: int, work: Any) -> bool:
    for k in range(n):
        if said_at(k, FORCE, work) == DENIED:
            bit = bit_of(said_at(k, NUMBER, work), work)
            if bit == 0:
                return False
            work[WALK_DENIED] |= bit
    return True


@kernel
def asked_about(n: int, work: Any) -> Any:
    """The one choice that a question is about; -1: there are several, or none."""
    value = np.int64(-1)
    for k in range(n):
        if k > 0 and said_at(k, NUMBER, work) != value:
            return np.int64(-1)
        value = said_at(k, NUMBER, work)
    return value
