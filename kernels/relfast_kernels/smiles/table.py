"""Many SMILES at once: texts get classes of equal molecules, and predictions are matched with gold.

A table remembers texts and canonical codes, so that a text seen before costs a look-up. It is a handful of
arrays made by the caller (`Table`), filled by `learn` and `match_lists`, and never grows: each call that
finds it three quarters full empties it first, and a text for which there is no room stays `UNKNOWN`.
Class numbers are therefore only valid within one call, whose results need no other.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.elements import LOWEST, number_of
from relfast_kernels.smiles.graph_code import fingerprint, hydrogens_print, write_code
from relfast_kernels.smiles.layouts import (
    CODE,
    CODE_COLUMNS,
    EMPTY,
    FINGERPRINT_MASK,
    FLAGS,
    HAS_ISOTOPE,
    HYDROGENS,
    INVALID,
    INVALID_VOTE,
    IS_ORDINARY,
    ISOTOPE,
    LABEL,
    MAX_CODE,
    MAX_SMILES,
    N_COUNTERS,
    NOT_PLAIN,
    PLACE_FACTOR,
    RESULT,
    RESULT_COLUMNS,
    SEVERAL_FRAGMENTS,
    SIZE_COLUMNS,
    SIZES,
    TEXT_CLASS,
    TEXT_CLEAN,
    TEXT_COLUMNS,
    TEXT_LENGTH,
    TEXT_START,
    TOO_LONG,
    USED,
    WORK_SIZE,
)
from relfast_kernels.smiles.parser import read_canonical, read_plain
from relfast_kernels.smiles.valence import is_settled, tell_apart

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Slots = npt.NDArray[np.int32]

_HASH_MASK: Final = (1 << 38) - 1
"""Hashes have 38 bits, so that a hash times FNV's 24-bit prime fits into an int64."""


_RANK: Final = np.cumsum(LOWEST != 0)
"""For each element of constitutional isomers its number among them, counted from one."""


class Table(NamedTuple):
    """The arrays of a table.

    Attributes
    ----------
    text_slots, code_slots
        int32, hash tables with open addressing: 0 or index + 1; a power of two long.
    texts_index, codes_index
        int64, `TEXT_COLUMNS` and `CODE_COLUMNS` per entry.
    texts, codes
        uint8, the bytes of all texts and codes.
    used
        int64, the counters.
    graph, work
        int64, `GRAPH_SIZE` and `WORK_SIZE`: workspace for one molecule.
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


@kernel
def hash_of(data: Bytes, start: int, end: int) -> int:
    """FNV-1a, folded to 38 bits after each byte."""
    value = 0x2325
    for at in range(start, end):
        value = ((value ^ int(data[at])) * 16777619) & _HASH_MASK
    return value


@kernel
def _find(
    slots: Slots, index: Ints, columns: int, store: Bytes, data: Bytes, start: int, end: int, hashed: int
) -> int:
    """The slot of ``data[start:end]`` in a hash table, or the free one where it belongs."""
    mask = len(slots) - 1
    slot = _slot_of(hashed, slots)
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
def _add_code(length: int, known_fingerprint: int, clean_print: int, table: Table) -> int:
    """The class of the code written behind the last one, kept if it is new; `UNKNOWN` without room."""
    code_slots, codes_index, codes, used = table.code_slots, table.codes_index, table.codes, table.used
    start = used[USED.code_bytes]
    hashed = hash_of(codes, start, start + length)
    slot = _find(code_slots, codes_index, CODE_COLUMNS, codes, codes, start, start + length, hashed)
    if code_slots[slot]:
        return int(code_slots[slot]) - 1
    n = int(used[USED.n_codes])
    if (n + 1) * CODE_COLUMNS > len(codes_index):
        return UNKNOWN
    codes_index[CODE_COLUMNS * n + CODE.start] = start
    codes_index[CODE_COLUMNS * n + CODE.length] = length
    codes_index[CODE_COLUMNS * n + CODE.fingerprint] = known_fingerprint
    codes_index[CODE_COLUMNS * n + CODE.clean_print] = clean_print
    codes_index[CODE_COLUMNS * n + CODE.first] = 0
    codes_index[CODE_COLUMNS * n + CODE.formula] = 0
    code_slots[slot] = n + 1
    used[USED.n_codes] = n + 1
    used[USED.code_bytes] = start + length
    return n


@kernel
def _add_text(data: Bytes, start: int, end: int, slot: int, found: int, clean: int, table: Table) -> None:
    """Remember the classes of a text, if there is room."""
    texts_index, texts, used = table.texts_index, table.texts, table.used
    n, to = used[USED.n_texts], used[USED.text_bytes]
    if (n + 1) * TEXT_COLUMNS > len(texts_index) or to + end - start > len(texts):
        return
    for at in range(end - start):
        texts[to + at] = data[start + at]
    texts_index[TEXT_COLUMNS * n + TEXT_START] = to
    texts_index[TEXT_COLUMNS * n + TEXT_LENGTH] = end - start
    texts_index[TEXT_COLUMNS * n + TEXT_CLASS] = found
    texts_index[TEXT_COLUMNS * n + TEXT_CLEAN] = clean
    table.text_slots[slot] = n + 1
    used[USED.n_texts] = n + 1
    used[USED.text_bytes] = to + end - start


@kernel
def _flaw_of(data: Bytes, start: int, end: int) -> int:
    """What ``strict`` objects to in a text, whatever it means: `SEVERAL_FRAGMENTS`, `NOT_PLAIN`, or 0."""
    in_bracket, plain, colons = False, True, True
    for at in range(start, end):
        c = data[at]
        if c == 46:
            return SEVERAL_FRAGMENTS
        colons = colons and c == 58
        if c == 91:
            in_bracket = True
        elif c == 93:
            in_bracket = False
        elif c == 58:
            plain = plain and not in_bracket
        elif not (
            48 <= c <= 57 or 64 <= c <= 90 or 97 <= c <= 122 or c in (35, 37, 40, 41, 43, 45, 47, 61, 92)
        ):
            plain = False
    return 0 if plain and not colons else NOT_PLAIN


@kernel
def _formula(n: int, table: Table) -> int:
    """The number of the formula of the table's graph, counted from one; 0 unless it `IS_ORDINARY`."""
    graph, codes = table.graph, table.codes
    if not graph[FLAGS] & IS_ORDINARY:
        return 0
    start = table.used[USED.code_bytes]
    # no code of a graph begins like this: keys have fewer bits
    codes[start] = 255
    hydrogens = 0
    length = 3 + _RANK[-1]
    for at in range(3, length):
        codes[start + at] = 0
    for atom in range(n):
        hydrogens += graph[HYDROGENS + atom]
        codes[start + 2 + _RANK[number_of(graph[LABEL + atom])]] += 1
    codes[start + 1] = hydrogens >> 8
    codes[start + 2] = hydrogens & 255
    return _add_code(length, 0, 0, table) + 1


@kernel
def glance(hashes: Ints, first: int, last: int, table: Table) -> None:
    """Prefetch what `classify` will read for some texts, by their hashes.

    A known text takes three memory accesses, one after the other; those of several texts overlap.
    """
    text_slots, work = table.text_slots, table.work
    for text in range(first, last):
        work[text % WORK_SIZE] = text_slots[_slot_of(hashes[text], text_slots)]
    seen = 0
    for text in range(first, last):
        entry = TEXT_COLUMNS * (work[text % WORK_SIZE] - 1)
        if entry >= 0:
            seen += int(table.texts[table.texts_index[entry + TEXT_START]])
    work[0] = seen


@kernel
def _slot_of(hashed: int, slots: Slots) -> int:
    """The slot at which the search for a hash begins."""
    return (hashed ^ (hashed >> 17)) & (len(slots) - 1)


@kernel
def classify(data: Bytes, start: int, end: int, hashed: int, table: Table) -> tuple[int, int]:
    """A text's class as published, `UNKNOWN` or `INVALID`; and its class under ``strict``, or its flaw.

    ``hashed`` is its hash, if it is no longer than `MAX_SMILES`.
    """
    if end == start:
        return UNKNOWN, EMPTY
    if end - start > MAX_SMILES:
        for at in range(start, end):
            if data[at] > 127:  # strict's limit is in characters
                return UNKNOWN, UNKNOWN
        return UNKNOWN, TOO_LONG
    text_slots, texts_index = table.text_slots, table.texts_index
    slot = _find(text_slots, texts_index, TEXT_COLUMNS, table.texts, data, start, end, hashed)
    if text_slots[slot]:
        entry = TEXT_COLUMNS * (int(text_slots[slot]) - 1)
        return int(texts_index[entry + TEXT_CLASS]), int(texts_index[entry + TEXT_CLEAN])
    codes_index, codes, used = table.codes_index, table.codes, table.used
    graph, work = table.graph, table.work
    clean = _flaw_of(data, start, end)
    n = read_plain(data, start, end, graph)
    found = n
    if n < 0:
        clean = clean or n
    elif used[USED.code_bytes] + 4 * MAX_CODE > len(codes):
        return UNKNOWN, clean or UNKNOWN
    else:
        if graph[FLAGS] & HAS_ISOTOPE:
            clean = clean or ISOTOPE
        length = write_code(graph, n, work, codes, used[USED.code_bytes])
        if length == 0:
            found = UNKNOWN
            clean = clean or UNKNOWN
        else:
            printed = fingerprint(graph, n)
            clean_print = (printed + hydrogens_print(graph, n)) & FINGERPRINT_MASK
            found = _add_code(length, printed, clean_print, table)
            if found == UNKNOWN:
                return UNKNOWN, clean or UNKNOWN
            if clean == 0:
                clean = found
                if not is_settled(graph, n):
                    tell_apart(graph, n, True)
                    length = write_code(graph, n, work, codes, used[USED.code_bytes])
                    clean = UNKNOWN
                    if length:
                        clean = _add_code(length, printed, clean_print, table)
                if clean >= 0:
                    # a class that `learn` has from RDKit has neither yet
                    entry = CODE_COLUMNS * clean
                    codes_index[entry + CODE.clean_print] = clean_print
                    if codes_index[entry + CODE.formula] == 0:
                        codes_index[entry + CODE.formula] = _formula(n, table)
    _add_text(data, start, end, slot, found, clean, table)
    return found, clean


@kernel
def make_room(table: Table) -> None:
    """Empty the table if it is three quarters full."""
    used = table.used
    if (
        4 * TEXT_COLUMNS * used[USED.n_texts] <= 3 * len(table.texts_index)
        and 4 * used[USED.text_bytes] <= 3 * len(table.texts)
        and 4 * CODE_COLUMNS * used[USED.n_codes] <= 3 * len(table.codes_index)
        and 4 * used[USED.code_bytes] <= 3 * len(table.codes)
    ):
        return
    for at in range(len(table.text_slots)):
        table.text_slots[at] = 0
    for at in range(len(table.code_slots)):
        table.code_slots[at] = 0
    emptied = used[USED.generation] + 1
    for counter in range(N_COUNTERS):
        used[counter] = 0
    used[USED.generation] = emptied


@kernel
def code_of(data: Bytes, by_rdkit: bool, code: Bytes, table: Table) -> int:
    """Write the code of a text at ``code[0:]`` (which has room for twice `MAX_CODE`); its length.

    `UNKNOWN` or `INVALID` if there is none. ``by_rdkit``: it is read by `read_canonical`.
    """
    graph = table.graph
    n = read_canonical(data, 0, len(data), graph) if by_rdkit else read_plain(data, 0, len(data), graph)
    if n < 0:
        return n
    length = write_code(graph, n, table.work, code, 0)
    return length if length else UNKNOWN


@kernel
def learn(data: Bytes, code: Bytes, known_fingerprint: int, table: Table) -> int:
    """Remember a text's code (from RDKit; empty: invalid); its class, or `UNKNOWN` without room."""
    make_room(table)
    codes, used, text_slots, texts_index = table.codes, table.used, table.text_slots, table.texts_index
    if len(data) > MAX_SMILES or len(data) == 0 or used[USED.code_bytes] + len(code) > len(codes):
        return UNKNOWN
    found = INVALID
    if len(code):
        for at in range(len(code)):
            codes[used[USED.code_bytes] + at] = code[at]
        found = _add_code(len(code), known_fingerprint, 0, table)
        if found == UNKNOWN:
            return UNKNOWN
    hashed = hash_of(data, 0, len(data))
    slot = _find(text_slots, texts_index, TEXT_COLUMNS, table.texts, data, 0, len(data), hashed)
    if text_slots[slot]:
        texts_index[TEXT_COLUMNS * (int(text_slots[slot]) - 1) + TEXT_CLASS] = found
    else:
        _add_text(data, 0, len(data), slot, found, UNKNOWN, table)
    return found


NEWLINE: Final = 10

_WANTED, _NAMED, _GIVEN = 1, 2, 4
"""Marks of a class while a record is compared: in gold, predicted, given by the question."""


@kernel
def vote_of_place(place: int) -> int:
    """What matching the gold at a place adds to a vote."""
    return (place + 1) * PLACE_FACTOR & FINGERPRINT_MASK


@kernel
def _match(
    classes: Ints, links: Ints, first: int, n_gold: int, n_pred: int, codes_index: Ints, results: Ints
) -> None:
    """Match one record as published: ``classes`` of its gold from ``first`` on, then of its predictions.

    Each prediction takes the first gold of its class that is left; ``links`` chain those of a class.
    """
    end_of_gold = first + n_gold
    end = end_of_gold + n_pred
    results[RESULT.decided] = 0
    for at in range(first, end):
        if classes[at] == UNKNOWN:
            return
    for back in range(n_gold):
        at = end_of_gold - 1 - back
        if classes[at] >= 0:
            entry = CODE_COLUMNS * classes[at] + CODE.first
            links[at] = codes_index[entry]
            codes_index[entry] = at + 1
    matched = 0
    vote = 0
    for at in range(end_of_gold, end):
        if classes[at] < 0:
            vote += INVALID_VOTE
            continue
        entry = CODE_COLUMNS * classes[at]
        gold = codes_index[entry + CODE.first] - 1
        if gold >= 0:
            codes_index[entry + CODE.first] = links[gold]
            matched += 1
            vote += vote_of_place(gold - first)
        else:
            vote += codes_index[entry + CODE.fingerprint]
    for at in range(first, end_of_gold):
        if classes[at] >= 0:
            codes_index[CODE_COLUMNS * classes[at] + CODE.first] = 0
    results[RESULT.true_positives] = matched
    results[RESULT.vote] = vote & FINGERPRINT_MASK
    results[RESULT.decided] = 1


@kernel
def _judge(
    classes: Ints, first: int, n_gold: int, n_pred: int, n_given: int, codes_index: Ints, results: Ints
) -> None:
    """Match one record as ``strict``: ``classes`` of gold, of predictions, of what the question gave."""
    end_of_gold = first + n_gold
    end_of_pred = end_of_gold + n_pred
    end = end_of_pred + n_given
    results[RESULT.decided] = 0
    for at in range(first, end_of_pred):
        # flaws of gold are reported by Python
        if classes[at] == UNKNOWN or (at < end_of_gold and classes[at] < 0):
            return
    n_wanted, right, other, vote, flaw, neutral = 0, 0, 0, 0, 0, 0
    formula = codes_index[CODE_COLUMNS * classes[first] + CODE.formula] if n_gold else 0
    for at in range(first, end_of_gold):
        entry = CODE_COLUMNS * classes[at]
        if codes_index[entry + CODE.first] == 0:
            codes_index[entry + CODE.first] = _WANTED
            n_wanted += 1
        if codes_index[entry + CODE.formula] != formula:
            formula = 0
    for at in range(end_of_gold, end_of_pred):
        kind = classes[at]
        entry = CODE_COLUMNS * kind
        if kind < 0:
            flaw = kind if flaw == 0 else flaw
            continue
        if codes_index[entry + CODE.first] & _NAMED:
            neutral += 1  # predictions are a set: repeats do not count
            continue
        if codes_index[entry + CODE.first] & _WANTED:
            right += 1
        else:
            other += 1
        codes_index[entry + CODE.first] |= _NAMED
        vote += codes_index[entry + CODE.clean_print]
    decided = 1
    if other and n_given and formula:
        for at in range(end_of_pred, end):
            if classes[at] == UNKNOWN:
                decided = 0
            elif classes[at] >= 0:
                codes_index[CODE_COLUMNS * classes[at] + CODE.first] |= _GIVEN
        for at in range(end_of_gold, end_of_pred):
            if classes[at] >= 0:
                entry = CODE_COLUMNS * classes[at]
                if codes_index[entry + CODE.first] == _NAMED and codes_index[entry + CODE.formula] == formula:
                    neutral += 1
                    codes_index[entry + CODE.first] |= _GIVEN
    for at in range(first, end):
        if classes[at] >= 0:
            codes_index[CODE_COLUMNS * classes[at] + CODE.first] = 0
    results[RESULT.decided] = decided
    results[RESULT.true_positives] = right
    results[RESULT.vote] = vote & FINGERPRINT_MASK
    results[RESULT.n_wanted] = n_wanted
    results[RESULT.n_neutral] = neutral
    results[RESULT.flaw] = flaw


@kernel
def match_lists(
    data: Bytes, sizes: Ints, strict: bool, classes: Ints, links: Ints, results: Ints, table: Table
) -> None:
    """Match predictions with gold for many records.

    Parameters
    ----------
    data
        uint8: all texts, each ended by a newline: for each record its gold, its predictions, and what the
        question gave.
    sizes
        int64: `SIZE_COLUMNS` a record.
    strict
        Whether molecules are compared as ``strict`` does, and isomers that gold lacks are counted.
    classes
        int64, out: the class of each text, `UNKNOWN`, `INVALID`, or another flaw.
    links
        int64, as long: workspace.
    results
        int64, out: `RESULT_COLUMNS` a record. ``decided``: no text is `UNKNOWN`. ``vote`` is a sum, so the
        order of predictions does not matter: as published of the place of the gold that each matched, or else
        its fingerprint; under ``strict`` of the fingerprints of distinct molecules.
    """
    make_room(table)
    behind = 0
    first = 0
    for record in range(len(sizes) // SIZE_COLUMNS):
        at = SIZE_COLUMNS * record
        n_gold, n_pred, n_given = sizes[at + SIZES.gold], sizes[at + SIZES.predicted], sizes[at + SIZES.given]
        last = first + n_gold + n_pred + n_given
        for text in range(first, last):
            # holds where the text begins until its class is known
            classes[text] = behind
            while data[behind] != NEWLINE:
                behind += 1
            start = classes[text]
            links[text] = hash_of(data, start, behind) if behind - start <= MAX_SMILES else 0
            behind += 1
        glance(links, first, last, table)
        for text in range(first, last):
            end = (classes[text + 1] if text + 1 < last else behind) - 1
            published, clean = classify(data, classes[text], end, links[text], table)
            classes[text] = clean if strict else published
        result = results[RESULT_COLUMNS * record : RESULT_COLUMNS * (record + 1)]
        if strict:
            _judge(classes, first, n_gold, n_pred, n_given, table.codes_index, result)
        else:
            _match(classes, links, first, n_gold, n_pred, table.codes_index, result)
        first = last
