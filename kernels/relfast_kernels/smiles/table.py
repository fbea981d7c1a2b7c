"""Many SMILES at once: texts get classes of equal molecules, and predictions are matched with gold.

A table remembers texts and canonical codes, so that a text seen before costs a look-up. It is a handful of
arrays made by the caller (`MoleculeTable`), filled by `learn` and `match_lists`, and never grows: each call
that finds it three quarters full empties it first, and a text for which there is no room stays `UNKNOWN`.
Class numbers are therefore only valid within one call, whose results need no other.
"""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints, Ints32, Rows
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.elements import LOWEST, number_of
from relfast_kernels.smiles.graph_code import fingerprint, hydrogens_print, write_code
from relfast_kernels.smiles.layouts import (
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
    NOT_PLAIN,
    PLACE_FACTOR,
    SEVERAL_FRAGMENTS,
    TOO_LONG,
    WORK_SIZE,
    Coding,
    Lesson,
    Lists,
    MoleculeTable,
    Result,
    Sizes,
)
from relfast_kernels.smiles.parser import CLOSING, COLON, DOT, OPENING, read_canonical, read_plain
from relfast_kernels.smiles.valence import is_settled, tell_apart

_HASH_MASK: Final = (1 << 38) - 1
"""Hashes have 38 bits, so that a hash times FNV's 24-bit prime fits into an int64."""


_NO_KEY: Final = 255
"""The first byte of a formula's code; no code of a graph begins like this: keys have fewer bits."""

_RANK: Final = np.cumsum(LOWEST != 0)
"""For each element of constitutional isomers its number among them, counted from one."""


@kernel
def hash_of(data: Bytes, start: int, end: int) -> int:
    """FNV-1a, folded to 38 bits after each byte."""
    value = 0x2325
    for at in range(start, end):
        value = ((value ^ int(data[at])) * 16777619) & _HASH_MASK
    return value


@kernel
def _find(
    slots: Ints32, index: Rows[Any], store: Bytes, data: Bytes, start: int, end: int, hashed: int
) -> int:
    """The slot of ``data[start:end]`` in a hash table of a `MoleculeTable`, or the free one where it
    belongs."""
    mask = len(slots) - 1
    slot = _slot_of(hashed, slots)
    length = end - start
    while slots[slot] != 0:
        entry = int(slots[slot]) - 1
        if index[entry].length == length:
            there = index[entry].start
            same = 0
            while same < length and store[there + same] == data[start + same]:
                same += 1
            if same == length:
                return slot
        slot = (slot + 1) & mask
    return slot


@kernel
def _add_code(length: int, known_fingerprint: int, clean_print: int, table: MoleculeTable) -> int:
    """The class of the code written behind the last one, kept if it is new; `UNKNOWN` without room."""
    code_slots, codes_index, codes, used = table.code_slots, table.codes_index, table.codes, table.used
    start = used.code_bytes
    hashed = hash_of(codes, start, start + length)
    slot = _find(code_slots, codes_index, codes, codes, start, start + length, hashed)
    if code_slots[slot]:
        return int(code_slots[slot]) - 1
    n = int(used.n_codes)
    if n + 1 > len(codes_index):
        return UNKNOWN
    codes_index[n].start = start
    codes_index[n].length = length
    codes_index[n].fingerprint = known_fingerprint
    codes_index[n].clean_print = clean_print
    codes_index[n].first = 0
    codes_index[n].formula = 0
    code_slots[slot] = n + 1
    used.n_codes = n + 1
    used.code_bytes = start + length
    return n


@kernel
def _add_text(
    data: Bytes, start: int, end: int, slot: int, found: int, clean: int, table: MoleculeTable
) -> None:
    """Remember the classes of a text, if there is room."""
    texts_index, texts, used = table.texts_index, table.texts, table.used
    n, to = used.n_texts, used.text_bytes
    if n + 1 > len(texts_index) or to + end - start > len(texts):
        return
    for at in range(end - start):
        texts[to + at] = data[start + at]
    texts_index[n].start = to
    texts_index[n].length = end - start
    texts_index[n].published = found
    texts_index[n].clean = clean
    table.text_slots[slot] = n + 1
    used.n_texts = n + 1
    used.text_bytes = to + end - start


_CLEAN_LETTERS: Final = np.zeros(256, np.bool_)
"""What a clean SMILES consists of, besides brackets and colons."""
_CLEAN_LETTERS[np.frombuffer(f"{ascii_letters}{digits}@#%()+-/=\\".encode(), np.uint8)] = True


@kernel
def _flaw_of(data: Bytes, start: int, end: int) -> int:
    """What ``strict`` objects to in a text, whatever it means: `SEVERAL_FRAGMENTS`, `NOT_PLAIN`, or 0."""
    in_bracket, plain, colons = False, True, True
    for at in range(start, end):
        c = data[at]
        if c == DOT:
            return SEVERAL_FRAGMENTS
        colons = colons and c == COLON
        if c == OPENING:
            in_bracket = True
        elif c == CLOSING:
            in_bracket = False
        elif c == COLON:
            plain = plain and not in_bracket
        elif not _CLEAN_LETTERS[c]:
            plain = False
    return 0 if plain and not colons else NOT_PLAIN


@kernel
def _formula(n: int, table: MoleculeTable) -> int:
    """The number of the formula of the table's graph, counted from one; 0 unless it `IS_ORDINARY`."""
    graph, codes = table.graph, table.codes
    if not graph[FLAGS] & IS_ORDINARY:
        return 0
    start = table.used.code_bytes
    codes[start] = _NO_KEY
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
def glance(hashes: Ints, first: int, last: int, table: MoleculeTable) -> None:
    """Prefetch what `classify` will read for some texts, by their hashes.

    A known text takes three memory accesses, one after the other; those of several texts overlap.
    """
    text_slots, work = table.text_slots, table.work
    for text in range(first, last):
        work[text % WORK_SIZE] = text_slots[_slot_of(hashes[text], text_slots)]
    seen = 0
    for text in range(first, last):
        entry = work[text % WORK_SIZE] - 1
        if entry >= 0:
            seen += int(table.texts[table.texts_index[entry].start])
    work[0] = seen


@kernel
def _slot_of(hashed: int, slots: Ints32) -> int:
    """The slot at which the search for a hash begins."""
    return (hashed ^ (hashed >> 17)) & (len(slots) - 1)


@kernel
def classify(data: Bytes, start: int, end: int, hashed: int, table: MoleculeTable) -> tuple[int, int]:
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
    slot = _find(text_slots, texts_index, table.texts, data, start, end, hashed)
    if text_slots[slot]:
        entry = int(text_slots[slot]) - 1
        return int(texts_index[entry].published), int(texts_index[entry].clean)
    codes_index, codes, used = table.codes_index, table.codes, table.used
    graph, work = table.graph, table.work
    clean = _flaw_of(data, start, end)
    n = read_plain(data, start, end, graph)
    found = n
    if n < 0:
        clean = clean or n
    elif used.code_bytes + 4 * MAX_CODE > len(codes):
        return UNKNOWN, clean or UNKNOWN
    else:
        if graph[FLAGS] & HAS_ISOTOPE:
            clean = clean or ISOTOPE
        length = write_code(graph, n, work, codes, used.code_bytes)
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
                    length = write_code(graph, n, work, codes, used.code_bytes)
                    clean = UNKNOWN
                    if length:
                        clean = _add_code(length, printed, clean_print, table)
                if clean >= 0:
                    # a class that `learn` has from RDKit has neither yet
                    codes_index[clean].clean_print = clean_print
                    if codes_index[clean].formula == 0:
                        codes_index[clean].formula = _formula(n, table)
    _add_text(data, start, end, slot, found, clean, table)
    return found, clean


@kernel
def make_room(table: MoleculeTable) -> None:
    """Empty the table if it is three quarters full."""
    used = table.used
    if (
        4 * used.n_texts <= 3 * len(table.texts_index)
        and 4 * used.text_bytes <= 3 * len(table.texts)
        and 4 * used.n_codes <= 3 * len(table.codes_index)
        and 4 * used.code_bytes <= 3 * len(table.codes)
    ):
        return
    for at in range(len(table.text_slots)):
        table.text_slots[at] = 0
    for at in range(len(table.code_slots)):
        table.code_slots[at] = 0
    used.n_texts, used.text_bytes, used.n_codes, used.code_bytes = 0, 0, 0, 0
    used.generation += 1


@kernel
def code_of(coding: Coding) -> int:
    """Write the code of a text; its length.

    `UNKNOWN` or `INVALID` if there is none. ``by_rdkit``: it is read by `read_canonical`.
    """
    text, graph = coding.text, coding.table.graph
    if coding.by_rdkit:
        n = read_canonical(text, 0, len(text), graph)
    else:
        n = read_plain(text, 0, len(text), graph)
    if n < 0:
        return n
    length = write_code(graph, n, coding.table.work, coding.code, 0)
    return length if length else UNKNOWN


@kernel
def learn(lesson: Lesson) -> int:
    """Remember what RDKit says of a text; its class, or `UNKNOWN` without room."""
    data, code, table = lesson.text, lesson.code, lesson.table
    make_room(table)
    codes, used, text_slots, texts_index = table.codes, table.used, table.text_slots, table.texts_index
    if len(data) > MAX_SMILES or len(data) == 0 or used.code_bytes + len(code) > len(codes):
        return UNKNOWN
    found = INVALID
    if len(code):
        for at in range(len(code)):
            codes[used.code_bytes + at] = code[at]
        found = _add_code(len(code), lesson.fingerprint, 0, table)
        if found == UNKNOWN:
            return UNKNOWN
    hashed = hash_of(data, 0, len(data))
    slot = _find(text_slots, texts_index, table.texts, data, 0, len(data), hashed)
    if text_slots[slot]:
        texts_index[int(text_slots[slot]) - 1].published = found
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
def _match(lists: Lists, first: int, sizes: Sizes, result: Result) -> None:
    """Match one record, whose texts begin with number ``first``, as published.

    Each prediction takes the first gold of its class that is left; ``links`` chain those of a class.
    """
    classes, links, codes_index = lists.classes, lists.links, lists.table.codes_index
    n_gold = sizes.gold
    end_of_gold = first + n_gold
    end = end_of_gold + sizes.predicted
    for at in range(first, end):
        if classes[at] == UNKNOWN:
            return
    for back in range(n_gold):
        at = end_of_gold - 1 - back
        if classes[at] >= 0:
            links[at] = codes_index[classes[at]].first
            codes_index[classes[at]].first = at + 1
    matched = 0
    vote = 0
    for at in range(end_of_gold, end):
        if classes[at] < 0:
            vote += INVALID_VOTE
            continue
        entry = classes[at]
        gold = codes_index[entry].first - 1
        if gold >= 0:
            codes_index[entry].first = links[gold]
            matched += 1
            vote += vote_of_place(gold - first)
        else:
            vote += codes_index[entry].fingerprint
    for at in range(first, end_of_gold):
        if classes[at] >= 0:
            codes_index[classes[at]].first = 0
    result.true_positives = matched
    result.vote = vote & FINGERPRINT_MASK
    result.decided = 1


@kernel
def _judge(lists: Lists, first: int, sizes: Sizes, result: Result) -> None:
    """Match one record, whose texts begin with number ``first``, as ``strict``."""
    classes, codes_index = lists.classes, lists.table.codes_index
    n_gold, n_given = sizes.gold, sizes.given
    end_of_gold = first + n_gold
    end_of_pred = end_of_gold + sizes.predicted
    end = end_of_pred + n_given
    for at in range(first, end_of_pred):
        # flaws of gold are reported by Python
        if classes[at] == UNKNOWN or (at < end_of_gold and classes[at] < 0):
            return
    n_wanted, right, other, vote, flaw, neutral = 0, 0, 0, 0, 0, 0
    formula = codes_index[classes[first]].formula if n_gold else 0
    for at in range(first, end_of_gold):
        entry = classes[at]
        if codes_index[entry].first == 0:
            codes_index[entry].first = _WANTED
            n_wanted += 1
        if codes_index[entry].formula != formula:
            formula = 0
    for at in range(end_of_gold, end_of_pred):
        kind = classes[at]
        entry = kind
        if kind < 0:
            flaw = kind if flaw == 0 else flaw
            continue
        if codes_index[entry].first & _NAMED:
            neutral += 1  # predictions are a set: repeats do not count
            continue
        if codes_index[entry].first & _WANTED:
            right += 1
        else:
            other += 1
        codes_index[entry].first |= _NAMED
        vote += codes_index[entry].clean_print
    decided = 1
    if other and n_given and formula:
        for at in range(end_of_pred, end):
            if classes[at] == UNKNOWN:
                decided = 0
            elif classes[at] >= 0:
                codes_index[classes[at]].first |= _GIVEN
        for at in range(end_of_gold, end_of_pred):
            if classes[at] >= 0:
                entry = classes[at]
                if codes_index[entry].first == _NAMED and codes_index[entry].formula == formula:
                    neutral += 1
                    codes_index[entry].first |= _GIVEN
    for at in range(first, end):
        if classes[at] >= 0:
            codes_index[classes[at]].first = 0
    result.decided = decided
    result.true_positives = right
    result.vote = vote & FINGERPRINT_MASK
    result.n_wanted = n_wanted
    result.n_neutral = neutral
    result.flaw = flaw


@kernel
def match_lists(lists: Lists) -> int:
    """Match predictions with gold for many records; always 0.

    ``strict``: molecules are compared as it does, and isomers that gold lacks are counted. `Result`:
    ``decided``: no text is `UNKNOWN`. ``vote`` is a sum, so the order of predictions does not matter: as
    published of the place of the gold that each matched, or else its fingerprint; under ``strict`` of the
    fingerprints of distinct molecules.
    """
    table, data, classes, links = lists.table, lists.data, lists.classes, lists.links
    make_room(table)
    behind = 0
    first = 0
    for record in range(lists.n_records):
        sizes = lists.sizes[record]
        last = first + sizes.gold + sizes.predicted + sizes.given
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
            classes[text] = clean if lists.strict else published
        result = lists.results[record]
        result.decided, result.true_positives, result.vote = 0, 0, 0
        result.n_wanted, result.n_neutral, result.flaw = 0, 0, 0
        if lists.strict:
            _judge(lists, first, sizes, result)
        else:
            _match(lists, first, sizes, result)
        first = last
    return 0


ENTRIES = {"match": (match_lists, Lists), "learn": (learn, Lesson), "code": (code_of, Coding)}
"""Name → function and what it is given."""
