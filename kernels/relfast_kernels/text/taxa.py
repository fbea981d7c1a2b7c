"""The taxa that a line names, for REL-B1: numbers, alone in a list or called taxa."""

from __future__ import annotations

from typing import Any, Final

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.dress import is_alnum

NO_LIST: Final = -1
"""The line names none, or is no list."""
MAX_TAXA: Final = 1_000
"""Taxa of a claim; more are not looked at."""
_MAX_DIGITS: Final = 9


@kernel
def _is_taxa(text: Any, at: int, end: int) -> int:
    """Behind the word taxon, taxons or taxa that begins at ``at``; 0: it is another."""
    if at + 4 > end or not (text[at] == 116 and text[at + 1] == 97 and text[at + 2] == 120):
        return 0
    if text[at + 3] == 97:
        return at + 4
    if at + 5 <= end and text[at + 3] == 111 and text[at + 4] == 110:
        return at + 6 if at + 5 < end and text[at + 5] == 115 else at + 5
    return 0


@kernel
def _joins(text: Any, at: int, stop: int) -> bool:
    """Whether text[at:stop] is *or*, *and* or *also*: naming more taxa is never passed over."""
    size = stop - at
    if size == 2:
        return int(text[at]) == 111 and int(text[at + 1]) == 114
    if size == 3:
        return int(text[at]) == 97 and int(text[at + 1]) == 110 and int(text[at + 2]) == 100
    return (
        size == 4
        and int(text[at]) == 97
        and int(text[at + 1]) == 108
        and int(text[at + 2]) == 115
        and int(text[at + 3]) == 111
    )


@kernel
def read_list(text: Any, at: int, end: int, out: Any, to: int, whole: bool) -> int:
    """Write the numbers of the taxa in text[at:end], a line or its rest, to ``out`` from ``to`` on.

    Numbers count that follow one another with nothing but separators between, from the beginning on or behind
    *taxon*, *taxa*; what stands in brackets behind one, or behind its colon as a fraction, is its score.

    Parameters
    ----------
    whole
        Whether the line must be nothing else: a list. Words before the first number are fine behind *taxa*.

    Returns
    -------
    int
        How many; `NO_LIST` if there is none.
    """
    n = 0
    called = False
    open_run = True
    while at < end:
        byte = int(text[at])
        if 48 <= byte <= 57:
            stop = at
            value = 0
            while stop < end and 48 <= text[stop] <= 57:
                if stop - at < _MAX_DIGITS:
                    value = 10 * value + int(text[stop]) - 48
                stop += 1
            after = int(text[stop]) if stop < end else 32
            then = int(text[stop + 1]) if stop + 1 < end else 32
            odd = (
                is_alnum(after)
                or after == 37
                or after == 95
                or after >= 0x80
                or ((after == 46 or after == 45 or after == 47) and 48 <= then <= 57)
                or stop - at > _MAX_DIGITS
            )
            if odd:
                if whole:
                    return NO_LIST
                while stop < end and (is_alnum(text[stop]) or text[stop] == 46):
                    stop += 1
                open_run = open_run and called and n > 0
            elif open_run:
                if n < MAX_TAXA:
                    out[to + n] = value
                    n += 1
                # a score in brackets, or behind a colon
                behind = stop
                while behind < end and text[behind] == 32:
                    behind += 1
                if behind < end and text[behind] == 40:
                    while behind < end and text[behind] != 41:
                        behind += 1
                    stop = behind
                elif behind < end and text[behind] == 58 and after == 58:
                    behind += 1
                    while behind < end and text[behind] == 32:
                        behind += 1
                    if behind < end and 48 <= text[behind] <= 57:
                        while behind < end and (48 <= text[behind] <= 57 or text[behind] == 46):
                            behind += 1
                        stop = behind
            at = stop
        elif 97 <= byte <= 122 or byte >= 0x80 or 65 <= byte <= 90:
            behind = _is_taxa(text, at, end)
            if behind and behind < end and (97 <= text[behind] <= 122):
                behind = 0
            stop = at
            while stop < end and (97 <= text[stop] <= 122 or text[stop] >= 0x80):
                stop += 1
            if behind:
                if not called and not whole:
                    n = 0
                called, open_run = True, True
                at = behind
            elif _joins(text, at, stop) or (called and n == 0):
                at = stop
            else:
                if whole and not _labels(text, at, end):
                    return NO_LIST
                open_run = False
                at = stop
        else:
            if byte == 46 and whole and n > 0 and at + 1 < end and text[at + 1] == 32:
                pass
            at += 1
    return n if n > 0 else NO_LIST


@kernel
def _labels(text: Any, at: int, end: int) -> bool:
    """Whether the words from ``at`` on come to taxa before they come to a number or the line's end."""
    end = min(end, at + 80)
    while at < end and not 48 <= text[at] <= 57:
        if _is_taxa(text, at, end) and (at == 0 or not is_alnum(text[at - 1])):
            return True
        at += 1
    return False
