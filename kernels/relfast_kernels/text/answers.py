"""The final answer of a text under ``strict``: REL-A's choice, REL-C1's label, REL-B1's claim.

A text is read paragraph by paragraph from its end. The first paragraph met that has a marked form settles the
answer, so of most texts some hundred bytes are read. Stated forms are kept in case no marked one comes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.dress import (
    FENCED,
    MAX_FENCES,
    find_fences,
    is_alnum,
    is_feed,
    is_space,
    paragraph_before,
    undress,
)
from relfast_kernels.text.find import (
    BLANKS,
    DIGITS,
    LF,
    begins_with,
    byte_set,
    find_byte,
    line_start,
    listed,
    skip,
    skip_back,
)
from relfast_kernels.text.forms import (
    AT_LINE,
    CLOSING_BRACE,
    CONCLUDED,
    CROSSED,
    IS_BOX,
    IS_HASHED,
    IS_LABEL,
    IS_OWN,
    IS_SENTENCE,
    IS_TAG,
    NO_FORM,
    NO_WORD,
    NOUNED,
    OPEN,
    QUOTED,
    VARIABLE,
    _own_tag,
    chain,
    has_word,
    is_rest,
    is_stated,
    joined_before,
    look_left,
    skip_closers,
)
from relfast_kernels.text.values import (
    BACKSLASH,
    CHOICE,
    CLAIM,
    SLASH,
    ends_value,
    is_wordy,
    value_at,
    whole_number_end,
)

_TAXA: Final = np.frombuffer(b"taxa", np.uint8)
_TAXON: Final = np.frombuffer(b"taxon", np.uint8)
_JOINS: Final = np.frombuffer(b"or\nand\nalso\n", np.uint8)
"""Words after which more taxa are named: they are never skipped."""
_FRACTION: Final = byte_set("0123456789./")
_STOPS: Final = byte_set(".!?")
_BEHIND_TAXON: Final = byte_set(" )]}\"'")
_NOT: Final = np.frombuffer(
    b"not\nno\nnon\nnone\nother\nothers\nwithout\nexcept\nexcluded\nremaining\nunrelated\n", np.uint8
)
_BELOW: Final = np.frombuffer(b"below\nfollowing\n", np.uint8)
"""Words of a line that announces no taxa of the claim, and of one that announces them."""
_FEW_WORDS: Final = 5
_WHITE: Final = byte_set(" \n")
_MOST_HEADINGS: Final = 3
ZERO, NINE, ANGLE, BLANK, BAR, COLON, DASH, T = map(ord, "09< |:-t")
_BEFORE_BRACE: Final = byte_set(' .")]\n')
"""What may stand after a value in a box."""
_BEFORE_MORE: Final = byte_set(" ,;:-")
"""What may stand between a value and what is not read of its box."""

NO_LIST: Final = -1
"""The line names no taxa, or is no list."""
MAX_CLAIMED: Final = 1_000
"""The most taxa of a claim; further ones are ignored."""
_MAX_DIGITS: Final = 9


@kernel
def _is_taxa(text: Any, at: int, end: int) -> int:
    """The offset after the word taxon, taxons or taxa at ``at``, or the T of T15; 0: it is another word."""
    if at + 1 < end and text[at] | 32 == T and DIGITS[text[at + 1]]:
        return at + 1
    if begins_with(text, at, end, _TAXA):
        return at + 4
    if begins_with(text, at, end, _TAXON):
        return at + 6 if at + 5 < end and text[at + 5] == 115 else at + 5
    return 0


@kernel
def _is_remark(text: Any, at: int, end: int) -> bool:
    """Whether what follows a taxon is said of it: words behind a colon or a dash, or another cell."""
    at = skip(text, at, end, _BEHIND_TAXON)
    if at == end:
        return False
    if text[at] == BAR:
        return True
    behind = skip(text, at + 1, end, BLANKS)
    return (
        behind < end
        and (text[at] == COLON or (text[at] == DASH and text[at + 1] == BLANK))
        and not DIGITS[text[behind]]
        and _is_taxa(text, behind, end) == 0
    )


@kernel
def _announces(text: Any, at: int, end: int, numbers: Any) -> int:
    """If the line text[at:end] announces taxa ("Taxa involved:", "## Taxa", the head of a table), how many
    bars stand before that word; else -1.

    It ends with a colon, or has few words, or says *below* or *following*; none of its words is a *not*."""
    bars, found, words = 0, -1, 0
    says, first = False, at
    while at < end:
        byte = int(text[at])
        if byte == BAR:
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
        behind = _is_taxa(text, at, end)
        if behind == stop and found < 0:
            found = bars
        words += 1
        at = stop
    last = skip_back(text, first, end, BLANKS)
    ends = text[last - 1] == COLON
    n = read_list(text, first, end, numbers, TAXA, False, False)
    if found < 0 or n > (1 if ends else 0) or not (ends or says or words <= _FEW_WORDS or text[first] == BAR):
        return -1
    return found


@kernel
def read_list(text: Any, at: int, end: int, out: Any, to: int, whole: bool, remarks: bool) -> int:
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
    n = 0
    called = False
    open_run = True
    while at < end:
        byte = int(text[at])
        if 48 <= byte <= 57:
            stop = at
            value = 0
            while stop < end and 48 <= text[stop] <= 57:
                if stop - at < _MAX_DIGITS:
                    value = 10 * value + int(text[stop]) - 48
                stop += 1
            after = int(text[stop]) if stop < end else 32
            then = int(text[stop + 1]) if stop + 1 < end else 32
            odd = (
                is_alnum(after)
                or after == 37
                or after == 95
                or after >= 0x80
                or ((after == 46 or after == 45) and 48 <= then <= 57)
                or stop - at > _MAX_DIGITS
            )
            if odd:
                if whole:
                    return NO_LIST
                while stop < end and (is_alnum(text[stop]) or text[stop] == 46):
                    stop += 1
                open_run = open_run and called and n > 0
            elif open_run:
                if n < MAX_CLAIMED:
                    out[to + n] = value
                    n += 1
                # a score in brackets, or behind a colon
                behind = skip(text, stop, end, BLANKS)
                if behind < end and text[behind] == 40:
                    while behind < end and text[behind] != 41:
                        behind += 1
                    stop = behind
                elif behind < end and text[behind] == 58 and after == 58:
                    behind = skip(text, behind + 1, end, BLANKS)
                    if behind < end and DIGITS[text[behind]]:
                        stop = skip(text, behind, end, _FRACTION)
                if remarks and _is_remark(text, stop, end):
                    return n
            at = stop
        elif 97 <= byte <= 122 or byte >= 0x80 or 65 <= byte <= 90:
            behind = _is_taxa(text, at, end)
            if behind and behind < end and (97 <= text[behind] <= 122):
                behind = 0
            stop = at
            while stop < end and (97 <= text[stop] <= 122 or text[stop] >= 0x80):
                stop += 1
            if behind:
                if not called and not whole:
                    n = 0
                called, open_run = True, True
                at = behind
            elif listed(text, at, stop, _JOINS, True) > at or (called and n == 0):
                at = stop
            else:
                if whole and not _labels(text, at, end):
                    return NO_LIST
                open_run = False
                at = stop
        else:
            at += 1
    return n if n > 0 else NO_LIST


@kernel
def _labels(text: Any, at: int, end: int) -> bool:
    """Whether *taxa* comes before a number and the line's end, from ``at`` on."""
    end = min(end, at + 80)
    while at < end and not 48 <= text[at] <= 57:
        if _is_taxa(text, at, end) and (at == 0 or not is_alnum(text[at - 1])):
            return True
        at += 1
    return False


NOTHING, SEVERAL, OUTSIDE = 0, -1, -2
"""In place of a value: there is no answer, more than one, or an integer that is none of the choices."""

TAXA: Final = 2 * MAX_FENCES
"""Where taxa are written in the numbers of the work space: after the places of fences."""


@kernel
def _fills_box(text: Any, at: int, end: int) -> bool:
    """Whether what ends at ``at`` is all that a box holds, but for what is not read: "4 because …"."""
    behind = skip(text, at, end, _BEFORE_BRACE)
    if behind < end and text[behind] == CLOSING_BRACE:
        return True
    behind = skip(text, behind, end, _BEFORE_MORE)
    while behind < end and text[behind] == BACKSLASH:  # a blank of TeX
        behind = skip(text, behind + 1, end, _BEFORE_MORE)
    return (
        at < behind < end
        and text[behind] != CLOSING_BRACE
        and ends_value(text, behind - 1, end)
        and find_byte(text, behind, end, CLOSING_BRACE) < end
    )


@kernel
def _settle(
    text: Any, low: int, high: int, line: int, line_end: int, words: int, words_end: int, start: int, stop:
    int, value: int,
    nouned: bool, kind: int, is_last: bool, numbers: Any,
) -> Any:  # fmt: skip
    """The form of a value in a paragraph, or `NO_FORM`; whether another value is joined to it, and whether
    it waits for a label in the paragraph before."""
    form, opens, seen, _ = look_left(text, low, start, False)
    if kind != CHOICE:
        first, behind = _own_tag(text, low, start, stop, high)
        if first >= 0:
            # in a fence it counts only as the value of a JSON key
            around, _, seen, _ = look_left(text, low, first, False)
            seen = seen & QUOTED if around == IS_LABEL else 0
            form, opens, stop = IS_OWN, first, behind
    fenced = text[line] == FENCED
    if fenced and not ((form == IS_LABEL or form == IS_OWN) and seen & QUOTED):
        return NO_FORM, False, False
    several, last = chain(text, low, stop, high, value, kind, seen & VARIABLE != 0)
    if form == IS_BOX and kind == CHOICE and not _fills_box(text, last, high):
        return NO_FORM, False, False
    rest = is_rest(text, last, high)
    if form == NO_FORM or form == IS_LABEL or form == IS_SENTENCE or form == IS_HASHED:
        alone = rest >= 0
        if kind == CLAIM and not alone and (form != NO_FORM or seen & AT_LINE):
            # a yes or no with its taxa is a value of REL-B1
            alone = read_list(text, stop, line_end, numbers, TAXA, True, False) != NO_LIST
            rest = line_end
        if (
            (form == IS_LABEL and seen & CROSSED and not alone)
            or (form == IS_LABEL and seen & VARIABLE and not ends_value(text, last, high))
            or (form == IS_HASHED and (not alone or nouned))
            or (form == IS_SENTENCE and not (alone and is_last and words_end <= rest))
        ):
            form = NO_FORM
        if form == NO_FORM and alone:
            ends = is_last and words_end <= rest
            if seen & AT_LINE:
                bare = not seen & (NOUNED | CONCLUDED) and not nouned
                if ends or (bare and words_end <= rest and words >= line):
                    return IS_BOX, several, False
            waits = seen & OPEN != 0 and words >= line
            return NO_FORM, several, waits
    if form == NO_FORM or several or seen & QUOTED:
        # of several JSON keys the last one counts: they are not joined
        return form, several, False
    return form, joined_before(text, low, opens, value, kind), False


@kernel
def _is_stated_value(
    text: Any, low: int, line: int, start: int, stop: int, high: int, nouned: bool, kind: int
) -> bool:
    """Whether a value is stated: a choice as by `is_stated`, a yes or no where a line or a sentence
    begins."""
    if text[line] == FENCED:
        return False
    if kind == CHOICE:
        return is_stated(text, low, start, stop, high, nouned)
    form, _, seen, _ = look_left(text, low, start, False)
    if form != IS_SENTENCE and (form != NO_FORM or seen & AT_LINE == 0):
        return False
    # "No taxon …" is no answer
    behind = skip_closers(text, stop, high)
    return behind >= high or text[behind] <= 46 or text[behind] == 58 or text[behind] == 59


@kernel
def _outside_end(text: Any, low: int, at: int, end: int) -> int:
    """Where an integer that is no choice ends, if one begins at ``at``; else ``at``."""
    stop = whole_number_end(text, low, at, end)
    return at if stop - at == 1 and NINE > text[at] > ZERO else stop


@kernel
def _is_all(text: Any, at: int, end: int, form: int) -> bool:
    """Whether a box or a tag holds nothing more from ``at`` on."""
    behind = skip(text, at, end, _BEFORE_BRACE)
    if form == IS_BOX:
        return behind < end and text[behind] == CLOSING_BRACE
    return behind == end or (text[behind] == ANGLE and behind + 1 < end and text[behind + 1] == SLASH)


@kernel
def _sentence_start(text: Any, low: int, at: int) -> int:
    """Where the sentence begins that ``at`` is in."""
    while at > low and text[at - 1] != LF:
        if at - 2 >= low and text[at - 1] == BLANK and _STOPS[text[at - 2]]:
            return at
        at -= 1
    return at


@kernel
def find_value(text: Any, start: int, end: int, kind: int, work: Any, to: int, numbers: Any) -> Any:
    """The value that text[start:end], UTF-8 without reasoning, commits to.

    Parameters
    ----------
    kind
        `CHOICE`, `VERDICT` or `CLAIM`.
    work : uint8
        From ``to`` on 2 (end - start) + 64 bytes that are free.
    numbers : int64
        2 `MAX_FENCES` for the places of fences, and after them room for taxa.

    Returns
    -------
    (value, place, first, last)
        1 to 8; 1 for no, 2 for yes; `NOTHING`, `SEVERAL`, `OUTSIDE`. ``place``: where the value ends in the
        undressed
        bytes of the paragraph text[first:last].
    """
    n_fences = find_fences(text, start, end, numbers)
    stated = waiting = (NOTHING, 0, 0, 0)
    is_last = True
    stop = end
    while stop > start:
        first, last = paragraph_before(text, start, stop)
        if first == last:
            break
        stop = first
        high = undress(text, first, last, numbers, n_fences, work, to)
        if high == to:
            continue
        if waiting[0] != NOTHING:
            form, _, _, _ = look_left(work, to, high, True)
            if form == IS_TAG or (form == IS_LABEL and waiting[0] != OUTSIDE):
                return waiting
            waiting = (NOTHING, 0, 0, 0)
        words = skip(work, to, high, NO_WORD)
        words_end = skip_back(work, words, high, NO_WORD)
        line, line_end = high + 1, high
        outside, floor = (NOTHING, 0, 0, 0), to
        at = high
        while at > floor:
            at -= 1
            byte = work[at]
            if at < line:
                line_end = line - 1
                line = line_start(work, to, at)
            # digits, ordinals, yes and no begin with these
            if (
                byte > 121
                or byte < 48
                or not (
                    (byte <= 57 or 101 <= byte <= 116) if kind == CHOICE else (byte == 110 or byte == 121)
                )
            ):
                continue
            value, behind, nouned = value_at(work, to, at, high, kind)
            if value == 0:
                behind = _outside_end(work, to, at, high) if kind == CHOICE else at
                if behind > at and outside[0] == NOTHING:
                    # a last box or tag with such an integer is the answer, but for a value before it in its
                    # sentence
                    form, opens, seen, _ = look_left(work, to, at, False)
                    is_held = form == IS_BOX or form == IS_TAG
                    if is_held and _is_all(work, behind, high, form) and work[line] != FENCED:
                        outside, floor = (OUTSIDE, behind - to, first, last), _sentence_start(work, to, opens)
                    elif seen & OPEN and words >= at and words_end == behind:
                        waiting = OUTSIDE, behind - to, first, last
                continue
            form, several, waits = _settle(
                work, to, high, line, line_end, words, words_end, at, behind, value, nouned, kind, is_last,
                numbers,
            )  # fmt: skip
            found = (SEVERAL if several else value), behind - to, first, last
            if form != NO_FORM:
                return found
            if waits:
                waiting = found
            if stated[0] == NOTHING and _is_stated_value(work, to, line, at, behind, high, nouned, kind):
                stated = found
        if outside[0] != NOTHING:
            return outside
        is_last = is_last and words_end <= words
    return stated


@kernel
def _taxa_of_line(text: Any, at: int, end: int, column: int, whole: bool, numbers: Any, n: int) -> int:
    """How many taxa an item of a list or the row of a table names; `NO_LIST` if it is neither. They are
    written behind ``n`` others. ``column``: how many bars stand before a row's taxon."""
    if text[at] == BAR:
        for _ in range(max(column, 1)):
            at = find_byte(text, at, end, BAR) + 1
            if at > end:
                return NO_LIST
    return read_list(text, at, end, numbers, TAXA + max(n, 0), whole, True)


@kernel
def _taxa_below(
    text: Any, start: int, end: int, work: Any, to: int, at: int, high: int, numbers: Any, n_fences: int,
    claimed: bool,
) -> int:  # fmt: skip
    """How many taxa are named by the list, or the line ``Taxa: …``, that follows: first in the undressed
    bytes work[at:high], then in text[start:end]; `NO_LIST`: none follows. A line that announces them may
    stand before the list, and remarks on its lines, if taxa are ``claimed``: a no is not asked for them."""
    n = NO_LIST
    headings = column = 0
    is_new = True  # the paragraph of the list's first line is read less strictly
    while True:
        while at < high:
            stop = find_byte(work, at, high, LF)
            if has_word(work, at, stop) and not (work[at] == BACKSLASH and claimed):
                bars = -1
                if claimed and n == NO_LIST and headings < _MOST_HEADINGS:
                    bars = _announces(work, at, stop, numbers)
                if bars >= 0:
                    column = max(bars, column)
                    headings += 1
                else:
                    whole = n == NO_LIST or is_new
                    if claimed:
                        more = _taxa_of_line(work, at, stop, column, whole, numbers, n)
                    else:
                        more = read_list(work, at, stop, numbers, TAXA + max(n, 0), whole, False)
                    if more == NO_LIST:
                        return n
                    n = max(n, 0) + more
                    is_new = False
                    if n >= MAX_CLAIMED:
                        return n
            at = stop + 1
        while start < end and (is_space(text[start]) or is_feed(text[start])):
            start += 1
        if start >= end:
            return n
        stop = start
        blank = False
        while stop < end:
            if is_feed(text[stop]):
                if blank:
                    break
                blank = True
            elif not is_space(text[stop]):
                blank = False
            stop += 1
        at = to
        high = undress(text, start, stop, numbers, n_fences, work, to)
        start = stop
        is_new = True


@kernel
def _taxa_above(work: Any, to: int, high: int, numbers: Any) -> int:
    """How many taxa the list names that ends work[to:high], or else its last line; `NO_LIST`: none."""
    last = line_start(work, to, high)
    n, first, stop = 0, last, high
    while stop > to and _taxa_of_line(work, first, stop, 0, True, numbers, n) != NO_LIST:
        n += 1
        says_all = begins_with(work, first, stop, _TAXA)  # "Taxa: 13, 34" is a list of its own
        stop = first - 1
        first = line_start(work, to, stop)
        if says_all:
            break
    if n == 0:
        return read_list(work, last, high, numbers, TAXA, False, False)
    return _taxa_below(work, high, high, work, to, max(stop + 1, to), high, numbers, 0, True)


@kernel
def _read_claim(text: Any, start: int, end: int, work: Any, to: int, numbers: Any) -> Any:
    """`read_claim`, but a taxon may come more than once."""
    value, place, first, last = find_value(text, start, end, CLAIM, work, to, numbers)
    if value != 1 and value != 2:
        return value, 0
    n_fences = find_fences(text, start, end, numbers)
    high = undress(text, first, last, numbers, n_fences, work, to)
    at = to + place
    stop = find_byte(work, at, high, LF)
    n = read_list(work, at, stop, numbers, TAXA, value == 1, False)
    if value == 2 and n < 1:
        n = read_list(work, at, stop, numbers, TAXA, False, False)
    if n < 1:
        line = line_start(work, to, at)
        n = _taxa_below(text, last, end, work, to, stop + 1, high, numbers, n_fences, value == 2)
        if value == 1:
            return (NOTHING, 0) if n > 0 else (1, 0)
        if n < 1:
            high = undress(text, first, last, numbers, n_fences, work, to)
            if not has_word(work, to, line):
                first, last = paragraph_before(text, start, first)
                if first == last:
                    return 2, 0
                line = undress(text, first, last, numbers, n_fences, work, to) + 1
            n = _taxa_above(work, to, skip_back(work, to, line - 1, _WHITE), numbers)
        return 2, max(n, 0)
    return (NOTHING, 0) if value == 1 else (2, n)


@kernel
def read_claim(text: Any, start: int, end: int, work: Any, to: int, numbers: Any) -> Any:
    """REL-B1's claim: 1 for no, 2 for yes, `NOTHING` or `SEVERAL`, and how many taxa a yes comes with.

    They are in ``numbers`` from `TAXA` on, each once; there is room for twice `MAX_CLAIMED`. See `find_value`
    for the other arguments."""
    value, n = _read_claim(text, start, end, work, to, numbers)
    kept = 0
    for k in range(min(n, MAX_CLAIMED)):
        known = False
        for other in range(kept):
            known |= numbers[TAXA + other] == numbers[TAXA + k]
        if not known:
            numbers[TAXA + kept] = numbers[TAXA + k]
            kept += 1
    return value, kept
