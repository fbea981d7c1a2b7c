"""What is known of the answer while sentences are read from the last one back: `relfast.tasks.rel_a.walk`.

For responses that do not end with their answer: `relfast_kernels.text.rel_a_strict` reads those that do.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import NO_PANEL, REASONS, UNKNOWN
from relfast_kernels.text.choices.clauses import DENIED, FITS, MENTIONED, PLACE, SHORT, STATED
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
    confirms,
)
from relfast_kernels.text.choices.sentences import SENTENCE_BYTES, WITHOUT_MARKUP, open_sentence
from relfast_kernels.text.choices.skimming import END_OF_SKIMMING, READS, SKIMS, names_a_choice, skim
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP, begins, is_all, number_of, search
from relfast_kernels.text.patterns.symbols import constant, to_symbols
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

LISTED: Final = number_of("A_LISTED")
_MAX_ROW: Final = 4_000
_MAX_SENTENCE: Final = 2_000
_MAX_PLAIN: Final = 80
_MAX_NEIGHBOURS: Final = 6
_MAX_VALUE: Final = 9
_MAX_MET: Final = 50
_N_CHOICES: Final = 8
_NO_ANSWER: Final = REASONS.index("no_answer")
_SEVERAL: Final = REASONS.index("several_answers")
_OUT_OF_RANGE: Final = REASONS.index("out_of_range")

(
    _STATE, _FINAL, _OFFERS, _REPLACES, _BOXED, _WHOLE, _PLAIN, _CONCLUDES, _PANEL_FIRST, _LAST_LINE,
    _NEIGHBOURS, _DENIED, _VERDICTS, _ALTERNATIVES, _YES, _TAKEN_BACK, _CONFIRMED, _UNHEARD, _WITHDRAWN,
    _LISTED_KNOWN, _LISTED, _TEXT, _TEXT_END, _FREE,
) = (constant(END_OF_SKIMMING + k) for k in range(24))  # fmt: skip
"""What is known of the walk, in the work space: whether there is a final statement, and what of it; choices
as bits; whether talk has confirmed something, or was not looked at for that; what choices are described,
where the text is, and from where on work space is free."""
_WEAKER: Final = constant(END_OF_SKIMMING + 24)
"""Of each force less than a statement's: whether there is any, the last one, whether it concludes, all as
bits."""
_N_MET, _MET = constant(END_OF_SKIMMING + 48), constant(END_OF_SKIMMING + 49)
"""How many numbers greater than a choice's are known, and which."""
_ZEROED: Final = END_OF_SKIMMING + 49
END_OF_WALK: Final = _ZEROED + _MAX_MET

GOES_ON, ENDS, CANNOT = map(constant, (1, 0, -1))
_ONE: Final = constant(1)


@kernel
def _bit(value: Any, work: Any) -> Any:
    """The bit of a number: of greater ones in the order in which they are met; 0: they are too many."""
    if 0 <= value <= _MAX_VALUE:
        return _ONE << value
    n = work[_N_MET]
    for k in range(n):
        if work[_MET + k] == value:
            return _ONE << (_MAX_VALUE + 1 + k)
    if n == _MAX_MET:
        return np.int64(0)
    work[_MET + n] = value
    work[_N_MET] = n + 1
    return _ONE << (_MAX_VALUE + 1 + n)


@kernel
def _talk(text: Any, low: int, end: int, work: Any) -> None:
    if begins(TAKES_BACK, text, low, end, work):
        work[_TAKEN_BACK] = 1
        return
    sure = confirms(text, low, end, work)
    if sure:
        work[_CONFIRMED] = 1
    elif begins(WAIT, text, low, end, work):
        work[_TAKEN_BACK] = 1


@kernel
def _listed(out: Any, work: Any) -> Any:
    """The choices, as bits, that the text describes one by one, if it does; -1: that cannot be said.

    The text stands in ``out`` before the work space.
    """
    if work[_LISTED_KNOWN] == 0:
        work[_LISTED_KNOWN] = 1
        work[_LISTED] = -1
        start, end, low = work[_TEXT], work[_TEXT_END], work[_FREE]
        if low + (end - start) + 16 > len(out):
            return np.int64(-1)
        stop = to_symbols(out, start, end, out, low)
        if stop < 0:
            return np.int64(-1)
        found = np.int64(0)
        at = search(LISTED, out, low, low, stop, work)
        while at >= 0:
            found |= _ONE << (np.int64(out[work[2]]) - 48)
            at = search(LISTED, out, low, work[1], stop, work)
        work[_LISTED] = found if found & (found - 1) != 0 else 0
    return work[_LISTED]


@kernel
def _keep(n: int, about: int, is_said: bool, out: Any, work: Any) -> bool:
    """Keep what is less than a statement; whether that can be done."""
    if not _keep_denials(n, work):
        return False
    force = work[RESOLVED + FORCE]
    if is_said and MENTIONED <= force <= FITS:
        value = work[RESOLVED + NUMBER]
        bit = _bit(value, work)
        if bit == 0:
            return False
        if work[RESOLVED + DESCRIBED] != 0:
            listed = _listed(out, work)
            if listed < 0:
                return False
            if listed != 0:
                if force == FITS:
                    work[_VERDICTS] |= bit
                return True
        place = _WEAKER + 4 * force
        if work[place] == 0:
            work[place], work[place + 1] = 1, value
            work[place + 2] = about & CONCLUDES
        work[place + 3] |= bit
    offers = False
    for k in range(n):
        offers = offers or said_at(k, OFFERS, work) != 0
    if offers and (about & ASKS or (is_said and force >= SHORT)):
        for k in range(n):
            bit = _bit(said_at(k, NUMBER, work), work)
            if bit == 0:
                return False
            work[_ALTERNATIVES] |= bit
    return True


@kernel
def _keep_denials(n: int, work: Any) -> bool:
    for k in range(n):
        if said_at(k, FORCE, work) == DENIED:
            bit = _bit(said_at(k, NUMBER, work), work)
            if bit == 0:
                return False
            work[_DENIED] |= bit
    return True


@kernel
def _asked(n: int, work: Any) -> Any:
    """The one choice that a question is about; -1: there are several, or none."""
    value = np.int64(-1)
    for k in range(n):
        if k > 0 and said_at(k, NUMBER, work) != value:
            return np.int64(-1)
        value = said_at(k, NUMBER, work)
    return value


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
    """Take in a sentence: `GOES_ON`; `ENDS`: what comes before it cannot matter; or `CANNOT` be said."""
    if work[_STATE] != 0:
        return _neighbour(text, start, end, line, whole, words, out, low, work)
    yes = work[_YES] != 0
    work[_YES] = 0
    proved = look(text, start, end, words, IF_NAMELESS)
    if proved & NAMELESS and proved & QUIET:
        work[_UNHEARD] = 1
        return GOES_ON
    stop = open_sentence(text, start, end, out, low, work)
    if stop < 0:
        return CANNOT
    if not names_a_choice(out, low, stop, work):
        _talk(out, low, stop, work)
        if begins(YES, out, low, stop, work):
            work[_YES] = 1
        return GOES_ON
    skims, denied = skim(out, low, stop, out, low + WITHOUT_MARKUP, work)
    if skims == SKIMS:
        if denied == 0:
            _talk(out, low, stop, work)
        else:
            work[_TAKEN_BACK] = 0
        work[_DENIED] |= denied
        return GOES_ON
    if skims != READS:
        return CANNOT
    if is_all(LIST_ITEM, out, low, stop, work):
        listed = _listed(out, work)
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
        asked = _asked(n, work)
        if asked >= 0:
            if _bit(asked, work) == 0:
                return CANNOT
            work[_VERDICTS] |= _bit(asked, work)
            return GOES_ON
    if is_said and force == SHORT and begins(ERROR, out, low, stop, work):
        force = STATED
        work[RESOLVED + FORCE], work[RESOLVED + REPLACES] = STATED, 1
    if not is_said or force < STATED:
        if n == 0 or begins(WAIT, out, low, stop, work):
            _talk(out, low, stop, work)
        elif work[_TAKEN_BACK] != 0:
            work[_TAKEN_BACK] = 0
            for k in range(n):
                if said_at(k, FORCE, work) >= SHORT:
                    bit = _bit(said_at(k, NUMBER, work), work)
                    if bit == 0:
                        return CANNOT
                    work[_DENIED] |= bit
            return GOES_ON if _keep_denials(n, work) else CANNOT
        return GOES_ON if _keep(n, about, is_said, out, work) else CANNOT
    if work[RESOLVED + DESCRIBED] != 0:
        listed = _listed(out, work)
        if listed < 0:
            return CANNOT
        if listed & _bit(value, work) != 0:
            if force == STATED and about & POSITIVE:
                work[_VERDICTS] |= _bit(value, work)
            return GOES_ON
    if work[_TAKEN_BACK] != 0 and work[_CONFIRMED] == 0:
        if work[_UNHEARD] != 0:
            return CANNOT
        work[_WITHDRAWN] = 1
        return ENDS
    work[_STATE] = 1
    work[_FINAL], work[_OFFERS] = value, work[RESOLVED + OFFERS]
    work[_REPLACES], work[_BOXED] = work[RESOLVED + REPLACES], work[RESOLVED + BOXED]
    bit = _bit(value, work)
    several = (work[_OFFERS] != 0 and about & ASKS != 0) or work[_DENIED] & bit != 0
    if several or work[_ALTERNATIVES] & ~bit != 0:
        work[_FINAL] = 0
        return ENDS
    work[_WHOLE], work[_PLAIN] = whole, about & PLAIN
    work[_CONCLUDES], work[_LAST_LINE] = about & CONCLUDES, line
    work[_PANEL_FIRST] = _starts_with_panel(out, low, stop)
    if work[_OFFERS] != 0 and work[_REPLACES] == 0:
        return GOES_ON
    if about & CORRECTS or (about & CONCLUDES and not whole):
        return ENDS
    return GOES_ON


@kernel
def _neighbour(
    text: Any, start: int, end: int, line: int, whole: bool, words: Any, out: Any, low: int, work: Any
) -> Any:
    """`_take` of a sentence before the final statement."""
    work[_NEIGHBOURS] += 1
    if work[_NEIGHBOURS] > _MAX_NEIGHBOURS:
        return ENDS
    same_line = line == work[_LAST_LINE]
    stays = GOES_ON if same_line else ENDS
    offers = work[_OFFERS] != 0
    if not same_line and not (work[_WHOLE] != 0 and work[_PLAIN] != 0) and not offers:
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
    if is_said and force == PLACE and work[_PLAIN] != 0 and work[_PANEL_FIRST] != 0:
        force = STATED
    if not is_said or force < STATED:
        return stays
    if value == work[_FINAL]:
        return GOES_ON
    if about & ASKS or (value != 0 and not 1 <= value <= _N_CHOICES):
        return ENDS
    if work[RESOLVED + DESCRIBED] != 0:
        listed = _listed(out, work)
        if listed < 0:
            return CANNOT
        if listed & _bit(value, work) != 0:
            return ENDS
    if not same_line and not offers:
        alike = whole and count(text, start, end) <= _MAX_PLAIN and about & PLAIN != 0
        if not alike or (work[RESOLVED + BOXED] != 0) != (work[_BOXED] != 0):
            return ENDS
    if work[_REPLACES] != 0 and not offers and not (about & CONCLUDES and work[_CONCLUDES] != 0):
        return ENDS
    if work[_CONCLUDES] != 0 and not about & CONCLUDES and not offers:
        return ENDS
    work[_FINAL] = 0
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
def _item_number(text: Any, start: int, end: int) -> Any:
    """The number of the only line of a text that begins as a list's item does; -1: it is not the only one."""
    found = np.int64(-1)
    line = start
    while line < end:
        at = line
        while at < end and (
            text[at] == 32
            or text[at] == 9
            or text[at] == 62
            or text[at] == 42
            or text[at] == 95
            or text[at] == 35
        ):
            at += 1
        if at < end and text[at] == 40:
            at += 1
        first = at
        value = np.int64(0)
        while at < end and at < first + 2 and is_digit(text[at]):
            value = 10 * value + np.int64(text[at]) - 48
            at += 1
        if at > first and at + 1 < end and (text[at] == 46 or text[at] == 41):
            if text[at + 1] >= 0x80:
                return np.int64(-2)
            if is_blank(text[at + 1]):
                if found >= 0:
                    return np.int64(-1)
                found = value
        while line < end and text[line] != 10:
            line += 1
        line += 1
    return found


@kernel
def _reads_as(value: Any) -> Any:
    if value == 0:
        return NO_PANEL, _SEVERAL
    if not 1 <= value <= _N_CHOICES:
        return NO_PANEL, _OUT_OF_RANGE
    return value - 1, 0


@kernel
def _only(values: Any) -> Any:
    """The number of a bit; 0 where there are several."""
    if values & (values - 1) != 0:
        return np.int64(0)
    value = np.int64(0)
    while values > 1:
        values >>= 1
        value += 1
    return value


@kernel
def _answer(text: Any, start: int, end: int, work: Any) -> Any:
    """What the walk has found, as `relfast_kernels.text.rel_a_strict.read_choice` gives it."""
    if work[_STATE] != 0:
        return _reads_as(work[_FINAL])
    if work[_WITHDRAWN] != 0:
        return NO_PANEL, _NO_ANSWER
    if work[_VERDICTS] != 0:
        return _reads_as(_only(work[_VERDICTS]))
    for force in (FITS, SHORT, MENTIONED, PLACE):
        place = _WEAKER + 4 * force
        if work[place] == 0:
            continue
        values = work[place + 3]
        if (force == FITS or force == SHORT) and work[place + 2] != 0:
            values = _bit(work[place + 1], work)
        if values & work[_DENIED]:
            values &= ~work[_DENIED]
            if values == 0:
                continue
        return _reads_as(_only(values))
    item = _item_number(text, start, end)
    if item == -2:
        return UNKNOWN, 0
    if item >= 0 and work[_TAKEN_BACK] == 0:
        return _reads_as(item)
    return NO_PANEL, _NO_ANSWER


@kernel
def walk_back(
    text: Any, start: int, end: int, whole_end: int, words: Any, out: Any, low: int, work: Any
) -> Any:
    """The choice of a text in lower case, as `relfast_kernels.text.rel_a_strict.read_choice` gives it.

    White space at its end begins at ``end``."""
    for k in range(_STATE, _ZEROED):
        work[k] = 0
    work[HAS_GIVEN_UP] = 0
    work[_TEXT], work[_TEXT_END], work[_FREE] = start, whole_end, low + SENTENCE_BYTES
    number = 0
    line_end = end
    while line_end >= start:
        line = line_before(text, start, line_end)
        row, row_end = row_of(text, line, line_end)
        line_end = line - 1
        if row == row_end:
            continue
        number += 1
        if row_end - row > _MAX_ROW or not can_be_cut(text, row, row_end):
            return UNKNOWN, 0
        enumerated = _is_enumerated(text, row, row_end)
        row = without_bullet(text, row, row_end)
        stop = row_end
        while stop > row:
            begin = sentence_start(text, row, stop)
            if begin < 0 or stop - begin > _MAX_SENTENCE:
                return UNKNOWN, 0
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
            done = _take(text, unit, unit_end, number, whole, enumerated, words, out, low, work)
            if done == CANNOT or work[HAS_GIVEN_UP] != 0:
                return UNKNOWN, 0
            if done == ENDS:
                return _answer(text, start, whole_end, work)
    return _answer(text, start, whole_end, work)
