"""Lists of taxa and the lines they stand in: `relfast.tasks.rel_b.taxa`, from numbers to lines."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.patterns.machine import (
    HAS_GIVEN_UP,
    begins,
    has,
    is_all,
    match,
    number_of,
    search,
    substitute,
)
from relfast_kernels.text.patterns.plain import BLANKS, LINE_FEED, NOTHING, find, plain, skip
from relfast_kernels.text.patterns.symbols import constant
from relfast_kernels.text.patterns.yes_no import END_OF_VERDICTS

MAX_STATEMENT: Final = 50_000
MAX_RANGE: Final = 5_000
LOOK_BACK: Final = 80
MAX_LISTED: Final = 1 << 13
"""Taxa a claim can name here; one that names more takes the exact way."""
MAX_LINES: Final = 1 << 11

TAXA: Final = END_OF_VERDICTS
LINES, BEHIND, EARLIER = (constant(TAXA + MAX_LISTED + 2 * MAX_LINES * k) for k in range(3))
END_OF_LISTS: Final = TAXA + MAX_LISTED + 6 * MAX_LINES

NO, YES, ALL, CALLED, FIRST_CALLED = map(constant, (0, 1, 0, 1, 2))
"""Which lists of a line are wanted: all, those called taxa, the first of those."""

LIST, ONE, RANGE, PAIR, COUNTED, DASHED = map(
    number_of, ("B_LIST", "B_ONE", "B_RANGE", "B_PAIR", "B_COUNTED", "B_DASHED")
)
OTHERS_BEFORE, _OTHERS_AFTER, _NAME, _NAMED_BEFORE, _OTHERWISE, _NUMBERED = map(
    number_of,
    ("B_OTHERS", "B_OTHERS_AFTER", "B_NAME", "B_NAMED_BEFORE", "B_CALLED_OTHERWISE", "B_NUMBERED"),
)
_ENUMERATOR, _FIELDS, _SCORE, _WHOLE = map(number_of, ("B_ENUMERATOR", "B_FIELDS", "B_SCORE", "B_WHOLE"))
_BULLET: Final = np.frombuffer(b"- ", np.uint8)


@kernel
def value_of(text: Any, start: int, end: int) -> int:
    """The number that digits write; at most 18 of them."""
    value: Any = 0
    for at in range(start, end):
        value = 10 * value + np.int64(text[at]) - 48
    return value  # type: ignore[no-any-return]


@kernel
def add(n: int, taxon: int, work: Any) -> int:
    """Put a taxon behind the ``n`` there are."""
    if n >= MAX_LISTED:
        work[HAS_GIVEN_UP] = 1
        return n
    work[TAXA + n] = taxon
    return n + 1


@kernel
def spell(text: Any, start: int, end: int, before: int, before_end: int, n: int, work: Any) -> int:
    """The numbers of a list, ranges spelt out; how many taxa there are then."""
    last = -1
    pairs = -1
    begin = start
    while True:
        found = search(ONE, text, start, begin, end, work)
        if found < 0:
            return n
        stop, first_digit, last_digit = work[1], work[2], work[3]
        if last_digit - first_digit > 9:
            work[HAS_GIVEN_UP] = 1
            return n
        number = value_of(text, first_digit, last_digit)
        spelt = False
        if last >= 0 and last < number <= last + MAX_RANGE and is_all(RANGE, text, begin, found, work):
            if pairs < 0:
                pairs = 1 if has(PAIR, text, before, before_end, work) else 0
            spelt = pairs == 0
        if spelt:
            for taxon in range(last + 1, number + 1):
                n = add(n, taxon, work)
            last = -1
        else:
            n = add(n, number, work)
            last = number
        begin = stop


@kernel
def lists(text: Any, start: int, end: int, wanted: int, n: int, work: Any) -> int:
    """Add the lists of a line or sentence that are of taxa."""
    started = False
    at = start
    while True:
        found = search(LIST, text, start, at, end, work)
        if found < 0:
            return n
        stop = work[1]
        at = stop
        before = max(start, found - LOOK_BACK)
        after = min(end, stop + LOOK_BACK)
        if has(OTHERS_BEFORE, text, before, found, work) or begins(_OTHERS_AFTER, text, stop, after, work):
            continue
        called = begins(_NAME, text, found, stop, work) or has(_NAMED_BEFORE, text, before, found, work)
        first = n
        n = spell(text, found, stop, before, found, n, work)
        counted = begins(COUNTED, text, stop, after, work)
        if counted and n - first > 1 and has(DASHED, text, found, stop, work):
            n -= 1  # "15 — 5 motifs"
        elif started and found > before and text[found - 1] == 40 and not called:
            n = first
            continue
        if not called and (
            counted
            or has(_OTHERWISE, text, before, found, work)
            or (n - first == 1 and has(_NUMBERED, text, before, found, work))
        ):
            n = first
            continue
        started = True
        if wanted != ALL:
            if not called:
                n = first
            elif wanted == FIRST_CALLED:
                return n


@kernel
def cut_lines(text: Any, start: int, end: int, to: int, place: int, work: Any) -> Any:
    """Lines that are not blank, of plain text, without scores and the numbers of a numbered list.

    Their spans stand in ``work`` from ``place`` on.

    Returns
    -------
    (n, end)
        How many lines, and where their text ends; as many bytes after that were overwritten.
    """
    stop = plain(text, start, end, to, work)
    at = search(_ENUMERATOR, text, to, to, stop, work)
    if at >= 0:
        expected = value_of(text, work[2], work[3])
        numbered = expected == 1 or expected == 2
        while at >= 0 and numbered:
            numbered = value_of(text, work[2], work[3]) == expected
            expected += 1
            at = search(_ENUMERATOR, text, to, work[1], stop, work)
        if numbered:
            stop = substitute(_ENUMERATOR, _BULLET, text, to, stop, work)
    stop = substitute(_FIELDS, NOTHING, text, to, stop, work)
    stop = substitute(_SCORE, NOTHING, text, to, stop, work)
    stop = substitute(_WHOLE, NOTHING, text, to, stop, work)
    n = 0
    line = to
    while line <= stop:
        line_end = find(text, line, stop, LINE_FEED)
        if line_end < 0:
            line_end = stop
        if skip(text, line, line_end, BLANKS) < line_end:
            if n >= MAX_LINES:
                work[HAS_GIVEN_UP] = 1
                return n, stop
            work[place + 2 * n], work[place + 2 * n + 1] = line, line_end
            n += 1
        line = line_end + 1
    return n, stop


@kernel
def is_made_of(number: int, text: Any, start: int, end: int, work: Any) -> bool:
    """Whether nothing is left of text[start:end] without a pattern's matches."""
    at = start
    while at < end:
        at = match(number, text, start, at, end, work)
        if at < 0:
            return False
    return True
