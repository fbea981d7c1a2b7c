"""The final answer in a text, by its form: the table `form_table`, read from a value outwards.

A form is what stands before a value: `look_left` walks from the value to the left, over brackets and fillers,
to a box, a tag, a label, or the beginning of its line. Between a form's opening and its value there is
nothing else, so the last value that has a form belongs to the form that opens last.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import relfast_kernels.text.ascii as ascii
from relfast_kernels.compiled.jit import kernel
from relfast_kernels.entry import Bytes
from relfast_kernels.text.ascii import BLANKS, DIGITS, byte_set, is_alnum, is_wordy
from relfast_kernels.text.dress import FENCED, HASHES
from relfast_kernels.text.find import skip, skip_back
from relfast_kernels.text.values import CHOICE, CLOSERS, OPENERS, STOPS, value_at, word_before, word_end
from relfast_kernels.text.words import (
    ADVERB,
    AUXILIARY,
    BE,
    BOX,
    CHOOSES,
    CHOOSES_BARE,
    CONCLUDES,
    FILLER,
    FITS,
    IT,
    JOINS,
    LABEL,
    LINK,
    NO,
    NOUN,
    QUALIFIED,
    QUALIFIER,
    TAG,
    WEAK,
    YES,
    flags_of,
)

NO_WORD: Final = byte_set("".join(char for char in map(chr, range(128)) if not char.isalnum()))
_FILLS: Final = byte_set(" \"'([#")
"""What may stand between a form's opening and its value."""
_BEFORE_HELD: Final = byte_set(" \"'([#{>\n")
"""What may stand between a box or a tag and a variable of several letters."""
_TIES, _BRACKETS, _STOPS = byte_set(":=|->"), byte_set("{})"), byte_set(",.!?")
_FILLS_LIST: Final = byte_set(" \"'([#{\\:\n")
"""The same between joined values."""
_BEFORE_JOINED: Final = byte_set(" \"'([\\")
_JOINED_BY: Final = byte_set(",;/&")
_CLOSES, _ENDS_TAG, _ENDS_NAME = byte_set(")]}"), byte_set(">\n"), byte_set("/\n")
_PAUSES: Final = byte_set(" ,:")
_AFTER_CHOICE: Final = byte_set(" )]:-")

NO_FORM, IS_BOX, IS_TAG, IS_LABEL, IS_OWN, IS_HASHED, IS_SENTENCE, IS_LINE = range(8)
"""Forms that a value can be in."""
_GOES_ON: Final = -1
"""In place of a form: it is not known yet."""
CROSSED, NOUNED, CONCLUDED, OPEN, AT_LINE, QUOTED, VARIABLE, LINKED, MARKED, _STRANGE, _EQUALS, _HELD = (
    1 << bit for bit in range(12)
)
"""What `look_left` met: the beginning of the value's line, a noun, a word that concludes, the beginning of
the paragraph; nothing but these before the value on its line; a label in quotation marks (JSON); a variable
and its sign of equality ("k = 4"); a word or a sign that ties a value to its label, and whether it was a
sign; another filler; a sign of equality right now; a variable of several letters, before which only a box or
a tag counts."""

_MAX_FILLERS: Final = 16
_MAX_STEPS: Final = 256
_MAX_JOINED: Final = 8
_MAX_NAME: Final = 24
_MAX_BETWEEN: Final = 40


@kernel
def _named_tag(text: Bytes, low: int, at: int) -> tuple[int, int]:
    """Start of the tag that ends before ``at``, and the flags of its name; -1: there is none."""
    name_end = at - 1
    if name_end <= low or text[name_end] != ascii.GREATER:
        return -1, 0
    name_end = skip_back(text, low, name_end, BLANKS)
    first = name_end
    while first > low and is_wordy(text[first - 1]) and name_end - first < _MAX_NAME:
        first -= 1
    flags = flags_of(text, first, name_end) if first < name_end else 0
    first = skip_back(text, low, first, BLANKS)
    if first > low and text[first - 1] == ascii.LESS:
        return first - 1, flags
    return -1, 0


class _Look(NamedTuple):
    """How far `look_left` is: at ``pos``, having met ``fillers`` words between a form's opening and its
    value, and the ``form``, if it is known. See there for the others."""

    pos: int
    inside: int
    seen: int
    fillers: int
    form: int


@kernel
def _on(look: _Look, pos: int, seen: int) -> _Look:
    return _Look(pos, look.inside, seen, look.fillers, _GOES_ON)


@kernel
def _found(look: _Look, form: int, pos: int) -> _Look:
    return _Look(pos, look.inside, look.seen, look.fillers, form)


@kernel
def _tied(look: _Look, pos: int, bits: int) -> _Look:
    """What ties a value to its label ends behind ``pos``: the first such thing met ends where the value
    begins."""
    inside = look.inside if look.seen & LINKED else look.pos
    return _Look(pos, inside, look.seen | bits, look.fillers, _GOES_ON)


@kernel
def _over_line(byte: int, look: _Look) -> _Look:
    """The beginning of a line: the mark of a fence, hashes, or the end of the line above."""
    pos, inside, seen = look.pos, look.inside, look.seen
    begins = not seen & (CROSSED | LINKED | _STRANGE)
    if byte == HASHES and begins and not seen & NOUNED:
        return _Look(pos - 1, pos, seen, look.fillers, IS_HASHED)
    if byte != HASHES and begins:
        seen |= AT_LINE
    if byte == ascii.LF and not seen & (CROSSED | LINKED):
        inside = pos
    return _Look(pos - 1, inside, seen | CROSSED if byte == ascii.LF else seen, look.fillers, _GOES_ON)


@kernel
def _over_sign(text: Bytes, low: int, at: int, byte: int, look: _Look) -> _Look:
    """A sign that ties a value to its label, or ends a tag."""
    pos, seen = look.pos, look.seen
    before = int(text[pos - 2]) if pos - 2 >= low else 0
    if byte == ascii.BAR:
        return _found(look, NO_FORM, pos) if seen & CROSSED else _tied(look, pos - 1, LINKED | MARKED)
    if byte == ascii.HYPHEN:
        ties = pos < at and text[pos] == ascii.BLANK and not seen & LINKED
        return _tied(look, pos - 1, LINKED | MARKED) if ties else _found(look, NO_FORM, pos)
    if byte == ascii.GREATER and before != ascii.HYPHEN and before != ascii.EQUALS:
        first, flags = _named_tag(text, low, pos)
        is_tag = first >= 0 and flags & TAG != 0
        return _Look(first, pos, seen, look.fillers, IS_TAG) if is_tag else _found(look, NO_FORM, pos)
    look = _tied(look, pos - 2 if byte == ascii.GREATER else pos - 1, LINKED | MARKED)
    if byte == ascii.GREATER:
        return look
    equals = (byte == ascii.EQUALS and not seen & LINKED) or (
        seen & _EQUALS != 0 and text[pos] == ascii.EQUALS
    )
    return _on(look, look.pos, look.seen | _EQUALS if equals else look.seen & ~_EQUALS)


@kernel
def _over_bracket(text: Bytes, low: int, byte: int, look: _Look) -> _Look:
    """The brace of a box, a subscript in braces ("x_{1} = 4"), or a remark in brackets."""
    pos, seen = look.pos, look.seen
    if byte == ascii.BRACE_OPEN:
        if pos - 1 == low or not is_alnum(text[pos - 2]):
            return _on(look, pos - 1, seen)
        first, flags = word_before(text, low, pos - 1)
        # with or without its backslash, which JSON may have eaten
        start = first - 1 if first > low and text[first - 1] == ascii.BACKSLASH else first
        return _Look(start, pos, seen, look.fillers, IS_BOX if flags & BOX else NO_FORM)
    opening = ascii.BRACE_OPEN if byte == ascii.BRACE_CLOSE else ascii.ROUND_OPEN
    here = pos - 1
    while here > low and text[here - 1] != opening and text[here - 1] != ascii.LF and pos - here < _MAX_NAME:
        here -= 1
    if here == low or text[here - 1] != opening:
        return _found(look, NO_FORM, pos)
    here -= 1
    if byte == ascii.BRACE_CLOSE:
        is_index = seen & _EQUALS != 0 and here > low and text[here - 1] == ascii.UNDERSCORE
        return _on(look, here - 1, seen) if is_index else _found(look, NO_FORM, pos)
    return _on(look, here, seen) if seen & (LINKED | CROSSED) else _found(look, NO_FORM, pos)


@kernel
def _over_stop(text: Bytes, low: int, at: int, byte: int, look: _Look) -> _Look:
    """A comma behind a word that concludes, or the end of the sentence before."""
    pos = look.pos
    if byte == ascii.COMMA:
        _, flags = word_before(text, low, pos - 1)
        return _on(look, pos - 1, look.seen) if flags & CONCLUDES else _found(look, NO_FORM, pos)
    begins = pos < at and text[pos] == ascii.BLANK and not look.seen & (CROSSED | LINKED | _STRANGE)
    return _found(look, IS_SENTENCE if begins else NO_FORM, pos)


@kernel
def _is_weak(text: Bytes, low: int, first: int) -> bool:
    """Whether a label that begins at ``first`` is no name of the answer, having no qualifier: "every panel
    is"."""
    here, before = word_before(text, low, skip_back(text, low, first, BLANKS))
    if before & LABEL:  # "the correct answer choice is"
        _, before = word_before(text, low, skip_back(text, low, here, BLANKS))
    return not before & QUALIFIER


@kernel
def _over_word(text: Bytes, low: int, at: int, look: _Look) -> _Look:
    """A word: a variable before its sign of equality, a label, a link, a filler."""
    pos, seen = look.pos, look.seen
    first, flags = word_before(text, low, pos)
    if seen & _EQUALS and not DIGITS[text[first]] and not flags & (LABEL | LINK | QUALIFIED):
        is_short = pos - first == 1 or text[first + 1] == ascii.UNDERSCORE or DIGITS[text[first + 1]]
        seen = seen & ~(_EQUALS | LINKED | MARKED | _HELD) | VARIABLE | _STRANGE
        start = first - 1 if first > low and text[first - 1] == ascii.BACKSLASH else first
        # "count = 4" in a box or a tag; "x = 4" behind a label, too
        return _on(look, start, seen if is_short else seen | _HELD)
    look = _on(look, pos, seen & ~_EQUALS)
    if flags & LABEL and (seen & LINKED or (seen & (CROSSED | VARIABLE) == CROSSED and not look.fillers)):
        weak = seen & (LINKED | MARKED) == LINKED and flags & WEAK != 0 and _is_weak(text, low, first)
        if weak or not (seen & LINKED or _begins_line(text, low, first)):
            return _found(look, NO_FORM, pos)
        if first > low and text[first - 1] == ascii.QUOTE and pos < at and text[pos] == ascii.QUOTE:
            look = _on(look, pos, look.seen | QUOTED)
        return _found(look, IS_LABEL, first)
    before_first, before = first, 0
    if flags & (QUALIFIED | BE):
        before_first, before = word_before(text, low, skip_back(text, low, first, BLANKS))
    if flags & QUALIFIED and seen & LINKED and before & QUALIFIER:
        return _found(look, IS_LABEL, first)
    if flags & LINK:
        if flags & BE and not before & AUXILIARY:
            return _found(_tied(look, first, LINKED), NO_FORM, first)
        look = _tied(look, before_first if flags & BE else first, LINKED)
    elif flags & FILLER:
        seen = look.seen
        if not seen & CROSSED:
            if flags & (NOUN | CONCLUDES):
                seen |= NOUNED if flags & NOUN else CONCLUDED
            elif not flags & QUALIFIER:
                seen |= _STRANGE
        look = _on(look, first, seen)
    else:
        return _found(look, NO_FORM, pos)
    form = _GOES_ON if look.fillers < _MAX_FILLERS else NO_FORM
    return _Look(look.pos, look.inside, look.seen, look.fillers + 1, form)


@kernel
def look_left(text: Bytes, low: int, at: int, crossed: bool) -> tuple[int, int, int, int]:
    """The form of what begins at ``at``: of a value, or of anything else (`marked.find_form`).

    Parameters
    ----------
    low
        Where its paragraph begins in ``text``, which is undressed.
    crossed
        Whether the value begins a line further down, and ``at`` is the end of what stands above.

    Returns
    -------
    (form, start, seen, inside)
        ``start``: where the form opens; ``seen``: bits of what was met; ``inside``: where that begins what
        the form holds, right behind its opening.
    """
    look = _Look(at, at, CROSSED if crossed else 0, 0, _GOES_ON)
    steps = 0
    while look.pos > low and look.form == _GOES_ON:
        pos = look.pos
        byte = int(text[pos - 1])
        steps += 1
        if steps > _MAX_STEPS or (look.seen & _HELD and not _BEFORE_HELD[byte]):
            look = _found(look, NO_FORM, pos)
        elif _FILLS[byte]:
            look = _on(look, skip_back(text, low, pos - 1, BLANKS), look.seen)
        elif is_wordy(byte):
            look = _over_word(text, low, at, look)
        elif byte == ascii.LF or byte == FENCED or byte == HASHES:
            look = _over_line(byte, look)
        elif _TIES[byte]:
            look = _over_sign(text, low, at, byte, look)
        elif _BRACKETS[byte]:
            look = _over_bracket(text, low, byte, look)
        elif _STOPS[byte]:
            look = _over_stop(text, low, at, byte, look)
        else:
            look = _found(look, NO_FORM, pos)
    seen = look.seen
    if look.form != _GOES_ON:
        return look.form, look.pos, seen, look.inside
    if not seen & (CROSSED | LINKED | _STRANGE):
        seen |= AT_LINE
    return NO_FORM, look.pos, seen if seen & VARIABLE else seen | OPEN, look.inside


@kernel
def _begins_line(text: Bytes, low: int, at: int) -> bool:
    """Whether nothing but qualifiers and fillers stands before ``at`` on its line."""
    while at > low:
        byte = int(text[at - 1])
        if byte == ascii.LF or byte == HASHES:
            return True
        if OPENERS[byte]:
            at -= 1
        elif is_wordy(byte):
            first, flags = word_before(text, low, at)
            if not flags & (QUALIFIER | FILLER):
                return False
            at = first
        else:
            return False
    return True


@kernel
def own_tag(text: Bytes, low: int, start: int, stop: int, end: int) -> tuple[int, int]:
    """Start and end of a tag that is itself a value (``<yes>``, ``<4>``); -1: it is none."""
    first = skip_back(text, low, start, BLANKS)
    stop = skip(text, stop, end, BLANKS)
    if stop + 1 < end and text[stop] == ascii.SLASH:
        stop += 1
    if first > low and text[first - 1] == ascii.LESS and stop < end and text[stop] == ascii.GREATER:
        return first - 1, stop + 1
    return -1, -1


@kernel
def closes_tag(text: Bytes, at: int, end: int) -> bool:
    """Whether a closing tag begins at ``at``."""
    return at + 1 < end and text[at] == ascii.LESS and text[at + 1] == ascii.SLASH


@kernel
def skip_closers(text: Bytes, at: int, end: int) -> int:
    """The offset after blanks, closing brackets, quotation marks and closing tags."""
    while at < end:
        if CLOSERS[text[at]]:
            at += 1
        elif closes_tag(text, at, end):
            stop = at + 2
            while stop < end and not _ENDS_TAG[text[stop]] and stop - at < _MAX_NAME:
                stop += 1
            if stop == end or text[stop] != ascii.GREATER:
                return at
            at = stop + 1
        else:
            return at
    return at


@kernel
def is_rest(text: Bytes, at: int, end: int) -> int:
    """Where the line ends, if nothing but closing marks stands before that; else -1."""
    while True:
        at = skip_closers(text, at, end)
        if at >= end or text[at] == ascii.LF:
            return at
        if STOPS[text[at]] or (text[at] == ascii.BACKSLASH and (at + 1 == end or not is_alnum(text[at + 1]))):
            at += 1
        else:
            return -1


@kernel
def chain(
    text: Bytes, low: int, at: int, end: int, value: int, kind: int, is_named: bool
) -> tuple[bool, int]:
    """Whether a different value is joined to the one that ends at ``at``, and where the last of them ends.
    ``is_named``: a variable may stand before each ("x = 4 or x = 6")."""
    several = False
    for _ in range(_MAX_JOINED):
        here = skip_closers(text, at, end)
        if here < end and text[here] == ascii.ROUND_OPEN:
            here += 1
        if here >= end:
            return several, at
        byte = int(text[here])
        comma = byte == ascii.COMMA or byte == ascii.SEMICOLON
        either = False  # "and/or"
        if _JOINED_BY[byte]:
            here += 1
        else:
            stop = here + 3 if byte >= ascii.WIDE else word_end(text, here, end)
            if byte >= ascii.WIDE and here + 6 <= end and flags_of(text, here, here + 6) & JOINS:
                stop = here + 6
            if stop <= here or stop > end or not flags_of(text, here, stop) & JOINS:
                return several, at
            here = stop
            either = True
        other, stop, is_own = 0, here, False
        steps = 0
        while here < end and steps < _MAX_BETWEEN:
            steps += 1
            byte = int(text[here])
            if byte == ascii.LF and not (comma and _JOINED_BY[text[here - 1]] and at < here):
                break
            other, stop, _ = value_at(text, low, here, end, kind)
            if other != 0:
                break
            if _FILLS_LIST[byte] or (byte == ascii.SLASH and either):
                here += 1
            elif byte == ascii.LESS:
                here += 1
                is_own = True
            elif (byte == ascii.GREATER and is_own) or (byte == ascii.COMMA and comma):
                here += 1
            else:
                stop = here + 3 if byte >= ascii.WIDE else word_end(text, here, end)
                if stop <= here or stop > end:
                    break
                flags = flags_of(text, here, stop)
                behind = skip(text, stop, end, BLANKS)
                if is_named and behind < end and text[behind] == ascii.EQUALS:
                    here = behind + 1
                    continue
                if not (
                    flags & (FILLER | ADVERB | JOINS | BOX | TAG | LINK | NOUN) or (is_own and flags & TAG)
                ):
                    break
                here = stop
        if other == 0:
            return several, at
        if comma and kind != CHOICE:
            # "Yes, no taxon is alone" is one answer
            after = skip_closers(text, stop, end)
            if after > stop and after < end and is_wordy(text[after]) and text[after - 1] == ascii.BLANK:
                return several, at
        several |= other != value
        at = stop
    return several, at


@kernel
def joined_before(text: Bytes, low: int, at: int, value: int, kind: int) -> bool:
    """Whether a different value, in a form of its own, is joined before the form that opens at ``at``."""
    joined = False
    steps = 0
    while at > low and steps < 24:
        steps += 1
        byte = int(text[at - 1])
        if _JOINED_BY[byte]:
            joined = True
            at -= 1
        elif _BEFORE_JOINED[byte] or (joined and _CLOSES[byte]):
            at -= 1
        elif joined and byte == ascii.GREATER:
            first, flags = _named_tag(text, low, at)
            if first >= 0 and flags & (YES | NO):
                return kind != CHOICE and (2 if flags & YES else 1) != value
            stop = at - 1
            while stop > low and not _ENDS_NAME[text[stop - 1]] and at - stop < _MAX_NAME:
                stop -= 1
            if stop - 2 < low or text[stop - 1] != ascii.SLASH or text[stop - 2] != ascii.LESS:
                return False
            at = stop - 2
        elif is_wordy(byte):
            first, flags = word_before(text, low, at)
            if joined and (flags & (YES | NO) or (at - first == 1 and ascii.ONE <= byte <= ascii.EIGHT)):
                other, stop, _ = value_at(text, low, first, at + 1 if text[at] != ascii.LF else at, kind)
                if other == 0 or other == value:
                    return False
                form, _, seen, _ = look_left(text, low, first, False)
                return form != NO_FORM or seen & AT_LINE != 0
            if flags & JOINS:
                joined = True
            elif not flags & (FILLER | ADVERB | QUALIFIER):
                return False
            at = first
        else:
            return False
    return False


@kernel
def is_stated(text: Bytes, low: int, start: int, stop: int, end: int, ordinal: bool) -> bool:
    """Whether a choice is stated: a word of choosing is right before it, or one of fitting right after it."""
    if ordinal:
        return True
    at, noun = start, False
    while at > low and _FILLS[text[at - 1]] and text[at - 1] != ascii.APOSTROPHE:
        at -= 1
    first, flags = word_before(text, low, at)
    while flags & NOUN:
        noun = True
        at = skip_back(text, low, first, BLANKS)
        first, flags = word_before(text, low, at)
    steps = 0
    here = at
    while here > low and steps < 6:
        steps += 1
        here = skip_back(text, low, here, _PAUSES)
        first, flags = word_before(text, low, here)
        if first == here:
            break
        if noun and flags & CHOOSES:
            return True
        if flags & CHOOSES_BARE:
            return True
        if flags & LINK and word_before(text, low, skip_back(text, low, first, BLANKS))[1] & IT:
            return True
        if not flags & (QUALIFIER | FILLER):
            break
        here = first
    if not noun:
        return False
    at = skip(text, stop, min(stop + 4, end), _AFTER_CHOICE)
    for _ in range(6):
        behind = word_end(text, at, end)
        if behind == at:
            return False
        flags = flags_of(text, at, behind)
        if flags & FITS:
            return True
        if not flags & (LINK | AUXILIARY | QUALIFIER | FILLER | BE):
            return False
        at = skip(text, behind, end, BLANKS)
    return False


@kernel
def has_word(text: Bytes, at: int, end: int) -> bool:
    """Whether text[at:end] has a letter or digit."""
    return skip(text, at, end, NO_WORD) < end
