"""The final answer in a text, by its form: the table `form_table`, read from a value outwards.

A form is what stands before a value: `look_left` walks from the value to the left, over brackets and fillers,
to a box, a tag, a label, or the beginning of its line. Between a form's opening and its value there is
nothing else, so the last value that has a form belongs to the form that opens last.
"""

from __future__ import annotations

from typing import Any, Final

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.dress import (
    ADVERB,
    AUXILIARY,
    BE,
    BOX,
    CHOOSES,
    CHOOSES_BARE,
    CONCLUDES,
    FENCED,
    FILLER,
    FITS,
    HASHES,
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
    is_alnum,
)
from relfast_kernels.text.find import BLANKS, DIGITS, LF, byte_set, skip, skip_back
from relfast_kernels.text.values import (
    BACKSLASH,
    CHOICE,
    CLOSERS,
    OPENERS,
    STOPS,
    UNDERSCORE,
    is_wordy,
    value_at,
    word_before,
    word_end,
)

EQUALS, OPENING_BRACE, CLOSING_BRACE, CLOSING_ANGLE = map(ord, "={}>")
NO_WORD: Final = byte_set("".join(char for char in map(chr, range(128)) if not char.isalnum()))
_FILLS: Final = byte_set(" \"'([#")
"""What may stand between a form's opening and its value."""
_FILLS_LIST: Final = byte_set(" \"'([#{\\:\n")
"""The same between joined values."""
_BEFORE_JOINED: Final = byte_set(" \"'([\\")
_JOINED_BY: Final = byte_set(",/&")
_PAUSES: Final = byte_set(" ,:")
_AFTER_CHOICE: Final = byte_set(" )]:-")

NO_FORM, IS_BOX, IS_TAG, IS_LABEL, IS_OWN, IS_HASHED, IS_SENTENCE = range(7)
"""Forms that a value can be in."""
CROSSED, NOUNED, CONCLUDED, OPEN, AT_LINE, QUOTED, VARIABLE = (1 << bit for bit in range(7))
"""What `look_left` met: the beginning of the value's line, a noun, a word that concludes, the beginning of
the paragraph; nothing but these before the value on its line; a label in quotation marks (JSON); a variable
and its sign of equality ("k = 4")."""

_MAX_FILLERS: Final = 16
_MAX_STEPS: Final = 256
_MAX_JOINED: Final = 8
_MAX_NAME: Final = 24


@kernel
def _named_tag(text: Any, low: int, at: int) -> Any:
    """Start of the tag that ends before ``at``, and the flags of its name; -1: there is none."""
    name_end = at - 1
    if name_end <= low or text[name_end] != 62:
        return -1, 0
    name_end = skip_back(text, low, name_end, BLANKS)
    first = name_end
    while first > low and is_wordy(text[first - 1]) and name_end - first < _MAX_NAME:
        first -= 1
    flags = flags_of(text, first, name_end) if first < name_end else 0
    first = skip_back(text, low, first, BLANKS)
    if first > low and text[first - 1] == 60:
        return first - 1, flags
    return -1, 0


@kernel
def look_left(text: Any, low: int, at: int, crossed: bool) -> Any:
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
        the
        form holds, right behind its opening.
    """
    seen = CROSSED if crossed else 0
    linked, marked, fillers, steps = False, False, 0, 0
    strange = equals = held = False
    pos = inside = at
    while pos > low:
        byte = int(text[pos - 1])
        steps += 1
        if steps > _MAX_STEPS:
            return NO_FORM, pos, seen, inside
        if held and not (_FILLS[byte] or byte == LF or byte == OPENING_BRACE or byte == CLOSING_ANGLE):
            return NO_FORM, pos, seen, inside
        if _FILLS[byte]:
            pos = skip_back(text, low, pos - 1, BLANKS)
        elif byte == 10:
            if not seen & CROSSED:
                seen |= CROSSED
                if not linked:
                    inside = pos
                    if not strange:
                        seen |= AT_LINE
            pos -= 1
        elif byte == FENCED:
            if not seen & CROSSED and not linked and not strange:
                seen |= AT_LINE
            pos -= 1
        elif byte == HASHES:
            if not seen & (NOUNED | CROSSED) and not linked and not strange:
                return IS_HASHED, pos - 1, seen, pos
            pos -= 1
        elif byte == 123:
            pos -= 1
            if pos > low and is_alnum(text[pos - 1]):
                first, flags = word_before(text, low, pos)
                if flags & BOX:
                    return IS_BOX, first - (first > low and text[first - 1] == BACKSLASH), seen, pos + 1
                return NO_FORM, pos, seen, inside
        elif byte == 58 or byte == 61:
            equals = (byte == EQUALS and not linked) or (equals and text[pos] == EQUALS)
            inside = inside if linked else pos
            linked = marked = True
            pos -= 1
        elif byte == 124:
            if seen & CROSSED:
                return NO_FORM, pos, seen, inside
            inside = inside if linked else pos
            linked = marked = True
            pos -= 1
        elif byte == 62:
            before = int(text[pos - 2]) if pos - 2 >= low else 0
            if before == 45 or before == 61:
                inside = inside if linked else pos
                linked = marked = True
                pos -= 2
            else:
                first, flags = _named_tag(text, low, pos)
                if first >= 0 and flags & TAG:
                    return IS_TAG, first, seen, pos
                return NO_FORM, pos, seen, inside
        elif byte == 45:
            if pos < at and text[pos] == 32 and not linked:
                inside = pos
                linked = marked = True
                pos -= 1
            else:
                return NO_FORM, pos, seen, inside
        elif byte == CLOSING_BRACE and equals:
            # a subscript: "x_{1} = 4"
            here = pos - 1
            while here > low and text[here] != OPENING_BRACE and pos - here < _MAX_NAME:
                here -= 1
            if text[here] != OPENING_BRACE or here == low or text[here - 1] != UNDERSCORE:
                return NO_FORM, pos, seen, inside
            pos = here - 1
        elif byte == 41:
            here = pos - 1
            while here > low and text[here - 1] != 40 and text[here - 1] != 10 and pos - here < _MAX_NAME:
                here -= 1
            if here > low and text[here - 1] == 40 and (linked or seen & CROSSED):
                pos = here - 1
            else:
                return NO_FORM, pos, seen, inside
        elif byte == 44:
            _, flags = word_before(text, low, pos - 1)
            if not flags & CONCLUDES:
                return NO_FORM, pos, seen, inside
            pos -= 1
        elif byte == 46 or byte == 33 or byte == 63:
            if pos < at and text[pos] == 32 and not seen & CROSSED and not linked and not strange:
                return IS_SENTENCE, pos, seen, inside
            return NO_FORM, pos, seen, inside
        elif is_wordy(byte):
            first, flags = word_before(text, low, pos)
            if equals and not DIGITS[text[first]] and not flags & (LABEL | LINK | QUALIFIED):
                is_short = pos - first == 1 or text[first + 1] == UNDERSCORE or DIGITS[text[first + 1]]
                held = not is_short  # "count = 4" in a box or a tag; "x = 4" behind a label, too
                pos = first - 1 if first > low and text[first - 1] == BACKSLASH else first
                seen |= VARIABLE
                equals = linked = marked = False
                strange = True
                continue
            equals = False
            if flags & LABEL and (linked or (seen & (CROSSED | VARIABLE) == CROSSED and not fillers)):
                worded = linked and not marked
                weak = worded and flags & WEAK != 0
                if weak:
                    here, before = word_before(text, low, skip_back(text, low, first, BLANKS))
                    if before & LABEL:  # "the correct answer choice is"
                        _, before = word_before(text, low, skip_back(text, low, here, BLANKS))
                    weak = not before & QUALIFIER
                if not weak and (linked or _begins_line(text, low, first)):
                    if first > low and text[first - 1] == 34 and pos < at and text[pos] == 34:
                        seen |= QUOTED
                    return IS_LABEL, first, seen, inside
                return NO_FORM, pos, seen, inside
            if flags & QUALIFIED and linked:
                _, before = word_before(text, low, skip_back(text, low, first, BLANKS))
                if before & QUALIFIER:
                    return IS_LABEL, first, seen, inside
            if flags & LINK:
                inside = inside if linked else pos
                linked = True
                if flags & BE:
                    here = skip_back(text, low, first, BLANKS)
                    before_first, before = word_before(text, low, here)
                    if not before & AUXILIARY:
                        return NO_FORM, first, seen, inside
                    first = before_first
            elif flags & FILLER:
                if not seen & CROSSED:
                    if flags & NOUN:
                        seen |= NOUNED
                    elif flags & CONCLUDES:
                        seen |= CONCLUDED
                    elif not flags & QUALIFIER:
                        strange = True
            else:
                return NO_FORM, pos, seen, inside
            fillers += 1
            if fillers > _MAX_FILLERS:
                return NO_FORM, pos, seen, inside
            pos = first
        else:
            return NO_FORM, pos, seen, inside
    if not seen & CROSSED and not linked and not strange:
        seen |= AT_LINE
    return NO_FORM, pos, seen if seen & VARIABLE else seen | OPEN, inside


@kernel
def _begins_line(text: Any, low: int, at: int) -> bool:
    """Whether nothing but qualifiers and fillers stands before ``at`` on its line."""
    while at > low:
        byte = int(text[at - 1])
        if byte == 10 or byte == HASHES:
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
def _own_tag(text: Any, low: int, start: int, stop: int, end: int) -> Any:
    """Start and end of a tag that is itself a yes or no (``<yes>``); -1: it is none."""
    first = skip_back(text, low, start, BLANKS)
    stop = skip(text, stop, end, BLANKS)
    if stop + 1 < end and text[stop] == 47:
        stop += 1
    if first > low and text[first - 1] == 60 and stop < end and text[stop] == 62:
        return first - 1, stop + 1
    return -1, -1


@kernel
def skip_closers(text: Any, at: int, end: int) -> int:
    """The offset after blanks, closing brackets, quotation marks and closing tags."""
    while at < end:
        if CLOSERS[text[at]]:
            at += 1
        elif text[at] == 60 and at + 1 < end and text[at + 1] == 47:
            stop = at + 2
            while stop < end and text[stop] != 62 and text[stop] != 10 and stop - at < _MAX_NAME:
                stop += 1
            if stop == end or text[stop] != 62:
                return at
            at = stop + 1
        else:
            return at
    return at


@kernel
def is_rest(text: Any, at: int, end: int) -> int:
    """Where the line ends, if nothing but closing marks stands before that; else -1."""
    while True:
        at = skip_closers(text, at, end)
        if at >= end or text[at] == 10:
            return at
        if STOPS[text[at]] or (text[at] == 92 and (at + 1 == end or not is_alnum(text[at + 1]))):
            at += 1
        else:
            return -1


@kernel
def chain(text: Any, low: int, at: int, end: int, value: int, kind: int, is_named: bool) -> Any:
    """Whether a different value is joined to the one that ends at ``at``, and where the last of them ends.
    ``is_named``: a variable may stand before each ("x = 4 or x = 6")."""
    several = False
    for _ in range(_MAX_JOINED):
        here = skip_closers(text, at, end)
        if here < end and text[here] == 40:
            here += 1
        if here >= end:
            return several, at
        byte = int(text[here])
        comma = byte == 44
        if _JOINED_BY[byte]:
            here += 1
        else:
            stop = here + 3 if byte >= 0xE3 else word_end(text, here, end)
            if byte >= 0xE3 and here + 6 <= end and flags_of(text, here, here + 6) & JOINS:
                stop = here + 6
            if stop <= here or stop > end or not flags_of(text, here, stop) & JOINS:
                return several, at
            here = stop
        other, stop, is_own = 0, here, False
        steps = 0
        while here < end and steps < 40:
            steps += 1
            byte = int(text[here])
            if byte == 10 and not (text[here - 1] == 44 and at < here):
                break
            other, stop, _ = value_at(text, low, here, end, kind)
            if other != 0:
                break
            if _FILLS_LIST[byte]:
                here += 1
            elif byte == 60:
                here += 1
                is_own = True
            elif (byte == 62 and is_own) or (byte == 44 and comma):
                here += 1
            else:
                stop = here + 3 if byte >= 0xE3 else word_end(text, here, end)
                if stop <= here or stop > end:
                    break
                flags = flags_of(text, here, stop)
                behind = skip(text, stop, end, BLANKS)
                if is_named and behind < end and text[behind] == EQUALS:
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
            if after > stop and after < end and is_wordy(text[after]) and text[after - 1] == 32:
                return several, at
        several |= other != value
        at = stop
    return several, at


@kernel
def joined_before(text: Any, low: int, at: int, value: int, kind: int) -> bool:
    """Whether a different value, in a form of its own, is joined before the form that opens at ``at``."""
    joined = False
    steps = 0
    while at > low and steps < 24:
        steps += 1
        byte = int(text[at - 1])
        if _JOINED_BY[byte]:
            joined = True
            at -= 1
        elif _BEFORE_JOINED[byte] or (joined and (byte == 41 or byte == 93 or byte == 125)):
            at -= 1
        elif joined and byte == 62:
            first, flags = _named_tag(text, low, at)
            if first >= 0 and flags & (YES | NO):
                return kind != CHOICE and (2 if flags & YES else 1) != value
            stop = at - 1
            while stop > low and text[stop - 1] != 47 and text[stop - 1] != 10 and at - stop < _MAX_NAME:
                stop -= 1
            if stop - 2 < low or text[stop - 1] != 47 or text[stop - 2] != 60:
                return False
            at = stop - 2
        elif is_wordy(byte):
            first, flags = word_before(text, low, at)
            if joined and (flags & (YES | NO) or (at - first == 1 and 49 <= byte <= 56)):
                other, stop, _ = value_at(text, low, first, at + 1 if text[at] != 10 else at, kind)
                if other == 0 or other == value:
                    return False
                form, _, seen, _ = look_left(text, low, first, False)
                return form != NO_FORM or seen & AT_LINE != 0  # type: ignore[no-any-return]
            if flags & JOINS:
                joined = True
            elif not flags & (FILLER | ADVERB | QUALIFIER):
                return False
            at = first
        else:
            return False
    return False


@kernel
def is_stated(text: Any, low: int, start: int, stop: int, end: int, ordinal: bool) -> bool:
    """Whether a choice is stated: a word of choosing is right before it, or one of fitting right after it."""
    if ordinal:
        return True
    at, noun = start, False
    while at > low and _FILLS[text[at - 1]] and text[at - 1] != 39:
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
def has_word(text: Any, at: int, end: int) -> bool:
    """Whether text[at:end] has a letter or digit."""
    return skip(text, at, end, NO_WORD) < end
