"""Lines and sentences of a response in lower case, as `relfast.tasks.rel_a.strict` cuts them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.characters import LETTER, SPACE, SYMBOL, classify, decode, is_ascii, lower_at
from relfast_kernels.text.find import find_byte
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.vectors import WIDTH, first_outside, highest, lowest, places_of
from relfast_kernels.text.words import is_blank, skip_white

_NOUGHT: Final = np.uint64(0)
_BULLET, _DASH = ord("•"), ord("–")
_WIDE_MARKS: Final = np.array([ord(mark) for mark in "…。！？；"], np.int64)
_BEFORE_WHITE: Final = np.zeros(256, np.uint8)
"""What white space may follow that belongs to a line's words: nothing that ends sentences or is a bullet."""
for _c in "abcdefghijklmnopqrstuvwxyz0123456789:,=#%$}{(|/":
    _BEFORE_WHITE[ord(_c)] = 1
_MOST_MARKS: Final = 40
"""Bytes of marks and blanks in a row that are followed."""


@kernel
def lowered(text: Any, start: int, end: int, out: Any, to: int) -> int:
    """Write a text in lower case, its curved apostrophes straight; where it ends."""
    first, place = np.uint64(start), np.uint64(to)
    curved = False
    for k in range(np.uint64(end - start)):
        byte = text[first + k]
        curved |= byte == 0xE2
        out[place + k] = byte | 32 if (byte >= 65) & (byte <= 90) else byte
    if not curved:
        return to + end - start
    at = find_byte(text, start, end, 0xE2)
    to += at - start
    while at < end:
        if at + 2 < end and text[at + 1] == 0x80 and text[at + 2] == 0x99:
            out[to] = 39
            at += 3
        else:
            out[to] = 0xE2
            at += 1
        to += 1
        following = find_byte(text, at, end, 0xE2)
        first, place = np.uint64(at), np.uint64(to)
        for k in range(np.uint64(following - at)):
            byte = text[first + k]
            out[place + k] = byte | 32 if (byte >= 65) & (byte <= 90) else byte
        to += following - at
        at = following
    return to


@kernel
def _is_within(text: Any, behind: int, at: int, after: int, end: int) -> bool:
    """Whether the white space text[at:after] has words, numbers or colons on both sides, so that no line, no
    bullet and no sentence begins or ends with it. Another character beyond ASCII ends at ``behind``."""
    if at == behind or after >= end or is_blank(text[after]):
        return False
    return bool(_BEFORE_WHITE[text[at - 1]] != 0)


@kernel
def tamed(text: Any, start: int, end: int) -> bool:
    """Whether all is ASCII, letters, symbols, or white space beyond ASCII within a line; letters are in lower
    case then."""
    at = start
    behind = start
    while at < end:
        if at + WIDTH <= len(text):
            step = first_outside(text, at, 0, 0x7F)
            at += step
            if step == WIDTH or at >= end:
                continue
        elif text[at] < 0x80:
            at += 1
            continue
        point, length = decode(text, at, end)
        if length == 0:
            return False
        kind = classify(point)
        if kind == SPACE:
            if not _is_within(text, behind, at, at + length, end):
                return False
        elif (kind != SYMBOL and kind != LETTER) or not lower_at(text, at, point, length):
            return False
        at += length
        behind = at
    return True


@kernel
def last_is_tame(text: Any, start: int, end: int) -> bool:
    """Whether the last character is `tamed`, and not white space beyond ASCII."""
    at = end - 1
    while at > start and text[at] & 0xC0 == 0x80:
        at -= 1
    return tamed(text, at, end)


@kernel
def count(text: Any, start: int, end: int) -> int:
    """Characters of UTF-8."""
    n = 0
    for at in range(np.uint64(start), np.uint64(max(start, end))):
        n += (text[at] & np.uint8(0xC0)) != np.uint8(0x80)
    return n


@kernel
def row_of(text: Any, start: int, end: int) -> Any:
    """A line without blanks around it."""
    while start < end and is_blank(text[start]):
        start += 1
    while end > start and is_blank(text[end - 1]):
        end -= 1
    return start, end


@kernel
def ends_blank(text: Any, start: int, end: int) -> bool:
    """Whether a line that has no ASCII blanks around it has others."""
    if text[start] >= 0x80 and skip_white(text, start, end) > start:
        return True
    at = end - 1
    while text[at] & 0xC0 == 0x80 and at > start:
        at -= 1
    return text[at] >= 0x80 and skip_white(text, at, end) > at


@kernel
def without_bullet(text: Any, start: int, end: int) -> int:
    """Where a line (without blanks around it) begins after its bullet or number."""
    if start >= end or text[start] == 43:
        return start
    at = start
    while at < end and (text[at] == 32 or text[at] == 9 or text[at] == 62):
        at += 1
    after = at
    if at < end:
        byte = text[at]
        mark = -1
        sign = byte == 45 or byte == 42 or byte == 43
        if sign:
            mark = at + 1
        elif byte >= 0x80:
            point, length = decode(text, at, end)
            sign = point == _BULLET or point == _DASH
            if sign:
                mark = at + length
        elif 97 <= byte <= 104:
            if at + 1 < end and (text[at + 1] == 46 or text[at + 1] == 41):
                mark = at + 2
        else:
            k = at + 1 if byte == 40 else at
            digits = k
            while k < end and k < digits + 2 and is_digit(text[k]):
                k += 1
            if k > digits and k < end and (text[k] == 46 or text[k] == 41):
                mark = k + 1
        if mark >= 0:
            k = mark
            while k < end and is_blank(text[k]):
                k += 1
            if k > mark and (k < end or sign):
                after = k
    for k in range(after, end):
        byte = text[k]
        if byte != 42 and byte != 95 and byte != 96 and byte != 32:
            return after
    return start


@kernel
def _may_be_number_sign(text: Any, start: int, end: int, at: int) -> bool:
    """Whether the "no." that ends before ``at`` may stand for "number": before a digit, and behind nothing, a
    bullet or one of a few words."""
    k = at
    while k < end and is_blank(text[k]):
        k += 1
    if k < end and text[k] == 35:
        k += 1
    if k >= end or not is_digit(text[k]):
        return False
    k = at - 4
    if k <= start or text[k] != 32:
        return k < start or not (97 <= text[k] <= 122 or text[k] == 58 or text[k] == 44)
    # "is", "answer", "option", "choice", "panel", "the"; or a bullet
    last = text[k - 1]
    is_end = last == 115 or last == 114 or last == 110 or last == 101 or last == 108
    return bool(is_end or not (97 <= last <= 122 or is_digit(last) or last == 58 or last == 44))


@kernel
def can_be_cut(text: Any, start: int, end: int) -> bool:
    """Whether a line has only characters that are followed here, and neither "no." for "number" nor "e.g.";
    its letters are in lower case then."""
    at = find_byte(text, start, end, 46)
    while at < end:
        is_no = at - 2 >= start and text[at - 2] == 110 and text[at - 1] == 111
        if is_no and _may_be_number_sign(text, start, end, at + 1):
            return False
        if at - 1 >= start and at + 1 < end and text[at - 1] == 101 and text[at + 1] == 103:
            return False
        at = find_byte(text, at + 1, end, 46)
    return bool(tamed(text, start, end))


@kernel
def _next_end(text: Any, at: int, end: int) -> int:
    """The next mark that may end a sentence, or ``end``."""
    while at + WIDTH <= len(text) and at < end:
        step = lowest(places_of(text, at, 46, 33) | places_of(text, at, 63, 59))
        at += step
        if step < WIDTH:
            return min(at, end)
    while at < end and text[at] != 46 and text[at] != 33 and text[at] != 63 and text[at] != 59:
        at += 1
    return min(at, end)


@kernel
def _mark(text: Any, at: int, end: int) -> int:
    """Bytes of the mark at a place that may end a sentence; 0: there is none."""
    byte = text[at]
    if byte == 46 or byte == 33 or byte == 63 or byte == 59:
        return 1
    if byte != 0xE2 and byte != 0xE3 and byte != 0xEF:
        return 0
    point, length = decode(text, at, end)
    for k in range(len(_WIDE_MARKS)):
        if point == _WIDE_MARKS[k]:
            return int(length)
    return 0


@kernel
def _wide_sentence_start(text: Any, start: int, end: int) -> Any:
    """`sentence_start` where characters beyond ASCII may end one, without a blank behind them."""
    found = at = start
    while at < end:
        size = _mark(text, at, end)
        if size == 0:
            at += 1
            continue
        first = at
        wide = False
        while size > 0:
            at += size
            wide = size > 1
            size = _mark(text, at, end) if at < end else 0
        dots = at - first >= 3 and text[at - 1] == 46 and text[at - 2] == 46 and text[at - 3] == 46
        k = _skip_closers(text, at, end)
        if k < end and is_blank(text[k]):
            at = k
        elif not dots and not wide:
            continue
        while at < end and is_blank(text[at]):
            at += 1
        if at - first > _MOST_MARKS:
            return -1
        if at < end:
            found = at
    return found


@kernel
def _skip_closers(text: Any, at: int, end: int) -> int:
    """What comes after quotes, brackets and markup that stand behind a sentence's end."""
    k = at
    while k < end and k < at + 4 and (
        text[k] == 34 or text[k] == 39 or text[k] == 41 or text[k] == 93 or text[k] == 42
        or text[k] == 95 or text[k] == 96 or text[k] == 126
    ):  # fmt: skip
        k += 1
    return k


@kernel
def sentence_start(text: Any, start: int, end: int) -> Any:
    """Where the last sentence of text[start:end] begins, ``end`` being the end of one; -1: a run of marks is
    too long to follow."""
    if not is_ascii(text, start, end):
        return _wide_sentence_start(text, start, end)
    found = start
    at = _next_end(text, start, end)
    while at < end:
        first = at
        while at < end and (text[at] == 46 or text[at] == 33 or text[at] == 63 or text[at] == 59):
            at += 1
        dots = at - first >= 3 and text[at - 1] == 46 and text[at - 2] == 46 and text[at - 3] == 46
        k = _skip_closers(text, at, end)
        if k < end and is_blank(text[k]):
            at = k
        elif not dots:
            at = _next_end(text, at, end)
            continue
        while at < end and is_blank(text[at]):
            at += 1
        if at - first > _MOST_MARKS:
            return -1
        if at < end:
            found = at
        at = _next_end(text, at, end)
    return found


@kernel
def line_before(text: Any, start: int, end: int) -> int:
    """Where the line begins that ends at ``end``."""
    at = end
    while at - WIDTH >= start:
        places = places_of(text, at - WIDTH, 10, 10)
        if places != _NOUGHT:
            return at - WIDTH + highest(places) + 1
        at -= WIDTH
    while at > start and text[at - 1] != 10:
        at -= 1
    return at
