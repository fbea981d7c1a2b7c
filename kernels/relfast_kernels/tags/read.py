"""Molecules in the ``<smiles>`` tags of responses, as `relfast.tasks.rel_c.extract` reads them.

What only Python can say is left to it: letters beyond ASCII where they could matter, and under ``strict``
all responses but those that end in nothing but tags whose text is read as it stands, have nothing but marks
beside these, and hold nothing that could be a mark of reasoning, an escape or something struck out. What the
words before the tags say is Python's, too.
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
    READ_EMPTY,
    READ_NEARLY,
    READ_ONLY_REASONING,
    READ_PLAIN,
    TOLD_EDGE,
    TOLD_EDGE_END,
    TOLD_END,
    TOLD_FROM,
    TOLD_HOW,
    TOLD_N,
    TOLD_START,
    TOLD_TO,
)
from relfast_kernels.text.find import copy, find_byte, hash_text
from relfast_kernels.text.reasoning import cut_reasoning

NEWLINE: Final = 10
_TAG: Final = np.frombuffer(b"<smiles>", np.uint8)
_CLOSING: Final = np.frombuffer(b"</smiles>", np.uint8)
_ANALYSIS: Final = np.frombuffer(b"analysis", np.uint8)
_ANSWERED: Final = np.frombuffer(b"</answer>", np.uint8)
_LABELS: Final = np.frombuffer(b"smiles\nmotif\nanswer\nfinal\nmolecule\nisomer\n", np.uint8)

LONGEST: Final = 200_000
"""Bytes of a response that is read here."""
_EDGE: Final = 200
"""Characters before the first tag that can say what the tags are."""

_WHITE, _PLAIN, _FILLER, _MARKING, _STRIPPED, _TELLING = 1, 2, 4, 8, 16, 32
"""Kinds of bytes: white space; letters of a plain molecule; what may stand between plain tags; between
others; what is stripped from the end of the words before them; what may mean more than itself."""
_NEARLY_PLAIN, _BEGINS_MARK, _ENDS_TEXT, _BEGINS_LIST, _ESCAPED = 64, 128, 256, 512, 1_024
"""What tags that are not plain hold beside plain letters; what an extractor may take away from the beginning
or the end of that, or from its beginning where a blank follows; what means something else behind a
backslash."""


def _kinds() -> Any:
    kinds = np.zeros(256, np.int64)
    for kind, some in (
        (_WHITE | _FILLER, b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "),
        (_PLAIN, b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@+-[]()=#/%"),
        (_NEARLY_PLAIN, b":\\.*~_?'"),
        (_BEGINS_MARK, b"*\\'_~"),
        (_BEGINS_LIST, b"-+#[(0123456789"),
        (_ENDS_TEXT, b".\\"),
        (_ESCAPED, b"\\#=_[]()nru"),
        (_FILLER, b"0123456789.,;)*`-"),
        (_MARKING, b"\"']}$|:"),
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
        # &lt; &gt; &#60; &#62;
        return following in (108, 103, 35)
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
def _begins_with_label(data: Any, start: int, end: int) -> bool:
    """Whether text begins with a word that can be a label (``Motif 2: …``), in any case."""
    at = 0
    while at < len(_LABELS):
        k = start
        while _LABELS[at] != NEWLINE and k < end and data[k] | 32 == _LABELS[at]:
            at += 1
            k += 1
        if _LABELS[at] == NEWLINE:
            return True
        while _LABELS[at] != NEWLINE:
            at += 1
        at += 1
    return False


@kernel
def _first_tag(data: Any, start: int, end: int, marks: Any) -> int:
    """Where the first tag begins, ``end`` where there is none, -1 where something before it says that the
    text is no plain one."""
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
    return end


@kernel
def _without_tag(data: Any, start: int, end: int) -> int:
    """How a text without a tag was read, -1 where only Python can say whether it is blank."""
    is_blank = True
    for at in range(start, end):
        if not _KINDS[data[at]] & _WHITE:
            if data[at] < 128:
                return READ_PLAIN
            is_blank = False
    return READ_EMPTY if is_blank else -1


@kernel
def _is_said_as_it_is(data: Any, start: int, end: int, words: Any, space: Any, to: int) -> bool:
    """Whether the extractor takes what a tag holds for the answer as it stands there, white space around it
    apart: without marks of lists, labels, quotes, escapes and a full stop, and as no word about the tag
    (`relfast.tasks.rel_c.tags`, ``_lines`` and ``_mentioned``). There is room for it in ``space``."""
    if _KINDS[data[start]] & _BEGINS_MARK or _KINDS[data[end - 1]] & _ENDS_TEXT:
        return False
    word = to
    for at in range(start, end):
        byte = data[at]
        following = data[at + 1] if at + 1 < end else 0
        if _KINDS[byte] & _WHITE and (byte != 32 or _KINDS[data[start]] & _BEGINS_LIST):
            return False
        if byte == 92 and _KINDS[following] & _ESCAPED:
            return False
        if (byte == 126 and following == 126) or (byte == 47 and following == 42):
            return False
        letter = byte | 32
        if 97 <= letter <= 122 or 48 <= byte <= 57:
            space[word] = letter if letter >= 97 else byte
            word += 1
    return word > to and not _is_word(space, to, word, words) and not _begins_with_label(data, start, end)


@kernel
def _behind(data: Any, at: int, end: int) -> Any:
    """Where what stands behind a tag ends: marks of lists, and, behind the last one, the end of what wraps an
    answer. Whether it has other marks than between plain tags, and whether it has a line that parts what is
    above it from what is below, or is followed by what nothing may follow."""
    marked, ruled, closed = False, False, False
    again = 0
    while at < end:
        byte = data[at]
        kind = _KINDS[byte]
        if not kind & (_FILLER | _MARKING):
            if not (byte == 60 and _is_at(data, at, end, _ANSWERED)):
                break
            at += len(_ANSWERED) - 1
            closed = True
        marked = marked or kind & _MARKING != 0
        again = again + 1 if byte == data[at - 1] and (byte == 45 or byte == 42) else 0
        ruled = ruled or again >= 2
        at += 1
    return at, marked or closed, ruled or (closed and at < end)


@kernel
def read_plain_tail(
    data: Any, start: int, end: int, one: bool, marks: Any, words: Any, out: Any, to: int
) -> Any:
    """The tags of a text that ends in nothing but tags, as `read_published` has them.

    ``one``: only one is written, and all must be alike. ``marks``, ``words``: see `_may_be_mark`, `_is_word`.
    Returns how many there are, -1 for any other text, where the next byte goes, the edge of `TOLD_COLUMNS` (0
    and 0: there is none), and how the text was read.
    """
    first = _first_tag(data, start, end, marks)
    if first < 0:
        return -1, to, 0, 0, READ_PLAIN
    if first == end:
        how = _without_tag(data, start, end)
        return -1 if how < 0 else 0, to, 0, 0, how
    at = first
    n = 0
    only, only_end, first_end = 0, 0, 0
    nearly, is_ruled = False, False
    while at < end:
        if not _is_at(data, at, end, _TAG):
            return -1, to, 0, 0, READ_PLAIN
        at += len(_TAG)
        inside = at
        is_lettered = True
        while at < end and _KINDS[data[at]] & _PLAIN:
            byte = data[at]
            if byte == 91 and _may_be_mark(data, at, end, marks):
                return -1, to, 0, 0, READ_PLAIN
            is_lettered = is_lettered and (byte == 61 or 48 <= byte <= 57 or byte | 32 >= 97) and byte != 91
            at += 1
        last = at
        if at == inside or not _is_at(data, at, end, _CLOSING):
            while at < end and _KINDS[data[at]] & (_PLAIN | _NEARLY_PLAIN | _WHITE):
                if data[at] == 91 and _may_be_mark(data, at, end, marks):
                    return -1, to, 0, 0, READ_PLAIN
                at += 1
            last = at
            while last > inside and _KINDS[data[last - 1]] & _WHITE:
                last -= 1
            while inside < last and _KINDS[data[inside]] & _WHITE:
                inside += 1
            if last == inside or not _is_at(data, at, end, _CLOSING):
                return -1, to, 0, 0, READ_PLAIN
            if not _is_said_as_it_is(data, inside, last, words, out, to):
                return -1, to, 0, 0, READ_PLAIN
            nearly = True
        elif (is_lettered or data[inside] | 32 in (97, 109, 115)) and _is_word(data, inside, at, words):
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
        at += len(_CLOSING)
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
        return 0, 0
    return line, high


@kernel
def _final_text(data: Any, start: int, end: int, out: Any, to: int) -> Any:
    """Where the text without its reasoning is; -1 and -1 where only Python can cut it: other marks than one
    ``<think>…</think>``, something before that, and letters that are ASCII in lower case only."""
    at = find_byte(data, start + 2, end, 0xAA)
    while at < end:
        if data[at - 1] == 0x84 and data[at - 2] == 0xE2:
            return -1, -1
        at = find_byte(data, at + 1, end, 0xAA)
    at = find_byte(data, start + 1, end, 0xB0)
    while at < end:
        if data[at - 1] == 0xC4:
            return -1, -1
        at = find_byte(data, at + 1, end, 0xB0)
    first, last, copied = cut_reasoning(data, start, end, out, to)
    if first < 0 or copied:
        return -1, -1
    return first, last


@kernel
def gather(
    data: Any, scratch: Any, records: Any, numbers: Any, golds: Any, known: Any, store: Any, strict: bool,
    cuts: bool, one: bool, marks: Any, words: Any, out: Any, told: Any, sizes: Any,
) -> int:  # fmt: skip
    """Write what responses name beside their gold, as `relfast_kernels.smiles.lists.match_lists` reads it.

    Parameters
    ----------
    data, scratch : uint8
        A block and the scratch space of its scan.
    records : int64, shape (n, RECORD_COLUMNS)
        Its records.
    strict, cuts
        Whether tags are read as ``strict`` does, and without the response's reasoning.
    numbers, golds : int64, shape (m,)
        Which of them, and the number of the gold of each.
    known : int64, shape (n, GOLD_COLUMNS)
        Golds: where in ``store`` (uint8) their texts are, and those of what the question gave.
    out : uint8
        For each record that is read the texts of its gold, of its tags and of what was given, each text
        ended by a newline.
    told : int64, shape (m, TOLD_COLUMNS)
        For each record the number of its tags or `LEFT_TO_PYTHON`, where they are in ``out``, where in the
        response's own bytes is what can say what they are, and how it was read.
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
        begin, stop = start, end
        if cuts:
            begin, stop = _final_text(source, start, end, out, said)
            if begin < 0:
                continue
        edge, edge_end, how = 0, 0, READ_PLAIN
        if strict:
            n, behind, edge, edge_end, how = read_plain_tail(
                source, begin, stop, one, marks, words, out, said
            )
        else:
            n, behind = read_published(source, begin, stop, one, out, said)
        if n < 0:
            continue
        if (
            how == READ_EMPTY
            and stop - begin < end - start
            and _without_tag(source, start, end) != READ_EMPTY
        ):
            # a mark of reasoning is no blank
            how = READ_ONLY_REASONING
        says[TOLD_FROM], says[TOLD_TO] = begin, stop
        says[TOLD_N], says[TOLD_START], says[TOLD_END] = n, said, behind
        says[TOLD_EDGE], says[TOLD_EDGE_END], says[TOLD_HOW] = edge, edge_end, how
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
