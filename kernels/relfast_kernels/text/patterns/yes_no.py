"""Every yes and no of a text, and how much of an answer each is: `relfast.tasks.yes_no`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.patterns.machine import (
    WORK,
    begins,
    has,
    is_all,
    number_of,
    search,
)
from relfast_kernels.text.patterns.plain import (
    BLANKS,
    LINE_FEED,
    find_back,
    is_in,
    members,
    plain,
    skip,
    skip_back,
)
from relfast_kernels.text.patterns.symbols import ELLIPSIS, IS_ALNUM, IS_LETTER, KIND
from relfast_kernels.text.vectors import WIDTH, lowest, places_within

NO_VERDICT, WEAK, MENTIONED, ADDED, STATED, ANSWERED = -1, 0, 1, 2, 3, 4
MOST: Final = 500
BACK: Final = 120
AHEAD: Final = 60
REACH: Final = 2_000
FORM_CHARS: Final = 40

START, STOP, YES, RANK, CORRECTS, IN_FORM = range(6)
COLUMNS: Final = 6
"""Of a word and of a verdict; a word's last column says whether it is in a "yes or no"."""

WORDS: Final = WORK
FOUND: Final = WORDS + COLUMNS * MOST
N_FOUND: Final = 2 * MOST
OTHERS: Final = FOUND + COLUMNS * N_FOUND
END_OF_VERDICTS: Final = OTHERS + COLUMNS * 32

_GUESSED, _NUMBER_AFTER, _NUMBERED, _ASKS, _KEY, _DENIED = map(
    number_of, ("GUESSED", "NUMBER_AFTER", "NUMBERED", "ASKS", "KEY", "DENIED")
)
_DENIED_AFTER, _CONDITION_AFTER, _NAMED, _CONDITION, _SETTLED, _EVEN = map(
    number_of, ("DENIED_AFTER", "CONDITION_AFTER", "NAMED", "CONDITION", "SETTLED", "EVEN")
)
_CORRECTS, _NOT_ANY, _IN_TAG, _DRAFT, _PICKED, _ENDS, _ASKED, _BEGINS, _CONCLUDES, _RUNS_ON = map(
    number_of,
    ("CORRECTS", "NOT_ANY", "IN_TAG", "DRAFT", "PICKED", "ENDS", "ASKED", "BEGINS", "CONCLUDES", "RUNS_ON"),
)
_LISTED, _FORM, _FORMAT, _TAGGED, _LEADS = map(number_of, ("LISTED", "FORM", "FORMAT", "TAGGED", "LEADS"))
_THERE: Final = np.frombuffer(b"there", np.uint8)
_SPACES: Final = members(" ")
_SLASHES: Final = members(" /")
_LISTING: Final = members(" <>/,")
_CLOSING: Final = members(" )>]")
_A, _E, _N, _O, _S, _Y, _Z = map(ord, "aenosyz")
_NOUGHT, _BIT = np.uint64(0), np.uint64(1)


@kernel
def is_of_a_noun(text: Any, low: int, high: int, start: int, end: int, work: Any) -> bool:
    """Whether a "no" goes on within a sentence."""
    if start - 1 < low or text[start - 1] != 32 or end >= high or text[end] != 32:
        return False
    if not is_in(text, end + 1, low, high, IS_LETTER):
        return False
    first = max(low, start - 24)
    stop = start - 1
    if stop <= first or KIND[text[stop - 1]] & IS_LETTER == 0:
        return False
    at = stop
    while at > first and BLANKS[text[at - 1]] == 0:
        at -= 1
    if not is_all(_LEADS, text, at, stop, work):
        return True
    stop = skip_back(text, first, at, BLANKS)
    at = stop
    while at > first and BLANKS[text[at - 1]] == 0:
        at -= 1
    if stop - at != len(_THERE):
        return False
    for k in range(len(_THERE)):
        if text[at + k] != _THERE[k]:
            return False
    return True


@kernel
def _is_word(text: Any, low: int, high: int, at: int, end: int) -> bool:
    """Whether a yes or no stands by itself."""
    if end < high and text[end] == 45 and is_in(text, end + 1, low, high, IS_LETTER):
        # "yes-man"
        both = end + 2 < high and (
            (text[end + 1] == 110 and text[end + 2] == 111) or (text[end + 1] == 121 and text[end + 2] == 101)
        )
        if not both:
            return False
    if is_in(text, end, low, high, IS_ALNUM) or (
        end < high and text[end] == 95 and is_in(text, end + 1, low, high, IS_ALNUM)
    ):
        return False
    return not (
        is_in(text, at - 1, low, high, IS_ALNUM)
        or (at > low and text[at - 1] == 95 and is_in(text, at - 2, low, high, IS_ALNUM))
    )


@kernel
def words(text: Any, low: int, high: int, work: Any) -> int:
    """Write the spans of yes and no as words, in order; how many, or -1: more than `MOST`.

    The byte before the text and a vector after it can be read; the two after it are no letters.
    """
    n = 0
    for chunk in range(low, high - 1, WIDTH):
        second, third = chunk + 1, chunk + 2
        before = places_within(text, chunk - 1, _A, _Z)
        if chunk == low:
            before &= ~_BIT
        places = (
            places_within(text, chunk, _N, _N)
            & places_within(text, second, _O, _O)
            & ~(places_within(text, third, _A, _Z) | before)
        ) | (
            places_within(text, chunk, _Y, _Y)
            & places_within(text, second, _E, _E)
            & places_within(text, third, _S, _S)
        )
        while places != _NOUGHT:
            at = chunk + lowest(places)
            places &= places - _BIT
            if at >= high - 1:
                break
            if text[at] == _N:
                end, yes = at + 2, 0
            elif at + 2 < high:
                end, yes = at + 3, 1
            else:
                continue
            if not _is_word(text, low, high, at, end):
                continue
            if n == MOST:
                return -1
            word = WORDS + COLUMNS * n
            work[word + START], work[word + STOP], work[word + YES], work[word + IN_FORM] = at, end, yes, 0
            n += 1
    return n


@kernel
def _mark_forms(text: Any, low: int, high: int, n: int, to: int, work: Any) -> int:
    """Mark the words that are in a "yes or no"; where the last one of those ends that asks nothing, or -1."""
    for k in range(n - 1):
        first, second = WORDS + COLUMNS * k, WORDS + COLUMNS * (k + 1)
        if work[second + START] - work[first + STOP] > FORM_CHARS or not (
            work[first + YES] != work[second + YES] or work[first + IN_FORM] != 0
        ):
            continue
        end = plain(text, work[first + STOP], work[second + START], to, work)
        inner = skip(text, to, end, _LISTING)
        start = work[first + START]
        formal = inner == end and search(_LISTED, text, low, max(low, start - BACK), start, work) >= 0
        if formal or is_all(_FORM, text, to, end, work):
            work[first + IN_FORM] = work[second + IN_FORM] = 1
    form_end = -1
    for k in range(n):
        word = WORDS + COLUMNS * k
        if work[word + IN_FORM] == 0:
            continue
        start, stop = work[word + START], work[word + STOP]
        end = plain(text, max(low, start - BACK), start, to, work)
        line = find_back(text, to, end, LINE_FEED)
        formal = has(_FORMAT, text, line + 1 if line >= 0 else to, end, work)
        end = plain(text, stop, min(high, stop + 3), to, work)
        after = skip(text, to, end, _CLOSING)
        if not formal and not (after < end and (text[after] == 63 or text[after] == 58)):
            form_end = stop
    return form_end


@kernel
def verdicts(text: Any, low: int, high: int, to: int, work: Any) -> Any:
    """Write all verdicts of a text in order; how many (-1: too many words), and where its last "yes or no"
    ends (-1: none)."""
    n = words(text, low, high, work)
    if n < 0:
        return -1, -1
    kept = 0
    for k in range(n):
        word = WORDS + COLUMNS * k
        if work[word + YES] == 0 and is_of_a_noun(
            text, low, high, work[word + START], work[word + STOP], work
        ):
            continue
        place = WORDS + COLUMNS * kept
        for column in range(COLUMNS):
            work[place + column] = work[word + column]
        kept += 1
    form_end = _mark_forms(text, low, high, kept, to, work)
    n = 0
    answered = -1
    for k in range(kept - 1, -1, -1):
        word = WORDS + COLUMNS * k
        if work[word + IN_FORM] != 0:
            continue
        start, end, yes = work[word + START], work[word + STOP], work[word + YES]
        if answered >= 0:
            if answered - end > REACH:
                break
            parted = False
            for at in range(end, answered - BACK - 1):
                parted |= (text[at] == 10) & (text[at + 1] == 10)
            if parted:
                break
        rank, corrects = _verdict(text, low, high, start, end, yes != 0, to, work)
        if rank == NO_VERDICT:
            continue
        place = FOUND + COLUMNS * n
        work[place + START], work[place + STOP], work[place + YES] = start, end, yes
        work[place + RANK], work[place + CORRECTS] = rank, corrects
        n += 1
        if answered < 0 and rank == ANSWERED:
            answered = start
    for k in range(n // 2):
        a, b = FOUND + COLUMNS * k, FOUND + COLUMNS * (n - 1 - k)
        for column in range(COLUMNS):
            work[a + column], work[b + column] = work[b + column], work[a + column]
    return n, form_end


@kernel
def _verdict(text: Any, low: int, high: int, word: int, word_end: int, yes: bool, to: int, work: Any) -> Any:
    """How much of an answer a word is (`NO_VERDICT`: none), and whether it corrects."""
    first = max(low, word - BACK)
    begin = to
    if first > low:
        text[to] = ELLIPSIS
        to += 1
    end = plain(text, first, word, to, work)
    # room for what a substitution needs
    after = end + 1
    after_end = plain(text, word_end, min(high, word_end + AHEAD), after, work)
    bare = skip_back(text, begin, end, _SPACES)
    tagged = bare > begin and text[bare - 1] == 60
    k = skip(text, after, after_end, BLANKS)
    closed = k < after_end and (text[k] == 62 or (text[k] == 47 and k + 1 < after_end and text[k + 1] == 62))
    marked = tagged and closed
    if marked:
        bare = skip_back(text, begin, end, BLANKS)
        if bare > begin and text[bare - 1] == 60:
            end = bare - 1
        after = min(skip(text, after, after_end, _SLASHES) + 1, after_end)
    elif has(_TAGGED, text, begin, end, work) and is_in(text, k, after, after_end, IS_ALNUM):
        return NO_VERDICT, 0  # <Yes No>
    sentence = end
    while sentence > begin and not (
        text[sentence - 1] == 46
        or text[sentence - 1] == 33
        or text[sentence - 1] == 63
        or text[sentence - 1] == 10
    ):
        sentence -= 1
    if has(_GUESSED, text, sentence, end, work):
        return WEAK, 0
    if (
        not yes
        and begins(_NUMBER_AFTER, text, after, after_end, work)
        and has(_NUMBERED, text, sentence, end, work)
    ):
        return NO_VERDICT, 0
    if begins(_ASKS, text, sentence, end, work) or begins(_KEY, text, after, after_end, work):
        return NO_VERDICT, 0
    if (
        has(_DENIED, text, sentence, end, work)
        or begins(_DENIED_AFTER, text, after, after_end, work)
        or begins(_CONDITION_AFTER, text, after, after_end, work)
    ):
        return NO_VERDICT, 0
    named = has(_NAMED, text, begin, end, work)
    k = skip(text, after, after_end, _SPACES)
    if k < after_end and text[k] == 63 and not named:
        return NO_VERDICT, 0  # "Yes?" asks
    condition = search(_CONDITION, text, sentence, sentence, end, work)
    if condition >= 0:
        clause, clause_end = work[2], work[3]
        if not (has(_SETTLED, text, clause, clause_end, work) or has(_EVEN, text, sentence, condition, work)):
            return NO_VERDICT, 0
    corrects = 1 if has(_CORRECTS, text, begin, end, work) else 0
    if not marked and not yes and not named and begins(_NOT_ANY, text, after, after_end, work):
        return NO_VERDICT, 0
    if closed and not marked and has(_IN_TAG, text, begin, end, work):
        return NO_VERDICT, 0
    if has(_DRAFT, text, sentence, end, work):
        return NO_VERDICT, 0
    if marked or named or has(_PICKED, text, begin, end, work):
        return ANSWERED, corrects
    ends = begins(_ENDS, text, after, after_end, work)
    if corrects != 0 and ends:
        return ANSWERED, 1
    if has(_ASKED, text, begin, end, work):
        return ADDED, 0
    if has(_BEGINS, text, begin, end, work) or (ends and has(_CONCLUDES, text, begin, end, work)):
        if ends or yes or not begins(_RUNS_ON, text, after, after_end, work):
            return STATED, 0
        return ADDED, 0
    return (MENTIONED if ends else WEAK), 0
