r"""UTF-8 as bytes: whether it is valid, and the characters of a text as Python's `re` and `str` have them.

    classify(ord("é")) == LETTER            # \w, but not \d
    classify(ord("٣")) == DIGIT + 3         # \d and \w
    behind_word(data, at, end, word)        # re.IGNORECASE: "answer" is also "anſwer"

A lone surrogate (as "surrogatepass" encodes it) is a `SYMBOL`, as for `re`.
"""

from __future__ import annotations

import re
from string import ascii_letters, digits
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes
from relfast_kernels.text.ascii import byte_set, continues, small
from relfast_kernels.text.find import find_decimal, find_outside
from relfast_kernels.text.vectors import WIDTH, equal, first, load, within

SYMBOL, LETTER, SPACE, DIGIT = 0, 1, 2, 16
r"""Classes of characters: neither ``\w`` nor ``\s``; ``\w`` but not ``\d``; ``\s``; and, for ``\d``, `DIGIT`
and the digit's value."""

N = TypeVar("N", np.uint8, np.int32)

_N_POINTS: Final = 0x110000
_LEAST_FIRST, _LAST_FIRST = 0xC2, 0xF4
"""Between these are the first bytes of characters beyond ASCII."""
_PAGE: Final = 256


def _classes() -> Bytes:
    """The class of every code point (uint8), from this Python's own tables: each release has those of a later
    Unicode, and the published scorers follow them."""
    text = "".join(map(chr, range(_N_POINTS)))
    classes = np.zeros(_N_POINTS, np.uint8)
    for pattern, kind in ((r"\w+", LETTER), (r"\s+", SPACE)):
        for found in re.finditer(pattern, text):
            classes[found.start() : found.end()] = kind
    for found in re.finditer(r"\d", text):
        classes[found.start()] = DIGIT + int(found[0])
    return classes


def two_stages(classes: NDArray[N]) -> tuple[NDArray[N], NDArray[np.uint16]]:
    """A two-stage table: the distinct pages of 256 code points, and for each page its number among them."""
    places: dict[bytes, int] = {}
    numbers = [places.setdefault(page.tobytes(), len(places)) for page in classes.reshape(-1, _PAGE)]
    return np.frombuffer(b"".join(places), classes.dtype).copy(), np.array(numbers, np.uint16)


_CLASSES, _PAGES = two_stages(_classes())


@kernel
def classify(point: int) -> int:
    """The class of a character."""
    return int(_CLASSES[np.int64(_PAGES[point >> 8]) * _PAGE + (point & 255)])


@kernel
def decode(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Code point and length of the UTF-8 sequence at ``at``; length 0 if it is invalid."""
    first = int(data[at])
    if first < _LEAST_FIRST or first > _LAST_FIRST:
        return 0, 0
    length = 2 if first < ascii.THREE_BYTES else 3 if first < ascii.FOUR_BYTES else 4
    if at + length > end:
        return 0, 0
    # unrolled: the end of a loop over one to three bytes is unpredictable
    second = int(data[at + 1])
    if not continues(second):
        return 0, 0
    if length == 2:
        return (first & 0x1F) << 6 | second & 0x3F, 2
    third = int(data[at + 2])
    if not continues(third):
        return 0, 0
    if length == 3:
        point = (first & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F
        # overlong forms, surrogates
        return (0, 0) if point < 0x800 or 0xD800 <= point <= 0xDFFF else (point, 3)
    fourth = int(data[at + 3])
    if not continues(fourth):
        return 0, 0
    point = (first & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | fourth & 0x3F
    # overlong forms, beyond Unicode
    return (0, 0) if point < 0x10000 or point > 0x10FFFF else (point, 4)


_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_ALL: Final = ~np.uint64(0)


@kernel
def is_utf8(data: Bytes, start: int, end: int) -> bool:
    """Whether data[start:end] is valid UTF-8 without ASCII control characters."""
    at = find_outside(data, start, end, ascii.BLANK, ascii.TILDE)
    while at < end:
        # a block begins with a character; later bytes of characters must stand where, and only where, first
        # bytes expect them
        block, step = load(data, at), WIDTH
        inside = _ALL if end - at >= WIDTH else (_ONE << np.uint64(end - at)) - _ONE
        later = within(block, 0x80, 0xBF) & inside
        two, three = within(block, 0xC2, 0xDF) & inside, within(block, 0xE0, 0xEF) & inside
        four = within(block, 0xF0, 0xF4) & inside
        if within(block, ascii.BLANK, ascii.TILDE) & inside | later | two | three | four != inside:
            return False
        cut = two & (inside ^ inside >> _ONE) | three & (inside ^ inside >> _TWO)
        cut |= four & (inside ^ inside >> _THREE)
        if cut != 0:
            if at + WIDTH >= end:
                return False
            # the character that the block's end cuts is the next block's first
            step = first(cut)
            inside = (_ONE << np.uint64(step)) - _ONE
        more = (three | four) & inside
        expected = ((two & inside | more) << _ONE) | more << _TWO | (four & inside) << _THREE
        # overlong forms, surrogates, and what is beyond Unicode, by a character's second byte
        odd = equal(block, 0xE0) << _ONE & within(block, 0x80, 0x9F)
        odd |= equal(block, 0xED) << _ONE & within(block, 0xA0, 0xBF)
        odd |= equal(block, 0xF0) << _ONE & within(block, 0x80, 0x8F)
        odd |= equal(block, 0xF4) << _ONE & within(block, 0x90, 0xBF)
        if later & inside != expected or odd & inside != 0:
            return False
        at = find_outside(data, at + step, end, ascii.BLANK, ascii.TILDE)
    return True


_MARKS: Final = np.frombuffer(b"~~\n~~\n<del>\n</del>\n<s>\n</s>\n<strike>\n</strike>\n<!--\n-->\n", np.uint8)
"""Marks that strike text out, each followed by the one that ends it."""
_MOST: Final = 2_000
"""The most bytes struck out at once, so that a hundred thousand unclosed marks do not take quadratic time."""


@kernel
def _stop(text: Bytes, at: int, end: int, mark: int) -> int:
    """The offset after the mark of `_MARKS` from ``mark`` on if it stands at ``at``, or -1."""
    while _MARKS[mark] != ascii.LF:
        if at == end or small(text[at]) != _MARKS[mark]:
            return -1
        at += 1
        mark += 1
    return at


@kernel
def _following(mark: int) -> int:
    while _MARKS[mark] != ascii.LF:
        mark += 1
    return mark + 1


@kernel
def struck_end(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """Where what is struck out from ``at`` on ends (``at``: nothing is), and up to where no mark with the
    same first character needs a look. No mark reaches across a blank line. ``text[at]`` is ``~`` or ``<``."""
    if text[at] == ascii.TILDE and (
        at + 2 >= end
        or text[at + 1] != ascii.TILDE
        or text[at + 2] == ascii.TILDE
        or text[at + 2] <= ascii.BLANK
    ):
        return at, at  # a fence, or where nothing is struck out
    mark = 0
    while mark < len(_MARKS):
        closing = _following(mark)
        inside = _stop(text, at, end, mark)
        if inside >= 0:
            blank = False
            for k in range(inside, min(end, inside + _MOST)):
                if text[k] == ascii.LF:
                    if blank:
                        return at, k
                    blank = True
                elif text[k] > ascii.BLANK:
                    blank = False
                    stop = _stop(text, k, end, closing)
                    if stop >= 0:
                        return stop, stop
            return at, min(end, inside + _MOST)
        mark = _following(closing)
    return at, at


_DOTTED_I, _DOTLESS_I, _LONG_S, _KELVIN = map(ord, "İıſ\u212a")


@kernel
def behind_word(data: Bytes, at: int, end: int, word: Bytes) -> int:
    """The offset after ``word`` (ASCII letters in lower case) if it stands at ``at`` as `re` ignores case,
    else -1: an s may be ſ, an i ı or İ, and a k the Kelvin sign."""
    for k in range(len(word)):
        letter = word[k]
        if at >= end:
            return -1
        if data[at] | 32 == letter:
            at += 1
            continue
        if data[at] < ascii.BEYOND_ASCII:
            return -1
        point, length = decode(data, at, end)
        alike = letter == ascii.LOWER_S and point == _LONG_S
        alike = alike or (letter == ascii.LOWER_I and (point == _DOTLESS_I or point == _DOTTED_I))
        if not alike and not (letter == ascii.LOWER_K and point == _KELVIN):
            return -1
        at += length
    return at


@kernel
def _class_at(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """The class of the character at ``at``, and how many bytes it has."""
    byte = int(np.int64(data[at]))
    if byte < ascii.BEYOND_ASCII:
        return classify(byte), 1
    point, length = decode(data, at, end)
    return classify(point), max(length, 1)


@kernel
def _first_byte(data: Bytes, start: int, at: int) -> int:
    """The index of the first byte of the character that has a byte at ``at``."""
    while at > start and continues(data[at]):
        at -= 1
    return at


_WORD: Final = byte_set(f"{ascii_letters}{digits}_")


@kernel
def is_word(data: Bytes, at: int, start: int) -> bool:
    r"""Whether the character that has a byte at ``at`` is a letter, digit or underscore (``\w``)."""
    if data[at] < ascii.BEYOND_ASCII:
        return bool(_WORD[data[at]])
    return _is_letter(data, at, start)


@kernel
def _is_letter(data: Bytes, at: int, start: int) -> bool:
    kind, _ = _class_at(data, _first_byte(data, start, at), len(data))
    return bool(kind == LETTER or kind >= DIGIT)


@kernel
def digit_at(data: Bytes, at: int, end: int) -> tuple[int, int]:
    r"""The value of the digit (``\d``) at ``at``, -1 if there is none, and how many bytes it has."""
    if at >= end:
        return -1, 0
    if data[at] < ascii.BEYOND_ASCII:
        return int(data[at]) - ascii.ZERO if ascii.ZERO <= data[at] <= ascii.NINE else -1, 1
    return _digit_beyond(data, at, end)


@kernel
def _digit_beyond(data: Bytes, at: int, end: int) -> tuple[int, int]:
    kind, length = _class_at(data, at, end)
    return kind - DIGIT if kind >= DIGIT else -1, length


@kernel
def find_number(data: Bytes, at: int, end: int) -> int:
    r"""Index of the first digit (``\d``) from ``at`` on, or ``end``."""
    while at < end:
        at = find_decimal(data, at, end)
        value, length = digit_at(data, at, end)
        if value >= 0:
            return at
        at += length
    return end


@kernel
def skip_number(data: Bytes, at: int, end: int) -> int:
    r"""Index after digits (``\d``)."""
    value, length = digit_at(data, at, end)
    while value >= 0:
        at += length
        value, length = digit_at(data, at, end)
    return at


@kernel
def white_length(data: Bytes, at: int, end: int) -> int:
    r"""Bytes of the white space character (``\s``) at ``at``; 0 if there is none."""
    if at >= end or ascii.BLANK < data[at] <= ascii.TILDE:
        return 0
    kind, length = _class_at(data, at, end)
    return length if kind == SPACE else 0


@kernel
def skip_white(data: Bytes, at: int, end: int) -> int:
    r"""Index after white space (``\s``)."""
    while True:
        length = white_length(data, at, end)
        if length == 0:
            return at
        at += length


@kernel
def skip_white_back(data: Bytes, start: int, end: int) -> int:
    r"""Where the white space (``\s``) begins that ends at ``end``; not before ``start``."""
    while end > start:
        first = _first_byte(data, start, end - 1)
        if white_length(data, first, end) != end - first:
            return end
        end = first
    return end
