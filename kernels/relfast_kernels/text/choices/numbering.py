"""Which tokens are numbers of choices, and which are listed together: `relfast.tasks.rel_a.numbering`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.choices.data import (
    SET_GIVES_REASON,
    SET_MINE,
    SET_NOR,
    SET_NUMBER,
    SET_ONE,
    SET_OUTPUT,
    SET_THROUGH,
)
from relfast_kernels.text.choices.tokens import (
    COLUMNS,
    END_OF_TOKENS,
    IS_NAME,
    KIND_OF,
    MAX_TOKENS,
    OTHER_TOKENS,
    SET_COLON,
    SET_TWO_DOTS,
    SETS,
    TOKENS,
    VALUE,
)
from relfast_kernels.text.patterns.symbols import constant

GROUPS: Final = constant(END_OF_TOKENS)
"""Where, for each token, it stands where the numbers that it lists begin, and how many they are."""
_MEMBERS: Final = END_OF_TOKENS + 2 * MAX_TOKENS
MEMBERS: Final = constant(_MEMBERS)
END_OF_MEMBERS: Final = _MEMBERS + 2 * MAX_TOKENS

A, P, F, C, G, W, N, Z, B, I, K, U, J, L, T, S, X, Y = (  # noqa: E741
    constant(ord(kind)) for kind in "APFCGWNZBIKUJLTSXY"
)
COMMA, PLUS, DASH, OPENING, CLOSING, ASKED, NTH = (constant(ord(kind)) for kind in ",+-()?#")


def kinds(letters: str) -> Any:
    """Which kinds are some of these."""
    table = np.zeros(128, np.uint8)
    for letter in letters:
        table[ord(letter)] = 1
    return table


_DENIES: Final = kinds("APWXQYmL")
_LISTS: Final = kinds(",+UKAPFN")
_JOINS: Final = kinds("+UKNW")
_ENDS: Final = kinds(",)(-JUKTS?+")
_TIES: Final = kinds("APCUN,L+")
_ALONE: Final = kinds("F,()")
_GOES_ON: Final = kinds("CYBN")
_AFTER_ONE: Final = kinds(",UK+")
_BEHIND_BRACKETS: Final = kinds("JTSRUK,()-?+CDNnYB")
_BEFORE_BRACKETS: Final = kinds("ACLmNnE")
_JUDGES: Final = kinds("CBNYEm")
_BEFORE_SUBJECT: Final = kinds("WJKTSRUFXQYPIMDNnBEO1")
_TOLD: Final = kinds("C-YB")
_WRONG: Final = kinds("BN")
_JUDGED: Final = kinds("QBN")
_BETWEEN_BRACKETS: Final = kinds(",+UKA")


@kernel
def kind_at(base: Any, at: Any, n: Any, work: Any) -> Any:
    """The kind of a token; 0 beyond them."""
    return work[base + at * COLUMNS + KIND_OF] if 0 <= at < n else np.int64(0)


@kernel
def sets_at(base: Any, at: Any, n: Any, work: Any) -> Any:
    return work[base + at * COLUMNS + SETS] if 0 <= at < n else np.int64(0)


@kernel
def _set_kind(base: Any, at: Any, kind: Any, work: Any) -> None:
    work[base + at * COLUMNS + KIND_OF] = kind


@kernel
def _copy(base: Any, at: Any, to_base: Any, to: Any, work: Any) -> None:
    for k in range(COLUMNS):
        work[to_base + to * COLUMNS + k] = work[base + at * COLUMNS + k]


@kernel
def _write(base: Any, at: Any, kind: Any, value: Any, sets: Any, work: Any) -> None:
    place = base + at * COLUMNS
    work[place + KIND_OF], work[place + VALUE] = kind, value
    work[place + SETS], work[place + IS_NAME] = sets, 0


@kernel
def _nos(n: int, work: Any) -> None:
    """ "No" as a verdict, a denial, or a correction; each by what its neighbours have become, or are."""
    before = np.int64(0)
    for at in range(n):
        kind = kind_at(TOKENS, at, n, work)
        original = kind
        if kind == Z:
            after = kind_at(TOKENS, at + 1, n, work)
            if at > 0 and (
                after == 0
                or (
                    (before == C or before == OPENING or before == DASH or before == PLUS)
                    and (after == CLOSING or after == COMMA or after == PLUS)
                )
            ):
                _set_kind(TOKENS, at, B, work)
            elif (after != 0 and _DENIES[after] != 0) or (after == G and at == 0):
                _set_kind(TOKENS, at, N, work)
        before = original


@kernel
def _sizes(n: int, work: Any) -> int:
    """Number words as numbers where they stand for a choice, from one list of tokens to the other."""
    to = 0
    skip = False
    alone = True
    for at in range(n):
        kind = kind_at(TOKENS, at, n, work)
        was_alone = alone
        alone = alone and _ALONE[kind] != 0
        if skip:
            skip = False
            continue
        place = TOKENS + at * COLUMNS
        after = kind_at(TOKENS, at + 1, n, work)
        before = kind_at(TOKENS, at - 1, n, work)
        before_sets = sets_at(TOKENS, at - 1, n, work)
        after_sets = sets_at(TOKENS, at + 1, n, work)
        value = work[place + VALUE]
        if kind == NTH:
            copula = kind_at(TOKENS, at - 1, n, work) == C or kind_at(TOKENS, at - 2, n, work) == C
            if (after == A and not after_sets & SET_OUTPUT) or after == P or after_sets & SET_ONE:
                if before_sets & SET_MINE:
                    _write(OTHER_TOKENS, to, W, 0, 0, work)
                else:
                    _write(OTHER_TOKENS, to, P if after == P else A, 0, after_sets, work)
                    _write(OTHER_TOKENS, to + 1, G, value, 0, work)
                    to += 1
                    skip = True
            elif (after == 0 or after == COMMA or after == CLOSING) and value != 1 and copula:
                _write(OTHER_TOKENS, to, G, value, 0, work)
            else:
                _write(OTHER_TOKENS, to, W, 0, 0, work)
            to += 1
            continue
        _copy(TOKENS, at, OTHER_TOKENS, to, work)
        if kind == G and work[place + IS_NAME] != 0:
            ends = after == 0 or _ENDS[after] != 0
            tied = (before != 0 and _TIES[before] != 0) or before_sets & SET_NUMBER != 0
            by_noun = before == A or before == P
            if not ((ends or _GOES_ON[after] != 0) and (by_noun or (tied and ends) or (was_alone and ends))):
                _write(OTHER_TOKENS, to, W, 0, work[place + SETS], work)
            elif value == 1 and not (
                by_noun
                or (was_alone and (after == 0 or after == OPENING or after == COMMA))
                or (before == C and (after == 0 or after == COMMA))
                or (before != 0 and _AFTER_ONE[before] != 0 and ends)
            ):
                _write(OTHER_TOKENS, to, I, 0, work[place + SETS], work)
        to += 1
    return to


@kernel
def _ties(n: int, work: Any) -> bool:
    """Whether what stands before a bracket, the first list's ``n`` tokens, ties what is in it."""
    at = n
    while at > 0 and kind_at(TOKENS, at - 1, n, work) == F:
        at -= 1
    if at == 0:
        return False
    kind = kind_at(TOKENS, at - 1, n, work)
    if kind == DASH:
        noun = kind_at(TOKENS, at - 2, n, work)
        return bool(at == n and (noun == A or noun == P))
    return bool(_BEFORE_BRACKETS[kind] != 0)


@kernel
def _goes_on(base: Any, at: Any, n: Any, work: Any) -> bool:
    """Whether what stands behind a number in brackets does not make it the number of an item."""
    while kind_at(base, at, n, work) == F:
        at += 1
    kind = kind_at(base, at, n, work)
    return bool(
        kind == 0 or _BEHIND_BRACKETS[kind] != 0 or sets_at(base, at, n, work) & SET_GIVES_REASON != 0
    )


@kernel
def _is_bracketed(base: Any, at: Any, n: Any, work: Any) -> bool:
    """Whether brackets that hold nothing but a number begin there."""
    return bool(
        kind_at(base, at, n, work) == OPENING
        and kind_at(base, at + 1, n, work) == G
        and kind_at(base, at + 2, n, work) == CLOSING
    )


@kernel
def _without_brackets(n: int, work: Any) -> int:
    """Drop brackets that hold nothing but a tied number, from the other list to the first."""
    base = OTHER_TOKENS
    told: Any = np.int64(0)
    for at in range(n):
        if _is_bracketed(base, at, n, work):
            told += np.int64(_TOLD[kind_at(base, at + 3, n, work)])
    to = 0
    tied = False
    at = 0
    while at < n:
        kind = kind_at(base, at, n, work)
        if kind == OPENING and kind_at(base, at + 1, n, work) == G:
            noun = to > 0 and kind_at(TOKENS, to - 1, to, work) == A
            drops = False
            if _is_bracketed(base, at, n, work):
                behind = kind_at(base, at + 3, n, work)
                drops = noun or tied
                if not drops and to > 0:
                    before = kind_at(TOKENS, to - 1, to, work)
                    if before == COMMA:
                        judged = _JUDGED[kind_at(base, at + 4, n, work)] != 0
                        drops = _WRONG[behind] != 0 or (behind == C and judged)
                    elif _JUDGES[behind] != 0:
                        drops = _BEFORE_SUBJECT[before] != 0
                if not drops and told < 2 and _goes_on(base, at + 3, n, work):
                    drops = _ties(to, work)
            if drops:
                _copy(base, at + 1, TOKENS, to, work)
                to += 1
                tied = True
                at += 3
                continue
            if noun:
                at += 1
                continue
        tied = tied and _BETWEEN_BRACKETS[kind] != 0
        _copy(base, at, TOKENS, to, work)
        to += 1
        at += 1
    return to


@kernel
def _dashes_tie(n: int, work: Any) -> int:
    """Dashes and commas behind a noun as colons."""
    first, second = kind_at(TOKENS, 0, n, work), kind_at(TOKENS, 1, n, work)
    if n == 3 and first == A and second == COMMA and kind_at(TOKENS, 2, n, work) == G:
        _write(TOKENS, 1, C, 0, SET_COLON | SET_TWO_DOTS, work)
        return n
    before = np.int64(0)
    for at in range(n):
        kind = kind_at(TOKENS, at, n, work)
        if kind == DASH and 0 < at < n - 1 and (before == A or before == P):
            after = kind_at(TOKENS, at + 1, n, work)
            if after == G or after == A:
                _write(TOKENS, at, C, 0, 0, work)
        before = kind
    return n


@kernel
def plain_numbers(n: int, work: Any) -> int:
    """Read what only looks like a number, or the denial of one, for what it is; how many tokens then."""
    _nos(n, work)
    return _dashes_tie(_without_brackets(_sizes(n, work), work), work)


@kernel
def _is_panel(at: int, n: int, work: Any) -> bool:
    """Whether the noun right before a number is a panel."""
    for k in range(at - 1, max(at - 3, 0) - 1, -1):
        kind = kind_at(TOKENS, k, n, work)
        if kind == A or kind == P:
            return bool(kind == P)
        if kind != F and kind != C:
            break
    return False


@kernel
def _distinct(start: int, stop: int, work: Any) -> int:
    """Sort numbers, each once; how many."""
    n = start
    for k in range(start, stop):
        value = work[MEMBERS + k]
        at = start
        while at < n and work[MEMBERS + at] < value:
            at += 1
        if at < n and work[MEMBERS + at] == value:
            continue
        for m in range(n, at, -1):
            work[MEMBERS + m] = work[MEMBERS + m - 1]
        work[MEMBERS + at] = value
        n += 1
    return n - start


@kernel
def grouped_numbers(n: int, work: Any) -> int:
    """Write the tokens to the other list, numbers that are listed together as one; how many tokens then."""
    to = 0
    n_members = 0
    at = 0
    while at < n:
        if kind_at(TOKENS, at, n, work) != G:
            _copy(TOKENS, at, OTHER_TOKENS, to, work)
            to += 1
            at += 1
            continue
        first = n_members
        work[MEMBERS + n_members] = work[TOKENS + at * COLUMNS + VALUE]
        n_members += 1
        end = at + 1
        is_panel = _is_panel(at, n, work)
        joined_at, joined = end, n_members
        while True:
            nxt = end
            joins = False
            noun = np.int64(0)
            while nxt < n:
                kind = kind_at(TOKENS, nxt, n, work)
                sets = sets_at(TOKENS, nxt, n, work)
                if _LISTS[kind] == 0 and not sets & SET_THROUGH:
                    break
                if kind == N and not sets & SET_NOR:
                    break
                is_noun = kind == A or kind == P
                if noun != 0 and is_noun:
                    break
                joins = joins or _JOINS[kind] != 0
                if is_noun:
                    noun = kind
                nxt += 1
            if nxt >= n or kind_at(TOKENS, nxt, n, work) != G or (noun != 0 and (noun == P) != is_panel):
                break
            if is_panel and noun == 0 and not joins and nxt == end:
                break
            joins = joins or (nxt == end + 1 and kind_at(TOKENS, end, n, work) == A)
            work[MEMBERS + n_members] = work[TOKENS + nxt * COLUMNS + VALUE]
            n_members += 1
            end = nxt + 1
            if joins or noun == 0:
                joined_at, joined = end, n_members
        count = _distinct(first, joined, work)
        n_members = first + count
        work[GROUPS + 2 * to], work[GROUPS + 2 * to + 1] = first, count
        name = work[TOKENS + at * COLUMNS + IS_NAME]
        value = work[MEMBERS + first] if count == 1 else 0
        _write(OTHER_TOKENS, to, G, value, 0, work)
        work[OTHER_TOKENS + to * COLUMNS + IS_NAME] = name
        to += 1
        at = joined_at
    return to
