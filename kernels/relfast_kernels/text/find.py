"""Searching and copying bytes, UTF-8 and keyed digests, for all kernels that read text."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from relfast_kernels.compiled.jit import BUILDING, kernel, unsigned
from relfast_kernels.entry import Buffer, Bytes
from relfast_kernels.text.ascii import (
    BEYOND_ASCII,
    BLANK,
    DELETE,
    DIGITS,
    DOT,
    LESS,
    LF,
    LOWER_A,
    LOWER_F,
    LOWER_N,
    LOWER_Y,
    NINE,
    SLASH,
    SQUARE_OPEN,
    ZERO,
    ByteSet,
    small,
)
from relfast_kernels.text.vectors import WIDTH, equal, first, fold, last, load, lower, within

# Loops that LLVM should turn into vector code count in `unsigned`: for a signed index numba adds the
# wrap-around of negative indices, which keeps the loop scalar (0.93 µs against 0.13 µs for 2 kB).


if not BUILDING:

    @lru_cache(maxsize=256)
    def _either(one: int, other: int) -> re.Pattern[bytes]:
        return re.compile(b"[%s]" % re.escape(bytes((one, other))))

    @lru_cache(maxsize=256)
    def _outside(least: int, most: int) -> re.Pattern[bytes]:
        others = bytes(byte for byte in range(256) if (byte - least) & 255 > (most - least) & 255)
        return re.compile(b"[%s]" % re.escape(others))

    _DIGIT_BEGINS = re.compile(b"[0-9\xd9-\xe1\xea\xef\xf0]")

    def _find(pattern: re.Pattern[bytes], data: Buffer, at: int, end: int) -> int:
        found = pattern.search(data, at, end)
        return found.start() if found else end

    def find_either(data: Bytes, at: int, end: int, one: int, other: int) -> int:
        """Index of the first of two bytes from ``at`` on, or ``end``."""
        return _find(_either(one, other), data, at, end)

    def find_outside(data: Bytes, at: int, end: int, least: int, most: int) -> int:
        """Index of the first byte from ``at`` on outside ``least`` to ``most`` (see `within`), or ``end``."""
        return _find(_outside(least, most), data, at, end)

    def find_decimal(data: Bytes, at: int, end: int) -> int:
        """Index of the first byte from ``at`` on that may begin a digit of any script, or ``end``."""
        return _find(_DIGIT_BEGINS, data, at, end)

    def find_word(data: Bytes, at: int, end: int, word: Bytes) -> int:
        """Index of the next place from ``at`` on of a word of two or more ASCII letters (given in lower
        case), ignoring case, or ``end``."""
        return _find(re.compile(bytes(word), re.IGNORECASE), data, at, end)

else:

    @kernel
    def find_either(data: Bytes, at: int, end: int, one: int, other: int) -> int:
        """See the plain one."""
        while at < end:
            block = load(data, at)
            places = equal(block, one) | equal(block, other)
            if places != 0:
                return min(at + first(places), end)
            at += WIDTH
        return end

    @kernel
    def find_outside(data: Bytes, at: int, end: int, least: int, most: int) -> int:
        """See the plain one."""
        while at < end:
            odd = ~within(load(data, at), least, most)
            if odd != 0:
                return min(at + first(odd), end)
            at += WIDTH
        return end

    @kernel
    def find_decimal(data: Bytes, at: int, end: int) -> int:
        """See the plain one."""
        while at < end:
            block = load(data, at)
            places = within(block, ZERO, NINE) | within(block, 0xD9, 0xE1)
            places |= equal(block, 0xEA) | within(block, 0xEF, 0xF0)
            if places != 0:
                return min(at + first(places), end)
            at += WIDTH
        return end

    @kernel
    def find_word(data: Bytes, at: int, end: int, word: Bytes) -> int:
        """See the plain one."""
        # its first two letters and its last one are compared in blocks, those between one by one
        last = len(word) - 1
        while at < end:
            block, second, behind = load(data, at), load(data, at + 1), load(data, at + last)
            places = equal(lower(block), word[0]) & equal(lower(second), word[1])
            places &= equal(lower(behind), word[last])
            while places != 0:
                found = at + first(places)
                places &= places - np.uint64(1)
                if found + last >= end:
                    return end
                k = 2
                while k < last and data[found + k] | 32 == word[k]:
                    k += 1
                if k >= last:
                    return found
            at += WIDTH
        return end


@kernel
def find_opening(data: Bytes, at: int, end: int) -> int:
    """Index of the first angle or square bracket from ``at`` on that a letter, a slash, a bar or anything
    beyond ASCII stands behind, or of a sign such as ◁; or ``end``. Some others are found besides."""
    while at < end:
        block, behind = load(data, at), load(data, at + 1)
        places = within(lower(behind), LOWER_A, 0xFF) | equal(behind, SLASH)
        places &= equal(block, LESS) | equal(block, SQUARE_OPEN)
        places |= equal(block, 0xE2) & equal(behind, 0x97)
        if places != 0:
            return min(at + first(places), end)
        at += WIDTH
    return end


@kernel
def find_label_open(data: Bytes, at: int, end: int) -> int:
    """Index of the first ``<`` from ``at`` on behind which a y, an n, white space or anything beyond ASCII
    stands, or ``end``. Some others are found besides."""
    while at < end:
        behind = load(data, at + 1)
        letter = lower(behind)
        places = equal(letter, LOWER_Y) | equal(letter, LOWER_N) | within(behind, DELETE, BLANK)
        places &= equal(load(data, at), LESS)
        if places != 0:
            return min(at + first(places), end)
        at += WIDTH
    return end


@kernel
def find_byte(data: Bytes, start: int, end: int, byte: int) -> int:
    """Index of a byte from ``start`` on, or ``end``."""
    return find_either(data, start, end, byte, byte)


@kernel
def find_digit(data: Bytes, at: int, end: int) -> int:
    """Index of the first ASCII digit from ``at`` on, or ``end``."""
    return find_outside(data, at, end, NINE + 1, ZERO - 1)


@kernel
def has_digits(data: Bytes, start: int, end: int, count: int) -> bool:
    """Whether ``count`` or more ASCII digits in a row stand in data[start:end], not behind a dot."""
    at = start + count - 1  # of so many digits one is at such a place
    while at < end:
        if DIGITS[data[at]]:
            begin = skip_back(data, start, at, DIGITS)
            at = skip(data, at, end, DIGITS)
            if at - begin >= count and (begin == start or data[begin - 1] != DOT):
                return True
        at += count
    return False


@kernel
def copy(source: Bytes, start: int, end: int, out: Bytes, to: int) -> int:
    """Copy source[start:end] to ``to``; returns where the next byte goes."""
    first, place = unsigned(start), unsigned(to)
    for k in range(unsigned(max(end - start, 0))):
        out[place + k] = source[first + k]
    return to + end - start


@kernel
def skip(data: Bytes, at: int, end: int, some: ByteSet) -> int:
    """Index of the first byte from ``at`` on that is not in the set ``some``, or ``end``."""
    while at < end and some[data[at]]:
        at += 1
    return at


@kernel
def skip_back(data: Bytes, low: int, at: int, some: ByteSet) -> int:
    """Where the run of bytes of the set ``some`` begins that ends before ``at``; not before ``low``."""
    while at > low and some[data[at - 1]]:
        at -= 1
    return at


@kernel
def same_bytes(data: Bytes, a: int, a_end: int, other: Bytes, b: int, b_end: int) -> bool:
    """Whether data[a:a_end] and other[b:b_end] are equal."""
    if a_end - a != b_end - b:
        return False
    for k in range(a_end - a):
        if data[a + k] != other[b + k]:
            return False
    return True


@kernel
def same_as(data: Bytes, start: int, end: int, name: Bytes) -> bool:
    """Whether data[start:end] equals ``name``."""
    return same_bytes(data, start, end, name, 0, len(name))


@kernel
def begins_with(data: Bytes, start: int, end: int, name: Bytes) -> bool:
    """Whether data[start:end] begins with ``name`` (in lower case), ignoring case."""
    if end - start < len(name):
        return False
    for k in range(len(name)):
        if small(data[start + k]) != name[k]:
            return False
    return True


_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@kernel
def places_below(n: int) -> np.uint64:
    """A bit (of a uint64) for each of the first ``n`` places of a block, 1 to `WIDTH`."""
    return _ALL >> np.uint64(WIDTH - n)


@kernel
def find_last(data: Bytes, low: int, at: int, least: int, most: int) -> int:
    """Index of the last byte before ``at`` from ``least`` to ``most`` (see `within`), or ``low`` - 1."""
    while at > low:
        here = max(at - WIDTH, low)
        places = within(load(data, here), least, most) & places_below(at - here)
        if places != 0:
            return here + last(places)
        at = here
    return low - 1


@kernel
def line_start(text: Bytes, low: int, at: int) -> int:
    """Where the line that ``at`` is in begins."""
    return find_last(text, low, at, LF, LF) + 1


@kernel
def listed(text: Bytes, at: int, end: int, some: Bytes, whole: bool) -> int:
    """Where the first of ``some`` words that text[at:end] begins with ends, ignoring case; else ``at``.

    The words are in lower case, each ended by a newline. ``whole``: the word must be all of text[at:end]."""
    k = 0
    while k < len(some):
        to = at
        while some[k] != LF and to < end and small(text[to]) == some[k]:
            k += 1
            to += 1
        if some[k] == LF and (to == end or not whole):
            return to
        while some[k] != LF:
            k += 1
        k += 1
    return at


@kernel
def load8(data: Bytes, at: int) -> np.uint64:
    """The eight bytes at ``at`` as a little-endian number."""
    start = unsigned(at)
    word = np.uint64(0)
    for k in range(8):
        word |= np.uint64(data[start + unsigned(k)]) << np.uint64(8 * k)
    return word


@kernel
def load_rest(data: Bytes, at: int, end: int) -> np.uint64:
    """Up to eight bytes as a little-endian number, with zeros after ``end``."""
    if at + 8 <= end:
        return load8(data, at)
    word = np.uint64(0)
    for k in range(max(end - at, 0)):
        word |= np.uint64(data[at + k]) << np.uint64(8 * k)
    return word


@kernel
def hash_text(data: Bytes, start: int, end: int) -> np.uint64:
    """`relfast.stats.samples.hash_id` of data[start:end]."""
    value = np.uint64(end - start)
    at = start
    while at < end:
        value = (value ^ load_rest(data, at, end)) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
        at += 8
    return value


@kernel
def put_number(out: Bytes, at: int, value: int) -> int:
    """Write a non-negative number in decimal; the offset after it."""
    digits = 1
    rest = value
    while rest >= 10:
        rest //= 10
        digits += 1
    for k in range(digits - 1, -1, -1):
        out[at + k] = ZERO + value % 10
        value //= 10
    return at + digits


@kernel
def hexadecimal(data: Bytes, at: int, end: int, count: int) -> int:
    """Value of ``count`` hexadecimal digits at ``at``, or -1 if there are not so many."""
    if at + count > end:
        return -1
    value = 0
    for k in range(at, at + count):
        byte = int(data[k])
        letter = byte | 32
        if ZERO <= byte <= NINE:
            value = value * 16 + byte - ZERO
        elif LOWER_A <= letter <= LOWER_F:
            value = value * 16 + letter - LOWER_A + 10
        else:
            return -1
    return value


@kernel
def put_point(out: Bytes, at: int, point: int) -> int:
    """Write a code point as UTF-8; the offset after it."""
    if point < BEYOND_ASCII:
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


_FIRST, _SECOND = np.uint64(0xA0761D6478BD642F), np.uint64(0xE7037ED1A0B428DB)
_THIRD, _FOURTH = np.uint64(0x8EBC6AF09C88C6E3), np.uint64(0x589965CC75374CC3)


@kernel
def digest(data: Bytes, start: int, end: int, seed: np.uint64, value: np.uint64) -> np.uint64:
    """A digest (uint64) of data[start:end] and ``value``, keyed by a secret ``seed`` (wyhash's mixing)."""
    one = fold(seed ^ _FIRST, value ^ seed)
    two, three, four = one ^ _SECOND, one ^ _THIRD, one ^ _FOURTH
    first, second = fold(seed ^ _SECOND, _THIRD), fold(seed ^ _FOURTH, _FIRST)
    at = start
    while at + 64 <= end:
        one = fold(load8(data, at) ^ first, load8(data, at + 8) ^ one)
        two = fold(load8(data, at + 16) ^ second, load8(data, at + 24) ^ two)
        three = fold(load8(data, at + 32) ^ first, load8(data, at + 40) ^ three)
        four = fold(load8(data, at + 48) ^ second, load8(data, at + 56) ^ four)
        at += 64
    one = fold(one ^ two, first) ^ fold(three ^ four ^ seed, second ^ two)
    while at < end:
        one = fold(load_rest(data, at, end) ^ first, load_rest(data, at + 8, end) ^ one)
        at += 16
    return fold(one ^ second, np.uint64(end - start) ^ first)
