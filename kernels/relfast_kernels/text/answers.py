"""The final answer of a text under ``strict``: REL-A's choice, REL-C1's label, REL-B1's claim.

A text is read paragraph by paragraph from its end. The first paragraph met that has a marked form settles the
answer, so of most texts some hundred bytes are read. Stated forms are kept in case no marked one comes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Buffer, Bytes
from relfast_kernels.text.ascii import byte_set
from relfast_kernels.text.dress import FENCED, undress
from relfast_kernels.text.find import find_byte, line_start, places_below, skip, skip_back
from relfast_kernels.text.forms import (
    AT_LINE,
    CONCLUDED,
    CROSSED,
    IS_BOX,
    IS_HASHED,
    IS_LABEL,
    IS_LINE,
    IS_OWN,
    IS_SENTENCE,
    IS_TAG,
    NO_FORM,
    NO_WORD,
    NOUNED,
    OPEN,
    QUOTED,
    VARIABLE,
    chain,
    closes_tag,
    has_word,
    is_rest,
    is_stated,
    joined_before,
    look_left,
    own_tag,
    skip_closers,
)
from relfast_kernels.text.paragraphs import Fences, find_fences, paragraph_before
from relfast_kernels.text.taxa import MAX_CLAIMED, NO_LIST, TAXA, Lines, read_list, taxa_above, taxa_below
from relfast_kernels.text.values import CHOICE, CLAIM, beginnings, ends_value, value_at, whole_number_end
from relfast_kernels.text.vectors import WIDTH, last

_STOPS: Final = byte_set(".!?")
_AFTER_STATED: Final = byte_set("".join(map(chr, range(ascii.SLASH))) + ":;")
"""What may stand behind a stated yes or no: "No taxon …" is no answer."""
_WHITE: Final = byte_set(" \n")
_BEFORE_BRACE: Final = byte_set(' .")]\n')
"""What may stand after a value in a box."""
_BEFORE_MORE: Final = byte_set(" ,;:-")
"""What may stand between a value and what is not read of its box."""

NOTHING, SEVERAL, OUTSIDE = 0, -1, -2
"""In place of a value: there is no answer, more than one, or an integer that is none of the choices."""


class Paragraph(NamedTuple):
    """A paragraph, undressed: text[low:high], of which text[words:words_end] is from its first letter or
    digit to its last one. ``kind``: of the values that are looked for. ``is_last``: no letter or digit comes
    behind it. ``fences``: the text's; behind them in their array is room for taxa (`taxa.TAXA`)."""

    text: Bytes
    low: int
    high: int
    words: int
    words_end: int
    kind: int
    is_last: bool
    fences: Fences


class Value(NamedTuple):
    """A value text[at:stop] in the line that begins at ``line``; ``nouned``: its noun is behind it ("4th
    option")."""

    value: int
    at: int
    stop: int
    line: int
    nouned: bool


_NONE: Final = Value(NOTHING, 0, 0, 0, False)


class Found(NamedTuple):
    """What a text commits to: 1 to 8; 1 for no, 2 for yes; `NOTHING`, `SEVERAL`, `OUTSIDE`. It ends ``place``
    bytes from the begin of the paragraph text[first:last] when that is undressed."""

    value: int
    place: int
    first: int
    last: int


@kernel
def _fills_box(text: Bytes, at: int, end: int) -> bool:
    """Whether what ends at ``at`` is all that a box holds, but for what is not read: "4 because …"."""
    behind = skip(text, at, end, _BEFORE_BRACE)
    if behind < end and text[behind] == ascii.BRACE_CLOSE:
        return True
    behind = skip(text, behind, end, _BEFORE_MORE)
    while behind < end and text[behind] == ascii.BACKSLASH:  # a blank of TeX
        behind = skip(text, behind + 1, end, _BEFORE_MORE)
    return (
        at < behind < end
        and text[behind] != ascii.BRACE_CLOSE
        and ends_value(text, behind - 1, end)
        and find_byte(text, behind, end, ascii.BRACE_CLOSE) < end
    )


@kernel
def _settle(paragraph: Paragraph, value: Value) -> tuple[int, bool, bool]:
    """The form of a value, or `NO_FORM`; whether another value is joined to it, and whether it waits for a
    label in the paragraph before."""
    text, low, high, kind = paragraph.text, paragraph.low, paragraph.high, paragraph.kind
    stop = value.stop
    form, opens, seen, _ = look_left(text, low, value.at, False)
    if kind != CHOICE:
        first, behind = own_tag(text, low, value.at, stop, high)
        if first >= 0:
            # in a fence it counts only as the value of a JSON key
            around, _, seen, _ = look_left(text, low, first, False)
            seen = seen & QUOTED if around == IS_LABEL else 0
            form, opens, stop = IS_OWN, first, behind
    if text[value.line] == FENCED and not ((form == IS_LABEL or form == IS_OWN) and seen & QUOTED):
        return NO_FORM, False, False
    several, last = chain(text, low, stop, high, value.value, kind, seen & VARIABLE != 0)
    if form == IS_BOX and kind == CHOICE and not _fills_box(text, last, high):
        return NO_FORM, False, False
    if form == NO_FORM or form == IS_LABEL or form == IS_SENTENCE or form == IS_HASHED:
        form, waits = _settle_line(paragraph, value, form, seen, last)
        if form == NO_FORM or form == IS_LINE:
            return form, several, waits
    if several or seen & QUOTED:
        # of several JSON keys the last one counts: they are not joined
        return form, several, False
    return form, joined_before(text, low, opens, value.value, kind), False


@kernel
def _settle_line(paragraph: Paragraph, value: Value, form: int, seen: int, last: int) -> tuple[int, bool]:
    """What becomes of a form that holds the rest of a line, from ``last`` on, and whether the value waits."""
    text, high = paragraph.text, paragraph.high
    rest = is_rest(text, last, high)
    alone = rest >= 0
    if paragraph.kind == CLAIM and not alone and (form != NO_FORM or seen & AT_LINE):
        # a yes or no with its taxa is a value of REL-B1
        rest = find_byte(text, value.at, high, ascii.LF)
        alone = read_list(text, value.stop, rest, paragraph.fences.places, TAXA, True, False) != NO_LIST
    ends = paragraph.is_last and paragraph.words_end <= rest
    if (
        (form == IS_LABEL and seen & CROSSED and not alone)
        or (form == IS_LABEL and seen & VARIABLE and not ends_value(text, last, high))
        or (form == IS_HASHED and (not alone or value.nouned))
        or (form == IS_SENTENCE and not (alone and ends))
    ):
        form = NO_FORM
    if form != NO_FORM or not alone:
        return form, False
    opens = paragraph.words >= value.line
    if seen & AT_LINE:
        bare = not seen & (NOUNED | CONCLUDED) and not value.nouned
        if ends or (bare and paragraph.words_end <= rest and opens):
            return IS_LINE, False
    return NO_FORM, seen & OPEN != 0 and opens


@kernel
def _is_stated_value(paragraph: Paragraph, value: Value) -> bool:
    """Whether a value is stated: a choice as by `is_stated`, a yes or no where a line or a sentence
    begins."""
    text, low, high = paragraph.text, paragraph.low, paragraph.high
    if text[value.line] == FENCED:
        return False
    if paragraph.kind == CHOICE:
        return is_stated(text, low, value.at, value.stop, high, value.nouned)
    form, _, seen, _ = look_left(text, low, value.at, False)
    if form != IS_SENTENCE and (form != NO_FORM or seen & AT_LINE == 0):
        return False
    behind = skip_closers(text, value.stop, high)
    return behind >= high or _AFTER_STATED[text[behind]]


@kernel
def _outside_end(text: Bytes, low: int, at: int, end: int) -> int:
    """Where an integer that is no choice ends, if one begins at ``at``; else ``at``."""
    stop = whole_number_end(text, low, at, end)
    return at if stop - at == 1 and ascii.NINE > text[at] > ascii.ZERO else stop


@kernel
def _is_all(text: Bytes, at: int, end: int, form: int) -> bool:
    """Whether a box or a tag holds nothing more from ``at`` on."""
    behind = skip(text, at, end, _BEFORE_BRACE)
    if form == IS_BOX:
        return behind < end and text[behind] == ascii.BRACE_CLOSE
    return behind == end or closes_tag(text, behind, end)


@kernel
def _sentence_start(text: Bytes, low: int, at: int) -> int:
    """Where the sentence begins that ``at`` is in."""
    while at > low and text[at - 1] != ascii.LF:
        if at - 2 >= low and text[at - 1] == ascii.BLANK and _STOPS[text[at - 2]]:
            return at
        at -= 1
    return at


@kernel
def _read_paragraph(paragraph: Paragraph, stated: Value) -> tuple[Value, Value, Value]:
    """Read a paragraph from its end: the value, `SEVERAL` or `OUTSIDE` that is in a marked form, with a value
    of `NOTHING` if none is; the value that waits for a label above; and the value that is ``stated`` behind
    it or in it."""
    text, low, high = paragraph.text, paragraph.low, paragraph.high
    outside = waiting = _NONE
    floor, line = low, high + 1
    block, places = high, np.uint64(0)
    while True:
        while places == 0 and block > floor:
            block, stop = max(block - WIDTH, low), block
            places = beginnings(text, low, block, paragraph.kind) & places_below(stop - block)
        at = block + last(places)
        if places == 0 or at < floor:
            break
        places ^= np.uint64(1) << np.uint64(at - block)
        if at < line:
            line = line_start(text, low, at)
        value, behind, nouned = value_at(text, low, at, high, paragraph.kind)
        each = Value(value, at, behind, line, nouned)
        if paragraph.kind == CHOICE and value != NOTHING:  # <4> is (4)
            opens, closes = own_tag(text, low, at, behind, high)
            if opens >= 0:
                each = Value(value, opens, closes, line, nouned)
        if value != NOTHING:
            form, several, waits = _settle(paragraph, each)
            found = Value(SEVERAL if several else value, at, behind, line, nouned)
            if form != NO_FORM:
                return found, waiting, stated
            if waits:
                waiting = found
            if stated.value == NOTHING and _is_stated_value(paragraph, each):
                stated = found
        elif paragraph.kind == CHOICE and outside.value == NOTHING:
            behind = _outside_end(text, low, at, high)
            if behind > at:
                # a last box or tag with such an integer is the answer, but for a value before it in its
                # sentence
                form, opens, seen, _ = look_left(text, low, at, False)
                found = Value(OUTSIDE, at, behind, line, False)
                is_held = form == IS_BOX or form == IS_TAG
                if is_held and _is_all(text, behind, high, form) and text[line] != FENCED:
                    outside, floor = found, _sentence_start(text, low, opens)
                elif seen & OPEN and paragraph.words >= at and paragraph.words_end == behind:
                    waiting = found
    return outside, waiting, stated


@kernel
def find_value(
    text: Buffer, start: int, end: int, kind: int, work: Buffer, to: int, numbers: Buffer
) -> Found:
    """The value that text[start:end], UTF-8 without reasoning, commits to.

    Parameters
    ----------
    kind
        `CHOICE`, `VERDICT` or `CLAIM`.
    work : uint8
        From ``to`` on 2 (end - start) + 64 bytes that are free.
    numbers : int64
        2 `MAX_FENCES` for the places of fences, and after them room for taxa.
    """
    fences = find_fences(text, start, end, numbers)
    stated = waits = _NONE
    stated_in = waits_in = (0, 0)
    is_last = True
    stop = end
    while stop > start:
        first, last = paragraph_before(text, start, stop)
        if first == last:
            break
        stop = first
        high = undress(text, first, last, fences, work, to)
        if high == to:
            continue
        if waits.value != NOTHING:
            form, _, _, _ = look_left(work, to, high, True)
            if form == IS_TAG or (form == IS_LABEL and waits.value != OUTSIDE):
                return Found(waits.value, waits.stop - to, waits_in[0], waits_in[1])
        words = skip(work, to, high, NO_WORD)
        words_end = skip_back(work, words, high, NO_WORD)
        paragraph = Paragraph(work, to, high, words, words_end, kind, is_last, fences)
        was_stated = stated.value != NOTHING
        found, waits, stated = _read_paragraph(paragraph, stated)
        if found.value != NOTHING:
            return Found(found.value, found.stop - to, first, last)
        waits_in = (first, last)
        stated_in = stated_in if was_stated else (first, last)
        is_last = is_last and words_end <= words
    return Found(stated.value, stated.stop - to, stated_in[0], stated_in[1])


@kernel
def _taxa_of(text: Bytes, start: int, end: int, place: Found, fences: Fences, work: Bytes, to: int) -> int:
    """How many taxa stand behind, below or above a yes."""
    high = undress(text, place.first, place.last, fences, work, to)
    at = to + place.place
    stop = find_byte(work, at, high, ascii.LF)
    n = read_list(work, at, stop, fences.places, TAXA, False, False)
    if n < 1:
        line = line_start(work, to, at)
        n = taxa_below(text, place.last, end, Lines(work, to, stop + 1, high), fences, True)
    if n < 1:
        high = undress(text, place.first, place.last, fences, work, to)
        if not has_word(work, to, line):
            first, last = paragraph_before(text, start, place.first)
            if first == last:
                return 0
            line = undress(text, first, last, fences, work, to) + 1
        n = taxa_above(work, to, skip_back(work, to, line - 1, _WHITE), fences.places)
    return max(n, 0)


@kernel
def read_claim(text: Buffer, start: int, end: int, work: Buffer, to: int, numbers: Buffer) -> tuple[int, int]:
    """REL-B1's claim: 1 for no, 2 for yes, `NOTHING` or `SEVERAL`, and how many taxa a yes comes with.

    They are in ``numbers`` from `TAXA` on, each once; there is room for twice `MAX_CLAIMED`. See `find_value`
    for the other arguments."""
    found = find_value(text, start, end, CLAIM, work, to, numbers)
    if found.value < 1:
        return found.value, 0
    fences = find_fences(text, start, end, numbers)
    if found.value == 1:  # a no with a list of taxa is no answer
        high = undress(text, found.first, found.last, fences, work, to)
        at = to + found.place
        stop = find_byte(work, at, high, ascii.LF)
        named = read_list(work, at, stop, numbers, TAXA, True, False) > 0 or (
            taxa_below(text, found.last, end, Lines(work, to, stop + 1, high), fences, False) > 0
        )
        return (NOTHING if named else 1), 0
    n, kept = _taxa_of(text, start, end, found, fences, work, to), 0
    for k in range(min(n, MAX_CLAIMED)):
        known = False
        for other in range(kept):
            known |= numbers[TAXA + other] == numbers[TAXA + k]
        if not known:
            numbers[TAXA + kept] = numbers[TAXA + k]
            kept += 1
    return found.value, kept
