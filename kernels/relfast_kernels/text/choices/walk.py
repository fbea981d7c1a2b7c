"""What is known of the answer while sentences are read from the last one back: `relfast.tasks.rel_a.walk`.

For responses that do not end with their answer: `relfast_kernels.text.rel_a_strict` reads those that do.
"""

from __future__ import annotations

from typing import Any, Final

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.text.choices.answers import N_CHOICES, walked_to
from relfast_kernels.text.choices.clauses import PLACE, SHORT, STATED
from relfast_kernels.text.choices.reading import (
    ASKS,
    BOXED,
    CONCLUDES,
    CORRECTS,
    DESCRIBED,
    FORCE,
    NUMBER,
    OFFERS,
    PLAIN,
    POSITIVE,
    REPLACES,
    RESOLVED,
    read_sentence,
    resolved,
    said_at,
)
from relfast_kernels.text.choices.saying import (
    ERROR,
    EXAMINES,
    LIST_ITEM,
    OR,
    TAKES_BACK,
    WAIT,
    YES,
)
from relfast_kernels.text.choices.sentences import SENTENCE_BYTES, WITHOUT_MARKUP, open_sentence
from relfast_kernels.text.choices.skimming import READS, SKIMS, names_a_choice, skim
from relfast_kernels.text.choices.state import (
    ALTERNATIVES,
    CONFIRMED,
    FINAL,
    FREE,
    HEARS,
    LAST_LINE,
    NEIGHBOURS,
    PANEL_FIRST,
    STATE,
    TAKEN_BACK,
    TEXT,
    TEXT_END,
    UNHEARD,
    VERDICTS,
    WALK_BOXED,
    WALK_CONCLUDES,
    WALK_DENIED,
    WALK_OFFERS,
    WALK_PLAIN,
    WALK_REPLACES,
    WALK_YES,
    WHOLE,
    WITHDRAWN,
    ZEROED,
    asked_about,
    bit_of,
    keep,
    keep_denials,
    listed_choices,
    talk,
)
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP, begins, is_all
from relfast_kernels.text.patterns.symbols import constant
from relfast_kernels.text.proofs import IF_NAMELESS, NAMELESS, QUIET, look
from relfast_kernels.text.prose import (
    can_be_cut,
    count,
    line_before,
    row_of,
    sentence_start,
    without_bullet,
)
from relfast_kernels.text.words import is_blank

_MAX_ROW: Final = 4_000
_MAX_SENTENCE: Final = 2_000
_MAX_PLAIN: Final = 80
_MAX_NEIGHBOURS: Final = 6

_QUICKLY, _HEARING = map(constant, (0, 1))
GOES_ON, ENDS, CANNOT, AGAIN = map(constant, (1, 0, -1, -2))


@kernel
def _starts_with_panel(text: Any, low: int, end: int) -> bool:
    return bool(
        end - low >= 5
        and text[low] == 112
        and text[low + 1] == 97
        and text[low + 2] == 110
        and text[low + 3] == 101
        and text[low + 4] == 108
    )


@kernel
def _take(
    text: Any, start: int, end: int, line: int, whole: bool, enumerated: bool, words: Any, out: Any, low: int,
    work: Any,
) -> Any:  # fmt: skip
    """Take in a sentence: `GOES_ON`; `ENDS`: what comes before it cannot matter; `CANNOT` be said; or
    `AGAIN`: what was passed over may matter."""
    if work[STATE] != 0:
        return _neighbour(text, start, end, line, whole, words, out, low, work)
    yes = work[WALK_YES] != 0
    work[WALK_YES] = 0
    proved = look(text, start, end, words, IF_NAMELESS)
    if proved & NAMELESS and proved & QUIET and work[HEARS] == 0:
        work[UNHEARD] = 1
        return GOES_ON
    stop = open_sentence(text, start, end, out, low, work)
    if stop < 0:
        return CANNOT
    if not names_a_choice(out, low, stop, work):
        talk(out, low, stop, work)
        if begins(YES, out, low, stop, work):
            work[WALK_YES] = 1
        return GOES_ON
    skims, denied = skim(out, low, stop, out, low + WITHOUT_MARKUP, work)
    if skims == SKIMS:
        if denied == 0:
            talk(out, low, stop, work)
        else:
            work[TAKEN_BACK] = 0
        work[WALK_DENIED] |= denied
        return GOES_ON
    if skims != READS:
        return CANNOT
    if is_all(LIST_ITEM, out, low, stop, work):
        listed = listed_choices(out, work)
        if listed != 0:
            return GOES_ON if listed > 0 else CANNOT
    n, about = read_sentence(out, low, stop, work)
    if n < 0:
        return CANNOT
    if enumerated and n == 0:
        return GOES_ON
    is_said = resolved(n, work)
    force, value = work[RESOLVED + FORCE], work[RESOLVED + NUMBER]
    is_asked = yes and (not is_said or force < SHORT)
    if is_asked and (about & ASKS or begins(EXAMINES, out, low, stop, work)):
        asked = asked_about(n, work)
        if asked >= 0:
            if bit_of(asked, work) == 0:
                return CANNOT
            work[VERDICTS] |= bit_of(asked, work)
            return GOES_ON
    if is_said and force == SHORT and begins(ERROR, out, low, stop, work):
        force = STATED
        work[RESOLVED + FORCE], work[RESOLVED + REPLACES] = STATED, 1
    if not is_said or force < STATED:
        if n == 0 or begins(WAIT, out, low, stop, work):
            talk(out, low, stop, work)
        elif work[TAKEN_BACK] != 0:
            work[TAKEN_BACK] = 0
            for k in range(n):
                if said_at(k, FORCE, work) >= SHORT:
                    bit = bit_of(said_at(k, NUMBER, work), work)
                    if bit == 0:
                        return CANNOT
                    work[WALK_DENIED] |= bit
            return GOES_ON if keep_denials(n, work) else CANNOT
        return GOES_ON if keep(n, about, is_said, out, work) else CANNOT
    if work[RESOLVED + DESCRIBED] != 0:
        listed = listed_choices(out, work)
        if listed < 0:
            return CANNOT
        if listed & bit_of(value, work) != 0:
            if force == STATED and about & POSITIVE:
                work[VERDICTS] |= bit_of(value, work)
            return GOES_ON
    if work[TAKEN_BACK] != 0 and work[CONFIRMED] == 0:
        if work[UNHEARD] != 0:
            return AGAIN
        work[WITHDRAWN] = 1
        return ENDS
    work[STATE] = 1
    work[FINAL], work[WALK_OFFERS] = value, work[RESOLVED + OFFERS]
    work[WALK_REPLACES], work[WALK_BOXED] = work[RESOLVED + REPLACES], work[RESOLVED + BOXED]
    bit = bit_of(value, work)
    several = (work[WALK_OFFERS] != 0 and about & ASKS != 0) or work[WALK_DENIED] & bit != 0
    if several or work[ALTERNATIVES] & ~bit != 0:
        work[FINAL] = 0
        return ENDS
    work[WHOLE], work[WALK_PLAIN] = whole, about & PLAIN
    work[WALK_CONCLUDES], work[LAST_LINE] = about & CONCLUDES, line
    work[PANEL_FIRST] = _starts_with_panel(out, low, stop)
    if work[WALK_OFFERS] != 0 and work[WALK_REPLACES] == 0:
        return GOES_ON
    if about & CORRECTS or (about & CONCLUDES and not whole):
        return ENDS
    return GOES_ON


@kernel
def _neighbour(
    text: Any, start: int, end: int, line: int, whole: bool, words: Any, out: Any, low: int, work: Any
) -> Any:
    """`_take` of a sentence before the final statement."""
    work[NEIGHBOURS] += 1
    if work[NEIGHBOURS] > _MAX_NEIGHBOURS:
        return ENDS
    same_line = line == work[LAST_LINE]
    stays = GOES_ON if same_line else ENDS
    offers = work[WALK_OFFERS] != 0
    if not same_line and not (work[WHOLE] != 0 and work[WALK_PLAIN] != 0) and not offers:
        return ENDS
    if same_line:
        proved = look(text, start, end, words, IF_NAMELESS)
        if proved & NAMELESS and proved & QUIET:
            return GOES_ON
    stop = open_sentence(text, start, end, out, low, work)
    if stop < 0:
        return CANNOT
    if not names_a_choice(out, low, stop, work):
        if same_line:
            taken = begins(TAKES_BACK, out, low, stop, work) or begins(WAIT, out, low, stop, work)
            return ENDS if taken else GOES_ON
        return GOES_ON if begins(OR, out, low, stop, work) else ENDS
    skims, _ = skim(out, low, stop, out, low + WITHOUT_MARKUP, work)
    if skims != READS:
        return stays if skims == SKIMS else CANNOT
    n, about = read_sentence(out, low, stop, work)
    if n < 0:
        return CANNOT
    is_said = resolved(n, work)
    force, value = work[RESOLVED + FORCE], work[RESOLVED + NUMBER]
    if is_said and force == PLACE and work[WALK_PLAIN] != 0 and work[PANEL_FIRST] != 0:
        force = STATED
    if not is_said or force < STATED:
        return stays
    if value == work[FINAL]:
        return GOES_ON
    if about & ASKS or (value != 0 and not 1 <= value <= N_CHOICES):
        return ENDS
    if work[RESOLVED + DESCRIBED] != 0:
        listed = listed_choices(out, work)
        if listed < 0:
            return CANNOT
        if listed & bit_of(value, work) != 0:
            return ENDS
    if not same_line and not offers:
        alike = whole and count(text, start, end) <= _MAX_PLAIN and about & PLAIN != 0
        if not alike or (work[RESOLVED + BOXED] != 0) != (work[WALK_BOXED] != 0):
            return ENDS
    if work[WALK_REPLACES] != 0 and not offers and not (about & CONCLUDES and work[WALK_CONCLUDES] != 0):
        return ENDS
    if work[WALK_CONCLUDES] != 0 and not about & CONCLUDES and not offers:
        return ENDS
    work[FINAL] = 0
    return ENDS


@kernel
def _is_enumerated(text: Any, start: int, end: int) -> bool:
    """Whether a line begins with the number of a list's item, and goes on."""
    at = start
    while at < end and (text[at] == 32 or text[at] == 9 or text[at] == 62):
        at += 1
    if at < end and text[at] == 40:
        at += 1
    first = at
    while at < end and at < first + 2 and is_digit(text[at]):
        at += 1
    if at == first or at >= end or not (text[at] == 46 or text[at] == 41):
        return False
    at += 1
    first = at
    while at < end and is_blank(text[at]):
        at += 1
    return first < at < end


@kernel
def walk_back(
    text: Any, start: int, end: int, whole_end: int, words: Any, out: Any, low: int, work: Any
) -> Any:
    """The choice of a text in lower case, as `relfast_kernels.text.rel_a_strict.read_choice` gives it.

    White space at its end begins at ``end``."""
    done, number, reason = _walk(text, start, end, whole_end, _QUICKLY, words, out, low, work)
    if done == AGAIN:
        _, number, reason = _walk(text, start, end, whole_end, _HEARING, words, out, low, work)
    return number, reason


@kernel
def _walk(
    text: Any, start: int, end: int, whole_end: int, hears: Any, words: Any, out: Any, low: int, work: Any
) -> Any:
    """`walk_back`, with a look at all talk or not, after how it ended."""
    for k in range(STATE, ZEROED):
        work[k] = 0
    work[HAS_GIVEN_UP] = 0
    work[HEARS] = hears
    work[TEXT], work[TEXT_END], work[FREE] = start, whole_end, low + SENTENCE_BYTES
    nth = 0
    line_end = end
    while line_end >= start:
        line = line_before(text, start, line_end)
        row, row_end = row_of(text, line, line_end)
        line_end = line - 1
        if row == row_end:
            continue
        nth += 1
        if row_end - row > _MAX_ROW or not can_be_cut(text, row, row_end):
            return CANNOT, UNKNOWN, 0
        enumerated = _is_enumerated(text, row, row_end)
        row = without_bullet(text, row, row_end)
        stop = row_end
        while stop > row:
            begin = sentence_start(text, row, stop)
            if begin < 0 or stop - begin > _MAX_SENTENCE:
                return CANNOT, UNKNOWN, 0
            unit, unit_end = row_of(text, begin, stop)
            whole = begin == row and stop == row_end
            before_more = stop < row_end
            stop = begin
            if unit_end == unit:
                continue
            if (
                before_more
                and 2 <= unit_end - unit <= 3
                and text[unit_end - 1] == 46
                and is_digit(text[unit])
                and is_digit(text[unit_end - 2])
            ):
                continue
            done = _take(text, unit, unit_end, nth, whole, enumerated, words, out, low, work)
            if done < ENDS or work[HAS_GIVEN_UP] != 0:
                return done, UNKNOWN, 0
            if done == ENDS:
                number, reason = walked_to(text, start, whole_end, work)
                return ENDS, number, reason
    number, reason = walked_to(text, start, whole_end, work)
    return ENDS, number, reason
