"""What both yes-or-no tasks do: the text as symbols, truth values, statements without yes and no."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import PATTERN_WORK
from relfast_kernels.text.characters import is_ascii
from relfast_kernels.text.patterns.lists import END_OF_LISTS
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP
from relfast_kernels.text.patterns.plain import (
    BLANKS,
    LINE_FEED,
    find,
    members,
    skip,
    skip_back,
)
from relfast_kernels.text.patterns.sources import SOURCES
from relfast_kernels.text.patterns.symbols import IS_LETTER, KIND, to_symbols
from relfast_kernels.text.patterns.verdict import DRESS, NEAR, obvious
from relfast_kernels.text.prose import count
from relfast_kernels.text.vectors import WIDTH, lowest, places_of, places_within

MAX_TEXT: Final = 200_000
"""Bytes of a text that is read here: of longer ones the extractors look at the end."""

GOLD: Final = END_OF_LISTS
MAX_GOLD: Final = 512
if GOLD + MAX_GOLD > PATTERN_WORK:
    raise ValueError(f"reading a text takes {GOLD + MAX_GOLD} numbers of work space")

MARGIN: Final = 16
PER_BYTE: Final = 5
"""Work space (uint8) for each byte of a text, besides a few hundred."""

_QUOTES: Final = members("\"'`")
_NOUGHT, _BIT = np.uint64(0), np.uint64(1)
_COLON, _EQUALS = 58, 61
_GRAVE, _T, _QUOTE, _APOSTROPHE, _FIRST_SIGN, _LAST_SIGN = 96, 116, 34, 39, 33, 127
if BLANKS[_FIRST_SIGN : _LAST_SIGN + 1].any() or {*np.flatnonzero(_QUOTES)} != {_QUOTE, _APOSTROPHE, _GRAVE}:
    raise ValueError("blanks or quotation marks are other symbols than may_be_truth takes them for")


def groups_of(name: str, *groups: str) -> tuple[int, ...]:
    """Where the spans of a pattern's named groups begin in the work space."""
    index = re.compile(*SOURCES[name]).groupindex
    return tuple(2 * index[group] for group in groups)


@kernel
def open_text(text: Any, start: int, end: int, out: Any, to: int, work: Any) -> Any:
    """Write a text's symbols, between margins; its span, or -1: it cannot be read here."""
    work[HAS_GIVEN_UP] = 0
    if end - start > MAX_TEXT:
        return -1, -1
    for k in range(MARGIN):
        out[to + k] = 0
    low = to + MARGIN
    high = to_symbols(text, start, end, out, low)
    if high < 0:
        return -1, -1
    for k in range(MARGIN):
        out[high + k] = 0
    return low, high


@kernel
def _may_be_obvious(text: Any, start: int, end: int) -> bool:
    """Whether a text of UTF-8 ends with the last letter of a yes or no, but for what may stand around it."""
    end = skip_back(text, start, end, DRESS)
    if end > start and text[end - 1] == 62:
        end -= 1
    return end > start and (text[end - 1] | 32 == 115 or text[end - 1] | 32 == 111)


@kernel
def obvious_end(text: Any, start: int, end: int, out: Any, to: int, work: Any) -> int:
    """`obvious` of a text, from its last `NEAR` characters alone: 1 for yes, 0 for no, -1 for nothing."""
    if not _may_be_obvious(text, start, end):
        return -1
    if end - start > NEAR and is_ascii(text, end - NEAR, end):
        start = end - NEAR
    elif end - start > NEAR:
        at = end - NEAR
        n = count(text, at, end)
        while at > start and n < NEAR:
            at -= 1
            n += text[at] & 0xC0 != 0x80
        start = at
    low, high = open_text(text, start, end, out, to, work)
    if low < 0:
        return -1
    found = obvious(out, low, high, work)
    return found if work[HAS_GIVEN_UP] == 0 else -1


@kernel
def may_be_truth(text: Any, low: int, high: int, first: Any) -> bool:
    """Whether one of some words, by its first three letters, stands behind a colon or an equals sign.

    They begin with a letter up to t.
    """
    for chunk in range(low, high, WIDTH):
        # what the text is in goes on behind it
        places = places_of(text, chunk, _COLON, _EQUALS)
        # most are equations: no letter, quotation mark or blank follows, or behind the blank another sign
        second, third = chunk + 1, chunk + 2
        begins = places_within(text, second, _GRAVE, _T) | places_within(text, second, _QUOTE, _APOSTROPHE)
        blank = ~places_within(text, second, _FIRST_SIGN, _LAST_SIGN)
        goes_on = (
            places_within(text, third, _GRAVE, _T)
            | places_within(text, third, _QUOTE, _APOSTROPHE)
            | ~places_within(text, third, _FIRST_SIGN, _LAST_SIGN)
        )
        places &= begins | (blank & goes_on)
        while places != _NOUGHT:
            at = chunk + lowest(places)
            places &= places - _BIT
            if at >= high:
                break
            k = skip(text, at + 1, high, BLANKS)
            if k < high and _QUOTES[text[k]] != 0:
                k += 1
            if KIND[text[k]] & IS_LETTER == 0:
                continue
            for word in range(len(first) // 3):
                if (
                    text[k] == first[3 * word]
                    and text[k + 1] == first[3 * word + 1]
                    and text[k + 2] == first[3 * word + 2]
                ):
                    return True
    return False


@kernel
def line_end_within(text: Any, at: int, high: int, most: int) -> int:
    """The end of the line, or of ``most`` characters."""
    stop = find(text, at, min(high, at + most), LINE_FEED)
    return stop if stop >= 0 else min(high, at + most)


def word(text: str) -> Any:
    """A word as symbols."""
    return np.frombuffer(text.encode("ascii"), np.uint8)
