"""JSON as bytes: one structural pass that checks a text as a parser would and leaves a token per value.

A token has where its value stands, of a string without its quotes, and which token comes after the value.
Members of an object are two tokens, a string and the value. What a token leaves open is nothing: bytes
that have tokens are JSON, as orjson and Python's parser read it alike.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ESCAPED,
    FLOAT,
    INTEGER,
    LIST,
    LITERAL,
    MAX_DEPTH,
    OBJECT,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
)
from relfast_kernels.text.find import copy_until, same_as
from relfast_kernels.text.vectors import PACKS, WIDTH, lowest, places_of, put_packed

QUOTE, BACKSLASH = 34, 92
_ONE, _LAST, _ODD = np.uint64(1), np.uint64(63), np.uint64(0xAAAA_AAAA_AAAA_AAAA)

MEANING: Final = np.zeros(256, np.uint8)
"""The byte that a backslash and one character stand for; 0: another escape, or none."""
LETTER: Final = np.zeros(256, np.uint8)
"""The character that stands for a byte after a backslash, as orjson writes it; 0: there is none."""
for _after, _meant in {'"': '"', "\\": "\\", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}.items():
    MEANING[ord(_after)] = ord(_meant)
    LETTER[ord(_meant)] = ord(_after)
MEANING[ord("/")] = ord("/")

_LONGEST_FLOAT = 300
"""Digits without an exponent that no parser takes for infinite."""


@kernel
def hexadecimal(data: Any, at: int, end: int) -> Any:
    """Value of the four digits at ``at``, or -1 if they are not there."""
    if at + 4 > end:
        return -1
    value: Any = 0
    for k in range(at, at + 4):
        byte = np.int64(data[k])
        letter = byte | 32
        if 48 <= byte <= 57:
            value = value * 16 + byte - 48
        elif 97 <= letter <= 102:
            value = value * 16 + letter - 87
        else:
            return -1
    return value


@kernel
def put_point(out: Any, at: int, point: int) -> int:
    """Write a code point as UTF-8; returns where the next one goes."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | point >> 6
        out[at + 1] = 0x80 | point & 0x3F
        return at + 2
    if point < 0x10000:
        out[at] = 0xE0 | point >> 12
        out[at + 1] = 0x80 | point >> 6 & 0x3F
        out[at + 2] = 0x80 | point & 0x3F
        return at + 3
    out[at] = 0xF0 | point >> 18
    out[at + 1] = 0x80 | point >> 12 & 0x3F
    out[at + 2] = 0x80 | point >> 6 & 0x3F
    out[at + 3] = 0x80 | point & 0x3F
    return at + 4


@kernel
def read_point(data: Any, at: int, end: int) -> Any:
    r"""Code point of the ``\u`` at ``at``, of a surrogate pair where it is one, and its length; (-1, 0) if it
    is not valid, or half a pair."""
    point = hexadecimal(data, at + 2, end)
    if point < 0 or 0xDC00 <= point < 0xE000:
        return -1, 0
    if point < 0xD800 or point > 0xDFFF:
        return point, 6
    if at + 12 > end or data[at + 6] != BACKSLASH or data[at + 7] != 117:
        return -1, 0
    low = hexadecimal(data, at + 8, end)
    if low < 0xDC00 or low > 0xDFFF:
        return -1, 0
    return 0x10000 + ((point - 0xD800) << 10) + low - 0xDC00, 12


@kernel
def _bad_escape(data: Any, at: int, end: int, paired: int) -> Any:
    r"""Whether what follows a backslash, at ``at``, is no escape; and where the second ``\u`` of a surrogate
    pair has its letter, ``paired`` where none was met."""
    if MEANING[data[at]] != 0 or at == paired:
        return False, paired
    if data[at] != 117:
        return True, paired
    point, length = read_point(data, at - 1, end)
    return point < 0, at + 6 if length == 12 else paired


@kernel
def _escapes(slashes: Any, carried: Any) -> Any:
    """Of the backslashes in a vector, those that begin an escape, and the places behind them. ``carried`` is
    1 where the vector before ended with one. Runs of them by a subtraction, as simdjson does."""
    begun = slashes & ~carried
    code = ((begun << _ONE | _ODD) - begun) ^ _ODD
    return code & slashes, code ^ (slashes | carried)


@kernel
def _string_end(data: Any, at: int, end: int) -> Any:
    """Index of the closing quote of a string whose first byte is at ``at``, or -1: there is none, or an
    escape is not valid; and whether it has escapes."""
    carried = np.uint64(0)
    seen = np.uint64(0)
    paired: Any = -1
    size = len(data)
    while at < end and at + WIDTH <= size:
        quotes = places_of(data, at, QUOTE, QUOTE)
        slashes = places_of(data, at, BACKSLASH, BACKSLASH)
        # no question whether there are any: every third vector of prose has some, which nobody can foresee
        opening, after = _escapes(slashes, carried)
        carried = opening >> _LAST
        quotes &= ~after
        odd = after & ~(places_of(data, at, QUOTE, BACKSLASH) | places_of(data, at, 110, 47))
        if (quotes | odd) == 0:
            seen |= slashes
            at += WIDTH
            continue
        # all of them where there is no quote
        before = (quotes & (~quotes + _ONE)) - _ONE
        seen |= (slashes | after) & before
        odd &= before
        while odd != 0:
            place = at + lowest(odd)
            odd &= odd - _ONE
            if place >= end:
                break
            bad, paired = _bad_escape(data, place, end, paired)
            if bad:
                return -1, True
        if quotes != 0:
            stop = at + lowest(quotes)
            return stop if stop < end else -1, seen != 0
        at += WIDTH
    escaped = seen != 0
    if carried != 0:
        if at >= end:
            return -1, True
        bad, paired = _bad_escape(data, at, end, paired)
        if bad:
            return -1, True
        at += 1
    while at < end:
        byte = data[at]
        if byte == QUOTE:
            return at, escaped
        if byte == BACKSLASH:
            escaped = True
            if at + 1 >= end:
                return -1, True
            bad, paired = _bad_escape(data, at + 1, end, paired)
            if bad:
                return -1, True
            at += 1
        at += 1
    return -1, escaped


@kernel
def put_by_stretches(data: Any, at: int, end: int, out: Any, to: int) -> int:
    """`put_text`, from one backslash to the next one: for all processors, and what is left at the end."""
    while at < end:
        stop, to = copy_until(data, at, end, BACKSLASH, out, to)
        if stop >= end:
            break
        meaning = MEANING[data[stop + 1]]
        if meaning != 0:
            out[to] = meaning
            to += 1
            at = stop + 2
        else:
            point, length = read_point(data, stop, end)
            to = put_point(out, to, point)
            at = stop + length
    return to


@kernel
def _up_to(place: int) -> Any:
    """The places of a vector before one of them."""
    return (_ONE << np.uint64(place)) - _ONE


if PACKS:

    @kernel
    def put_text(data: Any, at: int, end: int, out: Any, to: int) -> int:
        """Write a string whose escapes are valid without them; where it ends.

        It takes no more bytes than it had. Up to `WIDTH` bytes after the end are overwritten.
        """
        carried = np.uint64(0)
        size = len(data)
        while at < end and at + WIDTH <= size:
            opening, after = _escapes(places_of(data, at, BACKSLASH, BACKSLASH), carried)
            dropped = opening
            if at + WIDTH > end:
                dropped |= ~_up_to(end - at)
            points = after & places_of(data, at, 117, 117) & ~dropped
            if points != 0:
                # a code point has its own length: the vector ends before it, the next one begins behind it
                place = lowest(points)
                if place > 0:
                    before = _up_to(place - 1)
                    to = put_packed(data, at, dropped | ~before, after & before, MEANING, out, to)
                at += place - 1
                point, length = read_point(data, at, end)
                to = put_point(out, to, point)
                at += length
                carried = np.uint64(0)
                continue
            to = put_packed(data, at, dropped, after, MEANING, out, to)
            carried = opening >> _LAST
            at += WIDTH
        # with the backslash that it has met
        return put_by_stretches(data, at - 1 if carried != 0 else at, end, out, to)

else:
    put_text = put_by_stretches


@kernel
def skip_blanks(data: Any, at: int, end: int) -> int:
    """Index after JSON's white space."""
    while at < end and (data[at] == 32 or data[at] == 10 or data[at] == 13 or data[at] == 9):
        at += 1
    return at


@kernel
def is_digit(byte: int) -> bool:
    """Whether a byte is an ASCII digit."""
    return 48 <= byte <= 57


@kernel
def _number_end(data: Any, at: int, end: int) -> Any:
    """Index after a JSON number (or -1), and its kind."""
    start = at
    kind = INTEGER
    if data[at] == 45:
        at += 1
    if at >= end or not is_digit(data[at]):
        return -1, kind
    if data[at] == 48:
        at += 1
    else:
        while at < end and is_digit(data[at]):
            at += 1
    if at < end and data[at] == 46:
        kind = LITERAL
        at += 1
        if at >= end or not is_digit(data[at]):
            return -1, kind
        while at < end and is_digit(data[at]):
            at += 1
    if at - start > _LONGEST_FLOAT:
        kind = FLOAT
    if at < end and (data[at] == 101 or data[at] == 69):
        kind = FLOAT
        at += 1
        if at < end and (data[at] == 43 or data[at] == 45):
            at += 1
        if at >= end or not is_digit(data[at]):
            return -1, kind
        while at < end and is_digit(data[at]):
            at += 1
    return at, kind


@kernel
def _literal_end(data: Any, at: int, end: int) -> int:
    """Index after ``true``, ``false`` or ``null``, or -1."""
    if end - at >= 4 and data[at] == 116:
        if data[at + 1] == 114 and data[at + 2] == 117 and data[at + 3] == 101:
            return at + 4
    elif end - at >= 4 and data[at] == 110:
        if data[at + 1] == 117 and data[at + 2] == 108 and data[at + 3] == 108:
            return at + 4
    elif (
        end - at >= 5
        and data[at] == 102
        and data[at + 1] == 97
        and data[at + 2] == 108
        and data[at + 3] == 115
        and data[at + 4] == 101
    ):
        return at + 5
    return -1


@kernel
def tokenise(data: Any, start: int, end: int, tape: Any, first: int) -> int:
    """Tokens of the one value that data[start:end] holds; the index after the last one, or -1.

    -1 stands for anything but JSON that all parsers read alike: keys with escapes, surrogates by
    themselves and deep nesting too. Control characters are the caller's to refuse.

    Parameters
    ----------
    tape : int64, shape (n, TOKEN_COLUMNS)
        Filled from ``first`` on.
    """
    n = first
    depth = 0
    parent = -1
    in_object = False
    expect_key = False
    at = start
    while True:
        at = skip_blanks(data, at, end)
        if at >= end or n + 1 >= tape.shape[0]:
            return -1
        if expect_key:
            if data[at] != QUOTE:
                return -1
            close, escaped = _string_end(data, at + 1, end)
            if close < 0 or escaped:
                return -1
            tape[n, TOKEN_KIND], tape[n, TOKEN_START], tape[n, TOKEN_END] = STRING, at + 1, close
            tape[n, TOKEN_NEXT] = n + 1
            n += 1
            at = skip_blanks(data, close + 1, end)
            if at >= end or data[at] != 58:
                return -1
            at = skip_blanks(data, at + 1, end)
            if at >= end:
                return -1
        byte = data[at]
        tape[n, TOKEN_START] = at
        opened = False
        if byte == QUOTE:
            close, escaped = _string_end(data, at + 1, end)
            if close < 0:
                return -1
            tape[n, TOKEN_KIND] = ESCAPED if escaped else STRING
            tape[n, TOKEN_START], tape[n, TOKEN_END] = at + 1, close
            at = close + 1
        elif byte == 123 or byte == 91:
            if depth >= MAX_DEPTH:
                return -1
            in_object = byte == 123
            tape[n, TOKEN_KIND] = OBJECT if in_object else LIST
            tape[n, TOKEN_NEXT] = parent
            parent = n
            depth += 1
            at = skip_blanks(data, at + 1, end)
            if at >= end:
                return -1
            opened = data[at] != (125 if in_object else 93)
        elif byte == 45 or is_digit(byte):
            at, kind = _number_end(data, at, end)
            if at < 0:
                return -1
            tape[n, TOKEN_KIND], tape[n, TOKEN_END] = kind, at
        else:
            at = _literal_end(data, at, end)
            if at < 0:
                return -1
            tape[n, TOKEN_KIND], tape[n, TOKEN_END] = LITERAL, at
        if parent != n:
            tape[n, TOKEN_NEXT] = n + 1
        n += 1
        expect_key = opened and in_object
        # a value has ended, or a container has begun: what may follow?
        while not opened:
            at = skip_blanks(data, at, end)
            if parent < 0:
                return n if at == end else -1
            if at >= end:
                return -1
            # an empty container closes at once
            if data[at] == 44 and parent != n - 1:
                at += 1
                expect_key = in_object
                break
            if data[at] != (125 if in_object else 93):
                return -1
            at += 1
            outer = tape[parent, TOKEN_NEXT]
            tape[parent, TOKEN_NEXT], tape[parent, TOKEN_END] = n, at
            parent = outer
            depth -= 1
            in_object = parent >= 0 and tape[parent, TOKEN_KIND] == OBJECT


@kernel
def member(data: Any, tape: Any, token: int, name: Any) -> int:
    """The value of an object's last member of that name, or 0: none has it, or the token is no object."""
    found = 0
    if tape[token, TOKEN_KIND] != OBJECT:
        return 0
    at = token + 1
    stop = tape[token, TOKEN_NEXT]
    while at < stop:
        if same_as(data, tape[at, TOKEN_START], tape[at, TOKEN_END], name):
            found = at + 1
        at = tape[at + 1, TOKEN_NEXT]
    return found


@kernel
def is_null(data: Any, tape: Any, token: int) -> bool:
    """Whether a value is null, or not there (0)."""
    return token == 0 or (tape[token, TOKEN_KIND] == LITERAL and data[tape[token, TOKEN_START]] == 110)
