r"""The last marked form in a text, and what it holds: the answer of tasks whose answers are open, a
molecule or a
mathematical expression. `relfast_kernels.text.answers` reads values of a closed set from the same forms.

Each word of a text, from its end on, is asked by `look_left` whether a form opens before it. What the form
holds
is then a span of the text as it was written, since undressing changes letters:

    The answer is **\frac{1}{2}**, since …      → ``**\frac{1}{2}**``
    <answer>CCO                                 → ``CCO``, to the text's end
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes, Ints
from relfast_kernels.text.ascii import BLANKS, LETTERS, byte_set, continues, is_wordy
from relfast_kernels.text.dress import FENCED, HASHES, NO_END, PLAIN, undress, undress_up_to
from relfast_kernels.text.find import find_byte, line_start, same_as, skip, skip_back
from relfast_kernels.text.forms import (
    IS_BOX,
    IS_HASHED,
    IS_LABEL,
    IS_TAG,
    NO_FORM,
    QUOTED,
    closes_tag,
    has_word,
    look_left,
)
from relfast_kernels.text.paragraphs import MAX_FENCES, Fences, find_fences, paragraph_before
from relfast_kernels.text.values import flags_at, is_wide, word_end
from relfast_kernels.text.words import ENDS, FILLER, LINK, flags_of

FORM_ROOM: Final = 64
"""Room beyond twice a text in the work space of an entry."""
FORM_FENCES: Final = 2 * MAX_FENCES
"""Numbers for the places of fences."""
MAX_HELD: Final = 2_000
"""The most bytes that a box or a tag holds."""
MAX_TRIES: Final = 50
"""The most forms that are tried: those that hold nothing, or too much."""

_BEGIN, _END = np.frombuffer(b"begin", np.uint8), np.frombuffer(b"end", np.uint8)
_OPENING: Final = byte_set("([{")
_CLOSING: Final = byte_set(")]}")
_STOPS: Final = byte_set(".!?")
_BEHIND_STOP: Final = byte_set("\"')]}$ ")
_BETWEEN: Final = byte_set(" {>:=|\n" + chr(HASHES) + chr(FENCED))
"""What may stand before all that a form holds."""
_BRACKETS: Final = byte_set("\"'([#")
"""What never does, being a part of it."""
_OPENERS: Final = byte_set(" (")
_WHITE: Final = byte_set(" \n")
_TRAILING: Final = byte_set(" ,;:-\n")
_SAYS: Final = byte_set("0123456789\\=")
"""What tells mathematics from words."""


@kernel
def _ends_before(text: Bytes, begin: int, at: int, end: int, depth: int) -> bool:
    """Whether a word at ``at`` ends the value from ``begin`` on: after words only if a comma is before it."""
    byte = int(text[at])
    if at == begin or not is_wordy(byte) or (byte < ascii.WIDE and is_wordy(text[at - 1])):
        return False
    if depth != 0 and not (depth == 1 and text[at - 1] == ascii.ROUND_OPEN and text[at - 2] == ascii.BLANK):
        return False
    if flags_at(text, at, end) & ENDS == 0:
        return False
    stop = skip_back(text, begin, at, _OPENERS)
    if stop == begin or not has_word(text, begin, stop):
        return False
    if text[stop - 1] == ascii.COMMA or (
        stop >= 2 and is_wordy(text[stop - 1]) and not is_wordy(text[stop - 2])
    ):
        return True
    for k in range(begin, stop):
        if _SAYS[text[k]]:
            return True
    return False


@kernel
def _ends_label(text: Bytes, at: int, end: int, depth: int, celled: bool, quoted: bool) -> bool:
    """Whether what a label holds ends at ``at``: with its line, cell or sentence, or at a comma of JSON."""
    byte = int(text[at])
    if byte == ascii.LF or (byte == ascii.BAR and celled):
        return True
    if byte == ascii.COMMA:
        return quoted and depth == 0
    if not _STOPS[byte]:
        return False
    behind = skip(text, at + 1, end, _BEHIND_STOP)
    return behind == end or text[behind] == ascii.LF or (depth == 0 and text[behind - 1] == ascii.BLANK)


@kernel
def _value_end(text: Bytes, begin: int, end: int, form: int, quoted: bool) -> int:
    """Where the value ends that begins at ``begin`` in a form: before its closing mark, before what is not
    read, or, of a label, at the end of its sentence. ``quoted``: the label is a key of JSON."""
    is_label = form == IS_LABEL or form == IS_HASHED
    before = skip_back(text, 0, begin, BLANKS)
    celled = before > 0 and text[before - 1] == ascii.BAR
    if quoted and text[begin] == ascii.QUOTE:
        return find_byte(text, begin + 1, end, ascii.QUOTE)
    depth = 0
    at = begin
    while at < end:
        byte = int(text[at])
        if _OPENING[byte]:
            depth += 1
        elif _CLOSING[byte]:
            depth -= 1
            if depth < 0 and (is_label or byte == ascii.BRACE_CLOSE):
                return at
        elif closes_tag(text, at, end):
            return at
        elif byte == ascii.BACKSLASH and at + 1 < end:
            # the environments of TeX are brackets, too
            stop = skip(text, at + 1, end, LETTERS)
            if same_as(text, at + 1, stop, _BEGIN):
                depth += 1
            elif same_as(text, at + 1, stop, _END):
                depth -= 1
            at = max(stop, at + 2) - 1
        elif is_label and _ends_label(text, at, end, depth, celled, quoted):
            return at
        elif _ends_before(text, begin, at, end, depth):
            return skip_back(text, begin, skip_back(text, begin, at, _OPENERS), _TRAILING)
        at += 1
    return end


@kernel
def _begins_word(text: Bytes, low: int, at: int) -> bool:
    """Whether something that a form may hold begins at ``at``, with its brackets and quotation marks."""
    if at == low or _BETWEEN[text[at]]:
        return False
    if not _BETWEEN[text[at - 1]]:
        return is_wide(text, at) and not continues(text[at])
    before = skip_back(text, low, at, _WHITE)
    return before == low or not _BRACKETS[text[before - 1]]


@kernel
def _closing_tag(text: Bytes, at: int, end: int) -> int:
    """Where the next closing tag begins; ``end`` if there is none: an open tag reaches to the text's end."""
    while at < end:
        at = find_byte(text, at, end, ascii.LESS)
        if closes_tag(text, at, end):
            return at
        at += 1
    return end


@kernel
def _skip_fillers(text: Bytes, begin: int, end: int, stop: int) -> int:
    """Where the value begins behind words that may stand before it: "is therefore x", but not the option
    "a"."""
    while begin < stop:
        behind = word_end(text, begin, end)
        flags = flags_of(text, begin, behind) if behind > begin else 0
        if not (flags & LINK or (flags & FILLER and has_word(text, behind, stop))):
            return begin
        begin = skip(text, behind, end, BLANKS)
    return begin


class _Shown(NamedTuple):
    """The paragraph text[first:last] of a text that ends at ``end``, undressed: work[to:high]."""

    text: Bytes
    first: int
    last: int
    end: int
    fences: Fences
    work: Bytes
    to: int
    high: int


@kernel
def _held(shown: _Shown, form: int, inside: int, quoted: bool) -> tuple[int, int]:
    """Begin and end, in ``text``, of what a form holds from work[inside] on; equal if it holds nothing."""
    text, first, last, end, fences, work, to, high = shown
    begin = skip(work, inside, high, _WHITE)
    if form == IS_LABEL or form == IS_HASHED:
        begin = _skip_fillers(work, begin, high, _value_end(work, begin, high, form, quoted))
    stop = _value_end(work, begin, high, form, quoted) if begin < high else high
    if form == IS_BOX and find_byte(work, stop, high, ascii.BRACE_CLOSE) == high:
        return last, last
    begin += 1 if quoted and begin < high and work[begin] == ascii.QUOTE else 0
    if (form != IS_TAG or stop < high) and not has_word(work, begin, stop):
        return last, last
    _, start, _ = undress_up_to(text, first, last, fences, work, to, PLAIN, begin)
    if form == IS_TAG and stop == high:
        return start, _closing_tag(text, start, end)
    _, _, behind = undress_up_to(text, first, last, fences, work, to, PLAIN, stop)
    # \\text{The answer is x}: its brace is not of x
    depth = 0
    for at in range(start, behind):
        if text[at] == ascii.BRACE_OPEN:
            depth += 1
        elif text[at] == ascii.BRACE_CLOSE:
            depth -= 1
            if depth < 0:
                return start, at
    return start, behind


@kernel
def _below(
    text: Bytes, first: int, last: int, end: int, fences: Fences, work: Bytes, to: int, form: int
) -> tuple[int, int]:
    """`_held` by a label that ends its paragraph: the first line of the one below it, text[first:last]."""
    high = undress(text, first, last, fences, work, to)
    if high == to or work[to] == FENCED:
        return last, last
    return _held(_Shown(text, first, last, end, fences, work, to, high), form, to, False)


@kernel
def _is_marked(text: Bytes, low: int, form: int, opens: int, seen: int) -> bool:
    """Whether a form is a marked one; in a fence of code only a key of JSON is."""
    if form != IS_BOX and form != IS_TAG and form != IS_LABEL and form != IS_HASHED:
        return False
    return text[line_start(text, low, opens)] != FENCED or seen & QUOTED != 0


@kernel
def find_form(
    text: Bytes, start: int, end: int, work: Bytes, to: int, numbers: Ints
) -> tuple[int, int, int, int]:
    """The marked form that opens last in text[start:end], UTF-8 without reasoning, and holds something.

    Parameters
    ----------
    work : uint8
        From ``to`` on 2 (end - start) + 64 bytes that are free.
    numbers : int64
        2 `MAX_FENCES` for the places of fences.

    Returns
    -------
    (form, opens, begin, stop)
        `NO_FORM` or its kind, where it opens, and the span of what it holds.
    """
    fences = find_fences(text, start, end, numbers)
    stop, below, below_end, tries = end, end, end, 0
    while stop > start:
        first, last = paragraph_before(text, start, stop)
        if first == last:
            break
        stop = first
        high = undress(text, first, last, fences, work, to)
        at = high
        while at > to and tries < MAX_TRIES:
            crossed = at == high
            if below < below_end if crossed else _begins_word(work, to, at):
                form, opens, seen, inside = look_left(work, to, at, crossed)
                if _is_marked(work, to, form, opens, seen):
                    tries += 1
                    begin = behind = last
                    if not crossed:
                        shown = _Shown(text, first, last, end, fences, work, to, high)
                        begin, behind = _held(shown, form, inside, seen & QUOTED != 0)
                    elif form == IS_TAG:
                        behind = _closing_tag(text, last, end)
                    else:
                        begin, behind = _below(text, below, below_end, end, fences, work, to, form)
                        high = undress(text, first, last, fences, work, to)
                    if begin < behind <= begin + MAX_HELD:
                        _, _, opens = undress_up_to(text, first, last, fences, work, to, PLAIN, opens)
                        return form, opens, begin, behind
            at -= 1
        if high > to:
            below, below_end = first, last
    return NO_FORM, start, start, start


@kernel
def read_form(
    text: Bytes, start: int, end: int, how: int, work: Bytes, to: int, numbers: Ints
) -> tuple[int, int, int]:
    """`find_form`, and what it holds, undressed by ``how`` (`SHOWN`, `MATHEMATICAL`): the form, where it
    opens, and where that ends which is in ``work`` from ``to`` on."""
    form, opens, begin, stop = find_form(text, start, end, work, to, numbers)
    if form == NO_FORM:
        return NO_FORM, start, to
    return form, opens, undress_up_to(text, begin, stop, Fences(numbers, 0), work, to, how, NO_END)[0]
