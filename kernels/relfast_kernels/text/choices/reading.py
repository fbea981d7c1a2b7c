"""What one sentence says of the choices: `relfast.tasks.rel_a.sentence` and `relfast.tasks.rel_a.clause`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.choices.clauses import (
    DENIED,
    FITS,
    MENTIONED,
    NOTHING,
    PLACE,
    SHORT,
    STATED,
    SUPPOSED,
    has_kind,
    kind_in,
    opens,
    sets_in,
    subject_of,
    verdict_on,
)
from relfast_kernels.text.choices.data import SET_ANY_OTHER, SET_AS_WELL, SET_FINAL
from relfast_kernels.text.choices.numbering import (
    ASKED,
    COMMA,
    DASH,
    END_OF_MEMBERS,
    GROUPS,
    MEMBERS,
    B,
    C,
    G,
    J,
    N,
    S,
    T,
    U,
    Z,
    grouped_numbers,
    kinds,
    plain_numbers,
)
from relfast_kernels.text.choices.sentences import POINTS, WITHOUT_MARKUP, clean
from relfast_kernels.text.choices.tokens import COLUMNS, KIND_OF, SETS, TOKENS, tokens
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP, has, number_of
from relfast_kernels.text.patterns.symbols import IS_WORD, KIND, constant

SAID: Final = constant(END_OF_MEMBERS)
"""Where what is said stands in the work space."""
MAX_SAID: Final = 64
NUMBER, FORCE, DESCRIBED, REPLACES, OFFERS, BOXED = map(constant, range(6))
SAID_COLUMNS: Final = constant(6)
END_OF_SAID: Final = END_OF_MEMBERS + 6 * MAX_SAID

PLAIN, CORRECTS, CONCLUDES, ASKS, POSITIVE = map(constant, (1, 2, 4, 8, 16))
"""What else a sentence is, as bits."""

_OPENERS: Final = kinds("JTSRZUK,()-?+")
_POSITIVE: Final = kinds("YQ")
_NEVER_PLAIN: Final = kinds("WXJMDBN")
_BEGINNING: Final = kinds("F,-")
_BEFORE_TURNED: Final = kinds("ICNB")
_BAD_WORDS: Final = kinds("NnBED")
_R, _O, _NO = (constant(ord(kind)) for kind in "ROn")
_DRAFT, _UNREAL = number_of("A_DRAFT"), number_of("A_UNREAL")
_OPENER_MASK: Final = constant((1 << 48) - 1)
_CORRECTING: Final = np.array([ord("T"), ord("R"), ord("T") << 8 | ord("R")], np.int64)
_TOO_MANY: Final = constant(-1)


@kernel
def said_at(k: Any, column: Any, work: Any) -> Any:
    return work[SAID + k * SAID_COLUMNS + column]


@kernel
def _say(n: int, value: Any, force: Any, work: Any) -> int:
    place = SAID + n * SAID_COLUMNS
    work[place + NUMBER], work[place + FORCE] = value, force
    work[place + DESCRIBED] = work[place + REPLACES] = work[place + OFFERS] = work[place + BOXED] = 0
    return n + 1


@kernel
def _turns_down(start: Any, stop: Any, opener: Any, work: Any) -> bool:
    """Whether a clause that names no choice speaks against the one before it."""
    if has_kind(start, stop, _O, work) or opens(opener, J):
        return False
    bad = has_kind(start, stop, B, work)
    if bad == (has_kind(start, stop, N, work) or has_kind(start, stop, _NO, work)):
        return False
    if opens(opener, T):
        return True
    return bool(start < stop and _BEFORE_TURNED[kind_in(start, work)] != 0)


@kernel
def _read_clause(start: Any, stop: Any, opener: Any, nth: Any, subject: Any, n: Any, work: Any) -> Any:
    """Add what a clause says to the ``n`` there are; how many then (-1: too many), and its subject."""
    if start == stop or kind_in(start, work) != C:
        subject = np.int64(0)
    replaces = opens(opener, _R) or opens(opener, S) or opens(opener, T)
    offers = opens(opener, U)
    tame = True
    for at in range(start, stop):
        offers = offers or sets_in(at, work) & SET_AS_WELL != 0
        tame = tame and _BAD_WORDS[kind_in(at, work)] == 0
    begin = start
    at = start
    while at < stop:
        if kind_in(at, work) != G:
            at += 1
            continue
        end = at + 1
        while end < stop and kind_in(end, work) != G:
            end += 1
        force, described, boxed = verdict_on(
            begin, at, end, end < stop, opener, nth, subject, begin == start, work
        )
        if force != NOTHING:
            if offers and force == SUPPOSED and tame:
                force = STATED
            first, count = work[GROUPS + 2 * at], work[GROUPS + 2 * at + 1]
            if n + count >= MAX_SAID:
                return _TOO_MANY, subject
            if force <= SUPPOSED:
                for k in range(first, first + count):
                    n = _say(n, work[MEMBERS + k], force, work)
            else:
                n = _say(n, work[MEMBERS + first] if count == 1 else 0, force, work)
                place = SAID + (n - 1) * SAID_COLUMNS
                work[place + DESCRIBED], work[place + REPLACES] = described, replaces
                work[place + OFFERS], work[place + BOXED] = offers, boxed
        begin = at + 1
        at = end
    about = subject_of(start, stop, work)
    return n, about if about != 0 else subject


@kernel
def _weaken(start: Any, stop: Any, work: Any) -> None:
    for k in range(start, stop):
        if said_at(k, FORCE, work) > SUPPOSED:
            work[SAID + k * SAID_COLUMNS + FORCE] = SUPPOSED


@kernel
def _is_draft(text: Any, low: int, end: int, work: Any) -> bool:
    return has(_DRAFT, text, low, end, work) or has(_UNREAL, text, low, end, work)


@kernel
def _no_letter(text: Any, low: int, end: int, work: Any) -> None:
    """Write "x:" for "a:", which is a letter beside "b:" and not short for an answer."""
    for at in range(low, end - 1):
        by_itself = at == low or KIND[text[at - 1]] & IS_WORD == 0
        if text[at] == 97 and text[at + 1] == 58 and by_itself:
            text[at], work[POINTS + at - low] = 120, 120


@kernel
def read_sentence(out: Any, start: int, end: int, work: Any) -> Any:
    """Read a sentence that `open_sentence` has written: (how much is said, what else it is as bits), or
    (-1, 0): it cannot be read here. What is said stands in the work space from `SAID` on."""
    low = start + WITHOUT_MARKUP
    stop = clean(out, start, end, low, work)
    if stop < 0:
        return -1, 0
    for at in range(low, stop - 2):
        if out[at] == 32 and out[at + 1] == 98 and out[at + 2] == 58:
            _no_letter(out, low, stop, work)
            break
    n = tokens(out, low, stop, work)
    if n < 0 or work[HAS_GIVEN_UP] != 0:
        return -1, 0
    if n == 0:
        return 0, 0
    about = 0
    asks = work[TOKENS + (n - 1) * COLUMNS + KIND_OF] == ASKED
    n = plain_numbers(n, work)
    plain, corrects, has_first = True, False, False
    for at in range(n):
        kind = work[TOKENS + at * COLUMNS + KIND_OF]
        plain = plain and _NEVER_PLAIN[kind] == 0
        if not has_first and _BEGINNING[kind] == 0:
            has_first = True
            corrects = kind == _R or kind == Z
        if kind == S or work[TOKENS + at * COLUMNS + SETS] & SET_FINAL:
            about |= CONCLUDES
        if _POSITIVE[kind] != 0:
            about |= POSITIVE
    n = grouped_numbers(n, work)
    draft = _is_draft(out, low, stop, work)
    n_said: Any = np.int64(0)
    previous: Any = np.int64(0)
    subject: Any = np.int64(0)
    opener: Any = np.int64(0)
    number: Any = np.int64(0)
    corrected = False
    begin = 0
    for at in range(n + 1):
        kind = kind_in(at, work) if at < n else np.int64(0)
        if at < n and _OPENERS[kind] == 0:
            continue
        if begin < at or (at == n and opener != 0):
            before = n_said
            for k in range(len(_CORRECTING)):
                corrected = corrected or opener == _CORRECTING[k]
            n_said, subject = _read_clause(begin, at, opener, number, subject, n_said, work)
            if n_said < 0:
                return -1, 0
            if draft and not corrected:
                _weaken(before, n_said, work)
            if n_said == before and previous != 0:
                last = SAID + (n_said - 1) * SAID_COLUMNS
                if _turns_down(begin, at, opener, work):
                    work[last + FORCE] = DENIED
                elif opens(opener, U):
                    for k in range(begin, at):
                        if sets_in(k, work) & SET_ANY_OTHER or kind_in(k, work) == N:
                            work[last + NUMBER] = 0
            previous = n_said
            number += 1
            opener = np.int64(0)
        if at < n:
            # what opens a clause is told to it, in the strongest of its words
            if kind != COMMA and kind != DASH and kind != ASKED:
                opener = (opener << 8 | (_R if kind == Z else kind)) & _OPENER_MASK
            begin = at + 1
    if asks:
        about |= ASKS
        _weaken(0, n_said, work)
    if plain and n_said > 0:
        about |= PLAIN
    if corrects:
        about |= CORRECTS
    if work[HAS_GIVEN_UP] != 0:
        return -1, 0
    return n_said, about


@kernel
def resolved(n: int, work: Any) -> Any:
    """The choice that a sentence settles on: its place among what is said is written behind all that, and
    whether there is any is returned."""
    found = False
    to = SAID + MAX_SAID * SAID_COLUMNS - SAID_COLUMNS
    for k in range(n):
        place = SAID + k * SAID_COLUMNS
        force, value = work[place + FORCE], work[place + NUMBER]
        if force == DENIED:
            if found and work[to + NUMBER] == value:
                found = False
            continue
        if force < MENTIONED:
            continue
        offers, replaces = work[place + OFFERS] != 0, work[place + REPLACES] != 0
        if not found or force > work[to + FORCE]:
            several = found and work[to + FORCE] >= FITS and offers
            for column in range(SAID_COLUMNS):
                work[to + column] = work[place + column]
            if several:
                work[to + NUMBER] = 0
            found = True
        elif force == work[to + FORCE] or (offers and force >= SHORT):
            if value == work[to + NUMBER]:
                continue
            if replaces and not offers:
                for column in range(SAID_COLUMNS):
                    work[to + column] = work[place + column]
            elif force >= PLACE or force == work[to + FORCE]:
                work[to + NUMBER] = 0
    return found


RESOLVED: Final = constant(END_OF_MEMBERS + 6 * (MAX_SAID - 1))
"""Where `resolved` writes it."""
