"""JSON strings as bytes: where one ends, whether its escapes are valid, and its text with escapes undone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes
from relfast_kernels.text.ascii import LF
from relfast_kernels.text.find import hexadecimal, places_below, put_point
from relfast_kernels.text.vectors import WIDTH, count, equal, first, load, packed, replaced, store

QUOTE, BACKSLASH, SLASH, _N, _U = map(ord, '"\\/nu')
_ONE, _LAST, _ODD = np.uint64(1), np.uint64(63), np.uint64(0xAAAA_AAAA_AAAA_AAAA)

MEANING: Final = np.zeros(256, np.uint8)
"""The byte that a backslash and one character stand for; 0: a ``u`` escape, or none."""
LETTER: Final = np.zeros(256, np.uint8)
"""For a byte the character after the backslash of its escape, as orjson writes it; 0: there is none."""
for _after, _meant in {'"': '"', "\\": "\\", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}.items():
    MEANING[ord(_after)] = ord(_meant)
    LETTER[ord(_meant)] = ord(_after)
MEANING[ord("/")] = ord("/")


@kernel
def read_point(data: Bytes, at: int, end: int) -> Any:
    r"""Code point of the ``\u`` escape at ``at``, or of its surrogate pair, and its length; (-1, 0) if it is
    invalid, or half a pair."""
    point = hexadecimal(data, at + 2, end, 4)
    if point < 0 or 0xDC00 <= point < 0xE000:
        return -1, 0
    if point < 0xD800 or point > 0xDFFF:
        return point, 6
    if at + 12 > end or data[at + 6] != BACKSLASH or data[at + 7] != _U:
        return -1, 0
    low = hexadecimal(data, at + 8, end, 4)
    if low < 0xDC00 or low > 0xDFFF:
        return -1, 0
    return 0x10000 + ((point - 0xD800) << 10) + low - 0xDC00, 12


@kernel
def _bad_escape(data: Bytes, at: int, end: int, paired: int) -> Any:
    r"""Whether the character at ``at``, behind a backslash, makes no valid escape; and where the ``u`` of a
    surrogate pair's second half is, which needs no check of its own (else ``paired``)."""
    if MEANING[data[at]] != 0 or at == paired:
        return False, paired
    if data[at] != _U:
        return True, paired
    point, length = read_point(data, at - 1, end)
    return point < 0, at + 6 if length == 12 else paired


@kernel
def _escapes(slashes: Any, carried: Any) -> Any:
    """Of the backslashes in a vector, those that begin an escape, and the places behind them. ``carried`` is
    1 if the vector before ended with one. A subtraction resolves runs of them, as in simdjson."""
    begun = slashes & ~carried
    code = ((begun << _ONE | _ODD) - begun) ^ _ODD
    return code & slashes, code ^ (slashes | carried)


@kernel
def string_end(data: Bytes, at: int, end: int) -> Any:
    """Index of the closing quote of a string whose first byte is at ``at``, or -1 (none, or an
    invalid escape); and whether the string has escapes."""
    carried = np.uint64(0)
    seen = np.uint64(0)
    paired: Any = -1
    while at < end:
        block = load(data, at)
        quotes, slashes = equal(block, QUOTE), equal(block, BACKSLASH)
        # no test whether there are any: every third vector of prose has some, and the branch is unpredictable
        opening, after = _escapes(slashes, carried)
        carried = opening >> _LAST
        # all but the commonest escapes are looked at
        odd = after & ~(quotes | slashes | equal(block, _N) | equal(block, SLASH))
        quotes &= ~after
        if (quotes | odd) == 0:
            seen |= slashes
            at += WIDTH
            continue
        # the places before the first quote; all if there is none
        before = (quotes & (~quotes + _ONE)) - _ONE
        seen |= (slashes | after) & before
        odd &= before
        while odd != 0:
            place = at + first(odd)
            odd &= odd - _ONE
            if place >= end:
                break
            bad, paired = _bad_escape(data, place, end, paired)
            if bad:
                return -1, True
        if quotes != 0:
            stop = at + first(quotes)
            return stop if stop < end else -1, seen != 0
        at += WIDTH
    return -1, True


@kernel
def put_escape(data: Bytes, at: int, end: int, out: Bytes, to: int) -> Any:
    """Write the character of the valid escape at ``at``; the offsets after both."""
    meaning = MEANING[data[at + 1]]
    if meaning != 0:
        out[to] = meaning
        return at + 2, to + 1
    point, length = read_point(data, at, end)
    return at + length, put_point(out, to, point)


@kernel
def put_text(data: Bytes, at: int, end: int, out: Bytes, to: int) -> int:
    """Write a string whose escapes are valid with its escapes undone; the offset after it.

    It takes no more bytes than it had. Up to `WIDTH` bytes after the end are overwritten.
    """
    while at < end:
        block = load(data, at)
        slashes = equal(block, BACKSLASH)
        # no block begins within an escape
        opening, after = _escapes(slashes, np.uint64(0))
        feeds = after & equal(block, _N)
        plain = feeds | after & (slashes | equal(block, QUOTE) | equal(block, SLASH))
        # other escapes, and one that does not end within the block, are undone one by one
        odd = opening & ~(plain >> _ONE)
        kept = ~opening & places_below(min(WIDTH, end - at))
        if odd != 0:
            kept &= ~odd & (odd - _ONE)
        store(packed(replaced(block, feeds, LF), kept), out, to)
        to += count(kept)
        place = at + first(odd)
        at += WIDTH
        if odd != 0 and place < end:
            at, to = put_escape(data, place, end, out, to)
    return to
