"""The tags of a text that ends in nothing but tags, as ``strict`` reads them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.tags.columns import READ_EMPTY, READ_NEARLY, READ_PLAIN
from relfast_kernels.tags.kinds import (
    BEGINS_LIST,
    BEGINS_MARK,
    CLOSING,
    ENDS_TEXT,
    ESCAPED,
    FILLER,
    KINDS,
    MARKING,
    NEARLY_PLAIN,
    NEWLINE,
    PLAIN,
    STRIPPED,
    TAG,
    WHITE,
    is_at,
)
from relfast_kernels.tags.marks import begins_with_label, first_tag, is_word, may_be_mark
from relfast_kernels.text.find import copy

_ANSWERED: Final = np.frombuffer(b"</answer>", np.uint8)
_EDGE: Final = 200
"""Characters before the first tag that can say what the tags are."""


@kernel
def without_tag(data: Any, start: int, end: int) -> int:
    """How a text without a tag was read, -1 where only Python can say whether it is blank."""
    is_blank = True
    for at in range(start, end):
        if not KINDS[data[at]] & WHITE:
            if data[at] < 128:
                return READ_PLAIN
            is_blank = False
    return READ_EMPTY if is_blank else -1


@kernel
def _is_said_as_it_is(data: Any, start: int, end: int, words: Any, space: Any, to: int) -> bool:
    """Whether the extractor takes what a tag holds for the answer as it stands there, white space around it
    apart: without marks of lists, labels, quotes, escapes and a full stop, and as no word about the tag
    (`relfast.tasks.rel_c.tags`, ``_lines`` and ``_mentioned``). There is room for it in ``space``."""
    if KINDS[data[start]] & BEGINS_MARK or KINDS[data[end - 1]] & ENDS_TEXT:
        return False
    word = to
    for at in range(start, end):
        byte = data[at]
        following = data[at + 1] if at + 1 < end else 0
        if KINDS[byte] & WHITE and (byte != 32 or KINDS[data[start]] & BEGINS_LIST):
            return False
        if byte == 92 and KINDS[following] & ESCAPED:
            return False
        if (byte == 126 and following == 126) or (byte == 47 and following == 42):
            return False
        letter = byte | 32
        if 97 <= letter <= 122 or 48 <= byte <= 57:
            space[word] = letter if letter >= 97 else byte
            word += 1
    return word > to and not is_word(space, to, word, words) and not begins_with_label(data, start, end)


@kernel
def _behind(data: Any, at: int, end: int) -> Any:
    """Where what stands behind a tag ends: marks of lists, and, behind the last one, the end of what wraps an
    answer. Whether it has other marks than between plain tags, and whether it has a line that parts what is
    above it from what is below, or is followed by what nothing may follow."""
    marked, ruled, closed = False, False, False
    again = 0
    while at < end:
        byte = data[at]
        kind = KINDS[byte]
        if not kind & (FILLER | MARKING):
            if not (byte == 60 and is_at(data, at, end, _ANSWERED)):
                break
            at += len(_ANSWERED) - 1
            closed = True
        marked = marked or kind & MARKING != 0
        again = again + 1 if byte == data[at - 1] and (byte == 45 or byte == 42) else 0
        ruled = ruled or again >= 2
        at += 1
    return at, marked or closed, ruled or (closed and at < end)


@kernel
def read_plain_tail(
    data: Any, start: int, end: int, one: bool, marks: Any, words: Any, out: Any, to: int
) -> Any:
    """The tags of a text that ends in nothing but tags, as `read_published` has them.

    ``one``: only one is written, and all must be alike. ``marks``, ``words``: see `may_be_mark`, `is_word`.
    Returns how many there are, -1 for any other text, where the next byte goes, the edge of `TOLD_COLUMNS` (0
    and 0: there is none), and how the text was read.
    """
    first = first_tag(data, start, end, marks)
    if first < 0:
        return -1, to, 0, 0, READ_PLAIN
    if first == end:
        how = without_tag(data, start, end)
        return -1 if how < 0 else 0, to, 0, 0, how
    at = first
    n = 0
    only, only_end, first_end = 0, 0, 0
    nearly, is_ruled = False, False
    while at < end:
        if not is_at(data, at, end, TAG):
            return -1, to, 0, 0, READ_PLAIN
        at += len(TAG)
        inside = at
        is_lettered = True
        while at < end and KINDS[data[at]] & PLAIN:
            byte = data[at]
            if byte == 91 and may_be_mark(data, at, end, marks):
                return -1, to, 0, 0, READ_PLAIN
            is_lettered = is_lettered and (byte == 61 or 48 <= byte <= 57 or byte | 32 >= 97) and byte != 91
            at += 1
        last = at
        if at == inside or not is_at(data, at, end, CLOSING):
            while at < end and KINDS[data[at]] & (PLAIN | NEARLY_PLAIN | WHITE):
                if data[at] == 91 and may_be_mark(data, at, end, marks):
                    return -1, to, 0, 0, READ_PLAIN
                at += 1
            last = at
            while last > inside and KINDS[data[last - 1]] & WHITE:
                last -= 1
            while inside < last and KINDS[data[inside]] & WHITE:
                inside += 1
            if last == inside or not is_at(data, at, end, CLOSING):
                return -1, to, 0, 0, READ_PLAIN
            if not _is_said_as_it_is(data, inside, last, words, out, to):
                return -1, to, 0, 0, READ_PLAIN
            nearly = True
        elif (is_lettered or data[inside] | 32 in (97, 109, 115)) and is_word(data, inside, at, words):
            return -1, to, 0, 0, READ_PLAIN
        n += 1
        if one and n > 1:
            if last - inside != only_end - only:
                return -1, to, 0, 0, READ_PLAIN
            for k in range(last - inside):
                if data[inside + k] != data[only + k]:
                    return -1, to, 0, 0, READ_PLAIN
        else:
            only, only_end = inside, last
            to = copy(data, inside, last, out, to)
            out[to] = NEWLINE
            to += 1
        at += len(CLOSING)
        first_end = at if n == 1 else first_end
        at, marked, ruled = _behind(data, at, end)
        nearly = nearly or marked
        is_ruled = is_ruled or ruled
    if nearly:
        if is_ruled or (one and n > 1):
            return -1, to, 0, 0, READ_PLAIN
        return n, to, first, first_end, READ_NEARLY
    line, high = _line_before(data, start, first)
    return n, to, line, high, READ_PLAIN


@kernel
def _line_before(data: Any, start: int, first: int) -> Any:
    """Where the words on the line before the first tag are; 0 and 0 where there are none."""
    low = first
    for _ in range(_EDGE):
        if low == start:
            break
        low -= 1
        while low > start and data[low] & 0xC0 == 0x80:
            low -= 1
    high = first
    while high > low:
        if KINDS[data[high - 1]] & STRIPPED:
            high -= 1
        elif high - low >= 3 and data[high - 3] == 0xE2 and data[high - 2] == 0x80 and data[high - 1] == 0xA2:
            high -= 3
        else:
            break
    line = high
    while line > low and data[line - 1] != NEWLINE:
        line -= 1
    if line == high:
        return 0, 0
    return line, high
