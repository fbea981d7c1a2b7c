"""Lists of SMILES held against each other: predictions and gold, as published and as strict has it."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    CODE_CLEAN_PRINT,
    CODE_COLUMNS,
    CODE_FINGERPRINT,
    CODE_FIRST,
    CODE_FORMULA,
    DECIDED,
    DUPLICATE,
    FINGERPRINT_MASK,
    FLAW,
    INVALID_VOTE,
    N_NEUTRAL,
    N_WANTED,
    PLACE_FACTOR,
    RESULT_COLUMNS,
    TRUE_POSITIVES,
    UNKNOWN,
    VOTE,
)
from relfast_kernels.smiles.table import classify, make_room

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Slots = npt.NDArray[np.int32]

NEWLINE: Final = 10

_WANTED, _NAMED, _GIVEN = 1, 2, 4
"""Marks of a class while a record is looked at."""


@kernel
def vote_of_place(place: int) -> int:
    """What finding the gold at a place adds to a vote."""
    return (place + 1) * PLACE_FACTOR & FINGERPRINT_MASK


@kernel
def _match(
    classes: Ints,
    links: Ints,
    first: int,
    n_gold: int,
    n_pred: int,
    codes_index: Ints,
    results: Ints,
    to: int,
) -> None:
    """One record: ``classes`` of its gold from ``first`` on, then those of its predictions.

    Each prediction takes the first gold of its class that is left: a list a class, in order of place.
    """
    end_of_gold = first + n_gold
    end = end_of_gold + n_pred
    results[to + DECIDED] = 0
    for at in range(first, end):
        if classes[at] == UNKNOWN:
            return
    for back in range(n_gold):
        at = end_of_gold - 1 - back
        if classes[at] >= 0:
            entry = CODE_COLUMNS * classes[at] + CODE_FIRST
            links[at] = codes_index[entry]
            codes_index[entry] = at + 1
    matched = 0
    vote = 0
    for at in range(end_of_gold, end):
        if classes[at] < 0:
            vote += INVALID_VOTE
            continue
        entry = CODE_COLUMNS * classes[at]
        gold = codes_index[entry + CODE_FIRST] - 1
        if gold >= 0:
            codes_index[entry + CODE_FIRST] = links[gold]
            matched += 1
            vote += vote_of_place(gold - first)
        else:
            vote += codes_index[entry + CODE_FINGERPRINT]
    for at in range(first, end_of_gold):
        if classes[at] >= 0:
            codes_index[CODE_COLUMNS * classes[at] + CODE_FIRST] = 0
    results[to + TRUE_POSITIVES] = matched
    results[to + VOTE] = vote & FINGERPRINT_MASK
    results[to + DECIDED] = 1


@kernel
def _judge(
    classes: Ints,
    first: int,
    n_gold: int,
    n_pred: int,
    n_given: int,
    codes_index: Ints,
    results: Ints,
    to: int,
) -> None:
    """One record as strict has it: ``classes`` of its gold, of its predictions, of what the question gave."""
    end_of_gold = first + n_gold
    end_of_pred = end_of_gold + n_pred
    end = end_of_pred + n_given
    results[to + DECIDED] = 0
    for at in range(first, end_of_pred):
        # what is wrong with gold is told in words, elsewhere
        if classes[at] == UNKNOWN or (at < end_of_gold and classes[at] < 0):
            return
    n_wanted, right, other, vote, flaw = 0, 0, 0, 0, 0
    formula = codes_index[CODE_COLUMNS * classes[first] + CODE_FORMULA] if n_gold else 0
    for at in range(first, end_of_gold):
        entry = CODE_COLUMNS * classes[at]
        if codes_index[entry + CODE_FIRST] == 0:
            codes_index[entry + CODE_FIRST] = _WANTED
            n_wanted += 1
        if codes_index[entry + CODE_FORMULA] != formula:
            formula = 0
    for at in range(end_of_gold, end_of_pred):
        kind = classes[at]
        entry = CODE_COLUMNS * kind
        if kind < 0 or codes_index[entry + CODE_FIRST] & _NAMED:
            if flaw == 0:
                flaw = kind if kind < 0 else DUPLICATE
            continue
        if codes_index[entry + CODE_FIRST] & _WANTED:
            right += 1
        else:
            other += 1
        codes_index[entry + CODE_FIRST] |= _NAMED
        vote += codes_index[entry + CODE_CLEAN_PRINT]
    neutral = 0
    decided = 1
    if other and n_given and formula:
        for at in range(end_of_pred, end):
            if classes[at] == UNKNOWN:
                decided = 0
            elif classes[at] >= 0:
                codes_index[CODE_COLUMNS * classes[at] + CODE_FIRST] |= _GIVEN
        for at in range(end_of_gold, end_of_pred):
            if classes[at] >= 0:
                entry = CODE_COLUMNS * classes[at]
                if codes_index[entry + CODE_FIRST] == _NAMED and codes_index[entry + CODE_FORMULA] == formula:
                    neutral += 1
                    codes_index[entry + CODE_FIRST] |= _GIVEN
    for at in range(first, end):
        if classes[at] >= 0:
            codes_index[CODE_COLUMNS * classes[at] + CODE_FIRST] = 0
    results[to + DECIDED] = decided
    results[to + TRUE_POSITIVES] = right
    results[to + VOTE] = vote & FINGERPRINT_MASK
    results[to + N_WANTED] = n_wanted
    results[to + N_NEUTRAL] = neutral
    results[to + FLAW] = flaw


@kernel
def match_lists(
    data: Bytes, sizes: Ints, strict: bool, classes: Ints, links: Ints, results: Ints, text_slots: Slots,
    texts_index: Ints, texts: Bytes, code_slots: Slots, codes_index: Ints, codes: Bytes, used: Ints,
    graph: Ints, work: Ints,
) -> None:  # fmt: skip
    """Hold predictions against gold for many records.

    Parameters
    ----------
    data
        uint8: all texts, each ended by a newline: for each record its gold, its predictions, and what the
        question gave.
    sizes
        int64: for each record the number of each of the three.
    strict
        Whether molecules are the same as strict has it, and other isomers are counted.
    classes
        int64, out: the class of each text, `UNKNOWN`, `INVALID`, or another flaw.
    links
        int64, as long: space.
    results
        int64, out: `RESULT_COLUMNS` a record. Decided is what has no text that is unknown. The vote is a sum,
        so the order of predictions does not matter: as published of where each found its gold, or else its
        fingerprint; strict of the fingerprints of different molecules.
    """
    make_room(text_slots, texts_index, texts, code_slots, codes_index, codes, used)
    start = 0
    text = 0
    for record in range(len(sizes) // 3):
        n_gold, n_pred, n_given = sizes[3 * record], sizes[3 * record + 1], sizes[3 * record + 2]
        first = text
        for _ in range(n_gold + n_pred + n_given):
            end = start
            while data[end] != NEWLINE:
                end += 1
            published, clean = classify(
                data, start, end, text_slots, texts_index, texts,
                code_slots, codes_index, codes, used, graph, work,
            )  # fmt: skip
            classes[text] = clean if strict else published
            text += 1
            start = end + 1
        to = RESULT_COLUMNS * record
        if strict:
            _judge(classes, first, n_gold, n_pred, n_given, codes_index, results, to)
        else:
            _match(classes, links, first, n_gold, n_pred, codes_index, results, to)
