"""Molecules in the ``<smiles>`` tags of responses, as `relfast.tasks.rel_c.extract` reads them.

What only Python can say is left to it: letters beyond ASCII where they could matter, and under ``strict``
all responses but those that end in nothing but plain tags (`relfast.tasks.rel_c.tags.plain_tail`) and hold
nothing that could be a mark of reasoning, an escape or something struck out.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    IN_DATA,
    NOWHERE,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_TEXT,
    RECORD_TEXT_END,
    RECORD_TEXT_PLACE,
    SIZE_COLUMNS,
    SIZE_GIVEN,
    SIZE_GOLD,
    SIZE_KEPT,
    SIZE_PREDICTED,
)
from relfast_kernels.tags.columns import (
    GOLD_END,
    GOLD_GIVEN_END,
    GOLD_KEPT,
    GOLD_N,
    GOLD_N_GIVEN,
    GOLD_START,
    LEFT_TO_PYTHON,
    TOLD_EDGE,
    TOLD_EDGE_END,
    TOLD_END,
    TOLD_N,
    TOLD_START,
)
from relfast_kernels.text.find import copy, find_byte, hash_text

NEWLINE: Final = 10
_TAG: Final = np.frombuffer(b"<smiles>", np.uint8)
_CLOSING: Final = np.frombuffer(b"</smiles>", np.uint8)
_ANALYSIS: Final = np.frombuffer(b"analysis", np.uint8)

LONGEST: Final = 200_000
"""Bytes of a response that is read here."""
_EDGE: Final = 200
"""Characters before the first tag that can say what the tags are."""

_WHITE, _PLAIN, _FILLER, _BEFORE_TAGS, _STRIPPED, _TELLING = 1, 2, 4, 8, 16, 32
"""Kinds of bytes: white space; letters of a plain molecule; what may stand between plain tags; what is
stripped from the end of the words before them; what may mean more than itself."""


def _kinds() -> Any:
    kinds = np.zeros(256, np.uint8)
    for kind, some in (
        (_WHITE | _FILLER, b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "),
        (_PLAIN, b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@+-[]()=#/%"),
        (_FILLER, b"0123456789.,;)*`-"),
        (_STRIPPED, b" \t\r\n-*.)0123456789"),
        (_TELLING, b"<[&\\~/\xe2\xef"),
    ):
        for byte in some:
            kinds[byte] |= kind
    return kinds


_KINDS: Final = _kinds()


@kernel
def _opens(data: Any, at: int, end: int) -> int:
    """1 if a tag in any case begins at a ``<``, 0 if none does, -1 for a letter that `re` may take for
    its."""
    for k in range(1, len(_TAG)):
        if at + k >= end:
            return 0
        byte = data[at + k]
        if byte > 127:
            return -1
        if byte | 32 != _TAG[k] | 32:
            return 0
    return 1 if data[at + 7] == 62 else 0


@kernel
def read_published(data: Any, start: int, end: int, one: bool, out: Any, to: int) -> Any:
    """Write the tags of data[start:end], as the published scorer finds them, to ``out``, a newline behind
    each.

    ``one``: no more than the first. Returns how many there are, -1 where only Python can say, and where the
    next byte goes.
    """
    n = 0
    at = start
    while True:
        at = find_byte(data, at, end, 60)
        if at >= end:
            return n, to
        kind = _opens(data, at, end)
        if kind < 0:
            return -1, to
        at += 1
        if kind == 0:
            continue
        at += len(_TAG) - 1
        first = at
        blank = False
        while first < end and _KINDS[data[first]] & _WHITE:
            blank |= data[first] != 10 and data[first] != 13
            first += 1
        last = first
        while last < end and data[last] != 60 and data[last] != 10 and data[last] != 13:
            if data[last] > 127:
                return -1, to
            last += 1
        at = last
        if last == first and not blank:
            continue
        while last > first and _KINDS[data[last - 1]] & _WHITE:
            last -= 1
        to = copy(data, first, last, out, to)
        out[to] = NEWLINE
        to += 1
        n += 1
        if one:
            return n, to


@kernel
def _is_at(data: Any, at: int, end: int, name: Any) -> bool:
    if end - at < len(name):
        return False
    for k in range(len(name)):
        if data[at + k] != name[k]:
            return False
    return True


@kernel
def _may_be_mark(data: Any, at: int, end: int, marks: Any) -> bool:
    """Whether what stands behind a bracket may begin a mark of reasoning or of a turn's end: ``marks`` has
    the bracket and the three letters behind it of each, the bracket lowest."""
    if at + 4 > end:
        return False
    word = int(data[at])
    for k in range(1, 4):
        byte = int(data[at + k])
        if byte > 127:
            return True
        if 65 <= byte <= 90:
            byte |= 32
        word |= byte << (8 * k)
    for k in range(len(marks)):
        if marks[k] == word:
            return True
    return False


@kernel
def _tells(data: Any, at: int, end: int, marks: Any) -> bool:
    """Whether a byte that is `_TELLING` tells of more than a plain text."""
    byte = data[at]
    following = data[at + 1] if at + 1 < end else 0
    if byte == 60:
        if following == 33 or _opens(data, at, end) != 0 or _may_be_mark(data, at, end, marks):
            return True
        third = data[at + 2] if at + 2 < end else 0
        # <s>, <strike>, <del>
        return bool((following == 115 and third in (62, 116)) or (following == 100 and third == 101))
    if byte == 91:
        return bool(_may_be_mark(data, at, end, marks))
    if byte == 38:
        return True
    if byte == 92:
        return following in (117, 60, 62)
    if byte == 126:
        return bool(following == 126)
    if byte == 47:
        return bool(following == 42)
    third = data[at + 2] if at + 2 < end else 0
    if byte == 0xE2:
        # the bracket of a mark
        return bool(following == 0x97 and third == 0x81)
    # full-width brackets
    return bool(following == 0xBC and third in (0x9C, 0x9E))


@kernel
def _is_word(data: Any, start: int, end: int, words: Any) -> bool:
    """Whether text is one of ``words``, which are in lower case and each ended by a newline, or begins with
    one that ends with ``=``."""
    at = 0
    while at < len(words):
        k = start
        while words[at] != NEWLINE and k < end:
            byte = data[k]
            if 65 <= byte <= 90:
                byte |= 32
            if byte != words[at]:
                break
            at += 1
            k += 1
        if words[at] == NEWLINE and (k == end or words[at - 1] == 61):
            return True
        while words[at] != NEWLINE:
            at += 1
        at += 1
    return False


@kernel
def _first_tag(data: Any, start: int, end: int, marks: Any) -> int:
    """Where the first tag begins, -1 where something before it says that the text is no plain one."""
    for k in range(len(_ANALYSIS)):
        if start + k >= end or data[start + k] > 127:
            return -1 if start + k < end and data[start + k] == 0xC4 else _search(data, start, end, marks)
        if data[start + k] | 32 != _ANALYSIS[k]:
            return _search(data, start, end, marks)
    return -1


@kernel
def _search(data: Any, start: int, end: int, marks: Any) -> int:
    at = start
    while at < end:
        if _KINDS[data[at]] & _TELLING:
            if data[at] == 60 and _is_at(data, at, end, _TAG):
                return at
            if _tells(data, at, end, marks):
                return -1
        at += 1
    return -1


@kernel
def read_plain_tail(
    data: Any, start: int, end: int, one: bool, marks: Any, words: Any, out: Any, to: int
) -> Any:
    """The tags of a text that ends in nothing but plain ones, as `read_published` has them.

    ``one``: only one is written, and all must be alike. ``marks``, ``words``: see `_may_be_mark`, `_is_word`.
    Returns how many there are, -1 for any other text, where the next byte goes, and where the line before the
    first tag begins and ends, which can say what the tags are (0 and 0: there is none).
    """
    first = _first_tag(data, start, end, marks)
    if first < 0:
        return -1, to, 0, 0
    at = first
    n = 0
    only, only_end = 0, 0
    while at < end:
        if not _is_at(data, at, end, _TAG):
            return -1, to, 0, 0
        at += len(_TAG)
        inside = at
        is_lettered = True
        while at < end and _KINDS[data[at]] & _PLAIN:
            byte = data[at]
            if byte == 91 and _may_be_mark(data, at, end, marks):
                return -1, to, 0, 0
            is_lettered = is_lettered and (byte == 61 or 48 <= byte <= 57 or byte | 32 >= 97) and byte != 91
            at += 1
        if at == inside or not _is_at(data, at, end, _CLOSING):
            return -1, to, 0, 0
        if (is_lettered or data[inside] | 32 in (97, 109, 115)) and _is_word(data, inside, at, words):
            return -1, to, 0, 0
        n += 1
        if one and n > 1:
            if at - inside != only_end - only:
                return -1, to, 0, 0
            for k in range(at - inside):
                if data[inside + k] != data[only + k]:
                    return -1, to, 0, 0
        else:
            only, only_end = inside, at
            to = copy(data, inside, at, out, to)
            out[to] = NEWLINE
            to += 1
        at += len(_CLOSING)
        while at < end and _KINDS[data[at]] & _FILLER:
            at += 1
    low = first
    for _ in range(_EDGE):
        if low == start:
            break
        low -= 1
        while low > start and data[low] & 0xC0 == 0x80:
            low -= 1
    high = first
    while high > low:
        if _KINDS[data[high - 1]] & _STRIPPED:
            high -= 1
        elif high - low >= 3 and data[high - 3] == 0xE2 and data[high - 2] == 0x80 and data[high - 1] == 0xA2:
            high -= 3
        else:
            break
    line = high
    while line > low and data[line - 1] != NEWLINE:
        line -= 1
    if line == high:
        return n, to, 0, 0
    return n, to, line, high


@kernel
def gather(
    data: Any, scratch: Any, records: Any, numbers: Any, golds: Any, known: Any, store: Any, strict: bool,
    one: bool, marks: Any, words: Any, out: Any, told: Any, sizes: Any,
) -> int:  # fmt: skip
    """Write what responses name beside their gold, as `relfast_kernels.smiles.lists.match_lists` reads it.

    Parameters
    ----------
    data, scratch : uint8
        A block and the scratch space of its scan.
    records : int64, shape (n, RECORD_COLUMNS)
        Its records.
    numbers, golds : int64, shape (m,)
        Which of them, and the number of the gold of each.
    known : int64, shape (n, GOLD_COLUMNS)
        Golds: where in ``store`` (uint8) their texts are, and those of what the question gave.
    out : uint8
        For each record that is read the texts of its gold, of its tags and of what was given, each text
        ended by a newline.
    told : int64, shape (m, TOLD_COLUMNS)
        For each record the number of its tags or `LEFT_TO_PYTHON`, where they are in ``out``, and where in
        the response's own bytes the line before them is.
    sizes : int64
        `SIZE_COLUMNS` for each record that is read.

    Returns
    -------
    int
        Bytes in ``out``, -1 where there is no room.
    """
    to = 0
    n_read = 0
    for place in range(len(numbers)):
        row = records[numbers[place]]
        source = data if row[RECORD_TEXT_PLACE] == IN_DATA else scratch
        start, end = row[RECORD_TEXT], row[RECORD_TEXT_END]
        gold = known[golds[place]]
        says = told[place]
        says[TOLD_N] = LEFT_TO_PYTHON
        if end - start > LONGEST:
            continue
        if to + end - start + gold[GOLD_GIVEN_END] - gold[GOLD_START] + 1 > len(out):
            return -1
        said = copy(store, gold[GOLD_START], gold[GOLD_END], out, to)
        edge, edge_end = 0, 0
        if strict:
            n, behind, edge, edge_end = read_plain_tail(source, start, end, one, marks, words, out, said)
        else:
            n, behind = read_published(source, start, end, one, out, said)
        if n < 0:
            continue
        says[TOLD_N], says[TOLD_START], says[TOLD_END] = n, said, behind
        says[TOLD_EDGE], says[TOLD_EDGE_END] = edge, edge_end
        to = copy(store, gold[GOLD_END], gold[GOLD_GIVEN_END], out, behind)
        size = SIZE_COLUMNS * n_read
        sizes[size + SIZE_GOLD], sizes[size + SIZE_PREDICTED] = gold[GOLD_N], n
        sizes[size + SIZE_GIVEN], sizes[size + SIZE_KEPT] = gold[GOLD_N_GIVEN], gold[GOLD_KEPT]
        n_read += 1
    return to


@kernel
def hash_ids(data: Any, scratch: Any, records: Any, numbers: Any, hashes: Any) -> None:
    """The hashes of the ids of some records, as `relfast.stats.samples.hash_id` has them; 0 without an id."""
    for place in range(len(numbers)):
        row = records[numbers[place]]
        hashes[place] = 0
        if row[RECORD_ID_PLACE] != NOWHERE:
            source = data if row[RECORD_ID_PLACE] == IN_DATA else scratch
            hashes[place] = hash_text(source, row[RECORD_ID], row[RECORD_ID_END])
