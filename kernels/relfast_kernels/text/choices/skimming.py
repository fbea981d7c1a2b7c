"""Sentences that need no reading: `relfast.tasks.rel_a.skim`, and which name a choice."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.choices.data import (
    SKIM_BEFORE_A_WORD,
    SKIM_COPULAS,
    SKIM_NOT_GIVEN,
    SKIM_NOUNS,
    SKIM_NUMBER_WORDS,
    SKIM_ORDINALS,
    SKIM_PANELS,
    SKIM_PLACES,
    SKIM_UNSURE_WORDS,
    UNSURE,
)
from relfast_kernels.text.choices.reading import END_OF_SAID
from relfast_kernels.text.choices.sentences import POINTS
from relfast_kernels.text.choices.tokens import kind_alone
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.patterns.machine import has, match, number_of
from relfast_kernels.text.patterns.symbols import FIGURE, IS_BLANK, IS_LETTER, KIND, constant

SKIMS, READS, GIVES_UP = map(constant, (1, 0, -1))
_WORDS: Final = constant(END_OF_SAID)
"""Where words begin and end, and again without marks around them."""
_MAX_WORDS: Final = 800
END_OF_SKIMMING: Final = END_OF_SAID + 5 * _MAX_WORDS
_BEGIN, _END, _BARE, _BARE_END, _IN = map(constant, range(5))
_COLUMNS: Final = constant(5)

_MAX: Final = 400
_LONE_DIGIT, _HAS_WORD, _WORDY, _GIVEN, _NOT_GIVEN, _TURNED = map(
    number_of,
    ("A_LONE_DIGIT", "A_HAS_WORD", "A_WORDY", "A_GIVEN", "A_NOT_GIVEN", "A_TURNED_DOWN"),
)

_SETS: Final = (
    SKIM_NOUNS, SKIM_PANELS, SKIM_COPULAS, SKIM_PLACES, SKIM_NOT_GIVEN, SKIM_NUMBER_WORDS, SKIM_ORDINALS,
    SKIM_BEFORE_A_WORD, SKIM_UNSURE_WORDS, ["right"], ["to"], ["and"], ["the"],
)  # fmt: skip
(
    _NOUN, _PANEL, _COPULA, _PLACE, _NO_GIVEN, _NUMBER_WORD, _ORDINAL, _BEFORE, _UNSURE_WORD, _RIGHT, _TO,
    _AND, _THE,
) = (1 << bit for bit in range(13))  # fmt: skip
_NAMES: Final = sorted({word for members in _SETS for word in members})
_LETTERS: Final = np.array([ord(c) for name in _NAMES for c in name], np.uint8)
_NAME_ENDS: Final = np.cumsum([0] + [len(name) for name in _NAMES])
_FLAGS: Final = np.array(
    [sum(1 << bit for bit, members in enumerate(_SETS) if name in members) for name in _NAMES], np.int64
)
_LONGEST: Final = max(map(len, _NAMES))
_STARTS: Final = np.array(
    [next((n for n, name in enumerate(_NAMES) if ord(name[0]) >= c), len(_NAMES)) for c in range(129)],
    np.int64,
)
"""Where names begin that begin with a character, or a later one."""

_MARKS: Final = np.zeros(256, np.uint8)
for _c in ".,;:!*_`()[]":
    _MARKS[ord(_c)] = 1
_FRONT: Final = np.zeros(256, np.uint8)
for _c in "*_`(":
    _FRONT[ord(_c)] = 1
_OPERATORS: Final = np.array([ord(c) for c in "+*×·"], np.int64)
_DOUBTS: Final = np.array(sorted(map(ord, UNSURE)), np.int64)
_W, _X, _NONE = (constant(value) for value in (ord("W"), ord("X"), 0))


@kernel
def names_a_choice(text: Any, low: int, end: int, work: Any) -> bool:
    """Whether a sentence, as it is, has a number that could be a choice's."""
    return (
        has(_LONE_DIGIT, text, low, end, work)
        or (has(_HAS_WORD, text, low, end, work) and has(_WORDY, text, low, end, work))
        or (has(_GIVEN, text, low, end, work) and has(_NOT_GIVEN, text, low, end, work))
    )


@kernel
def has_number_word(text: Any, low: int, end: int, work: Any) -> bool:
    return has(_HAS_WORD, text, low, end, work)


@kernel
def _sets_of(text: Any, start: int, end: int) -> Any:
    """The sets that a word is in."""
    size = end - start
    if size <= 0 or size > _LONGEST or text[start] >= 128:
        return np.int64(0)
    for n in range(_STARTS[text[start]], _STARTS[text[start] + 1]):
        first = _NAME_ENDS[n]
        if _NAME_ENDS[n + 1] - first != size:
            continue
        same = True
        for k in range(size):
            same = same and _LETTERS[first + k] == text[start + k]
        if same:
            return _FLAGS[n]
    return np.int64(0)


@kernel
def _w(at: Any, column: Any, work: Any) -> Any:
    return work[_WORDS + at * _COLUMNS + column]


@kernel
def _strip(text: Any, start: Any, end: Any, marks: Any) -> Any:
    while start < end and marks[text[start]] != 0:
        start += 1
    while end > start and marks[text[end - 1]] != 0:
        end -= 1
    return start, end


@kernel
def _cut(text: Any, low: int, end: int, work: Any) -> Any:
    """Words between white space, with and without marks; how many, or -1: too many."""
    n = 0
    at = low
    while at < end:
        while at < end and KIND[text[at]] & IS_BLANK != 0:
            at += 1
        if at >= end:
            break
        begin = at
        while at < end and KIND[text[at]] & IS_BLANK == 0:
            at += 1
        if n >= _MAX_WORDS:
            return -1
        bare, bare_end = _strip(text, begin, at, _MARKS)
        place = _WORDS + n * _COLUMNS
        work[place + _BEGIN], work[place + _END] = begin, at
        work[place + _BARE], work[place + _BARE_END] = bare, bare_end
        work[place + _IN] = _sets_of(text, bare, bare_end)
        n += 1
    return n


@kernel
def _all_letters(text: Any, start: Any, end: Any) -> bool:
    for at in range(start, end):
        if KIND[text[at]] & IS_LETTER == 0:
            return False
    return bool(end > start)


@kernel
def _all_digits(text: Any, start: Any, end: Any) -> bool:
    for at in range(start, end):
        if not is_digit(text[at]):
            return False
    return bool(end > start)


@kernel
def _has_figures(text: Any, start: Any, end: Any) -> bool:
    """Whether a word is digits, some of them raised or lowered: `str.isdigit` knows these too."""
    any_figure = False
    for at in range(start, end):
        if text[at] == FIGURE:
            any_figure = True
        elif not is_digit(text[at]):
            return False
    return any_figure


@kernel
def _is_loose(text: Any, low: int, start: Any, end: Any, work: Any) -> bool:
    kind = kind_alone(text, low, start, end, work)
    return bool(kind == _W or kind == _X)


@kernel
def _is_decimal(text: Any, start: Any, end: Any) -> bool:
    at = start
    if at < end and text[at] == 45:
        at += 1
    first = at
    while at < end and is_digit(text[at]):
        at += 1
    if at == first or at >= end or text[at] != 46:
        return False
    return _all_digits(text, at + 1, end)


@kernel
def _turned_down(text: Any, start: Any, at: Any, n: Any, out: Any, to: int, work: Any) -> bool:
    """Whether nothing is said of the choice at a place in a sentence but that it is wrong."""
    stop = to
    for k in range(at + 1, min(at + 5, n)):
        if k > at + 1:
            out[stop] = 32
            stop += 1
        for place in range(_w(k, _BEGIN, work), _w(k, _END, work)):
            out[stop] = text[place]
            stop += 1
    if match(_TURNED, out, to, to, stop, work) < 0:
        return False
    end = at
    while end < n:
        last = text[_w(end, _END, work) - 1]
        if last == 46 or last == 33 or last == 63:
            break
        end += 1
    for k in range(start, min(end + 1, n)):
        if _w(k, _IN, work) & _UNSURE_WORD:
            return False
    return True


@kernel
def _is_other_sign(point: int) -> bool:
    if point <= 0x2FF or 0x2010 <= point <= 0x203A or 0x2200 <= point <= 0x22FF:
        return False
    return not (point == 0x2190 or point == 0x2191 or point == 0x2193)


@kernel
def skim(text: Any, low: int, end: int, out: Any, to: int, work: Any) -> Any:
    """Whether a sentence, as it is, says no more of any choice than that it is wrong: `SKIMS` and the choices
    that it turns down as bits; `READS`: it has to be read; `GIVES_UP`: that cannot be said.

    Its code points stand in the work space from `POINTS` on; ``out`` from ``to`` on is work space.
    """
    return skim_all(text, low, end, out, to, work) if end - low <= _MAX else (READS, _NONE)


@kernel
def skim_all(text: Any, low: int, end: int, out: Any, to: int, work: Any) -> Any:
    """`skim` of a text of any length."""
    unsure = False
    for at in range(low, end):
        point = work[POINTS + at - low]
        if point >= 0x80 and _is_other_sign(point):
            return READS, _NONE
        for k in range(len(_DOUBTS)):
            unsure = unsure or _DOUBTS[k] == point
    n = _cut(text, low, end, work)
    if n < 0:
        return GIVES_UP, _NONE
    denied: Any = np.int64(0)
    sentence = 0
    missing = False
    listed = -2
    for at in range(n):
        begin, stop = _w(at, _BEGIN, work), _w(at, _END, work)
        bare, bare_end, sets = _w(at, _BARE, work), _w(at, _BARE_END, work), _w(at, _IN, work)
        is_word = _all_letters(text, begin, stop)
        if is_word and not sets & (_NUMBER_WORD | _NO_GIVEN):
            continue
        same = bare == begin and bare_end == stop
        previous: Any = np.int64(0)
        previous_end: Any = np.int64(0)
        if at > 0:
            previous, previous_end = _w(at - 1, _BEGIN, work), _w(at - 1, _END, work)
        if sets & _NO_GIVEN:
            # before the first word stands the last one
            other = at - 1 if at > 0 else n - 1
            is_to = _sets_of(text, _w(other, _BEGIN, work), _w(other, _END, work)) & _TO != 0
            missing = missing or not sets & _RIGHT or not is_to
        elif _has_figures(text, bare, bare_end):
            return GIVES_UP, _NONE
        elif _all_digits(text, bare, bare_end):
            first, last = _strip(text, previous, previous_end, _FRONT)
            before = _sets_of(text, first, last)
            if before & _NOUN:
                if not same or not _turned_down(text, sentence, at, n, out, to, work):
                    return READS, _NONE
                denied |= 1 << (np.int64(text[bare]) - 48) if bare_end - bare == 1 else 1
            elif before & _PANEL:
                given = not missing and at > sentence + 1 and not sets & _PLACE
                if not given:
                    return READS, _NONE
                loose = False
                for k in range(at + 1, min(at + 6, n)):
                    loose = loose or _is_loose(text, low, _w(k, _BEGIN, work), _w(k, _END, work), work)
                if not loose:
                    return READS, _NONE
                listed = at
            elif before & _COPULA or (last > first and text[last - 1] == 58):
                s: Any = np.int64(0)
                e: Any = np.int64(0)
                if last > first and text[last - 1] == 58:
                    s, e = first, last - 1
                elif at > 1:
                    s, e = _strip(text, _w(at - 2, _BEGIN, work), _w(at - 2, _END, work), _FRONT)
                if kind_alone(text, low, s, e, work) != _X:
                    return READS, _NONE
                if same and at + 1 < n:
                    place = _w(at + 1, _BEGIN, work)
                    if not (_w(at + 1, _END, work) == place + 1 and text[place] == 46):
                        return READS, _NONE
            else:
                goes_on = listed == at - 1 and text[_w(listed, _END, work) - 1] == 44
                goes_on = goes_on or (listed == at - 2 and before & _AND != 0)
                goes_on = goes_on or _is_loose(text, low, first, last, work)
                if not goes_on and at > 1 and last == first + 1:
                    point = work[POINTS + first - low]
                    for k in range(len(_OPERATORS)):
                        goes_on = goes_on or _OPERATORS[k] == point
                if goes_on:
                    listed = at
                elif not (
                    last == first + 1
                    and text[first] == 46
                    and text[stop - 1] == 46
                    and at + 1 < n
                    and _all_letters(text, _w(at + 1, _BEGIN, work), _w(at + 1, _END, work))
                ):
                    return READS, _NONE
        elif sets & _NUMBER_WORD:
            before_sets = _sets_of(text, previous, previous_end) if at > 0 else np.int64(0)
            after: Any = np.int64(0)
            after_end: Any = np.int64(0)
            after_sets = np.int64(0)
            if at + 1 < n and same:
                after, after_end = _w(at + 1, _BARE, work), _w(at + 1, _BARE_END, work)
                after_sets = _w(at + 1, _IN, work)
            if not sets & _ORDINAL:
                loose = at > 0 and _is_loose(text, low, previous, previous_end, work)
                if not before_sets & _BEFORE and not loose:
                    return READS, _NONE
            elif after_sets & _PANEL:
                if missing or at == sentence or sets & _PLACE:
                    return READS, _NONE
            elif after_end <= after:
                if before_sets & _THE:
                    return READS, _NONE
            elif not _is_loose(text, low, after, after_end, work):
                return READS, _NONE
        else:
            digit = False
            for k in range(begin, stop):
                digit = digit or is_digit(text[k])
            if digit and not _is_decimal(text, bare, bare_end):
                return READS, _NONE
        ending = text[stop - 1]
        if ending == 46 or ending == 33 or ending == 63:
            sentence, missing = at + 1, False
    if denied != 0 and unsure:
        return READS, _NONE
    return SKIMS, denied
