"""Patterns on a text, as Python's ``re`` has them: search, match and what is made of these."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.patterns.classes import AT_BEGIN
from relfast_kernels.text.patterns.compile import END
from relfast_kernels.text.patterns.matcher import GAVE_UP as GAVE_UP
from relfast_kernels.text.patterns.matcher import HAS_GIVEN_UP as HAS_GIVEN_UP
from relfast_kernels.text.patterns.matcher import N_GROUPS, NONE, run_at
from relfast_kernels.text.patterns.matcher import WORK as WORK
from relfast_kernels.text.patterns.programs import BEGINS, LEFT, SECONDS, STARTS
from relfast_kernels.text.patterns.programs import number_of as number_of
from relfast_kernels.text.patterns.symbols import N_SYMBOLS, constant

_NO, _YES = constant(0), constant(1)
_ROW: Final = np.uint64(N_SYMBOLS + 1)
_ONE: Final = np.uint64(1)
_NOUGHT, _SIX_BITS, _SYMBOLS = np.uint64(0), np.uint64(63), np.uint64(N_SYMBOLS)


@kernel
def _forget(work: Any) -> None:
    for k in range(2 * N_GROUPS):
        work[k] = -1


@kernel
def _may_begin(number: int, text: Any, begin: int, at: int, end: int) -> bool:
    """Whether a match may begin at a place, by what stands there and left of it."""
    left = LEFT[text[at - 1]] if at > begin else np.uint8(AT_BEGIN)
    symbol = np.int64(text[at]) if at < end else END
    if BEGINS[np.int64(number) * (N_SYMBOLS + 1) + symbol] & left == 0:
        return False
    if at + 1 >= end:
        return True
    second = np.uint64(text[at + 1]) & _SIX_BITS
    return (SECONDS[np.uint64(number) * _SYMBOLS + np.uint64(symbol)] >> second) & _ONE != _NOUGHT  # type: ignore[no-any-return]


@kernel
def match(number: int, text: Any, begin: int, start: int, end: int, work: Any) -> int:
    """``pattern.match(text[begin:end], start)``: where it ends, `NONE` or `GAVE_UP`.

    ``work`` (`WORK` int64) has the groups' spans of a match afterwards, from its third number on.
    """
    if not _may_begin(number, text, begin, start, end):
        return NONE
    _forget(work)
    return run_at(text, begin, start, end, np.int64(STARTS[number]), _NO, work)


@kernel
def fullmatch(number: int, text: Any, start: int, end: int, work: Any) -> int:
    """``pattern.fullmatch(text[start:end])``: ``end``, `NONE` or `GAVE_UP`."""
    if not _may_begin(number, text, start, start, end):
        return NONE
    _forget(work)
    return run_at(text, start, start, end, np.int64(STARTS[number]), _YES, work)


@kernel
def search(number: int, text: Any, begin: int, start: int, end: int, work: Any) -> int:
    """``pattern.search(text[begin:end], start)``: where it begins, `NONE` or `GAVE_UP`.

    ``work[0]`` and ``work[1]`` are its span, those of groups follow.
    """
    code = np.int64(STARTS[number])
    begins = np.uint64(number) * _ROW
    seconds = np.uint64(number) * _SYMBOLS
    stop = np.uint64(max(start, end))
    _forget(work)
    left = LEFT[text[start - 1]] if start > begin else np.uint8(AT_BEGIN)
    for place in range(np.uint64(start), stop):
        symbol = text[place]
        here = left
        left = LEFT[symbol]
        if BEGINS[begins + np.uint64(symbol)] & here == 0:
            continue
        # at the end of the text there is nothing second: a match may go no further
        if place + _ONE < stop:
            second = np.uint64(text[place + _ONE]) & _SIX_BITS
            if (SECONDS[seconds + np.uint64(symbol)] >> second) & _ONE == _NOUGHT:
                continue
        at = np.int64(place)
        found = run_at(text, begin, at, end, code, _NO, work)  # type: ignore[arg-type]
        if found == GAVE_UP:
            return GAVE_UP
        if found >= 0:
            work[0], work[1] = at, found
            return at  # type: ignore[return-value]
    if start <= end and BEGINS[begins + np.uint64(END)] & left != 0:
        found = run_at(text, begin, end, end, code, _NO, work)
        if found >= 0:
            work[0], work[1] = end, found
            return end
        return found
    return NONE


@kernel
def has(number: int, text: Any, start: int, end: int, work: Any) -> bool:
    """Whether ``pattern.search(text[start:end])`` finds something."""
    return search(number, text, start, start, end, work) >= 0


@kernel
def begins(number: int, text: Any, start: int, end: int, work: Any) -> bool:
    """Whether ``pattern.match(text[start:end])`` does."""
    return match(number, text, start, start, end, work) >= 0


@kernel
def is_all(number: int, text: Any, start: int, end: int, work: Any) -> bool:
    """Whether ``pattern.fullmatch(text[start:end])`` does."""
    return fullmatch(number, text, start, end, work) >= 0


@kernel
def substitute(number: int, by: Any, text: Any, start: int, end: int, work: Any) -> int:
    """``pattern.sub(by, text[start:end])`` in place; the new end.

    No match may be empty or shorter than ``by``. As many bytes after ``end`` are overwritten.
    """
    at = search(number, text, start, start, end, work)
    if at < 0:
        return end
    read, to = start, end
    while at >= 0:
        for k in range(read, at):
            text[to] = text[k]
            to += 1
        for k in range(len(by)):
            text[to] = by[k]
            to += 1
        read = work[1]
        at = search(number, text, start, read, end, work)
    for k in range(read, end):
        text[to] = text[k]
        to += 1
    for k in range(to - end):
        text[start + k] = text[end + k]
    return start + to - end
