"""JSON as bytes: strings, their ends and their escapes; and one structural pass that validates a text as a
parser would and leaves a token per value.

A token says where its value is (a string: without its quotes) and which token comes after the value.
A member of an object is two tokens, its name (a string) and its value. Nothing is left to check: bytes
that have tokens are JSON that orjson and Python's parser read alike.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import kernel, step
from relfast_kernels.entry import Bytes, Ints
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
from relfast_kernels.text.ascii import DIGITS
from relfast_kernels.text.find import (
    copy,
    find_byte,
    hexadecimal,
    places_below,
    put_point,
    same_as,
    same_bytes,
    skip,
)
from relfast_kernels.text.vectors import WIDTH, count, equal, first, load, only, replaced, store

# ---- strings

QUOTE, BACKSLASH, SLASH, _N, _U = map(ord, '"\\/nu')
_ONE, _LAST, _ODD = np.uint64(1), np.uint64(63), np.uint64(0xAAAA_AAAA_AAAA_AAAA)
_HIGHEST = _ONE << _LAST

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


@step
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
        size = min(first(odd), end - at)
        stop = at + size
        kept = places_below(size) & ~opening if size > 0 else np.uint64(0)
        store(only(replaced(block, feeds, ascii.LF), kept), out, to)
        to += count(kept)
        at += WIDTH  # most often, so that the next block is loaded at once
        if odd != 0 and stop < end:
            at, to = put_escape(data, stop, end, out, to)
    return to


# ---- values

_LONGEST_FLOAT = 300
"""The most digits without an exponent that no parser takes for infinity."""
_LONGEST_INTEGER = 4_300
"""The most digits that Python's parser takes: its `sys.int_info.default_max_str_digits`."""


@kernel
def skip_blanks(data: Bytes, at: int, end: int) -> int:
    """Index after JSON's white space."""
    while at < end and (
        data[at] == ascii.BLANK or data[at] == ascii.LF or data[at] == ascii.CR or data[at] == ascii.TAB
    ):
        at += 1
    return at


@kernel
def is_digit(byte: int) -> bool:
    """Whether a byte is an ASCII digit."""
    return ascii.ZERO <= byte <= ascii.NINE


@kernel
def _number_end(data: Bytes, at: int, end: int) -> Any:
    """Index after the JSON number at ``at`` (-1: there is none), and its kind."""
    start = at
    kind = INTEGER
    if data[at] == ascii.HYPHEN:
        at += 1
    if at >= end or not is_digit(data[at]):
        return -1, kind
    at = at + 1 if data[at] == ascii.ZERO else skip(data, at, end, DIGITS)
    if at < end and data[at] == ascii.DOT:
        kind = LITERAL
        at += 1
        if at >= end or not is_digit(data[at]):
            return -1, kind
        at = skip(data, at, end, DIGITS)
    if at - start > _LONGEST_FLOAT:
        if at - start > _LONGEST_INTEGER:
            return -1, kind
        kind = FLOAT
    if at < end and (data[at] == ascii.LOWER_E or data[at] == ascii.UPPER_E):
        kind = FLOAT
        at += 1
        if at < end and (data[at] == ascii.PLUS or data[at] == ascii.HYPHEN):
            at += 1
        if at >= end or not is_digit(data[at]):
            return -1, kind
        at = skip(data, at, end, DIGITS)
    return at, kind


_TRUE, _FALSE, _NULL, _NAN, _INFINITY, _MINUS_INFINITY = (
    np.frombuffer(word, np.uint8) for word in (b"true", b"false", b"null", b"NaN", b"Infinity", b"-Infinity")
)
"""Words that are values; the last three are Python's extension, which its parser reads too."""


@kernel
def _word_end(data: Bytes, at: int, end: int) -> int:
    """Index after the word at ``at`` that is a value, or -1."""
    literal = max(_end(data, at, end, _TRUE), _end(data, at, end, _FALSE), _end(data, at, end, _NULL))
    number = max(_end(data, at, end, _NAN), _end(data, at, end, _INFINITY))
    return max(literal, number, _end(data, at, end, _MINUS_INFINITY))


@kernel
def _end(data: Bytes, at: int, end: int, word: Bytes) -> int:
    """Index after ``word``, if it stands at ``at``, or -1."""
    return at + len(word) if at + len(word) <= end and same_as(data, at, at + len(word), word) else -1


@kernel
def _is_unknown_key(data: Bytes, start: int, end: int) -> bool:
    r"""Whether a key with escapes, all of them valid, cannot be a name that the table or ``--map`` asks for:
    one of its escapes is not ``\u00`` with an ASCII code. Names that are asked for are ASCII without
    characters that have an escape of their own (``\/``, ``\"``, ``\\``, ``\n`` …)."""
    at = find_byte(data, start, end, BACKSLASH)
    while at < end:
        if (
            data[at + 1] != ascii.LOWER_U
            or data[at + 2] != ascii.ZERO
            or data[at + 3] != ascii.ZERO
            or data[at + 4] > ascii.SEVEN
        ):
            return True
        at = find_byte(data, at + 6, end, BACKSLASH)
    return False


@kernel
def tokenise(data: Bytes, start: int, end: int, tape: Ints, first: int) -> int:
    """`_tokenise`, compiled once: it would be once for each constant that is given to it."""
    return int(_tokenise(data, start, end, tape, np.int64(first)))


@kernel
def _tokenise(data: Bytes, start: int, end: int, tape: Ints, first: Any) -> int:
    """Write the tokens of the one value that data[start:end] holds; the index after the last one, or -1.

    -1 stands for anything but JSON that all parsers read alike: also for lone surrogates, deep nesting and
    keys that may be ASCII spelled with escapes. The caller must refuse control characters.
    ``NaN`` and the infinities are `FLOAT`.

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
            close, escaped = string_end(data, at + 1, end)
            if close < 0 or (escaped and not _is_unknown_key(data, at + 1, close)):
                return -1
            tape[n, TOKEN_KIND], tape[n, TOKEN_START], tape[n, TOKEN_END] = STRING, at + 1, close
            tape[n, TOKEN_NEXT] = n + 1
            n += 1
            at = skip_blanks(data, close + 1, end)
            if at >= end or data[at] != ascii.COLON:
                return -1
            at = skip_blanks(data, at + 1, end)
            if at >= end:
                return -1
        byte = data[at]
        tape[n, TOKEN_START] = at
        opened = False
        if byte == QUOTE:
            close, escaped = string_end(data, at + 1, end)
            if close < 0:
                return -1
            tape[n, TOKEN_KIND] = ESCAPED if escaped else STRING
            tape[n, TOKEN_START], tape[n, TOKEN_END] = at + 1, close
            at = close + 1
        elif byte == ascii.BRACE_OPEN or byte == ascii.SQUARE_OPEN:
            if depth >= MAX_DEPTH:
                return -1
            in_object = byte == ascii.BRACE_OPEN
            tape[n, TOKEN_KIND] = OBJECT if in_object else LIST
            tape[n, TOKEN_NEXT] = parent
            parent = n
            depth += 1
            at = skip_blanks(data, at + 1, end)
            if at >= end:
                return -1
            opened = data[at] != (125 if in_object else 93)
        else:
            if is_digit(byte) or (
                byte == ascii.HYPHEN and not (at + 1 < end and data[at + 1] == ascii.UPPER_I)
            ):
                at, kind = _number_end(data, at, end)
            else:
                at, kind = _word_end(data, at, end), LITERAL if byte >= ascii.LOWER_A else FLOAT
            if at < 0:
                return -1
            tape[n, TOKEN_KIND], tape[n, TOKEN_END] = kind, at
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
            if data[at] == ascii.COMMA and parent != n - 1:
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
def member(data: Bytes, tape: Ints, token: int, name: Bytes) -> int:
    """The value's token of an object's last member called ``name``, or 0: it has none, or is no object."""
    is_object = tape[token, TOKEN_KIND] == OBJECT
    return named(data, tape, token, name, 0, len(name)) if is_object else 0


@kernel
def named(data: Bytes, tape: Ints, token: int, names: Bytes, start: int, end: int) -> int:
    """The value's token of an object's last member called names[start:end], or 0."""
    found = 0
    at = token + 1
    while at < tape[token, TOKEN_NEXT]:
        if same_bytes(data, tape[at, TOKEN_START], tape[at, TOKEN_END], names, start, end):
            found = at + 1
        at = tape[at + 1, TOKEN_NEXT]
    return found


@kernel
def is_null(data: Bytes, tape: Ints, token: int) -> bool:
    """Whether a value is null, or missing (0)."""
    return token == 0 or (
        tape[token, TOKEN_KIND] == LITERAL and data[tape[token, TOKEN_START]] == ascii.LOWER_N
    )


_HEXADECIMAL: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_U00: Final = np.frombuffer(b"\\u00", np.uint8)


@kernel
def put_ascii(out: Bytes, to: int, byte: int) -> int:
    """Write an ASCII character of a JSON string, escaped if need be; the offset after it."""
    if LETTER[byte] != 0:
        out[to] = BACKSLASH
        out[to + 1] = LETTER[byte]
        return to + 2
    if byte < 0x20:
        to = copy(_U00, 0, 4, out, to)
        out[to] = _HEXADECIMAL[byte >> 4]
        out[to + 1] = _HEXADECIMAL[byte & 15]
        return to + 2
    out[to] = byte
    return to + 1


@kernel
def put_json(data: Bytes, start: int, end: int, out: Bytes, to: int) -> int:
    """Write a JSON string whose escapes are valid as orjson would write it, in quotes; the offset after it.

    It takes no more bytes than it had. Up to `WIDTH` bytes after the end are overwritten.
    """
    out[to] = QUOTE
    to += 1
    at = start
    while at < end:
        block = load(data, at)
        slashes = equal(block, BACKSLASH)
        # no block begins within an escape; all but two kinds of escapes are written as they stand
        opening, after = _escapes(slashes, np.uint64(0))
        odd = opening & ((after & (equal(block, _U) | equal(block, SLASH))) >> _ONE | _HIGHEST)
        size = min(first(odd), end - at)
        store(block, out, to)
        at += size
        to += size
        if odd != 0 and at < end:
            if data[at + 1] == _U:
                point, length = read_point(data, at, end)
                to = put_point(out, to, point) if point >= 0x80 else put_ascii(out, to, point)
            else:
                length = 2
                to = put_ascii(out, to, MEANING[data[at + 1]])
            at += length
    out[to] = QUOTE
    return to + 1
