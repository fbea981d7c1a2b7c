"""Lists of SMILES held against each other: predictions and gold, as published and as strict has it."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.smiles.layouts import (
    CODE_CLEAN_PRINT,
    CODE_COLUMNS,
    CODE_FINGERPRINT,
    CODE_FIRST,
    CODE_FORMULA,
    DECIDED,
    FINGERPRINT_MASK,
    FLAW,
    GENERATION,
    INVALID_VOTE,
    KEPT_FACTS,
    KEPT_GENERATION,
    KEPT_GIVEN_BYTES,
    KEPT_GOLD_BYTES,
    MAX_SMILES,
    N_NEUTRAL,
    N_WANTED,
    PLACE_FACTOR,
    RESULT_COLUMNS,
    SIZE_COLUMNS,
    SIZE_GIVEN,
    SIZE_GOLD,
    SIZE_KEPT,
    SIZE_PREDICTED,
    TRUE_POSITIVES,
    VOTE,
)
from relfast_kernels.smiles.table import Table, classify, glance, hash_of, make_room

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

NEWLINE: Final = 10

_WANTED, _NAMED, _GIVEN = 1, 2, 4
"""Marks of a class while a record is looked at."""


@kernel
def vote_of_place(place: int) -> int:
    """What finding the gold at a place adds to a vote."""
    return (place + 1) * PLACE_FACTOR & FINGERPRINT_MASK


@kernel
def _match(
    classes: Ints, links: Ints, first: int, n_gold: int, n_pred: int, codes_index: Ints, results: Ints
) -> None:
    """One record: ``classes`` of its gold from ``first`` on, then those of its predictions.

    Each prediction takes the first gold of its class that is left: a list a class, in order of place.
    """
    end_of_gold = first + n_gold
    end = end_of_gold + n_pred
    results[DECIDED] = 0
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
    results[TRUE_POSITIVES] = matched
    results[VOTE] = vote & FINGERPRINT_MASK
    results[DECIDED] = 1


@kernel
def _judge(
    classes: Ints, first: int, n_gold: int, n_pred: int, n_given: int, codes_index: Ints, results: Ints
) -> None:
    """One record as strict has it: ``classes`` of its gold, of its predictions, of what the question gave."""
    end_of_gold = first + n_gold
    end_of_pred = end_of_gold + n_pred
    end = end_of_pred + n_given
    results[DECIDED] = 0
    for at in range(first, end_of_pred):
        # what is wrong with gold is told in words, elsewhere
        if classes[at] == UNKNOWN or (at < end_of_gold and classes[at] < 0):
            return
    n_wanted, right, other, vote, flaw, neutral = 0, 0, 0, 0, 0, 0
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
        if kind < 0:
            flaw = kind if flaw == 0 else flaw
            continue
        if codes_index[entry + CODE_FIRST] & _NAMED:
            neutral += 1  # a set: repeats are nothing
            continue
        if codes_index[entry + CODE_FIRST] & _WANTED:
            right += 1
        else:
            other += 1
        codes_index[entry + CODE_FIRST] |= _NAMED
        vote += codes_index[entry + CODE_CLEAN_PRINT]
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
    results[DECIDED] = decided
    results[TRUE_POSITIVES] = right
    results[VOTE] = vote & FINGERPRINT_MASK
    results[N_WANTED] = n_wanted
    results[N_NEUTRAL] = neutral
    results[FLAW] = flaw


@kernel
def _hash_texts(data: Bytes, start: int, first: int, last: int, starts: Ints, hashes: Ints) -> int:
    """Note where texts ``first`` to ``last`` begin and their hashes; where the one behind them begins."""
    for text in range(first, last):
        end = start
        while data[end] != NEWLINE:
            end += 1
        starts[text] = start
        hashes[text] = hash_of(data, start, end) if end - start <= MAX_SMILES else 0
        start = end + 1
    return start


@kernel
def match_lists(
    data: Bytes, sizes: Ints, strict: bool, classes: Ints, links: Ints, results: Ints, kept: Ints,
    table: Table,
) -> None:  # fmt: skip
    """Hold predictions against gold for many records.

    Parameters
    ----------
    data
        uint8: all texts, each ended by a newline: for each record its gold, its predictions, and what the
        question gave.
    sizes
        int64: `SIZE_COLUMNS` a record.
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
    kept
        int64: the classes of gold and given texts that come with many answers, from the place on that a
        record's sizes name; zeros at first. They are looked up anew once the table has been emptied.
    """
    make_room(table)
    generation = table.used[GENERATION] + 1
    start = 0
    first = 0
    for record in range(len(sizes) // SIZE_COLUMNS):
        at = SIZE_COLUMNS * record
        n_gold, n_pred, n_given = sizes[at + SIZE_GOLD], sizes[at + SIZE_PREDICTED], sizes[at + SIZE_GIVEN]
        place = sizes[at + SIZE_KEPT]
        end_of_gold = first + n_gold
        end_of_pred = end_of_gold + n_pred
        end_of_texts = end_of_pred + n_given
        known = place >= 0 and kept[place + KEPT_GENERATION] == generation
        text, last = first, end_of_texts
        if known:
            text, last = end_of_gold, end_of_pred
            start = _hash_texts(data, start + kept[place + KEPT_GOLD_BYTES], text, last, classes, links)
            end_of_bytes = start
            start += kept[place + KEPT_GIVEN_BYTES]
        else:
            pred_at = _hash_texts(data, start, first, end_of_gold, classes, links)
            given_at = _hash_texts(data, pred_at, end_of_gold, end_of_pred, classes, links)
            end_of_bytes = _hash_texts(data, given_at, end_of_pred, end_of_texts, classes, links)
            if place >= 0:
                kept[place + KEPT_GOLD_BYTES] = pred_at - start
                kept[place + KEPT_GIVEN_BYTES] = end_of_bytes - given_at
            start = end_of_bytes
        glance(links, text, last, table)
        all_said = True
        for other in range(text, last):
            end = (classes[other + 1] if other + 1 < last else end_of_bytes) - 1
            published, clean = classify(data, classes[other], end, links[other], table)
            classes[other] = clean if strict else published
            if place >= 0 and not known and not end_of_gold <= other < end_of_pred:
                all_said = all_said and published != UNKNOWN and clean != UNKNOWN
                to = place + KEPT_FACTS + 2 * (other - first - (n_pred if other >= end_of_pred else 0))
                kept[to] = published
                kept[to + 1] = clean
        if known:
            column = place + KEPT_FACTS + (1 if strict else 0)
            for other in range(first, end_of_gold):
                classes[other] = kept[column + 2 * (other - first)]
            for other in range(end_of_pred, end_of_texts):
                classes[other] = kept[column + 2 * (other - first - n_pred)]
        elif place >= 0 and all_said:
            kept[place + KEPT_GENERATION] = generation
        told = results[RESULT_COLUMNS * record : RESULT_COLUMNS * (record + 1)]
        if strict:
            _judge(classes, first, n_gold, n_pred, n_given, table.codes_index, told)
        else:
            _match(classes, links, first, n_gold, n_pred, table.codes_index, told)
        first = end_of_texts
