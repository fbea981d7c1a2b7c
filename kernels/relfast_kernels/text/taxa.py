"""The taxa of REL-B1's claim: lists and lines of numbers beside, below and above a yes."""

from __future__ import annotations

from string import ascii_letters, ascii_lowercase, digits
from typing import Final, NamedTuple

import numpy as np

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints
from relfast_kernels.text.ascii import BLANKS, DIGITS, WHITE, byte_set, is_alnum, is_wordy
from relfast_kernels.text.dress import undress
from relfast_kernels.text.find import begins_with, find_byte, line_start, listed, skip, skip_back
from relfast_kernels.text.forms import has_word
from relfast_kernels.text.paragraphs import MAX_FENCES, Fences, paragraph_end

_TAX: Final = np.frombuffer(b"tax", np.uint8)
_TAXA: Final = np.frombuffer(b"taxa", np.uint8)
_TAXON: Final = np.frombuffer(b"taxon", np.uint8)
_JOINS: Final = np.frombuffer(b"or\nand\nalso\n", np.uint8)
"""Words after which more taxa are named: they are never skipped."""
_NOT: Final = np.frombuffer(
    b"not\nno\nnon\nnone\nother\nothers\nwithout\nexcept\nexcluded\nremaining\nunrelated\n", np.uint8
)
_SPECIES: Final = np.frombuffer(b"species\n", np.uint8)
"""What taxa are called in a line that announces them, too."""
_BELOW: Final = np.frombuffer(b"below\nfollowing\n", np.uint8)
"""Words of a line that announces no taxa of the claim, and of one that announces them."""
_FRACTION: Final = byte_set("0123456789./")
_BEHIND_TAXON: Final = byte_set(" )]}\"'")
_WORD: Final = byte_set(ascii_lowercase)
_LETTERS: Final = byte_set(ascii_letters)
_MORE: Final = byte_set(ascii_letters + digits + "%_")
"""What stands behind a number that is no taxon: 13a, 13 %."""
_FEW_WORDS: Final = 5
_MOST_HEADINGS: Final = 3
_MOST_BETWEEN: Final = 80
"""Bytes between *taxa* and a line's first number."""

NO_LIST: Final = -1
"""The line names no taxa, or is no list."""
MAX_CLAIMED: Final = 1_000
"""The most taxa of a claim; further ones are ignored."""
_MAX_DIGITS: Final = 9
TAXA: Final = 2 * MAX_FENCES
"""Where taxa are written in the numbers of the work space: after the places of fences."""


class Lines(NamedTuple):
    """Lines text[at:high] of an undressed paragraph, whose bytes begin at ``low`` and may be written anew."""

    text: Bytes
    low: int
    at: int
    high: int


@kernel
def _is_taxa(text: Bytes, at: int, end: int) -> int:
    """The offset after the word taxon, taxons or taxa at ``at``, or the T of T15, the tax of tax15; 0: it is
    another word."""
    behind = at + (len(_TAX) if begins_with(text, at, end, _TAX) else 1)
    if behind < end and text[at] | 32 == ascii.LOWER_T and DIGITS[text[behind]]:
        return behind
    if begins_with(text, at, end, _TAXA):
        return at + 4
    if begins_with(text, at, end, _TAXON):
        return at + 6 if at + 5 < end and text[at + 5] == ascii.LOWER_S else at + 5
    return 0


@kernel
def _is_remark(text: Bytes, at: int, end: int) -> bool:
    """Whether what follows a taxon is said of it: words behind a colon or a dash, or another cell."""
    at = skip(text, at, end, _BEHIND_TAXON)
    if at == end:
        return False
    if text[at] == ascii.BAR:
        return True
    behind = skip(text, at + 1, end, BLANKS)
    return (
        behind < end
        and (text[at] == ascii.COLON or (text[at] == ascii.HYPHEN and text[at + 1] == ascii.BLANK))
        and not DIGITS[text[behind]]
        and _is_taxa(text, behind, end) == 0
    )


@kernel
def _announces(text: Bytes, at: int, end: int, numbers: Ints) -> int:
    """If the line text[at:end] announces taxa ("Taxa involved:", "## Taxa", the head of a table), how many
    bars stand before that word; else -1.

    It ends with a colon, or has few words, or says *below* or *following*; none of its words is a *not*."""
    bars, found, words = 0, -1, 0
    says, first = False, at
    while at < end:
        byte = int(text[at])
        if byte == ascii.BAR:
            bars += 1
        if not is_wordy(byte):
            at += 1
            continue
        stop = at
        while stop < end and is_wordy(text[stop]):
            stop += 1
        if listed(text, at, stop, _NOT, True) > at:
            return -1
        says |= listed(text, at, stop, _BELOW, True) > at
        if found < 0 and (_is_taxa(text, at, end) == stop or listed(text, at, stop, _SPECIES, True) == stop):
            found = bars
        words += 1
        at = stop
    last = skip_back(text, first, end, BLANKS)
    ends = text[last - 1] == ascii.COLON
    n = read_list(text, first, end, numbers, TAXA, False, False)
    if (
        found < 0
        or n > (1 if ends else 0)
        or not (ends or says or words <= _FEW_WORDS or text[first] == ascii.BAR)
    ):
        return -1
    return found


@kernel
def _taxon_at(text: Bytes, at: int, end: int) -> tuple[int, int]:
    """The number at ``at``, or -1 if it is no taxon's (a part of something else, a percentage); where it
    ends."""
    stop, value = at, 0
    while stop < end and DIGITS[text[stop]]:
        if stop - at < _MAX_DIGITS:
            value = 10 * value + int(text[stop]) - ascii.ZERO
        stop += 1
    after = int(text[stop]) if stop < end else ascii.BLANK
    behind = int(text[stop + 1]) if stop + 1 < end else ascii.BLANK
    is_part = (after == ascii.DOT or after == ascii.HYPHEN) and DIGITS[behind]
    if not (_MORE[after] or after >= ascii.BEYOND_ASCII or is_part or stop - at > _MAX_DIGITS):
        return value, stop
    while stop < end and (is_alnum(text[stop]) or text[stop] == ascii.DOT):
        stop += 1
    return -1, stop


@kernel
def _score_end(text: Bytes, at: int, end: int) -> int:
    """The offset after the score of a taxon, in brackets or behind a colon; ``at``: there is none."""
    behind = skip(text, at, end, BLANKS)
    if behind < end and text[behind] == ascii.ROUND_OPEN:
        return find_byte(text, behind, end, ascii.ROUND_CLOSE)
    if behind == at and at < end and text[at] == ascii.COLON:
        behind = skip(text, at + 1, end, BLANKS)
        if behind < end and DIGITS[text[behind]]:
            return skip(text, behind, end, _FRACTION)
    return at


@kernel
def read_list(text: Bytes, at: int, end: int, out: Ints, to: int, whole: bool, remarks: bool) -> int:
    """Write the numbers of the taxa in text[at:end], a line or its rest, to ``out`` from ``to`` on.

    Numbers count that follow one another with nothing but separators between, from the beginning on or after
    *taxon*, *taxa*; what stands in brackets after a number, or after its colon as a fraction, is its score.

    Parameters
    ----------
    whole
        Whether the line must be nothing but a list. Words before the first number are allowed after *taxa*.
    remarks
        Whether the line may say more of its taxa behind a colon, a dash or in another cell ("13: shares C").

    Returns
    -------
    int
        How many; `NO_LIST` if there is none.
    """
    n, called, open_run = 0, False, True
    while at < end:
        byte = int(text[at])
        if DIGITS[byte]:
            taxon, at = _taxon_at(text, at, end)
            if taxon < 0:
                if whole:
                    return NO_LIST
                open_run = open_run and called and n > 0
            elif open_run:
                if n < MAX_CLAIMED:
                    out[to + n] = taxon
                    n += 1
                at = _score_end(text, at, end)
                if remarks and _is_remark(text, at, end):
                    return n
        elif _LETTERS[byte] or byte >= ascii.BEYOND_ASCII:
            behind, stop = _is_taxa(text, at, end), at
            while stop < end and (_WORD[text[stop]] or text[stop] >= ascii.BEYOND_ASCII):
                stop += 1
            if behind and not (behind < end and _WORD[text[behind]]):
                n = n if called or whole else 0
                called = open_run = True
                at = behind
                continue
            if listed(text, at, stop, _JOINS, True) == at and not (called and n == 0):
                if whole and not _labels(text, at, end):
                    return NO_LIST
                open_run = False
            at = max(stop, at + 1)
        else:
            at += 1
    return n if n > 0 else NO_LIST


@kernel
def _labels(text: Bytes, at: int, end: int) -> bool:
    """Whether *taxa* comes before a number and the line's end, from ``at`` on."""
    end = min(end, at + 80)
    while at < end and not DIGITS[text[at]]:
        if _is_taxa(text, at, end) and (at == 0 or not is_alnum(text[at - 1])):
            return True
        at += 1
    return False


@kernel
def taxa_of_line(text: Bytes, at: int, end: int, column: int, whole: bool, numbers: Ints, n: int) -> int:
    """How many taxa an item of a list or the row of a table names; `NO_LIST` if it is neither. They are
    written behind ``n`` others. ``column``: how many bars stand before a row's taxon."""
    if text[at] == ascii.BAR:
        for _ in range(max(column, 1)):
            at = find_byte(text, at, end, ascii.BAR) + 1
            if at > end:
                return NO_LIST
    return read_list(text, at, end, numbers, TAXA + max(n, 0), whole, True)


@kernel
def taxa_below(text: Bytes, start: int, end: int, lines: Lines, fences: Fences, claimed: bool) -> int:
    """How many taxa are named by the list, or the line ``Taxa: …``, that follows: first in ``lines``, then in
    text[start:end]; `NO_LIST`: none follows. A line that announces them may stand before the list, and
    remarks on its lines, if taxa are ``claimed``: a no is not asked for them."""
    work, low, at, high = lines
    numbers, n = fences.places, NO_LIST
    headings = column = 0
    is_new = True  # the paragraph of the list's first line is read less strictly
    while True:
        while at < high:
            first, stop = at, find_byte(work, at, high, ascii.LF)
            at = stop + 1
            if not has_word(work, first, stop) or (work[first] == ascii.BACKSLASH and claimed):
                continue
            bars = -1
            if claimed and n == NO_LIST and headings < _MOST_HEADINGS:
                bars = _announces(work, first, stop, numbers)
            if bars >= 0:
                column = max(bars, column)
                headings += 1
                continue
            whole = n == NO_LIST or is_new
            if claimed:
                more = taxa_of_line(work, first, stop, column, whole, numbers, n)
            else:
                more = read_list(work, first, stop, numbers, TAXA + max(n, 0), whole, False)
            if more == NO_LIST:
                return n
            n = max(n, 0) + more
            is_new = False
            if n >= MAX_CLAIMED:
                return n
        start = skip(text, start, end, WHITE)
        if start >= end:
            return n
        stop = paragraph_end(text, start, end)
        at, high = low, undress(text, start, stop, fences, work, low)
        start = stop
        is_new = True


@kernel
def taxa_above(work: Bytes, to: int, high: int, numbers: Ints) -> int:
    """How many taxa the list names that ends work[to:high], or else its last line; `NO_LIST`: none."""
    last = line_start(work, to, high)
    n, first, stop = 0, last, high
    while stop > to and taxa_of_line(work, first, stop, 0, True, numbers, n) != NO_LIST:
        n += 1
        says_all = begins_with(work, first, stop, _TAXA)  # "Taxa: 13, 34" is a list of its own
        stop = first - 1
        first = line_start(work, to, stop)
        if says_all:
            break
    if n == 0:
        return read_list(work, last, high, numbers, TAXA, False, False)
    lines = Lines(work, to, max(stop + 1, to), high)
    return taxa_below(work, high, high, lines, Fences(numbers, 0), True)
