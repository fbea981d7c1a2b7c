"""Molecules in the ``<smiles>`` tags of responses, as the published scorer and as ``strict`` read them.

What only Python can say is left to it: letters beyond ASCII that the published patterns, which ignore case,
could take for others (``ſ`` for s), reasoning within the text, and answers in another form than a tag.
"""

from __future__ import annotations

from typing import Any, Final

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    IN_DATA,
    RECORD_TEXT,
    RECORD_TEXT_END,
    RECORD_TEXT_PLACE,
)
from relfast_kernels.smiles.layouts import SIZE_COLUMNS, SIZE_GIVEN, SIZE_GOLD, SIZE_KEPT, SIZE_PREDICTED
from relfast_kernels.tags.layouts import (
    GOLD_END,
    GOLD_GIVEN_END,
    GOLD_KEPT,
    GOLD_N,
    GOLD_N_GIVEN,
    GOLD_START,
    LEFT_TO_PYTHON,
    READ_EMPTY,
    READ_FORM,
    READ_ONLY_REASONING,
    READ_PLAIN,
    TOLD_END,
    TOLD_HOW,
    TOLD_N,
    TOLD_START,
)
from relfast_kernels.tags.strict import KINDS, NEWLINE, TAG, WHITE, opens, read_strict
from relfast_kernels.text.characters import skip_white
from relfast_kernels.text.find import copy, find_byte
from relfast_kernels.text.reasoning import cut_reasoning

LONGEST: Final = 200_000
"""Bytes; a longer response is left to Python."""


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
        kind = opens(data, at, end)
        if kind < 0:
            return -1, to
        at += 1
        if kind == 0:
            continue
        at += len(TAG) - 1
        first = at
        blank = False
        while first < end and KINDS[data[first]] & WHITE:
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
        while last > first and KINDS[data[last - 1]] & WHITE:
            last -= 1
        to = copy(data, first, last, out, to)
        out[to] = NEWLINE
        to += 1
        n += 1
        if one:
            return n, to


@kernel
def gather(
    data: Any, scratch: Any, records: Any, numbers: Any, golds: Any, known: Any, store: Any, strict: bool,
    cuts: bool, one: bool, out: Any, told: Any, sizes: Any,
) -> int:  # fmt: skip
    """Write golds and molecules of responses as `relfast_kernels.smiles.lists.match_lists` reads them.

    Parameters
    ----------
    data, scratch : uint8
        A block and the scratch space of its scan.
    records : int64, shape (n, RECORD_COLUMNS)
        Its records.
    numbers, golds : int64, shape (m,)
        The records to read, and the row in ``known`` of the gold of each.
    known : int64, shape (k, GOLD_COLUMNS)
        Golds: where in ``store`` (uint8) their texts are, and those of what the question gave.
    strict, cuts, one
        Whether tags are read as ``strict`` does; without the response's reasoning; and only one, not all.
    out : uint8
        For each record that is read the texts of its gold, of its tags and of what was given, each text
        ended by a newline.
    told : int64, shape (m, TOLD_COLUMNS)
        For each record the number of its tags or `LEFT_TO_PYTHON`, where they are in ``out``, and how it was
        read.
    sizes : int64, shape (SIZE_COLUMNS * m,)
        `SIZE_COLUMNS` for each record that is read, one after the other.

    Returns
    -------
    int
        Bytes written to ``out``; -1 where there is no room.
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
        # tags take at most one byte more than the response
        if to + end - start + gold[GOLD_GIVEN_END] - gold[GOLD_START] + 1 > len(out):
            return -1
        said = copy(store, gold[GOLD_START], gold[GOLD_END], out, to)
        begin, stop = start, end
        if cuts:
            begin, stop, copied = cut_reasoning(source, start, end, out, said)
            if copied:
                continue  # what is left of it is in pieces
        how = READ_PLAIN
        if strict:
            n, behind, how = read_strict(source, begin, stop, one, out, said)
        else:
            n, behind = read_published(source, begin, stop, one, out, said)
        if n < 0 or how == READ_FORM:
            continue
        if how == READ_EMPTY and stop - begin < end - start and skip_white(source, start, end) < end:
            # not a blank response: nothing is left of it without its reasoning
            how = READ_ONLY_REASONING
        says[TOLD_N], says[TOLD_START], says[TOLD_END] = n, said, behind
        says[TOLD_HOW] = how
        to = copy(store, gold[GOLD_END], gold[GOLD_GIVEN_END], out, behind)
        size = SIZE_COLUMNS * n_read
        sizes[size + SIZE_GOLD], sizes[size + SIZE_PREDICTED] = gold[GOLD_N], n
        sizes[size + SIZE_GIVEN], sizes[size + SIZE_KEPT] = gold[GOLD_N_GIVEN], gold[GOLD_KEPT]
        n_read += 1
    return to
