"""Reading text records without decoding them: the fields and the answer straight from a line's bytes.

`scan_lines` finds, in a block of JSON lines, the records of the text tasks (REL-A, B1, C1) that are plain
enough to be read exactly as they stand: UTF-8 without ``\\u`` escapes, in the response only characters that
`classify` knows, the fields a record has. It extracts
the answer under the ``reference`` policy and leaves a key per line; `write_rows` turns keys into rows by
templates. Every other line is marked `SLOW` and takes the exact way. A line that is marked otherwise has
been read exactly as JSON and `re` would read it, including what must not be valid JSON.

The published rules are those of `relfast.tasks.rel_a.extract`, `rel_b.extract` and `rel_c.extract`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels._jit import kernel
from relfast_kernels.find import find_byte

SLOW, BLANK, FAST = 0, 1, 2
"""Kinds of lines."""

# columns of `lines`
START, END, KIND, ID_START, ID_END, KEY, HASH, VOTE = range(8)
COLUMNS = 8

MAX_TAXA = 128
"""Numbers of a REL-B1 response or gold compared here; more take the exact way."""

MAX_DIGITS = 4000
"""Digits of an answer number read here; Python refuses more than 4,300, which the exact way reports."""

MAX_ID_DIGITS = 18
"""Digits of a number that every JSON parser keeps exactly."""

MAX_DEPTH = 60
"""Nesting followed in values that scoring does not read."""

# numbers of tasks in keys and samples: A1…A7 are 0…6, then B1 and C1; the tasks say the same (`TextKernel`)
B1, C1 = 7, 8

# bits of keys above the task's number (8 bits)
FOUND, CORRECT, GOLD_YES = 1 << 8, 1 << 9, 1 << 10
TP_SHIFT, PRED_SHIFT, GOLD_SHIFT = 16, 24, 32

SAMPLE_BYTES = 14
"""A sample: task (1 byte), prompt hash (8), vote (4), correct (1); `relfast.stats.SAMPLE_DTYPE`."""

_QUOTE, _BACKSLASH, _LF = 34, 92, 10
_CHUNK = 128


# Loops that LLVM should turn into vector code count in uint64: for a signed index numba adds the wrap-around
# of negative indices, which keeps the loop scalar (0.93 µs against 0.13 µs for 2 kB).
_1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@kernel
def _is_plain(data: Any, start: int, end: int) -> bool:
    """Whether all bytes are printable ASCII."""
    bad = False
    for at in range(np.uint64(start), np.uint64(end)):
        bad |= (data[at] < 32) | (data[at] > 126)
    return not bad


# classes of non-ASCII characters
SYMBOL, LETTER, OTHER = 0, 1, 2


@kernel
def classify(point: int) -> int:
    r"""What a non-ASCII character is to the published patterns.

    ``SYMBOL``: punctuation, no ``\w``, ``\s`` or ``\d``. ``LETTER``: ``\w`` but no ``\d``. ``OTHER``:
    white space, digits, letters that fold to ASCII ones, or a block nobody looked at; text that has
    any of them takes the exact way. Held against Python's tables for every code point by a test.
    """
    if point < 0xC0:
        if point <= 0xA0 or point == 0xAA or point == 0xB5 or point == 0xBA:
            return OTHER
        return OTHER if point == 0xB2 or point == 0xB3 or point == 0xB9 or 0xBC <= point <= 0xBE else SYMBOL
    if point == 0xD7 or point == 0xF7:
        return SYMBOL
    if point < 0x2C0:
        # dotted capital I, dotless i and long s match ASCII letters where case is ignored
        return OTHER if point == 0x130 or point == 0x131 or point == 0x17F else LETTER
    if 0x391 <= point <= 0x3C9:
        return LETTER if point != 0x3A2 else OTHER
    if 0x400 <= point <= 0x481:
        return LETTER
    if 0x2010 <= point <= 0x2027 or 0x2030 <= point <= 0x205E:
        return SYMBOL
    if 0x2190 <= point <= 0x2426 or 0x2500 <= point <= 0x2775 or 0x2794 <= point <= 0x2BFF:
        return SYMBOL if not (0x2B74 <= point <= 0x2B75) else OTHER
    if 0x4E00 <= point <= 0x9FA5:
        return LETTER
    if 0x3001 <= point <= 0x3003 or 0x3008 <= point <= 0x3020:
        return SYMBOL
    if 0x1F300 <= point <= 0x1F64F or 0x1F680 <= point <= 0x1F6C5 or 0x1F900 <= point <= 0x1F9FF:
        return SYMBOL
    return OTHER


@kernel
def _decode(data: Any, at: int, end: int) -> Any:
    """Code point and length of the UTF-8 sequence at ``at``; length 0 where it is none."""
    first = np.int64(data[at])
    if first < 0xC2 or first > 0xF4:
        return 0, 0
    length = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if at + length > end:
        return 0, 0
    point = first & (0x1F if length == 2 else 0x0F if length == 3 else 0x07)
    for k in range(1, length):
        byte = np.int64(data[at + k])
        if byte & 0xC0 != 0x80:
            return 0, 0
        point = point << 6 | byte & 0x3F
    # overlong forms, surrogates, beyond Unicode
    if (length == 3 and point < 0x800) or (length == 4 and (point < 0x10000 or point > 0x10FFFF)):
        return 0, 0
    if 0xD800 <= point <= 0xDFFF:
        return 0, 0
    return point, length


@kernel
def _is_utf8(data: Any, start: int, end: int) -> bool:
    """Whether bytes without ASCII control characters are UTF-8."""
    at = start
    while at < end:
        stop = min(at + _CHUNK, end)
        if _is_plain(data, at, stop):
            at = stop
            continue
        while at < stop:
            byte = data[at]
            if byte < 0x80:
                if byte < 32 or byte > 126:
                    return False
                at += 1
                continue
            _, length = _decode(data, at, end)
            if length == 0:
                return False
            at += length
    return True


@kernel
def _is_tame(data: Any, start: int, end: int) -> bool:
    """Whether no character of UTF-8 text is `OTHER`."""
    at = start
    while at < end:
        stop = min(at + _CHUNK, end)
        if _is_plain(data, at, stop):
            at = stop
            continue
        while at < stop:
            if data[at] < 0x80:
                at += 1
                continue
            point, length = _decode(data, at, end)
            if classify(point) == OTHER:
                return False
            at += length
    return True


@kernel
def _has_digit(data: Any, start: int, end: int) -> bool:
    hits = False
    for at in range(np.uint64(start), np.uint64(end)):
        hits |= (data[at] >= 48) & (data[at] <= 57)
    return hits


@kernel
def _is_escaped(data: Any, at: int, start: int) -> bool:
    """Whether the byte at ``at`` follows an odd run of backslashes."""
    run = 0
    while at - run - 1 >= start and data[at - run - 1] == _BACKSLASH:
        run += 1
    return run % 2 == 1


@kernel
def _string_end(data: Any, start: int, end: int) -> int:
    """Index of the closing quote of a string whose first byte is at ``start``, or -1."""
    at = start
    while True:
        at = find_byte(data, at, end, _QUOTE)
        if at >= end:
            return -1
        if data[at - 1] != _BACKSLASH or not _is_escaped(data, at, start):
            return at
        at += 1


@kernel
def _escapes_are_simple(data: Any, start: int, end: int) -> bool:
    """Whether every escape of a string is one of ``\\" \\\\ \\/ \\b \\f \\n \\r \\t``."""
    bad = False
    for k in range(np.uint64(start), np.uint64(max(start, end - 1))):
        after = data[k + _1]
        bad |= (data[k] == _BACKSLASH) & (after != 110) & (after != 34) & (after != _BACKSLASH)
    if not bad:
        return True
    # a rarer escape, or an escaped backslash, which may stand before anything: look at each on its own
    at = start
    while True:
        at = find_byte(data, at, end, _BACKSLASH)
        if at >= end:
            return True
        after = data[at + 1]
        if not (
            after == 110
            or after == 34
            or after == 116
            or after == 92
            or after == 114
            or after == 47
            or after == 98
            or after == 102
        ):
            return False
        at += 2


@kernel
def _skip_spaces(data: Any, at: int, end: int) -> int:
    while at < end and data[at] == 32:
        at += 1
    return at


@kernel
def _is_digit(byte: int) -> bool:
    return 48 <= byte <= 57


@kernel
def _all_digits(data: Any, start: int, end: int) -> bool:
    for at in range(start, end):
        if not _is_digit(data[at]):
            return False
    return True


@kernel
def _number_end(data: Any, at: int, end: int) -> int:
    """Index after a JSON number, or -1."""
    if at < end and data[at] == 45:
        at += 1
    if at >= end or not _is_digit(data[at]):
        return -1
    if data[at] == 48:
        at += 1
    else:
        while at < end and _is_digit(data[at]):
            at += 1
    if at < end and data[at] == 46:
        at += 1
        if at >= end or not _is_digit(data[at]):
            return -1
        while at < end and _is_digit(data[at]):
            at += 1
    if at < end and (data[at] == 101 or data[at] == 69):
        at += 1
        if at < end and (data[at] == 43 or data[at] == 45):
            at += 1
        if at >= end or not _is_digit(data[at]):
            return -1
        while at < end and _is_digit(data[at]):
            at += 1
    return at


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
def _value_end(data: Any, at: int, end: int) -> int:
    """Index after a JSON value of any kind, checked as a parser would, or -1."""
    objects = np.uint64(0)  # bit d: the container at depth d is an object
    depth = 0
    while True:
        at = _skip_spaces(data, at, end)
        if at >= end:
            return -1
        byte = data[at]
        opened = False
        if byte == _QUOTE:
            close = _string_end(data, at + 1, end)
            if close < 0 or not _escapes_are_simple(data, at + 1, close):
                return -1
            at = close + 1
        elif byte == 123 or byte == 91:
            if depth >= MAX_DEPTH:
                return -1
            bit = np.uint64(1) << np.uint64(depth)
            objects = (objects | bit) if byte == 123 else (objects & ~bit)
            depth += 1
            at = _skip_spaces(data, at + 1, end)
            if at >= end:
                return -1
            if data[at] == (125 if byte == 123 else 93):
                depth -= 1
                at += 1
            else:
                opened = True
        elif byte == 45 or _is_digit(byte):
            at = _number_end(data, at, end)
            if at < 0:
                return -1
        else:
            at = _literal_end(data, at, end)
            if at < 0:
                return -1
        # a value has ended, or a container has begun: what may follow?
        expect_key = opened and (objects >> np.uint64(depth - 1)) & np.uint64(1) == 1
        while not opened and depth > 0:
            at = _skip_spaces(data, at, end)
            if at >= end:
                return -1
            is_object = (objects >> np.uint64(depth - 1)) & np.uint64(1) == 1
            if data[at] == 44:
                at += 1
                expect_key = is_object
                break
            if data[at] != (125 if is_object else 93):
                return -1
            depth -= 1
            at += 1
        if depth == 0:
            return at
        if expect_key:
            at = _skip_spaces(data, at, end)
            if at >= end or data[at] != _QUOTE:
                return -1
            close = _string_end(data, at + 1, end)
            if close < 0 or not _escapes_are_simple(data, at + 1, close):
                return -1
            at = _skip_spaces(data, close + 1, end)
            if at >= end or data[at] != 58:
                return -1
            at += 1


@kernel
def _hash(data: Any, start: int, end: int) -> Any:
    """`relfast.samples.hash_id` of some bytes."""
    value = np.uint64(end - start)
    at = start
    while at < end:
        word = np.uint64(0)
        for k in range(min(8, end - at)):
            word |= np.uint64(data[at + k]) << np.uint64(8 * k)
        value = (value ^ word) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
        at += 8
    return value


@kernel
def _find_letter(data: Any, at: int, end: int, lower: int) -> int:
    """Index of a letter in either case from ``at`` on, or ``end``."""
    found = find_byte(data, at, end, lower)
    return find_byte(data, at, found, lower - 32)


@kernel
def _is_word(data: Any, at: int, start: int) -> bool:
    """Whether the character that has a byte at ``at`` is a letter, digit or underscore.

    The letter of an escape (the ``n`` of a line end) is none.
    """
    byte = data[at]
    if byte >= 0x80:
        first = at
        while first > start and data[first] & 0xC0 == 0x80:
            first -= 1
        point, _ = _decode(data, first, len(data))
        return classify(point) == LETTER
    if byte == 95 or _is_digit(byte):
        return True
    if 65 <= byte <= 90 or 97 <= byte <= 122:
        return not (at > start and data[at - 1] == _BACKSLASH and _is_escaped(data, at, start))
    return False


@kernel
def _skip_white(data: Any, at: int, end: int) -> int:
    r"""Index after white space as ``\s`` has it: blanks, and ``\n \t \r \f`` as escapes."""
    while at < end:
        if data[at] == 32:
            at += 1
        elif data[at] == _BACKSLASH and (
            data[at + 1] == 110 or data[at + 1] == 116 or data[at + 1] == 114 or data[at + 1] == 102
        ):
            at += 2
        else:
            break
    return at


@kernel
def _choice(data: Any, start: int, end: int) -> Any:
    """REL-A: the chosen panel, or -1 where nothing names one; -2 where the exact way must decide."""
    # "answer" in any case, found by its rarest letter where the text has "swe" at all
    hits = False
    for j in range(np.uint64(start), np.uint64(max(start, end - 2))):
        hits |= ((data[j] | 32) == 115) & ((data[j + _1] | 32) == 119) & ((data[j + _2] | 32) == 101)
    at = start if hits else end
    while True:
        at = _find_letter(data, at, end, 119)
        if at >= end:
            break
        if (
            at - 3 >= start
            and at + 2 < end
            and (data[at - 3] | 32) == 97
            and (data[at - 2] | 32) == 110
            and (data[at - 1] | 32) == 115
            and (data[at + 1] | 32) == 101
            and (data[at + 2] | 32) == 114
        ):
            after = _skip_white(data, at + 3, end)
            if after < end and data[after] == 35:
                after += 1
            after = _skip_white(data, after, end)
            if after < end and _is_digit(data[after]):
                value: Any = 0
                n_digits = 0
                while after < end and _is_digit(data[after]):
                    value = min(10 * value + np.int64(data[after]) - 48, 1000)
                    n_digits += 1
                    after += 1
                if n_digits > MAX_DIGITS:
                    return -2
                return value - 1 if 1 <= value <= 8 else 0
        at += 1
    zero = -1
    for chunk in range(start, end, _CHUNK):
        stop = min(chunk + _CHUNK, end)
        if not _has_digit(data, chunk, stop):
            continue
        for k in range(chunk, stop):
            byte = data[k]
            if byte < 48 or byte > 56:
                continue
            before = k > start and _is_word(data, k - 1, start)
            after_is_word = k + 1 < end and _is_word(data, k + 1, start)
            if not before and not after_is_word:
                if byte == 48:
                    zero = 0
                else:
                    return np.int64(byte) - 49
    return zero


@kernel
def _tag(data: Any, start: int, end: int) -> int:
    """REL-C1: 1 for the first ``<Yes>``, 0 for the first ``<No>``, -1 for neither."""
    at = start
    while True:
        at = find_byte(data, at, end, 60)
        if at >= end:
            return -1
        k = _skip_white(data, at + 1, end)
        label = -1
        if k + 2 < end and (data[k] | 32) == 121 and (data[k + 1] | 32) == 101 and (data[k + 2] | 32) == 115:
            label = 1
            k += 3
        elif k + 1 < end and (data[k] | 32) == 110 and (data[k + 1] | 32) == 111:
            label = 0
            k += 2
        if label >= 0:
            k = _skip_white(data, k, end)
            if k < end and data[k] == 62:
                return label
        at += 1


@kernel
def _has_yes(data: Any, start: int, end: int) -> bool:
    hits = False
    for k in range(np.uint64(start), np.uint64(max(start, end - 2))):
        hits |= ((data[k] | 32) == 121) & ((data[k + _1] | 32) == 101) & ((data[k + _2] | 32) == 115)
    return hits


@kernel
def _has_no(data: Any, start: int, end: int) -> bool:
    """Whether "no" occurs; the ``n`` of an escaped line end before an ``o`` is none."""
    for chunk in range(start, end - 1, _CHUNK):
        stop = min(chunk + _CHUNK, end - 1)
        hits = False
        for j in range(np.uint64(chunk), np.uint64(stop)):
            hits |= ((data[j] | 32) == 110) & ((data[j + _1] | 32) == 111)
        if hits:
            for k in range(chunk, stop):
                if (
                    (data[k] | 32) == 110
                    and (data[k + 1] | 32) == 111
                    and not (data[k] == 110 and k > start and _is_escaped(data, k, start))
                ):
                    return True
    return False


@kernel
def _find_taxa(data: Any, start: int, end: int, spans: Any) -> int:
    """Numbers after ``taxon``, else all numbers that stand as words, as (start, end) rows of ``spans``.

    Returns how many, or -1 if there are more than fit.
    """
    n = 0
    hits = False
    for j in range(np.uint64(start), np.uint64(max(start, end - 2))):
        hits |= ((data[j] | 32) == 120) & ((data[j + _1] | 32) == 111) & ((data[j + _2] | 32) == 110)
    at = start if hits else end
    while at < end:
        at = _find_letter(data, at, end, 120)
        if at >= end:
            break
        if (
            at - 2 >= start
            and at + 2 < end
            and (data[at - 2] | 32) == 116
            and (data[at - 1] | 32) == 97
            and (data[at + 1] | 32) == 111
            and (data[at + 2] | 32) == 110
            and not (data[at - 2] == 116 and _is_escaped(data, at - 2, start))
        ):
            k = at + 3
            if k < end and (data[k] == 95 or data[k] == 32):
                k += 1
            elif k + 1 < end and data[k] == _BACKSLASH and _skip_white(data, k, k + 1) > k:
                k += 2
            first = k
            while k < end and _is_digit(data[k]):
                k += 1
            if k > first:
                if n >= MAX_TAXA:
                    return -1
                spans[n, 0], spans[n, 1] = first, k
                n += 1
        at += 1
    if n:
        return n
    for chunk in range(start, end, _CHUNK):
        stop = min(chunk + _CHUNK, end)
        if not _has_digit(data, chunk, stop):
            continue
        for k in range(chunk, stop):
            if _is_digit(data[k]) and not (k > start and _is_word(data, k - 1, start)):
                after = k
                while after < end and _is_digit(data[after]):
                    after += 1
                if after < end and _is_word(data, after, start):
                    continue
                if n >= MAX_TAXA:
                    return -1
                spans[n, 0], spans[n, 1] = k, after
                n += 1
    return n


@kernel
def _same(data: Any, a: int, a_end: int, b: int, b_end: int) -> bool:
    if a_end - a != b_end - b:
        return False
    for k in range(a_end - a):
        if data[a + k] != data[b + k]:
            return False
    return True


@kernel
def _distinct(data: Any, spans: Any, n: int) -> int:
    """Keep the first of equal spans; how many are left."""
    kept = 0
    for k in range(n):
        fresh = True
        for other in range(kept):
            if _same(data, spans[k, 0], spans[k, 1], spans[other, 0], spans[other, 1]):
                fresh = False
                break
        if fresh:
            spans[kept, 0], spans[kept, 1] = spans[k, 0], spans[k, 1]
            kept += 1
    return kept


@kernel
def _vote_of_taxa(data: Any, label: int, spans: Any, n: int) -> Any:
    """`relfast.tasks.rel_b.claim.vote` of a label (0 no, 1 yes) and distinct taxa."""
    vote = np.uint32(2 + label)
    for k in range(n):
        value = np.uint32(2166136261)
        for at in range(spans[k, 0], spans[k, 1]):
            value = np.uint32((value ^ np.uint32(data[at])) * np.uint32(16777619))
        vote = np.uint32(vote + value * np.uint32(2654435761))
    return vote


@kernel
def _changes_in_lower_case(data: Any, start: int, end: int) -> bool:
    """Whether a text may differ from itself in lower case: a capital, or anything beyond ASCII."""
    for at in range(start, end):
        if 65 <= data[at] <= 90 or data[at] > 126:
            return True
    return False


@kernel
def _gold_taxa(data: Any, at: int, end: int, spans: Any) -> Any:
    """The items of a list of plain integers or plain strings; (how many or -1, index after the list).

    Gold is compared in lower case: a string that is not its own lower case takes the exact way.
    """
    n = 0
    if at >= end or data[at] != 91:
        return -1, at
    at = _skip_spaces(data, at + 1, end)
    if at < end and data[at] == 93:
        return 0, at + 1
    while at < end:
        if n >= MAX_TAXA:
            return -1, at
        if data[at] == _QUOTE:
            close = _string_end(data, at + 1, end)
            if close < 0 or find_byte(data, at + 1, close, _BACKSLASH) < close:
                return -1, at
            if _changes_in_lower_case(data, at + 1, close):
                return -1, at
            spans[n, 0], spans[n, 1] = at + 1, close
            at = close + 1
        else:
            after = at
            while after < end and _is_digit(data[after]):
                after += 1
            # no sign, fraction, exponent or leading zero: such a number's text is str() of it
            if after == at or (data[at] == 48 and after > at + 1):
                return -1, at
            spans[n, 0], spans[n, 1] = at, after
            at = after
        n += 1
        at = _skip_spaces(data, at, end)
        if at >= end:
            return -1, at
        if data[at] == 93:
            return n, at + 1
        if data[at] != 44:
            return -1, at
        at = _skip_spaces(data, at + 1, end)
    return -1, at


@kernel
def _is_key(data: Any, start: int, end: int, name: Any) -> bool:
    if end - start != len(name):
        return False
    for k in range(len(name)):
        if data[start + k] != name[k]:
            return False
    return True


@kernel
def _task_number(data: Any, start: int, end: int) -> Any:
    """Number of a task name in any case, or -1: ``REL-A1`` … ``REL-A7``, ``REL-B1``, ``REL-C1``."""
    if end - start != 6 or data[start + 3] != 45:
        return -1
    if (data[start] | 32) != 114 or (data[start + 1] | 32) != 101 or (data[start + 2] | 32) != 108:
        return -1
    letter: int = data[start + 4] | 32
    digit: Any = np.int64(data[start + 5])
    if letter == 97 and 49 <= digit <= 55:
        return digit - 49
    if digit == 49 and letter == 98:
        return B1
    if digit == 49 and letter == 99:
        return C1
    return -1


_ID = np.frombuffer(b"id", np.uint8)
_TASK = np.frombuffer(b"task", np.uint8)
_ANSWER = np.frombuffer(b"answer", np.uint8)
_RESPONSE = np.frombuffer(b"response", np.uint8)
_TARGET = np.frombuffer(b"target", np.uint8)
_LABEL = np.frombuffer(b"label", np.uint8)
_TAXA = np.frombuffer(b"taxa", np.uint8)
# keys by which `relfast.formats` knows other dialects
_CUSTOM_ID = np.frombuffer(b"custom_id", np.uint8)
_DOC = np.frombuffer(b"doc", np.uint8)
_OUTPUT = np.frombuffer(b"output", np.uint8)
_INSTANCE_ID = np.frombuffer(b"instance_id", np.uint8)
_LLM_SOLUTION = np.frombuffer(b"llm_solution", np.uint8)
# and by which it knows that a response failed
_ERROR = np.frombuffer(b"error", np.uint8)
_STATUS_CODE = np.frombuffer(b"status_code", np.uint8)


@kernel
def _scan_line(data: Any, start: int, end: int, row: Any, pred_spans: Any, gold_spans: Any) -> int:
    """One line, its end excluded: its kind; fills id, key, hash and vote of ``row``."""
    if end > start and data[end - 1] == 13:
        end -= 1
    is_ascii = _is_plain(data, start, end)
    if not is_ascii and not _is_utf8(data, start, end):
        return SLOW
    at = _skip_spaces(data, start, end)
    if at == end:
        return BLANK
    if data[at] != 123:
        return SLOW
    id_start = id_end = response = response_end = answer = answer_end = -1
    task = -1
    at = _skip_spaces(data, at + 1, end)
    while True:
        if at >= end or data[at] != _QUOTE:
            return SLOW
        name = at + 1
        name_end = _string_end(data, name, end)
        if name_end < 0 or find_byte(data, name, name_end, _BACKSLASH) < name_end:
            return SLOW
        at = _skip_spaces(data, name_end + 1, end)
        if at >= end or data[at] != 58:
            return SLOW
        at = _skip_spaces(data, at + 1, end)
        if at >= end:
            return SLOW
        value = at
        at = _value_end(data, value, end)
        if at < 0:
            return SLOW
        if _is_key(data, name, name_end, _RESPONSE):
            if data[value] != _QUOTE:
                return SLOW
            response, response_end = value + 1, at - 1
        elif _is_key(data, name, name_end, _ANSWER):
            if data[value] != 123:
                return SLOW
            answer, answer_end = value, at
        elif _is_key(data, name, name_end, _TASK):
            task = _task_number(data, value + 1, at - 1) if data[value] == _QUOTE else -1
            if task < 0:
                return SLOW
        elif _is_key(data, name, name_end, _ID):
            # text and whole numbers are written back as they stand; other kinds of ids are rare
            if data[value] == _QUOTE:
                if find_byte(data, value, at, _BACKSLASH) < at:
                    return SLOW
            elif at - value > MAX_ID_DIGITS or not _all_digits(data, value, at):
                return SLOW
            id_start, id_end = value, at
        elif _is_key(data, name, name_end, _ERROR):
            # only null says nothing: it begins with n
            if data[value] != 110:
                return SLOW
        elif (
            _is_key(data, name, name_end, _CUSTOM_ID)
            or _is_key(data, name, name_end, _DOC)
            or _is_key(data, name, name_end, _OUTPUT)
            or _is_key(data, name, name_end, _INSTANCE_ID)
            or _is_key(data, name, name_end, _LLM_SOLUTION)
            or _is_key(data, name, name_end, _STATUS_CODE)
        ):
            return SLOW
        at = _skip_spaces(data, at, end)
        if at >= end:
            return SLOW
        if data[at] == 125:
            break
        if data[at] != 44:
            return SLOW
        at = _skip_spaces(data, at + 1, end)
    if _skip_spaces(data, at + 1, end) != end:
        return SLOW
    if id_start < 0 or response < 0 or answer < 0 or task < 0:
        return SLOW
    if not is_ascii and not _is_tame(data, response, response_end):
        return SLOW
    row[ID_START], row[ID_END] = id_start, id_end
    row[HASH] = np.int64(_hash(data, id_start, id_end))
    return _score(data, task, answer, answer_end, response, response_end, row, pred_spans, gold_spans)


@kernel
def _score(
    data: Any,
    task: int,
    answer: int,
    answer_end: int,
    response: int,
    response_end: int,
    row: Any,
    pred_spans: Any,
    gold_spans: Any,
) -> int:
    """Read gold, extract, compare: `FAST` with key and vote filled in, or `SLOW`."""
    target: Any = -1
    label = label_end = -1
    n_gold = 0
    at = _skip_spaces(data, answer + 1, answer_end)
    while data[at] != 125:
        name = at + 1
        name_end = _string_end(data, name, answer_end)
        if find_byte(data, name, name_end, _BACKSLASH) < name_end:
            return SLOW
        value = _skip_spaces(data, _skip_spaces(data, name_end + 1, answer_end) + 1, answer_end)
        at = _value_end(data, value, answer_end)
        if task < B1 and _is_key(data, name, name_end, _TARGET):
            if at != value + 1 or not _is_digit(data[value]):
                return SLOW
            target = np.int64(data[value]) - 48
        elif task >= B1 and _is_key(data, name, name_end, _LABEL):
            if data[value] != _QUOTE or find_byte(data, value, at, _BACKSLASH) < at:
                return SLOW
            label, label_end = value + 1, at - 1
        elif task == B1 and _is_key(data, name, name_end, _TAXA):
            n_gold, _ = _gold_taxa(data, value, answer_end, gold_spans)
            if n_gold < 0:
                return SLOW
        at = _skip_spaces(data, at, answer_end)
        if data[at] == 44:
            at = _skip_spaces(data, at + 1, answer_end)
    key = task
    vote = np.uint32(0)
    if task < B1:
        if target < 0:
            return SLOW
        pred = _choice(data, response, response_end)
        if pred < -1:
            return SLOW
        if pred >= 0:
            key |= FOUND
            vote = np.uint32(2 + pred)
        if max(pred, 0) == target:
            key |= CORRECT
    elif task == C1:
        if label < 0:
            return SLOW
        tag = _tag(data, response, response_end)
        if tag >= 0:
            key |= FOUND
            vote = np.uint32(2 + tag)
        gold_yes = label_end - label == 3 and data[label] == 89 and data[label + 1] == 101
        gold_yes = gold_yes and data[label + 2] == 115
        gold_no = label_end - label == 2 and data[label] == 78 and data[label + 1] == 111
        if (tag == 1 and gold_yes) or (tag == 0 and gold_no):
            key |= CORRECT
    else:
        gold_label = -1
        if label >= 0 and label_end - label == 3:
            if (data[label] | 32) == 121 and (data[label + 1] | 32) == 101 and (data[label + 2] | 32) == 115:
                gold_label = 1
        elif (
            label >= 0
            and label_end - label == 2
            and (data[label] | 32) == 110
            and (data[label + 1] | 32) == 111
        ):
            gold_label = 0
        if gold_label < 0 or (gold_label == 1 and n_gold == 0):
            return SLOW
        yes, no = _has_yes(data, response, response_end), _has_no(data, response, response_end)
        pred_label = -1 if yes == no else 1 if yes else 0
        n_pred = _find_taxa(data, response, response_end, pred_spans)
        if n_pred < 0:
            return SLOW
        n_pred = _distinct(data, pred_spans, n_pred)
        if pred_label >= 0:
            key |= FOUND
            vote = _vote_of_taxa(data, pred_label, pred_spans, n_pred)
        if gold_label == 0:
            if pred_label == 0 and n_pred == 0:
                key |= CORRECT
        else:
            n_gold = _distinct(data, gold_spans, n_gold)
            tp = 0
            for k in range(n_pred):
                for other in range(n_gold):
                    if _same(
                        data, pred_spans[k, 0], pred_spans[k, 1], gold_spans[other, 0], gold_spans[other, 1]
                    ):
                        tp += 1
                        break
            if pred_label == 1 and tp > 0:
                key |= CORRECT
            key |= GOLD_YES | tp << TP_SHIFT | n_pred << PRED_SHIFT | n_gold << GOLD_SHIFT
    row[KEY] = key
    row[VOTE] = np.int64(vote)
    return FAST


@kernel
def scan_lines(data: Any, n: int, lines: Any, pred_spans: Any, gold_spans: Any) -> int:
    """Read the lines of a block.

    Parameters
    ----------
    data : uint8, shape (n,)
        Whole lines; the last may lack its end.
    lines : int64, shape (m, COLUMNS)
        Filled: a row per line.
    pred_spans, gold_spans : int64, shape (MAX_TAXA, 2)
        Work space.

    Returns
    -------
    int
        How many lines; at most m are read.
    """
    at = 0
    count = 0
    while at < n and count < lines.shape[0]:
        end = find_byte(data, at, n, _LF)
        row = lines[count]
        row[START], row[END] = at, end
        row[KIND] = _scan_line(data, at, end, row, pred_spans, gold_spans)
        count += 1
        at = end + 1
    return count


@kernel
def _put(out: Any, at: int, source: Any, start: int, end: int) -> int:
    for k in range(end - start):
        out[at + k] = source[start + k]
    return at + end - start


@kernel
def _put_number(out: Any, at: int, value: int) -> int:
    digits = 1
    rest = value
    while rest >= 10:
        rest //= 10
        digits += 1
    for k in range(digits - 1, -1, -1):
        out[at + k] = 48 + value % 10
        value //= 10
    return at + digits


_INDEX = np.frombuffer(b'{"index":', np.uint8)
_ID_KEY = np.frombuffer(b',"id":', np.uint8)


@kernel
def write_rows(
    data: Any,
    lines: Any,
    start: int,
    stop: int,
    first_index: int,
    keys: Any,
    offsets: Any,
    blob: Any,
    n_templates: int,
    out: Any,
    samples: Any,
    counts: Any,
    written: Any,
) -> int:
    """Rows and samples of lines ``start`` to ``stop``, none of them `SLOW`.

    Parameters
    ----------
    keys, offsets : int64, shapes (t,), (t + 1,)
        Keys of the known templates, and where each one's text lies in ``blob`` (uint8): the row after
        its id, line end included.
    out, samples : uint8
        Filled; large enough (see `relfast.engine.text_lane`).
    counts : int64, shape (t,)
        Rows per template, added to.
    written : int64, shape (2,)
        Bytes in ``out`` and in ``samples``; where to go on, and where it stopped.

    Returns
    -------
    int
        ``stop``, or the first line whose key has no template yet.
    """
    at, sample = written[0], written[1]
    last_key, template = -1, -1
    for number in range(start, stop):
        row = lines[number]
        if row[KIND] == BLANK:
            continue
        if row[KEY] != last_key:
            last_key, template = row[KEY], -1
            for k in range(n_templates):
                if keys[k] == last_key:
                    template = k
                    break
        if template < 0:
            written[0], written[1] = at, sample
            return number
        at = _put(out, at, _INDEX, 0, len(_INDEX))
        at = _put_number(out, at, first_index + number)
        at = _put(out, at, _ID_KEY, 0, len(_ID_KEY))
        at = _put(out, at, data, row[ID_START], row[ID_END])
        at = _put(out, at, blob, offsets[template], offsets[template + 1])
        counts[template] += 1
        samples[sample] = row[KEY] & 255
        for k in range(8):
            samples[sample + 1 + k] = (row[HASH] >> (8 * k)) & 255
        for k in range(4):
            samples[sample + 9 + k] = (row[VOTE] >> (8 * k)) & 255
        samples[sample + 13] = 1 if row[KEY] & CORRECT else 0
        sample += SAMPLE_BYTES
    written[0], written[1] = at, sample
    return stop
