"""Many SMILES at once: texts to classes of equal molecules, and lists of them against each other.

A table remembers texts and canonical codes, so that a text seen before costs a look-up. It is a handful of
arrays made by the caller (see `new_table`), filled by `learn` and `match_lists`, and never grows: each call
that finds it three quarters full empties it first, and a text for which there is no room stays `UNKNOWN`.
Classes are therefore numbers of one call, and a call says all that there is to know of them.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    CODE_BYTES,
    CODE_COLUMNS,
    CODE_FINGERPRINT,
    CODE_FIRST,
    CODE_LENGTH,
    CODE_SETTLED,
    CODE_START,
    DECIDED,
    FINGERPRINT_MASK,
    GRAPH_SIZE,
    INVALID,
    INVALID_VOTE,
    MAX_CODE,
    MAX_SMILES,
    N_CODES,
    N_COUNTERS,
    N_TEXTS,
    PLACE_FACTOR,
    RESULT_COLUMNS,
    SETTLED_BIT,
    TEXT_BYTES,
    TEXT_COLUMNS,
    TRUE_POSITIVES,
    UNKNOWN,
    VOTE,
    WORK_SIZE,
)
from relfast_kernels.smiles.graph_code import fingerprint, write_code
from relfast_kernels.smiles.parser import read_canonical
from relfast_kernels.smiles.plain import read_plain
from relfast_kernels.smiles.valence import is_settled

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Slots = npt.NDArray[np.int32]

NEWLINE: Final = 10

_HASH_MASK: Final = (1 << 38) - 1
"""Hashes have 38 bits, so that one times FNV's 24-bit prime stays within an int64."""


class Table(NamedTuple):
    """The arrays of a table.

    Attributes
    ----------
    text_slots, code_slots
        int32, open addressing: 0 or index + 1; a power of two long.
    texts_index, codes_index
        int64, `TEXT_COLUMNS` and `CODE_COLUMNS` an entry.
    texts, codes
        uint8, the bytes of all texts and codes.
    used
        int64, the counters.
    graph, work
        int64, `GRAPH_SIZE` and `WORK_SIZE`: space for one molecule.
    """

    text_slots: Slots
    texts_index: Ints
    texts: Bytes
    code_slots: Slots
    codes_index: Ints
    codes: Bytes
    used: Ints
    graph: Ints
    work: Ints


def new_table(max_texts: int, text_bytes: int, max_codes: int, code_bytes: int) -> Table:
    """An empty table for so many texts and molecules (powers of two), which take so many bytes."""
    return Table(
        np.zeros(2 * max_texts, np.int32),
        np.zeros(max_texts * TEXT_COLUMNS, np.int64),
        np.zeros(text_bytes, np.uint8),
        np.zeros(2 * max_codes, np.int32),
        np.zeros(max_codes * CODE_COLUMNS, np.int64),
        np.zeros(code_bytes, np.uint8),
        np.zeros(N_COUNTERS, np.int64),
        np.zeros(GRAPH_SIZE, np.int64),
        np.zeros(WORK_SIZE, np.int64),
    )


@kernel
def _hash(data: Bytes, start: int, end: int) -> int:
    """FNV-1a, folded to 38 bits after each byte."""
    value = 0x2325
    for at in range(start, end):
        value = ((value ^ int(data[at])) * 16777619) & _HASH_MASK
    return value


@kernel
def _find(
    slots: Slots, index: Ints, columns: int, store: Bytes, data: Bytes, start: int, end: int, hashed: int
) -> int:
    """The slot of ``data[start:end]``, or the free one where it belongs."""
    mask = len(slots) - 1
    slot = (hashed ^ (hashed >> 17)) & mask
    length = end - start
    while slots[slot] != 0:
        entry = columns * (int(slots[slot]) - 1)
        if index[entry + 1] == length:
            there = index[entry]
            same = 0
            while same < length and store[there + same] == data[start + same]:
                same += 1
            if same == length:
                return slot
        slot = (slot + 1) & mask
    return slot


@kernel
def _add_code(
    length: int,
    known_fingerprint: int,
    settled: int,
    code_slots: Slots,
    codes_index: Ints,
    codes: Bytes,
    used: Ints,
) -> int:
    """The class of the code that stands behind the last one; `UNKNOWN` if it is new and one too many."""
    start = used[CODE_BYTES]
    hashed = _hash(codes, start, start + length)
    slot = _find(code_slots, codes_index, CODE_COLUMNS, codes, codes, start, start + length, hashed)
    if code_slots[slot]:
        return int(code_slots[slot]) - 1
    n = int(used[N_CODES])
    if (n + 1) * CODE_COLUMNS > len(codes_index):
        return UNKNOWN
    codes_index[CODE_COLUMNS * n + CODE_START] = start
    codes_index[CODE_COLUMNS * n + CODE_LENGTH] = length
    codes_index[CODE_COLUMNS * n + CODE_FINGERPRINT] = known_fingerprint
    codes_index[CODE_COLUMNS * n + CODE_FIRST] = 0
    codes_index[CODE_COLUMNS * n + CODE_SETTLED] = settled
    code_slots[slot] = n + 1
    used[N_CODES] = n + 1
    used[CODE_BYTES] = start + length
    return n


@kernel
def _add_text(
    data: Bytes, start: int, end: int, slot: int, found: int, text_slots: Slots, texts_index: Ints,
    texts: Bytes, used: Ints,
) -> None:  # fmt: skip
    """Remember the class of a text, if there is room."""
    n, to = used[N_TEXTS], used[TEXT_BYTES]
    if (n + 1) * TEXT_COLUMNS > len(texts_index) or to + end - start > len(texts):
        return
    for at in range(end - start):
        texts[to + at] = data[start + at]
    texts_index[TEXT_COLUMNS * n] = to
    texts_index[TEXT_COLUMNS * n + 1] = end - start
    texts_index[TEXT_COLUMNS * n + 2] = found
    text_slots[slot] = n + 1
    used[N_TEXTS] = n + 1
    used[TEXT_BYTES] = to + end - start


@kernel
def _classify(
    data: Bytes, start: int, end: int, text_slots: Slots, texts_index: Ints, texts: Bytes,
    code_slots: Slots, codes_index: Ints, codes: Bytes, used: Ints, graph: Ints, work: Ints,
) -> int:  # fmt: skip
    """The class of a text, `UNKNOWN` or `INVALID`."""
    if end - start > MAX_SMILES or end == start:
        return UNKNOWN
    hashed = _hash(data, start, end)
    slot = _find(text_slots, texts_index, TEXT_COLUMNS, texts, data, start, end, hashed)
    if text_slots[slot]:
        return int(texts_index[TEXT_COLUMNS * (int(text_slots[slot]) - 1) + 2])
    n = read_plain(data, start, end, graph)
    if n < 0:
        found = n
    elif used[CODE_BYTES] + 2 * MAX_CODE > len(codes):
        return UNKNOWN
    else:
        length = write_code(graph, n, work, codes, used[CODE_BYTES])
        if length == 0:
            found = UNKNOWN
        else:
            settled = 1 if is_settled(graph, n) else 0
            found = _add_code(length, fingerprint(graph, n), settled, code_slots, codes_index, codes, used)
            if found == UNKNOWN:
                return UNKNOWN
    _add_text(data, start, end, slot, found, text_slots, texts_index, texts, used)
    return found


@kernel
def _make_room(
    text_slots: Slots, texts_index: Ints, texts: Bytes, code_slots: Slots, codes_index: Ints, codes: Bytes,
    used: Ints,
) -> None:  # fmt: skip
    """Empty the table if it is three quarters full."""
    if (
        4 * TEXT_COLUMNS * used[N_TEXTS] <= 3 * len(texts_index)
        and 4 * used[TEXT_BYTES] <= 3 * len(texts)
        and 4 * CODE_COLUMNS * used[N_CODES] <= 3 * len(codes_index)
        and 4 * used[CODE_BYTES] <= 3 * len(codes)
    ):
        return
    for at in range(len(text_slots)):
        text_slots[at] = 0
    for at in range(len(code_slots)):
        code_slots[at] = 0
    for counter in range(N_COUNTERS):
        used[counter] = 0


@kernel
def vote_of_place(place: int) -> int:
    """What finding the gold at a place adds to a vote."""
    return (place + 1) * PLACE_FACTOR & FINGERPRINT_MASK


@kernel
def _match(
    classes: Ints,
    facts: Ints,
    first: int,
    n_gold: int,
    n_pred: int,
    codes_index: Ints,
    results: Ints,
    to: int,
) -> None:
    """One record: ``classes`` of its gold from ``first`` on, then those of its predictions.

    Each prediction takes the first gold of its class that is left: a list a class, in order of place, linked
    in ``facts`` before that gets what it is for.
    """
    end_of_gold = first + n_gold
    end = end_of_gold + n_pred
    decided = 1
    for at in range(first, end):
        if classes[at] == UNKNOWN:
            decided = 0
    matched = 0
    vote = 0
    if decided:
        for back in range(n_gold):
            at = end_of_gold - 1 - back
            if classes[at] >= 0:
                entry = CODE_COLUMNS * classes[at] + CODE_FIRST
                facts[at] = codes_index[entry]
                codes_index[entry] = at + 1
        for at in range(end_of_gold, end):
            if classes[at] < 0:
                vote += INVALID_VOTE
                continue
            entry = CODE_COLUMNS * classes[at]
            gold = codes_index[entry + CODE_FIRST] - 1
            if gold >= 0:
                codes_index[entry + CODE_FIRST] = facts[gold]
                matched += 1
                vote += vote_of_place(gold - first)
            else:
                vote += codes_index[entry + CODE_FINGERPRINT]
        for at in range(first, end_of_gold):
            if classes[at] >= 0:
                codes_index[CODE_COLUMNS * classes[at] + CODE_FIRST] = 0
    for at in range(first, end):
        facts[at] = 0
        if classes[at] >= 0:
            entry = CODE_COLUMNS * classes[at]
            facts[at] = (
                codes_index[entry + CODE_FINGERPRINT] + SETTLED_BIT * codes_index[entry + CODE_SETTLED]
            )
    results[to + TRUE_POSITIVES] = matched
    results[to + VOTE] = vote & FINGERPRINT_MASK
    results[to + DECIDED] = decided


@kernel
def match_lists(
    data: Bytes, sizes: Ints, classes: Ints, facts: Ints, results: Ints, text_slots: Slots, texts_index: Ints,
    texts: Bytes, code_slots: Slots, codes_index: Ints, codes: Bytes, used: Ints, graph: Ints, work: Ints,
) -> None:  # fmt: skip
    """Hold predictions against gold for many records.

    Parameters
    ----------
    data
        uint8: all texts, each ended by a newline: for each record its gold, then its predictions.
    sizes
        int64: for each record the number of its gold texts and of its predictions.
    classes
        int64, out: the class of each text, `UNKNOWN` or `INVALID`.
    facts
        int64, out: for each text its molecule's fingerprint and `SETTLED_BIT`; 0 where there is none.
    results
        int64, out: `RESULT_COLUMNS` a record: true positives, the vote, and whether they were decided, which
        they are unless a text is unknown. The vote is a sum, so the order of predictions does not matter:
        where each found its gold, or else its fingerprint.
    """
    _make_room(text_slots, texts_index, texts, code_slots, codes_index, codes, used)
    start = 0
    text = 0
    for record in range(len(sizes) // 2):
        n_gold, n_pred = sizes[2 * record], sizes[2 * record + 1]
        first = text
        for _ in range(n_gold + n_pred):
            end = start
            while data[end] != NEWLINE:
                end += 1
            classes[text] = _classify(
                data, start, end, text_slots, texts_index, texts,
                code_slots, codes_index, codes, used, graph, work,
            )  # fmt: skip
            text += 1
            start = end + 1
        _match(classes, facts, first, n_gold, n_pred, codes_index, results, RESULT_COLUMNS * record)


@kernel
def code_of(data: Bytes, by_rdkit: bool, code: Bytes, graph: Ints, work: Ints) -> int:
    """Write the code of a text at ``code[0:]`` (`code` has room for twice `MAX_CODE`); its length.

    `UNKNOWN` or `INVALID` where there is none. ``by_rdkit`` reads it with `read_canonical`.
    """
    n = read_canonical(data, 0, len(data), graph) if by_rdkit else read_plain(data, 0, len(data), graph)
    if n < 0:
        return n
    length = write_code(graph, n, work, code, 0)
    return length if length else UNKNOWN


@kernel
def fingerprint_of(data: Bytes, graph: Ints) -> int:
    """The fingerprint of a text that RDKit wrote, or `UNKNOWN`."""
    n = read_canonical(data, 0, len(data), graph)
    return fingerprint(graph, n) if n > 0 else UNKNOWN


@kernel
def learn(
    data: Bytes, code: Bytes, known_fingerprint: int, text_slots: Slots, texts_index: Ints, texts: Bytes,
    code_slots: Slots, codes_index: Ints, codes: Bytes, used: Ints,
) -> int:  # fmt: skip
    """Remember the code of a text (empty: that it is invalid); its class, or `UNKNOWN` without room."""
    _make_room(text_slots, texts_index, texts, code_slots, codes_index, codes, used)
    if len(data) > MAX_SMILES or len(data) == 0 or used[CODE_BYTES] + len(code) > len(codes):
        return UNKNOWN
    found = INVALID
    if len(code):
        for at in range(len(code)):
            codes[used[CODE_BYTES] + at] = code[at]
        found = _add_code(len(code), known_fingerprint, 0, code_slots, codes_index, codes, used)
        if found == UNKNOWN:
            return UNKNOWN
    hashed = _hash(data, 0, len(data))
    slot = _find(text_slots, texts_index, TEXT_COLUMNS, texts, data, 0, len(data), hashed)
    if text_slots[slot]:
        texts_index[TEXT_COLUMNS * (int(text_slots[slot]) - 1) + 2] = found
    else:
        _add_text(data, 0, len(data), slot, found, text_slots, texts_index, texts, used)
    return found
