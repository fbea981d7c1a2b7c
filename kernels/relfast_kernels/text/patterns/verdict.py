"""The yes or no that a text ends with: `relfast.tasks.verdict`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.patterns.machine import has, is_all, number_of, search, substitute
from relfast_kernels.text.patterns.plain import (
    BLANKS,
    LINE_FEED,
    SPACE,
    any_alnum,
    find,
    find_back,
    has_word,
    members,
    on_one_line,
    plain,
    skip,
    skip_back,
)
from relfast_kernels.text.patterns.yes_no import (
    ADDED,
    ANSWERED,
    BACK,
    COLUMNS,
    CORRECTS,
    FOUND,
    MENTIONED,
    N_FOUND,
    OTHERS,
    RANK,
    REACH,
    START,
    STATED,
    STOP,
    WEAK,
    WORDS,
    YES,
    is_of_a_noun,
    verdicts,
    words,
)

MAX_OTHERS: Final = 20
NEAR: Final = 240

NO_ANSWER, SEVERAL_ANSWERS, UNSURE = -1, -2, -3
"""Instead of a verdict."""

_STRUCK, _REVISES, _TAKEN_BACK, _NAMED = map(number_of, ("STRUCK", "REVISES", "TAKEN_BACK", "NAMED"))
_CONCLUDING, _OFFERING, _ALTERNATIVE = map(number_of, ("CONCLUDING", "OFFERING", "ALTERNATIVE"))
_SAID, _LEAD_IN, _FULL_STOP, _BARE_LINE = map(number_of, ("SAID", "LEAD_IN", "FULL_STOP", "BARE_LINE"))

_OPENING: Final = members(" \n\t*#`_<>:-")
DRESS: Final = members(" \n\t.*`_")
"""What may stand behind a bare yes or no."""
_YES_WORD: Final = np.frombuffer(b"yes", np.uint8)
_NO_WORD: Final = np.frombuffer(b"no", np.uint8)
TRUE: Final = np.frombuffer(b"true", np.uint8)
FALSE: Final = np.frombuffer(b"false", np.uint8)


@kernel
def concludes(text: Any, start: int, end: int, work: Any) -> bool:
    """`relfast.tasks.final.concludes`."""
    return has(_CONCLUDING, text, start, end, work) and not has(_OFFERING, text, start, end, work)


@kernel
def is_struck(text: Any, low: int, high: int, work: Any) -> bool:
    """Whether something is struck out, or may be."""
    marked = False
    for k in range(np.uint64(low), np.uint64(max(low, high - 1))):
        next_one = text[k + np.uint64(1)]
        marked |= ((text[k] == 126) & (next_one == 126)) | (
            (text[k] == 60) & ((next_one == 115) | (next_one == 100) | (next_one == 33))
        )
    return marked and search(_STRUCK, text, low, low, high, work) >= 0


@kernel
def _led_to(text: Any, low: int, verdict: int, to: int, work: Any) -> bool:
    start = work[verdict + START]
    end = plain(text, max(low, start - 40), start, to, work)
    sentence = end
    while sentence > to and not (
        text[sentence - 1] == 46 or text[sentence - 1] == 33 or text[sentence - 1] == 63
    ):
        sentence -= 1
    return concludes(text, sentence, end, work)


@kernel
def _beside(text: Any, low: int, first: int, second: int, final: int, to: int, work: Any) -> bool:
    end = plain(text, work[first + STOP], work[second + START], to, work)
    is_last = second == final
    other = first if is_last else second
    rank = work[other + RANK]
    if is_last and (
        work[final + CORRECTS] != 0
        or has(_REVISES, text, to, end, work)
        or (concludes(text, to, end, work) and not _led_to(text, low, first, end + 1, work))
    ):
        return False
    one_line = on_one_line(text, to, end)
    size = end - to
    if one_line:
        if is_last and rank < work[final + RANK]:
            if has(_NAMED, text, to, end, work):
                return False
            if rank >= STATED:
                return True
            end = substitute(_SAID, SPACE, text, to, end, work)
            return is_all(_ALTERNATIVE, text, to, end, work)
        if not is_last and rank == ADDED:
            return False
        if not is_last and rank != 0 and size <= 8:
            return True
        if rank >= STATED:
            return True
    elif is_last and rank < STATED:
        return False
    end = substitute(_SAID, SPACE, text, to, end, work)
    end = substitute(_LEAD_IN, SPACE, text, to, end, work)
    return is_all(_ALTERNATIVE, text, to, end, work)


@kernel
def _alone(text: Any, low: int, high: int, verdict: int, work: Any) -> bool:
    """Whether a verdict is all that stands on its line."""
    begin, end = work[verdict + START], work[verdict + STOP]
    start = max(low, find_back(text, low, begin, LINE_FEED) + 1)
    stop = find(text, end, high, LINE_FEED)
    if stop < 0:
        stop = high
    return (
        (begin - start) + (stop - end) < BACK
        and not any_alnum(text, start, begin)
        and not any_alnum(text, end, stop)
    )


@kernel
def _of_several(text: Any, low: int, high: int, n: int, best: int, first: int, final: int, work: Any) -> int:
    """Which of differing verdicts of one rank counts, or -1."""
    if best == MENTIONED:
        return -1
    if best == ANSWERED:
        return final
    begin = work[first + START]
    opening = find_back(text, low, begin, LINE_FEED) < 0 or skip(text, low, begin, _OPENING) == begin
    if not opening or work[first + YES] == work[final + YES]:
        return final
    against = final  # which differs from the first one, and is the last that does
    begin, stop = work[first + STOP], work[against + START]
    if search(_REVISES, text, low, begin, stop, work) >= 0 or concludes(
        text, max(begin, stop - 40), stop, work
    ):
        return final
    for k in range(n):
        verdict = FOUND + COLUMNS * k
        if (
            work[verdict + RANK] == best
            and work[verdict + YES] != work[first + YES]
            and _alone(text, low, high, verdict, work)
        ):
            return -1
    return first


@kernel
def _taken_back(text: Any, low: int, n: int, final: int, work: Any) -> int:
    """The statement that follows "Wait, I miscounted.", though it is of a lower rank."""
    for k in range(n - 1, -1, -1):
        verdict = FOUND + COLUMNS * k
        if work[verdict + START] <= work[final + START]:
            break
        if work[verdict + RANK] == STATED and work[verdict + YES] != work[final + YES]:
            taken = search(_TAKEN_BACK, text, low, work[final + STOP], work[verdict + START], work) >= 0
            return verdict if taken else final
    return final


@kernel
def _contradicted(text: Any, low: int, n: int, final: int, to: int, work: Any) -> bool:
    for k in range(n):
        other = FOUND + COLUMNS * k
        if work[other + YES] == work[final + YES]:
            continue
        first, second = (other, final) if work[other + START] < work[final + START] else (final, other)
        if work[second + START] - work[first + STOP] <= REACH and _beside(
            text, low, first, second, final, to, work
        ):
            return True
    return False


@kernel
def insert(n: int, start: int, end: int, yes: int, rank: int, work: Any) -> int:
    """Put a verdict of a task's own among the ``n`` found, in order; how many there are then, or -1."""
    if n >= N_FOUND:
        return -1
    k = n
    while k > 0:
        before = FOUND + COLUMNS * (k - 1)
        if work[before + START] < start:
            break
        if work[before + START] == start:
            return -1  # a yes or no and a truth value are not the same word
        for column in range(COLUMNS):
            work[before + COLUMNS + column] = work[before + column]
        k -= 1
    put(k, start, end, yes, rank, work)
    return n + 1


@kernel
def put(k: int, start: int, end: int, yes: int, rank: int, work: Any) -> None:
    """Write a verdict in a place."""
    place = FOUND + COLUMNS * k
    work[place + START], work[place + STOP], work[place + YES] = start, end, yes
    work[place + RANK], work[place + CORRECTS] = rank, 0


@kernel
def find_verdicts(text: Any, low: int, high: int, to: int, work: Any) -> Any:
    """Verdicts as `relfast_kernels.text.patterns.yes_no.verdicts` has them, or -1: the exact way must say."""
    if is_struck(text, low, high, work):
        return -1, -1
    return verdicts(text, low, high, to, work)


@kernel
def best_rank(n: int, work: Any) -> int:
    """The highest rank of verdicts."""
    best = WEAK
    for k in range(n):
        best = max(best, work[FOUND + COLUMNS * k + RANK])
    return best


@kernel
def settle(text: Any, low: int, high: int, n: int, form_end: int, to: int, work: Any) -> int:
    """Where in ``work`` the verdict of ``n`` stands; `NO_ANSWER` or `SEVERAL_ANSWERS`."""
    best = best_rank(n, work)
    if best == WEAK:
        return SEVERAL_ANSWERS if form_end >= 0 else NO_ANSWER
    first, final = -1, -1
    differ = False
    for k in range(n):
        verdict = FOUND + COLUMNS * k
        if work[verdict + RANK] == best:
            if first < 0:
                first = verdict
            differ |= work[verdict + YES] != work[first + YES]
            final = verdict
    if differ:
        final = _of_several(text, low, high, n, best, first, final, work)
        if final < 0:
            return SEVERAL_ANSWERS
    if work[final + RANK] == ANSWERED:
        final = _taken_back(text, low, n, final, work)
    if _contradicted(text, low, n, final, to, work) or form_end > work[final + STOP]:
        return SEVERAL_ANSWERS
    return final


@kernel
def find_others(text: Any, low: int, n: int, final: int, to: int, work: Any) -> int:
    """Write where the same is said again right beside a verdict to `OTHERS`; how often."""
    k_other = 0
    for k in range(max(0, n - MAX_OTHERS), n):
        other = FOUND + COLUMNS * k
        if (
            work[other + YES] == work[final + YES]
            and work[other + RANK] >= STATED
            and work[other + START] < work[final + START]
            and work[final + START] - work[other + STOP] <= REACH
            and not on_one_line(text, work[other + STOP], work[final + START])
            and _beside(text, low, other, final, final, to, work)
        ):
            work[OTHERS + 2 * k_other], work[OTHERS + 2 * k_other + 1] = (
                work[other + START],
                work[other + STOP],
            )
            k_other += 1
    return k_other


@kernel
def obvious(text: Any, low: int, high: int, work: Any) -> int:
    """`relfast.tasks.verdict.obvious`: 1 for yes, 0 for no, -1 for nothing."""
    start = max(low, high - NEAR)
    end = skip_back(text, start, high, DRESS)
    last = end - 1 if end > start and text[end - 1] == 62 else end
    if not (
        (last - start >= 3 and text[last - 1] == 115 and text[last - 2] == 101 and text[last - 3] == 121)
        or (last - start >= 2 and text[last - 1] == 111 and text[last - 2] == 110)
    ):
        return -1
    line = search(_BARE_LINE, text, start, max(start, end - 40), end, work)
    if line < 0:
        return -1
    yes = 1 if text[work[2]] == 121 else 0
    stop = skip_back(text, start, line, BLANKS)
    if stop == start:
        return yes if high - low < NEAR else -1
    before = text[stop - 1]
    if (
        before == 126
        or before == 44
        or before == 59
        or has_word(text, start, stop, _YES_WORD)
        or has_word(text, start, stop, TRUE)
        or has_word(text, start, stop, FALSE)
    ):
        return -1
    if has_word(text, start, stop, _NO_WORD):
        n = words(text, start, stop, work)
        for k in range(n):
            word = WORDS + COLUMNS * k
            if not is_of_a_noun(text, start, stop, work[word + START], work[word + STOP], work):
                return -1
        if n < 0:
            return -1
    return yes
