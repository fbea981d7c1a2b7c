"""REL-B1: reading gold, and scoring a response by the published rule (``reference``), or
by the form of its answer (``strict``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Buffer, Bytes, Ints
from relfast_kernels.layouts import (
    B1,
    CORRECT,
    FOUND,
    GOLD_SHIFT,
    GOLD_VALUE_SHIFT,
    GOLD_YES,
    INTEGER,
    LIST,
    MAX_ID_DIGITS,
    MAX_TAXA,
    PATTERN_WORK,
    PRED_SHIFT,
    PRED_VALUE_SHIFT,
    REASON_SHIFT,
    REASONS,
    RECORD_GOLD,
    RECORD_GOLD_END,
    RECORD_KEY,
    RECORD_PRED,
    RECORD_PRED_END,
    RECORD_VOTE,
    SET_DETAILS,
    SET_LEAST,
    STRING,
    TAXA_SLOTS,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
    TP_SHIFT,
)
from relfast_kernels.text.answers import SEVERAL, read_claim
from relfast_kernels.text.ascii import byte_set, small
from relfast_kernels.text.characters import find_number, is_word, skip_number, skip_white, white_length
from relfast_kernels.text.find import begins_with, copy, find_word, put_number, same_bytes, skip
from relfast_kernels.text.json_scan import QUOTE, is_digit
from relfast_kernels.text.layouts import GOLD_TAXA, GOLD_TEXT, GOLD_TEXT_END, GOLD_VALUE, Response, Room, Work
from relfast_kernels.text.taxa import MAX_CLAIMED, TAXA

TAXON, _TAXA = np.frombuffer(b"taxon", np.uint8), np.frombuffer(b"taxa", np.uint8)
_DOTTED_I: Final = np.frombuffer("İ".encode(), np.uint8)
YES, NO = np.frombuffer(b"yes", np.uint8), np.frombuffer(b"no", np.uint8)
_BEFORE_NAME = byte_set(" _#:-")


_INDEX_BITS = 20
FEW_SLOTS: Final = 256
_INDEX = (1 << _INDEX_BITS) - 1
LOW = (1 << 32) - 1
FNV_START, FNV_PRIME = 2166136261, 16777619
"""The constants of FNV-1a with 32 bits."""


# A set of texts is a hash table: ``spans`` (MAX_TAXA, 2) has where each text is, ``slots`` (TAXA_SLOTS + 1)
# its number and the set's generation. The last slot is the generation: raising it empties the set.


@kernel
def _slot(
    slots: Ints, spans: Ints, n: int, data: Bytes, other: Bytes, start: int, end: int, value: int
) -> tuple[int, bool]:
    """The slot of other[start:end], whose hash is ``value``, in a set of ``n`` texts in ``data``, or the free
    one where it belongs; and whether it is in the set."""
    # a small set has the first slots only, which stay in the cache
    mask = (FEW_SLOTS if 2 * n <= FEW_SLOTS else TAXA_SLOTS) - 1
    at = value & mask
    generation = slots[TAXA_SLOTS]
    while slots[at] >> _INDEX_BITS == generation:
        k = slots[at] & _INDEX
        if same_bytes(data, spans[k, 0], spans[k, 1], other, start, end):
            return at, True
        at = (at + 1) & mask
    return at, False


@kernel
def _hash(data: Buffer, start: int, end: int) -> int:
    """FNV-1a of data[start:end], 32 bits."""
    value = FNV_START
    for at in range(start, end):
        value = (value ^ int(data[at])) * FNV_PRIME & LOW
    return value


@kernel
def _scattered(value: int) -> int:
    """What a taxon with a hash adds to a vote: spread, so that sums of different sets differ (32 bits)."""
    return value * 2654435761 & LOW


@kernel
def _vote(says_yes: int, total: int) -> int:
    """A number that is equal for claims with the same label and the same set of taxa (for maj@k); ``total``
    is the sum of what the taxa add."""
    return (2 + says_yes + total) & LOW


def vote_of(says_yes: bool, taxa: Iterable[bytes]) -> int:
    """The vote of a claim with these taxa, each once."""
    return int(_vote(says_yes, sum(_scattered(_hash(taxon, 0, len(taxon))) for taxon in taxa)))


@kernel
def _add(slots: Ints, spans: Ints, n: int, data: Bytes, start: int, end: int, value: int) -> int:
    """Add a text to a set of ``n``; the set's size then, or -1 if it is full."""
    at, found = _slot(slots, spans, n, data, data, start, end, value)
    if found:
        return n
    if n >= MAX_TAXA:
        return -1
    spans[n, 0], spans[n, 1] = start, end
    slots[at] = slots[TAXA_SLOTS] << _INDEX_BITS | n
    n += 1
    if 2 * n == FEW_SLOTS + 2:
        slots[TAXA_SLOTS] += 1
        for k in range(n):
            value = _hash(data, spans[k, 0], spans[k, 1])
            at, _ = _slot(slots, spans, n, data, data, spans[k, 0], spans[k, 1], value)
            slots[at] = slots[TAXA_SLOTS] << _INDEX_BITS | k
    return n


@kernel
def _put_taxon(data: Bytes, start: int, end: int, out: Bytes, to: int) -> int:
    """Write a number as an item of a JSON list of strings, and a comma."""
    out[to] = QUOTE
    to = copy(data, start, end, out, to + 1)
    out[to] = QUOTE
    out[to + 1] = ascii.COMMA
    return to + 2


# The published reading. It looks at the text in lower case, which changes neither digits nor white space, and
# no letter beyond ASCII to one of "yes", "no" or "taxon". Only İ matters: it becomes i and a dot, no letter.


@kernel
def read_label(data: Bytes, start: int, end: int) -> int:
    """The label that the published scorer reads: 1 for a text with "yes" and no "no" in it, 0 for one with
    "no" only, -1 for any other."""
    yes, no = find_word(data, start, end, YES) < end, find_word(data, start, end, NO) < end
    return -1 if yes == no else 1 if yes else 0


@kernel
def next_taxon(data: Bytes, at: int, start: int, end: int, named: bool) -> tuple[int, int]:
    """Begin and end of the next number from ``at`` on in data[start:end]: the digits behind "taxon"
    (``named``), or any that stand as a word; (``end``, ``end``): there is none. The published scorer takes
    all that are named or, if none is, all others."""
    while named and at < end:
        at = find_word(data, at, end, TAXON)
        first = min(at + len(TAXON), end)
        first += 1 if first < end and data[first] == ascii.UNDERSCORE else white_length(data, first, end)
        stop = skip_number(data, first, end)
        if stop > first:
            return first, stop
        at += 1
    at = end if named else find_number(data, at, end)
    while at < end:
        stop = skip_number(data, at, end)
        if not _is_word_before(data, start, at) and not (stop < end and is_word(data, stop, start)):
            return at, stop
        at = find_number(data, stop, end)
    return end, end


@kernel
def _is_word_before(data: Bytes, start: int, at: int) -> bool:
    if at >= start + 2 and data[at - 2] == _DOTTED_I[0] and data[at - 1] == _DOTTED_I[1]:
        return False
    return at > start and is_word(data, at - 1, start)


@kernel
def _find_taxa(
    data: Bytes, start: int, end: int, spans: Ints, slots: Ints, out: Bytes, to: int
) -> tuple[int, int, int]:
    """Collect as a set the numbers that `next_taxon` finds. If ``to`` is not negative, all are written there
    as JSON without the brackets, each with a comma after it.

    Returns
    -------
    (n, sum, to)
        The set's size (-1: it is full), what its numbers add to the vote, and where the JSON ends.
    """
    slots[TAXA_SLOTS] += 1
    n = 0
    total = 0
    named = True
    first, stop = next_taxon(data, start, start, end, named)
    if first == end:
        named = False
        first, stop = next_taxon(data, start, start, end, named)
    while first < end:
        value = _hash(data, first, stop)
        before, n = n, _add(slots, spans, n, data, first, stop, value)
        if n < 0:
            break
        if n > before:
            total = (total + _scattered(value)) & LOW
        if to >= 0:
            to = _put_taxon(data, first, stop, out, to)
        first, stop = next_taxon(data, stop, start, end, named)
    return n, total, to


@kernel
def _changes_in_lower_case(data: Bytes, start: int, end: int) -> bool:
    """Whether lower case may change a text: it has a capital, or anything beyond ASCII."""
    for at in range(start, end):
        if small(data[at]) != data[at] or data[at] > ascii.TILDE:
            return True
    return False


@kernel
def gold_taxa(
    data: Bytes, tape: Ints, token: int, spans: Ints, slots: Ints, out: Bytes, to: int
) -> tuple[int, int]:
    """Collect the items of a list of plain integers and strings as a set; (its size or -1, end of the JSON).

    Gold is compared in lower case: a string that lower case changes is left to Python. If ``to`` is
    not negative, the list is written there as orjson would.
    """
    n = 0
    slots[TAXA_SLOTS] += 1
    if tape[token, TOKEN_KIND] != LIST:
        return -1, to
    details = to >= 0
    if details:
        to = open_list(out, to)
    at = token + 1
    stop = tape[token, TOKEN_NEXT]
    while at < stop:
        kind, start, end = tape[at, TOKEN_KIND], tape[at, TOKEN_START], tape[at, TOKEN_END]
        if kind == STRING:
            if _changes_in_lower_case(data, start, end):
                return -1, to
        elif kind != INTEGER or end - start > MAX_ID_DIGITS or data[start] == ascii.HYPHEN:
            return -1, to
        n = _add(slots, spans, n, data, start, end, _hash(data, start, end))
        if n < 0:
            return -1, to
        if details:
            quoted = 1 if kind == STRING else 0
            to = copy(data, start - quoted, end + quoted, out, to)
            out[to] = ascii.COMMA
            to += 1
        at += 1
    if details:
        to = close_list(out, to)
    return n, to


@kernel
def open_list(out: Bytes, to: int) -> int:
    """Open a JSON list; its items all have a comma after them."""
    out[to] = ascii.SQUARE_OPEN
    return to + 1


@kernel
def close_list(out: Bytes, to: int) -> int:
    """Close a JSON list, in place of the comma after its last item."""
    if out[to - 1] == ascii.COMMA:
        to -= 1
    out[to] = ascii.SQUARE_CLOSE
    return to + 1


@kernel
def gold_label(data: Bytes, start: int, end: int) -> int:
    """1 for "yes" in any case, 0 for "no", -1 for anything else."""
    if end - start == 3 and begins_with(data, start, end, YES):
        return 1
    return 0 if end - start == 2 and begins_with(data, start, end, NO) else -1


@kernel
def score_taxa(
    data: Bytes, start: int, end: int, gold_data: Bytes, work: Work, out: Bytes, to: int, row: Ints
) -> tuple[bool, int]:
    """Score data[start:end] against gold, as `relfast_kernels.text.responses.read_gold` left it in ``work``.

    If ``to`` is not negative, the predicted taxa are written there. Returns whether key and vote are filled
    in, and where the JSON ends.
    """
    spans, slots = work.spans, work.slots
    label, n_gold = work.gold[GOLD_VALUE], work.gold[GOLD_TAXA]
    pred_label = read_label(data, start, end)
    details = to >= 0
    first = to
    if details:
        to = open_list(out, to)
    n_pred, total, to = _find_taxa(data, start, end, spans[0], slots[0], out, to)
    if n_pred < 0:
        return False, first
    if details:
        to = close_list(out, to)
        row[RECORD_PRED], row[RECORD_PRED_END] = first, to
    key = B1
    vote = 0
    if pred_label >= 0:
        key |= FOUND
        vote = _vote(pred_label, total)
    if label == 0:
        if pred_label == 0 and n_pred == 0:
            key |= CORRECT
    else:
        tp = 0
        for k in range(n_pred):
            begin, stop = spans[0, k, 0], spans[0, k, 1]
            value = _hash(data, begin, stop)
            _, found = _slot(slots[1], spans[1], n_gold, gold_data, data, begin, stop, value)
            if found:
                tp += 1
        if pred_label == 1 and tp > 0:
            key |= CORRECT
        key |= GOLD_YES | tp << TP_SHIFT | n_pred << PRED_SHIFT | n_gold << GOLD_SHIFT
    if details:
        key |= (pred_label + 1) << PRED_VALUE_SHIFT | (label + 1) << GOLD_VALUE_SHIFT
    row[RECORD_KEY], row[RECORD_VOTE] = key, vote
    return True, to


_NO_ANSWER, _SEVERAL, _GUESSED, _NO_TAXA = map(
    REASONS.index, ("no_answer", "several_answers", "guessed_taxa", "no_taxa")
)
LEAST_PRECISE: Final = 0.9
"""Share of a claim's taxa that must be gold's; see `proven`."""

GOLD: Final = TAXA + 2 * MAX_CLAIMED
MAX_GOLD: Final = PATTERN_WORK - GOLD
"""Where the numbers of gold's taxa are in the work space, and how many there can be."""


@kernel
def name_start(text: Bytes, start: int, end: int) -> int:
    """Where the plain name of a taxon begins: behind the word *taxon* or *taxa*, and what joins them
    ("taxon_3", "Taxon 3", "3")."""
    if begins_with(text, start, end, TAXON):
        start += len(TAXON)
    elif begins_with(text, start, end, _TAXA):
        start += len(_TAXA)
    else:
        return start
    while True:
        first = skip_white(text, skip(text, start, end, _BEFORE_NAME), end)
        if first == start:
            return start
        start = first


@kernel
def digits_value(text: Bytes, start: int, end: int) -> int:
    """The number text[start:end], or -1 if it is anything but digits, or too long."""
    value = 0
    if end <= start or end - start > MAX_ID_DIGITS:
        return -1
    for at in range(start, end):
        if not is_digit(text[at]):
            return -1
        value = 10 * value + int(text[at]) - ascii.ZERO
    return value


@kernel
def number_taxa(text: Bytes, spans: Ints, n: int, work: Ints) -> int:
    """Write the numbers of ``n`` taxa to ``work`` from `GOLD` on, each once; how many, or -1: not all have
    one."""
    kept = 0
    for k in range(n):
        number = digits_value(text, name_start(text, spans[k, 0], spans[k, 1]), spans[k, 1])
        if number < 0 or kept == MAX_GOLD:
            return -1
        known = False
        for other in range(kept):
            known |= work[GOLD + other] == number
        if not known:
            work[GOLD + kept] = number
            kept += 1
    return kept


@kernel
def proven(common: int, n_pred: int, n_gold: int) -> bool:
    """Whether a claim names gold's taxa, not just many taxa. Does not need the total number of taxa.

    The claim must name at least two gold taxa (one alone shares nothing) and at least half of them, and
    nine of ten taxa that it names must be gold taxa. A claim with all gold taxa may name one wrong taxon.

    By the hypergeometric distribution, the best blind subset of N taxa earns on a record with g gold taxa:
    0.0025 for (N, g) = (50, 2), 0.0002 for (50, 20), 0.0051 for (39, 25), 0.022 for (19, 10), and 0.083 for
    (9, 2), the smallest published record. If nine of ten taxa are gold taxa, naming all taxa is right.
    """
    wrong = n_pred - common
    return (
        common >= min(2, n_gold)
        and 2 * common >= n_gold
        and (wrong <= (1 - LEAST_PRECISE) * n_pred + 1e-9 or (common == n_gold and wrong == 1))
    )


@kernel
def _f1(common: int, n_pred: int, n_gold: int) -> float:
    """The F1 of ``common`` taxa among ``n_pred`` predicted and ``n_gold`` gold ones."""
    if common == 0:
        return 0.0
    precision = common / n_pred
    recall = common / n_gold
    return 2 * precision * recall / (precision + recall)


@kernel
def _share_of_vote(value: int, out: Bytes, to: int) -> int:
    """What the taxon of a number adds to a vote; writes its digits to ``to``."""
    return _scattered(_hash(out, to, put_number(out, to, value)))


@kernel
def score_claim(
    response: Response, reason: int, settings: Ints, work: Work, room: Room, row: Ints
) -> tuple[bool, int]:
    """Score a response without its reasoning as ``strict`` does.

    Parameters
    ----------
    reason
        0, or, if nothing is left of the response, the index in `REASONS` of why.
    work
        Gold as `relfast_kernels.text.responses.read_gold` left it: ``work.gold``, and the numbers of a yes's
        taxa, as `number_taxa` writes them.
    room
        JSON of taxa is kept for details.
    row
        A record: key, vote and, for details, spans of taxa are filled in.

    Returns
    -------
    (done, used)
        Whether the row is done; else it is left to Python.
    """
    text, start, end = response
    scratch, used, beyond = room
    details, least = settings[SET_DETAILS] != 0, settings.view(np.float64)[SET_LEAST]
    numbers = work.patterns
    gold_is_yes = work.gold[GOLD_VALUE] == 1
    n_gold = work.gold[GOLD_TAXA] if gold_is_yes else 0
    label = 0
    n_pred = 0
    if reason == 0:
        label, n_pred = read_claim(text, start, end, scratch, beyond, numbers)
        if label < 1:
            reason, label = _SEVERAL if label == SEVERAL else _NO_ANSWER, 0
        elif label == 2 and n_pred == 0:
            reason = _NO_TAXA
    key = B1
    total = 0
    common = 0
    left = beyond - used - 2
    for k in range(n_pred):
        taxon = numbers[TAXA + k]
        left -= put_number(scratch, beyond, taxon) - beyond + 3
        total = (total + _share_of_vote(taxon, scratch, beyond)) & LOW
        if gold_is_yes:
            for other in range(n_gold):
                common += numbers[GOLD + other] == taxon
    if details and left < 0:
        return False, used
    if label != 0:
        key |= FOUND
    if gold_is_yes:
        if label == 2 and _f1(common, n_pred, n_gold) >= least:
            if proven(common, n_pred, n_gold):
                key |= CORRECT
            else:
                reason = _GUESSED
        key |= GOLD_YES | common << TP_SHIFT | n_pred << PRED_SHIFT | n_gold << GOLD_SHIFT
    elif label == 1 and n_pred == 0:
        key |= CORRECT
    key |= reason << REASON_SHIFT
    if details:
        row[RECORD_PRED] = used
        used = open_list(scratch, used)
        for k in range(n_pred):
            scratch[used] = QUOTE
            used = put_number(scratch, used + 1, numbers[TAXA + k])
            scratch[used], scratch[used + 1] = QUOTE, ascii.COMMA
            used += 2
        used = close_list(scratch, used)
        row[RECORD_PRED_END] = used
        row[RECORD_GOLD], row[RECORD_GOLD_END] = work.gold[GOLD_TEXT], work.gold[GOLD_TEXT_END]
        key |= label << PRED_VALUE_SHIFT | (2 if gold_is_yes else 1) << GOLD_VALUE_SHIFT
    row[RECORD_KEY] = key
    row[RECORD_VOTE] = _vote(label - 1, total) if label != 0 else 0
    return True, used
