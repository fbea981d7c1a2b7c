"""The alignment that a question of REL-B1 shows, and whether gold's taxa are names in it or places in the
sorted list of its names.

The published generator writes places, although its question shows names and asks for the taxa; relfast's
generator writes names. `find_places` decides by the record alone, never by a response. If gold can be read
only one way, that way counts; if both readings fit, the alignment shows which one joins taxa that share
motifs. If there is no alignment, or it does not decide, gold is taken as written. A record's
``answer.taxa_as`` overrides all this.
"""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import BUILDING, kernel, unsigned
from relfast_kernels.entry import Buffer, Bytes, Ints
from relfast_kernels.text.ascii import DIGITS, SPACES, small
from relfast_kernels.text.characters import white_length
from relfast_kernels.text.find import find_byte, find_outside, skip, skip_back
from relfast_kernels.text.layouts import BY_NAME, BY_PLACE, GOLD_TAXA, GOLD_WRITTEN, Response, Work
from relfast_kernels.text.rel_b import FNV_PRIME, FNV_START, GOLD, LOW, digits_value, name_start, number_taxa
from relfast_kernels.text.vectors import WIDTH, equal, first, load, lower, within

AS_WRITTEN, AS_PLACES, UNSURE = 0, 1, -1
"""How gold's taxa are to be read; UNSURE: there is no room to tell."""
WINDOW: Final = 4
"""Columns of a shared stretch in `_evidence`; planted motifs have at least as many."""
MARGIN: Final = 2.0
"""Evidence that places need, and by how much it must exceed that for names; see `_evidence`."""
MOST_DIGITS: Final = 9
"""A number with more digits is no place."""

_LOG_2: Final = math.log(2.0)
_GENERATION: Final = 32
_INDEX: Final = (1 << _GENERATION) - 1


class Alignment(NamedTuple):
    """Work space for an alignment: ``rows``, where each name begins and ends (n, 2); and ``slots``, a hash
    table of plain names: numbers of rows with the table's generation, which is in one more place."""

    rows: Ints
    slots: Ints


class Taxa(NamedTuple):
    """Gold's ``n`` taxa: text[spans[k, 0] : spans[k, 1]]; and how they are written (`BY_NAME` …)."""

    text: Bytes
    spans: Ints
    n: int
    written: int


if not BUILDING:
    _LETTERS: Final = re.compile(b"[A-Za-z-]*")

    def _letters_end(text: Buffer, at: int, end: int) -> int:
        """Where a run of letters and hyphens ends that begins at ``at``."""
        found = _LETTERS.match(text, at, end)
        return found.end() if found else end

else:

    @kernel
    def _letters_end(text: Buffer, at: int, end: int) -> int:
        """See the plain one."""
        while at < end:
            block = load(text, at)
            odd = ~(within(lower(block), ascii.LOWER_A, ascii.LOWER_Z) | equal(block, ascii.HYPHEN))
            if odd != 0:
                return min(at + first(odd), end)
            at += WIDTH
        return end


@kernel
def _word_end(text: Bytes, at: int, end: int) -> int:
    """Where a word that begins at ``at`` ends: at white space."""
    while True:
        at = find_outside(text, at, end, ascii.BLANK + 1, ascii.TILDE)
        if at >= end or white_length(text, at, end) > 0:
            return at
        at += 1


@kernel
def sequence_of(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """Begin and end of the sequence, letters and gaps, that is all of the line after that of ``at``; equal if
    there is none."""
    start = skip(text, find_byte(text, at, end, ascii.LF) + 1, end, SPACES)
    stop = _letters_end(text, start, end) if start < end else start
    behind = skip(text, stop, end, SPACES)
    return start, stop if behind >= end or text[behind] == ascii.LF else start


@kernel
def next_row(text: Bytes, start: int, at: int, end: int) -> tuple[int, int]:
    """Begin and end of the next name in text[start:end] from ``at`` on: the first word behind a ``>`` that
    begins a line, if a sequence is in the line below; (``end``, ``end``): there is none."""
    while True:
        at = find_byte(text, at, end, ascii.GREATER)
        if at >= end:
            return end, end
        before = skip_back(text, start, at, SPACES)
        at += 1
        if before == start or text[before - 1] == ascii.LF:
            name = skip(text, at, end, SPACES)
            stop = _word_end(text, name, end)
            begin, close = sequence_of(text, stop, end)
            if name < stop and begin < close:
                return name, stop


@kernel
def _read_rows(question: Response, rows: Ints) -> int:
    """Find the names of an alignment; how many there are, or -1 if there is no room for them."""
    text, start, end = question
    n = 0
    name, at = next_row(text, start, start, end)
    while name < end:
        if n == len(rows):
            return -1
        rows[n, 0], rows[n, 1] = name, at
        n += 1
        name, at = next_row(text, start, at, end)
    return n


@kernel
def _is_less(text: Bytes, one: int, one_end: int, other: int, other_end: int) -> bool:
    """Whether a text comes before another one by code points, which UTF-8 keeps in order."""
    size = min(one_end - one, other_end - other)
    for k in range(size):
        if text[one + k] != text[other + k]:
            return bool(text[one + k] < text[other + k])
    return one_end - one < other_end - other


@kernel
def _sort(text: Bytes, rows: Ints, n: int) -> None:
    """Sort names (Shell's way: in place, and no order is bad for it)."""
    gap = 1
    while 9 * gap < 4 * n:
        gap = 9 * gap // 4 + 1
    while gap > 0:
        for k in range(gap, n):
            start, end, at = rows[k, 0], rows[k, 1], k
            while at >= gap and _is_less(text, start, end, rows[at - gap, 0], rows[at - gap, 1]):
                rows[at, 0], rows[at, 1] = rows[at - gap, 0], rows[at - gap, 1]
                at -= gap
            rows[at, 0], rows[at, 1] = start, end
        gap = 4 * gap // 9


@kernel
def _plain_start(text: Bytes, start: int, end: int) -> int:
    """Where the plain name of a taxon begins, that of a number at its first digit that counts."""
    start = name_start(text, start, end)
    if start < end and skip(text, start, end, DIGITS) == end:
        while start + 1 < end and text[start] == ascii.ZERO:
            start += 1
    return start


@kernel
def _slot_of(alignment: Alignment, text: Bytes, name: Bytes, start: int, end: int) -> int:
    """The slot of the row whose plain name is name[start:end] but for case, or the free one where it
    belongs; ``text`` has the alignment."""
    rows, slots = alignment
    n_slots = len(slots) - 1
    value = FNV_START
    for k in range(start, end):
        value = (value ^ small(int(name[k]))) * FNV_PRIME & LOW
    at = value & (n_slots - 1)
    while slots[at] >> _GENERATION == slots[n_slots]:
        row = slots[at] & _INDEX
        first, last = _plain_start(text, rows[row, 0], rows[row, 1]), rows[row, 1]
        same = last - first == end - start
        k = 0
        while same and k < end - start:
            same = small(int(text[first + k])) == small(int(name[start + k]))
            k += 1
        if same:
            break
        at = (at + 1) & (n_slots - 1)
    return int(at)


@kernel
def _is_taken(slots: Ints, slot: int) -> bool:
    return bool(slots[slot] >> _GENERATION == slots[len(slots) - 1])


@kernel
def _enter_rows(alignment: Alignment, text: Bytes, n: int) -> bool:
    """Enter the plain names of all rows; False if two are equal."""
    rows, slots = alignment
    slots[len(slots) - 1] += 1
    for row in range(n):
        slot = _slot_of(alignment, text, text, _plain_start(text, rows[row, 0], rows[row, 1]), rows[row, 1])
        if _is_taken(slots, slot):
            return False
        slots[slot] = slots[len(slots) - 1] << _GENERATION | row
    return True


@kernel
def is_ascii(text: Bytes, rows: Ints, n: int) -> bool:
    """Whether all names are ASCII, so that `find_places` can tell which are equal in lower case."""
    for row in range(n):
        for at in range(rows[row, 0], rows[row, 1]):
            if text[at] >= ascii.BEYOND_ASCII:
                return False
    return True


@kernel
def _logarithm(x: float) -> float:
    """The natural logarithm of a number from 1 on, by the series of artanh: a kernel's library needs nothing
    of libm."""
    halved = 0
    while x >= 2.0:
        x, halved = 0.5 * x, halved + 1
    ratio = (x - 1.0) / (x + 1.0)
    total, power = 0.0, ratio
    for odd in range(1, 42, 2):
        total, power = total + power / odd, power * ratio * ratio
    return 2.0 * total + halved * _LOG_2


@kernel
def _evidence(
    question: Response, rows: Ints, numbers: Buffer, at: int, n: int, columns: Buffer, to: int
) -> float:
    """How much more often the ``n`` rows that numbers[at:] names share `WINDOW` columns on end than their
    similarity predicts. ``columns`` has room for a sequence from ``to`` on.

    The log likelihood ratio of the observed to the expected number of shared stretches, as if stretches were
    independent. Close relatives share many stretches, but no more than their similarity predicts; 5 blocks
    of 5 columns in two taxa give 10 or more.
    """
    text, _, end = question
    size = 0
    for k in range(n):
        start, stop = sequence_of(text, rows[numbers[at + k], 1], end)
        place, column = unsigned(start), unsigned(to)
        if k == 0:
            size = stop - start
            for c in range(unsigned(size)):
                columns[column + c] = small(int(text[place + c]))
        size = min(size, stop - start)
        for c in range(unsigned(size)):
            same = columns[column + c] == small(int(text[place + c]))
            columns[column + c] = columns[column + c] if same else ascii.HYPHEN
    windows = size - WINDOW + 1
    if windows < 1:
        return 0.0
    shared = run = seen = 0
    for c in range(to, to + size):
        run = run + 1 if columns[c] != ascii.HYPHEN else 0
        shared += run > 0
        seen += run >= WINDOW
    share = shared / size
    expected = windows * (share * share * share * share)
    return seen * _logarithm(seen / expected) - (seen - expected) if seen > expected else 0.0


@kernel
def find_places(
    question: Response, taxa: Taxa, alignment: Alignment, numbers: Buffer, columns: Buffer, to: int
) -> tuple[int, int]:
    """Decide how gold's taxa are to be read: `AS_WRITTEN`, `AS_PLACES` or `UNSURE`; and how many rows the
    alignment has.

    Parameters
    ----------
    alignment
        If taxa are places, ``alignment.rows`` has the sorted names.
    numbers : int64
        If taxa are places, these are in it from `GOLD` on; there is room for two numbers a taxon.
    columns : uint8
        Room for the longest sequence, from ``to`` on.
    """
    text, rows, n = question.text, alignment.rows, taxa.n
    if taxa.written == BY_NAME:
        return AS_WRITTEN, 0
    highest = 0
    for k in range(n):
        first, last = _plain_start(taxa.text, taxa.spans[k, 0], taxa.spans[k, 1]), taxa.spans[k, 1]
        place = digits_value(taxa.text, first, last) if last - first <= MOST_DIGITS else -1
        if place < 0:
            return AS_WRITTEN, 0
        if GOLD + 2 * n > len(numbers):
            return UNSURE, 0
        numbers[GOLD + k] = place
        highest = max(highest, place)
    n_rows = _read_rows(question, rows)
    if n_rows < 0:
        return UNSURE, 0
    if highest >= n_rows:
        return AS_WRITTEN, n_rows
    _sort(text, rows, n_rows)
    if not _enter_rows(alignment, text, n_rows):
        return AS_WRITTEN, n_rows
    named = 0
    while named < n and taxa.written != BY_PLACE:
        first, last = taxa.spans[named, 0], taxa.spans[named, 1]
        slot = _slot_of(alignment, text, taxa.text, _plain_start(taxa.text, first, last), last)
        if not _is_taken(alignment.slots, slot):
            break
        numbers[GOLD + n + named] = alignment.slots[slot] & _INDEX
        named += 1
    if named == n:
        there = _evidence(question, rows, numbers, GOLD, n, columns, to)
        if there < MARGIN or there < MARGIN + _evidence(question, rows, numbers, GOLD + n, n, columns, to):
            return AS_WRITTEN, n_rows
    return AS_PLACES, n_rows


@kernel
def settle_taxa(gold: Bytes, question: Response, work: Work, out: Bytes, to: int) -> bool:
    """Write the numbers of the taxa that ``strict`` compares, as `number_taxa` does.

    Parameters
    ----------
    gold, work
        Gold as `relfast_kernels.text.responses.read_gold` left it; the second set has its taxa.
    question
        Its text; or nothing, if there is none; one that ends before it begins is not known.
    out
        Room for the longest sequence of the question, from ``to`` on.

    Returns
    -------
    bool
        False if only Python can tell the taxa: for example, names without a number.
    """
    spans, n, source = work.spans[1], work.gold[GOLD_TAXA], gold
    if question.end < question.start:
        return False
    if question.start < question.end:
        alignment = Alignment(work.spans[0], work.slots[0])
        taxa = Taxa(gold, spans, n, work.gold[GOLD_WRITTEN])
        how, n_rows = find_places(question, taxa, alignment, work.patterns, out, to)
        if how == UNSURE or (how == AS_PLACES and not is_ascii(question.text, alignment.rows, n_rows)):
            return False
        if how == AS_PLACES:
            source = question.text
            for k in range(n):
                row = alignment.rows[work.patterns[GOLD + k]]
                spans[k, 0], spans[k, 1] = row[0], row[1]
    work.gold[GOLD_TAXA] = number_taxa(source, spans, n, work.patterns)
    return bool(work.gold[GOLD_TAXA] >= 0)
