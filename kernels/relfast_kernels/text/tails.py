"""The end of a response as it stands in its line: most answers are read there, the rest is never decoded.

What comes before the end matters where it holds marks of reasoning, or where its first line is the answer;
both are asked of the JSON as it is. Whatever may be otherwise is not answered here.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.find import begins_with, find_byte
from relfast_kernels.text.json_strings import BACKSLASH, put_text
from relfast_kernels.text.prose import count, lowered
from relfast_kernels.text.reasoning import MAY_FOLLOW, is_mark
from relfast_kernels.text.rel_a_strict import may_be_plain
from relfast_kernels.text.vectors import PACKS, WIDTH, lowest, places_listed, places_of, places_within

LEAST: Final = 1_024
"""Bytes of a response, escapes and all, of which it pays to read the end first."""
_SIZE: Final = 640
"""Bytes of an end, at most."""
_FIRST_SIZE: Final = 1_200
"""Bytes within which a line of 100 characters ends, whatever escapes they are written with."""
_MOST_FIRST: Final = 200
"""Characters of a first line that can be an answer, twice over: lower case can be longer."""
_MOST_NAME: Final = 14
"""Bytes of a mark's name."""

_NOUGHT, _BIT, _LAST = np.uint64(0), np.uint64(1), np.uint64(63)
_N, _U, _SLASH = 110, 117, 47
_FOLLOWS: Final = MAY_FOLLOW.copy()
"""What the byte behind a mark's bracket can be in JSON."""
_FOLLOWS[BACKSLASH] = 1
_FOLLOWS[0x80:] = 1
_ANALYSIS: Final = np.frombuffer(b"analy", np.uint8)
_DRESS: Final = np.zeros(256, np.uint8)
"""What may stand behind a yes or no that is all of its line."""
for _c in ' .*`_>"':
    _DRESS[ord(_c)] = 1


@kernel
def line_in_end(data: Any, first: int, last: int) -> int:
    """Where a line begins within the end of a string's JSON, data[first:last], after a line feed's escape; or
    -1."""
    at = find_byte(data, max(first, last - _SIZE), last, BACKSLASH)
    while at < last:
        begin = at
        while begin > first and data[begin - 1] == BACKSLASH:
            begin -= 1
        while at < last and data[at] == BACKSLASH:
            at += 1
        # the last one of an odd number escapes what follows
        if (at - begin) & 1 == 1:
            if data[at] == _N:
                return at + 1
            at += 1
        at = find_byte(data, at, last, BACKSLASH)
    return -1


@kernel
def _first_feed(data: Any, first: int, last: int) -> int:
    """Where the first line feed's escape stands, or -1."""
    at = find_byte(data, first, last, BACKSLASH)
    while at < last:
        if data[at + 1] == _N:
            return at
        at = find_byte(data, at + 2, last, BACKSLASH)
    return -1


@kernel
def _is_ascii_escape(data: Any, at: int) -> bool:
    r"""Whether the ``\u`` whose letter is at ``at`` stands for ASCII, or for the triangle of a mark."""
    a, b, c, d = data[at + 1], data[at + 2], data[at + 3], data[at + 4]
    if a == 48 and b == 48:
        return bool(c < 56)
    return bool(a == 50 and b == 53 and c | 32 == 99 and d == 49)


@kernel
def _may_be_mark(data: Any, at: int, last: int) -> bool:
    """Whether a mark may begin with the bracket at ``at``, by what stands behind a byte of `_FOLLOWS`."""
    if at + 1 >= last:
        return False
    byte = data[at + 1]
    if byte >= 0x80:
        return True
    if byte == BACKSLASH:
        return bool(data[at + 2] == _U or data[at + 2] == _SLASH)
    if is_mark(data, at, last):
        return True
    # letters that are others where case is ignored, and escapes
    for k in range(at + 1, min(last, at + _MOST_NAME)):
        if data[k] >= 0x80 or data[k] == BACKSLASH:
            return True
        if data[k] == 62 or data[k] == 93 or data[k] == 32:
            return False
    return False


if PACKS:

    @kernel
    def _followed(data: Any, at: int, brackets: Any) -> Any:
        """Of the brackets in the vector at ``at``, those that have a byte of `_FOLLOWS` behind them."""
        listed = places_listed(data, at + 1, _FOLLOWS) | places_within(data, at + 1, 0x80, 0xFF)
        return brackets & listed

else:

    @kernel
    def _followed(data: Any, at: int, brackets: Any) -> Any:
        """Of the brackets in the vector at ``at``, those that have a byte of `_FOLLOWS` behind them."""
        rest = brackets
        while rest != _NOUGHT:
            place = rest & ~(rest - _BIT)
            if _FOLLOWS[data[at + lowest(rest) + 1]] == 0:
                brackets &= ~place
            rest &= rest - _BIT
        return brackets


@kernel
def may_hold_marks(data: Any, first: int, last: int) -> bool:
    """Whether a string's JSON may hold marks of reasoning: if not, `cut_reasoning` leaves its text whole."""
    if begins_with(data, first, last, _ANALYSIS):
        return True
    before = _NOUGHT
    at = first
    while at < last:
        if at + WIDTH >= len(data):
            return True
        brackets = _followed(data, at, places_of(data, at, 60, 91))
        while brackets != _NOUGHT:
            place = at + lowest(brackets)
            brackets &= brackets - _BIT
            if place >= last:
                break
            if _may_be_mark(data, place, last):
                return True
        # "\u", and the first two bytes that a triangle has in UTF-8
        openers = places_of(data, at, BACKSLASH, 0xE2)
        pairs = places_of(data, at, _U, 0x97) & (openers << _BIT | before)
        before = openers >> _LAST
        while pairs != _NOUGHT:
            place = at + lowest(pairs)
            pairs &= pairs - _BIT
            if place + 4 >= last:
                break
            if data[place] == _U:
                if _is_ascii_escape(data, place):
                    return True
            elif data[place + 1] == 0x81:
                return True
        at += WIDTH
    return False


@kernel
def may_open(data: Any, first: int, last: int, words: Any, scratch: Any, to: int) -> bool:
    """Whether the first line of a string's JSON may be nothing but an answer."""
    feed = _first_feed(data, first, min(last, first + _FIRST_SIZE))
    if feed <= first:
        return False
    stop = put_text(data, first, feed, scratch, to)
    if count(scratch, to, stop) >= _MOST_FIRST:
        return False
    low = stop + WIDTH
    return may_be_plain(scratch, low, lowered(scratch, to, stop, scratch, low), words)


@kernel
def may_end_with_verdict(data: Any, first: int, last: int) -> bool:
    """Whether a string's JSON ends with a yes or no, but for what plain lines have behind it."""
    at = last
    while at > first and _DRESS[data[at - 1]] != 0:
        at -= 1
    if at - first < 3:
        return False
    end = data[at - 1] | 32
    if end == 111:
        return bool(data[at - 2] | 32 == 110)
    return bool(end == 115 and data[at - 2] | 32 == 101 and data[at - 3] | 32 == 121)
