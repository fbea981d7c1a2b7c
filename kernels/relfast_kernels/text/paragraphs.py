"""Lines, paragraphs and code fences of a text."""

from __future__ import annotations

from typing import Final, NamedTuple

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints
from relfast_kernels.text.ascii import BACKTICK, CR, LF, SPACES, TILDE, WHITE, byte_set
from relfast_kernels.text.find import find_either, find_last, find_outside, skip

LAST_FEED: Final = CR
"""Bytes from `LF` to this one end a line."""
MAX_FENCES: Final = 512
"""The most code fences that are known: the last ones of a text."""
_MAX_INDENT: Final = 48
_MAX_QUOTED: Final = 40
_FEWEST_MARKS: Final = 3
_BLANK_BYTES: Final = byte_set(" \t\r")
_BEFORE_FENCE, BEGINS_FENCE = byte_set(" \t>"), byte_set(" \t>`~")


class Fences(NamedTuple):
    """The code fences of a text: first and last byte of the lines between their marks, a ring buffer of
    `MAX_FENCES` pairs (int64); how many there are in all."""

    places: Ints
    n: int


@kernel
def is_feed(byte: int) -> bool:
    """Whether a byte ends a line."""
    return LF <= byte <= LAST_FEED


@kernel
def line_end(text: Bytes, at: int, end: int) -> int:
    """Where the line that ``at`` is in ends."""
    return find_outside(text, at, end, LAST_FEED + 1, LF - 1)


@kernel
def run_end(text: Bytes, at: int, end: int) -> int:
    """Where the run of equal bytes that begins at ``at`` ends."""
    stop = at
    while stop < end and text[stop] == text[at]:
        stop += 1
    return stop


@kernel
def fence_at(text: Bytes, at: int, end: int) -> tuple[int, bool]:
    """The number of fence marks (``~``: negative) of the line at ``at``, 0 for none; whether more follows."""
    at = skip(text, at, min(end, at + _MAX_QUOTED), _BEFORE_FENCE)
    mark = int(text[at]) if at < end else 0
    if mark != BACKTICK and mark != TILDE:
        return 0, False
    stop = run_end(text, at, end)
    n = stop - at
    if n < _FEWEST_MARKS:
        return 0, False
    last = line_end(text, stop, end)
    if mark == BACKTICK and find_either(text, stop, last, BACKTICK, BACKTICK) < last:
        return 0, False
    return (n if mark == BACKTICK else -n), skip(text, stop, last, SPACES) < last


@kernel
def find_fences(text: Bytes, start: int, end: int, places: Ints) -> Fences:
    """Find a text's code fences, closed ones only; they are written to ``places`` (2 `MAX_FENCES` int64)."""
    n, opened, begin = 0, 0, 0
    at = find_either(text, start, end, BACKTICK, TILDE)
    while at < end:
        stop = run_end(text, at, end)
        if stop - at >= _FEWEST_MARKS:
            first = find_last(text, max(start, at - _MAX_INDENT), at, LF, LAST_FEED) + 1
            marks, more = fence_at(text, first, end)
            stop = line_end(text, stop, end)
            if marks != 0 and opened == 0:
                opened, begin = marks, stop
            elif marks != 0 and not more and (marks >= opened > 0 or marks <= opened < 0):
                places[2 * (n % MAX_FENCES)], places[2 * (n % MAX_FENCES) + 1] = begin, first
                n += 1
                opened = 0
        at = find_either(text, stop, end, BACKTICK, TILDE)
    return Fences(places, n)


@kernel
def is_fenced(at: int, fences: Fences) -> bool:
    """Whether a place of the text is in a code fence."""
    low, high = max(0, fences.n - MAX_FENCES), fences.n
    while low < high:
        middle = (low + high) // 2
        if fences.places[2 * (middle % MAX_FENCES)] <= at:
            low = middle + 1
        else:
            high = middle
    return low > max(0, fences.n - MAX_FENCES) and at < fences.places[2 * ((low - 1) % MAX_FENCES) + 1]


@kernel
def paragraph_before(text: Bytes, start: int, end: int) -> tuple[int, int]:
    """Start and end of the last paragraph of text[start:end]; equal if there is none."""
    while end > start and WHITE[text[end - 1]]:
        end -= 1
    feed, at = end, end
    while True:
        at = find_last(text, start, at, LF, LAST_FEED)
        if at < start:
            return start, end
        if text[at] == CR and at + 1 < end and text[at + 1] == LF:
            continue  # one end of a line
        if feed < end and skip(text, at + 1, feed, _BLANK_BYTES) == feed:
            return feed + 1, end
        feed = at


@kernel
def paragraph_end(text: Bytes, start: int, end: int) -> int:
    """Where the paragraph that begins at ``start`` ends: behind it comes a line that is blank."""
    stop, blank = start, False
    while stop < end:
        if is_feed(text[stop]):
            if blank:
                return stop
            blank = True
        elif not SPACES[text[stop]]:
            blank = False
        stop += 1
    return end
