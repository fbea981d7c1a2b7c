"""A backtracking matcher for the programs of `relfast_kernels.text.patterns.compile`, at one place of a text.

It does what Python's ``re`` does, step by step: the first way that leads to a match is taken. Where it would
need more than `MAX_STEPS` steps or its stack, it gives up and says so; the exact way then decides.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.patterns.compile import (
    AT,
    AT_BOUNDARY,
    AT_END,
    AT_LINE,
    AT_LINE_END,
    AT_NO_BOUNDARY,
    AT_START,
    ATOMIC,
    BRANCH,
    CHAR,
    CLASS,
    COMMIT,
    END,
    GREEDY,
    JUMP,
    LAZY,
    LOOK,
    LOOKED,
    MATCH,
    NO_LIMIT,
    POSSESSIVE,
    SAVE,
    SPLIT,
    WIDTH,
)
from relfast_kernels.text.patterns.programs import (
    CODE,
    LISTS,
    SETS,
    TABLES,
)
from relfast_kernels.text.patterns.symbols import IS_WORD, KIND, N_SYMBOLS

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
NONE, GAVE_UP = -1, -2
"""Instead of where a match is."""

MAX_STEPS: Final = 200_000
N_GROUPS: Final = 16
HAS_GIVEN_UP: Final = 2 * N_GROUPS
"""Place in the work space of whether anything has been given up: nothing found since counts."""
STACK: Final = 3 << 13
"""Numbers of the stack; the groups' spans stand before it."""
WORK: Final = HAS_GIVEN_UP + 1 + STACK

# frames of three numbers: a place in the code or, below 0, one of these; where in the text; and one more
_RESTORE, _BARRIER, _REFUSAL, _NOTHING = -1, -2, -3, -4
_WAYS = -16  # and, below it, where in the list of ways the next one stands
_RUN = -(1 << 28)  # and, below it, the instruction of a run: its text may be shorter
_MORE = -(1 << 29)  # or longer


@kernel
def _is_boundary(text: Any, begin: int, end: int, at: int) -> bool:
    before = at > begin and KIND[text[at - 1]] & IS_WORD != 0
    after = at < end and KIND[text[at]] & IS_WORD != 0
    return before != after


@kernel
def _holds(text: Any, begin: int, end: int, at: int, what: Any) -> bool:
    if what == AT_START:
        return at == begin
    if what == AT_LINE:
        return at == begin or text[at - 1] == 10
    if what == AT_END:
        return at == end or (at == end - 1 and text[at] == 10)
    if what == AT_LINE_END:
        return at == end or text[at] == 10
    if what == AT_BOUNDARY:
        return _is_boundary(text, begin, end, at)
    if what == AT_NO_BOUNDARY:
        return not _is_boundary(text, begin, end, at)
    return at == end


@kernel
def run_at(text: Any, begin: int, start: int, end: int, first: Any, whole: int, work: Any) -> int:
    """Match a program at a place; where the match ends, `NONE` or `GAVE_UP`. Groups' spans in ``work``."""
    if work[HAS_GIVEN_UP] != 0:
        return GAVE_UP
    base = HAS_GIVEN_UP + 1
    top = base
    barrier = -1
    pc: Any = first
    at: Any = start
    steps = 0
    limit = base + STACK - 8
    while True:
        steps += 1
        if top > limit or steps > MAX_STEPS:
            work[HAS_GIVEN_UP] = 1
            return GAVE_UP
        # unsigned: for a signed index numba looks whether it counts from the end
        place = np.uint64(pc * WIDTH)
        op = CODE[place]
        a = np.int64(CODE[place + _ONE])
        fails = False
        if op == CHAR:
            # one symbol, or two or three: no other is below 0
            b = np.int64(CODE[place + _TWO])
            c = np.int64(CODE[place + _THREE])
            if at >= end or text[np.uint64(at)] != a:
                fails = True
            elif b < 0:
                at += 1
                pc += 1
            elif at + 1 >= end or text[np.uint64(at + 1)] != b:
                fails = True
            elif c < 0:
                at += 2
                pc += 1
            elif at + 2 >= end or text[np.uint64(at + 2)] != c:
                fails = True
            else:
                at += 3
                pc += 1
        elif op == CLASS:
            if at < end and SETS[np.uint64(a * N_SYMBOLS) + np.uint64(text[np.uint64(at)])] != 0:
                at += 1
                pc += 1
            else:
                fails = True
        elif op == BRANCH:
            symbol = np.int64(text[at]) if at < end else END
            where = np.int64(TABLES[np.uint64(a * (N_SYMBOLS + 1) + symbol)])
            ways = np.int64(LISTS[np.uint64(where)])
            if ways == 0:
                fails = True
            else:
                if ways > 1:
                    work[top], work[top + 1], work[top + 2] = _WAYS - (where + 2), at, ways - 1
                    top += 3
                pc = np.int64(LISTS[np.uint64(where + 1)])
        elif op == JUMP:
            pc = a
        elif op == SPLIT:
            b = np.int64(CODE[place + _TWO])
            if CODE[place + _THREE] != 0:
                work[top], work[top + 1] = a, at
                pc = b
            else:
                work[top], work[top + 1] = b, at
                pc = a
            top += 3
        elif op == AT and a == AT_BOUNDARY:
            before = at > begin and KIND[text[np.uint64(at - 1)]] & IS_WORD != 0
            after = at < end and KIND[text[np.uint64(at)]] & IS_WORD != 0
            if before != after:
                pc += 1
            else:
                fails = True
        elif op == AT:
            if _holds(text, begin, end, at, a):
                pc += 1
            else:
                fails = True
        elif op == GREEDY or op == POSSESSIVE:
            low, high = np.int64(CODE[place + _TWO]), np.int64(CODE[place + _THREE])
            stop: Any = end if high == NO_LIMIT else min(end, at + high)
            least = at + low
            k = at
            members = np.uint64(a * N_SYMBOLS)
            while k < stop and SETS[members + np.uint64(text[np.uint64(k)])] != 0:
                k += 1
            if k < least:
                fails = True
            else:
                if op == GREEDY and k > least:
                    work[top], work[top + 1], work[top + 2] = _RUN - pc, k - 1, least
                    top += 3
                at = k
                pc += 1
        elif op == LAZY:
            low, high = np.int64(CODE[place + _TWO]), np.int64(CODE[place + _THREE])
            members = np.uint64(a * N_SYMBOLS)
            k = at
            least = at + low
            while k < least and k < end and SETS[members + np.uint64(text[np.uint64(k)])] != 0:
                k += 1
            if k < least:
                fails = True
            else:
                if high != low:
                    more = end - k if high == NO_LIMIT else high - low
                    work[top], work[top + 1], work[top + 2] = _MORE - pc, k, more
                    top += 3
                at = k
                pc += 1
        elif op == SAVE:
            work[top], work[top + 1], work[top + 2] = _RESTORE, a, work[a]
            top += 3
            work[a] = at
            pc += 1
        elif op == LOOK:
            back = np.int64(CODE[place + _THREE])
            refuses = CODE[place + _TWO] != 0
            if at - back < begin:
                if refuses:
                    pc = a
                else:
                    fails = True
            else:
                # where to go on if it refuses stands below the frame
                work[top], work[top + 1], work[top + 2] = _NOTHING, a, 0
                top += 3
                work[top] = _REFUSAL if refuses else _BARRIER
                work[top + 1], work[top + 2] = at, barrier
                barrier = top
                top += 3
                at -= back
                pc += 1
        elif op == LOOKED:
            refuses = a != 0
            top = barrier
            at = work[top + 1]
            barrier = work[top + 2]
            if refuses:
                fails = True
            else:
                pc += 1
        elif op == ATOMIC:
            work[top], work[top + 1], work[top + 2] = _BARRIER, at, barrier
            barrier = top
            top += 3
            pc += 1
        elif op == COMMIT:
            top = barrier
            barrier = work[top + 2]
            pc += 1
        elif op == MATCH:
            if whole != 0 and at != end:
                fails = True
            else:
                return at  # type: ignore[no-any-return]
        while fails:
            if top == base:
                return NONE
            top -= 3
            kind = work[top]
            if kind >= 0:
                pc, at = kind, work[top + 1]
                fails = False
            elif kind == _RESTORE:
                work[work[top + 1]] = work[top + 2]
            elif kind == _BARRIER:
                barrier = work[top + 2]
            elif kind == _NOTHING:
                continue
            elif kind == _REFUSAL:
                barrier = work[top + 2]
                at = work[top + 1]
                pc = work[top - 2]
                fails = False
            elif kind <= _MORE:
                members = np.uint64(np.int64(CODE[(_MORE - kind) * WIDTH + 1]) * N_SYMBOLS)
                k = work[top + 1]
                if k < end and SETS[members + np.uint64(text[np.uint64(k)])] != 0:
                    at = k + 1
                    if work[top + 2] > 1:
                        work[top + 1] = at
                        work[top + 2] -= 1
                        top += 3
                    pc = (_MORE - kind) + 1
                    fails = False
            elif kind <= _RUN:
                at = work[top + 1]
                if at > work[top + 2]:
                    work[top + 1] = at - 1
                    top += 3
                pc = (_RUN - kind) + 1
                fails = False
            else:
                where = _WAYS - kind
                at = work[top + 1]
                pc = np.int64(LISTS[where])
                if work[top + 2] > 1:
                    work[top] = kind - 1
                    work[top + 2] -= 1
                    top += 3
                fails = False
