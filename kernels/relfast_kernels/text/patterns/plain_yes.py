"""The plainest yes of REL-B1: it begins the last statement of a text, which lists taxa and says nothing else.

``Yes. The taxa involved are 15, 49.`` is read here as `relfast.tasks.rel_b.strict` reads it, in a third of
the time: with no other yes or no to weigh it against, no word in its sentence that patterns look for, and one
list.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.text.json_scan import is_digit
from relfast_kernels.text.patterns.lists import MAX_LISTED, TAXA, value_of
from relfast_kernels.text.patterns.machine import HAS_GIVEN_UP
from relfast_kernels.text.patterns.plain import BLANKS, members, plain, skip
from relfast_kernels.text.patterns.symbols import DELETE, PLAIN, SYMBOL_OF
from relfast_kernels.text.patterns.verdict import is_struck
from relfast_kernels.text.patterns.yes_no import (
    BACK,
    COLUMNS,
    START,
    STOP,
    WORDS,
    YES,
    is_of_a_noun,
    words,
)

_MAX_DIGITS: Final = 9
_MAX_LEFT: Final = 60
_MAX_LINE: Final = 20_000
"""Characters left of a yes, and from its line on: what patterns see of them is all of them."""

_LESS, _BACKSLASH, _AMPERSAND = 60, 92, 38
_EN_DASH, _EM_DASH, _WIDE_LESS = SYMBOL_OF["–"], SYMBOL_OF["—"], SYMBOL_OF["＜"]
if {*np.flatnonzero(np.isin(PLAIN, (_LESS, _BACKSLASH, _AMPERSAND)))} != {
    _LESS,
    _BACKSLASH,
    _AMPERSAND,
    _WIDE_LESS,
}:
    raise ValueError("other symbols than these become a bracket, a backslash or an ampersand in plain text")
_CLOSING: Final = members(" \n\t")


def _words(text: str) -> Any:
    return np.frombuffer(text.encode("ascii"), np.uint8)


_THE, _FINAL, _ANSWER, _IS = map(_words, ("the ", "final ", "answer", " is"))
_YES, _TAXA, _TAXON, _INVOLVED, _ARE, _AND = map(
    _words, ("yes", "taxa", "taxon", " involved", " are ", " and ")
)
_STRUCTURED, _PRESENT, _COUNTED = map(_words, ("structured ", "homoplasy is present. ", " taxa): "))
_OBJECT, _OBJECT_ENDS = map(_words, ("{answer: yes, taxa: [", "]}"))


@kernel
def _past(text: Any, at: int, end: int, word: Any) -> int:
    """Index after a word that may stand at a place."""
    if end - at < len(word):
        return at
    for k in range(len(word)):
        if text[at + k] != word[k]:
            return at
    return at + len(word)


@kernel
def _past_answer(text: Any, at: int, end: int) -> int:
    """Index after "the final answer is", "answer:" and the like, which name what follows."""
    after = _past(text, _past(text, _past(text, at, end, _THE), end, _FINAL), end, _ANSWER)
    if after == at or text[after - 1] == 32:
        return at
    stop = _past(text, after, end, _IS)
    if stop < end and text[stop] == 58:
        stop += 1
    elif stop == after:
        return at
    return stop + 1 if stop < end and text[stop] == 32 else at


@kernel
def _past_verdict(text: Any, at: int, end: int) -> int:
    """Index after what parts a yes from its list, or -1: ``. ``, `` - ``, `` (2 taxa): ``, a line feed."""
    if at + 2 < end and text[at] == 32 and text[at + 1] == 40:
        stop = at + 2
        while stop < end and is_digit(text[stop]):
            stop += 1
        after = _past(text, stop, end, _COUNTED)
        return after if at + 2 < stop < after and stop - at <= 2 + _MAX_DIGITS else -1
    if at < end and (text[at] == 46 or text[at] == 58 or text[at] == 44):
        at += 1
    elif at + 2 < end and text[at] == 32 and text[at + 2] == 32:
        dash = text[at + 1]
        if dash == 45 or dash == _EN_DASH or dash == _EM_DASH:
            return at + 3
    start = at
    while at < end and at - start < 3 and (text[at] == 32 or text[at] == 10):
        at += 1
    return at if at > start else -1


@kernel
def _past_lead(text: Any, at: int, end: int) -> int:
    """Index after "the taxa involved are" or "taxa:", under whose label the list stands; before it may stand
    that homoplasy is present."""
    at = _past(text, _past(text, at, end, _STRUCTURED), end, _PRESENT)
    after = _past(text, _past(text, at, end, _THE), end, _TAXA)
    if after == at or text[after - 1] == 32:
        return at
    after = _past(text, after, end, _INVOLVED)
    stop = _past(text, after, end, _ARE)
    if stop > after:
        return stop
    return after + 2 if after + 1 < end and text[after] == 58 and text[after + 1] == 32 else at


@kernel
def _read_item(text: Any, at: int, end: int, n: int, work: Any) -> int:
    """Write a taxon as the one after ``n``; where it ends, or -1: it is none."""
    name = _past(text, at, end, _TAXON)
    if name == at:
        name = _past(text, at, end, _TAXA)
    if name > at and name < end and (text[name] == 95 or text[name] == 32):
        name += 1
    stop = name
    while stop < end and is_digit(text[stop]):
        stop += 1
    if stop == name or stop - name > _MAX_DIGITS or n == MAX_LISTED:
        return -1
    work[TAXA + n] = value_of(text, name, stop)
    return stop


@kernel
def _read_lines(text: Any, at: int, end: int, work: Any) -> int:
    """`_read_list` of lines of one taxon each, all with a dash or all numbered from 1 on."""
    n = 0
    dashed = text[at] == 45
    while True:
        if dashed:
            if at >= end or text[at] != 45:
                return -1
            at += 1
        else:
            begin = at
            while at < end and is_digit(text[at]):
                at += 1
            if at == begin or at - begin > 3 or value_of(text, begin, at) != n + 1:
                return -1
            if at >= end or text[at] != 46:
                return -1
            at += 1
        if at >= end or text[at] != 32:
            return -1
        at = _read_item(text, at + 1, end, n, work)
        if at < 0:
            return -1
        n += 1
        if skip(text, at, end, _CLOSING) == end:
            return n
        if text[at] != 10:
            return -1
        at += 1


@kernel
def _read_list(text: Any, at: int, end: int, is_object: bool, work: Any) -> int:
    """Write the taxa of a list that ends the text to `TAXA`; how many, or -1: it is another text."""
    n = 0
    while True:
        at = _read_item(text, at, end, n, work)
        if at < 0:
            return -1
        n += 1
        if at < end and text[at] == 44:
            at += 1
            both = _past(text, at, end, _AND)
            if both > at:
                at = both
            elif at < end and text[at] == 32:
                at += 1
            else:
                return -1
            continue
        both = _past(text, at, end, _AND)
        if both > at:
            at = both
            continue
        if is_object:
            both = _past(text, at, end, _OBJECT_ENDS)
            if both == at:
                return -1
            at = both
        elif at < end and text[at] == 46:
            at += 1
        return n if skip(text, at, end, _CLOSING) == end else -1


@kernel
def _may_end(text: Any, low: int, high: int) -> bool:
    """Whether a text ends with a digit, but for signs that end a sentence or an object, and what plain text
    leaves out."""
    at = high
    while at > low and (
        text[at - 1] == 46
        or text[at - 1] == 93
        or text[at - 1] == 125
        or BLANKS[text[at - 1]] != 0
        or PLAIN[text[at - 1]] == DELETE
    ):
        at -= 1
    return at > low and is_digit(text[at - 1])


@kernel
def _is_open(text: Any, low: int, line: int, start: int, high: int) -> bool:
    """Whether a tag may be open before a word, or what follows its line's beginning has tags or LaTeX."""
    first = max(low, start - BACK)
    angles = False
    for place in range(np.uint64(first), np.uint64(start)):
        angles |= (text[place] == _LESS) | (text[place] == _WIDE_LESS)
    for k in range(first, start if angles else first):
        # what begins with "<<" or "<5" is no tag, nor can the figure be taken for a part of another one
        if PLAIN[text[k]] == _LESS and (k >= line or not (text[k + 1] == _LESS or is_digit(text[k + 1]))):
            return True
    marks = False
    for place in range(np.uint64(start), np.uint64(high)):
        symbol = text[place]
        marks |= (symbol == _LESS) | (symbol == _WIDE_LESS) | (symbol == _BACKSLASH) | (symbol == _AMPERSAND)
    return marks


@kernel
def plain_yes(text: Any, low: int, high: int, to: int, work: Any) -> int:
    """Taxa of a text that ends with a plain yes, in ``work`` from `TAXA` on; how many, equal ones too.

    -1: it may be another text. That no truth value stands in it (`may_be_truth`) is to be asked beside this.
    """
    if not _may_end(text, low, high):
        return -1
    n = words(text, low, high, work)
    if n <= 0:
        return -1
    word = WORDS + COLUMNS * (n - 1)
    start = work[word + START]
    if work[word + YES] == 0:
        return -1
    line = start
    while line > low and text[line - 1] != 10:
        line -= 1
    if start - line > _MAX_LEFT or high - line > _MAX_LINE or _is_open(text, low, line, start, high):
        return -1
    # nothing in its sentence denies it or doubts it: there is nothing, or "the answer is"
    end = plain(text, line, high, to, work)
    at = _past(text, to, end, _OBJECT)
    if at > to:
        n_taxa = _read_list(text, at, end, True, work)
    else:
        at = _past_answer(text, to, end)
        after = _past(text, at, end, _YES)
        if after == at:
            return -1
        at = _past_verdict(text, after, end)
        if at < 0:
            return -1
        n_taxa = _read_list(text, _past_lead(text, at, end), end, False, work)
        if n_taxa < 0 and text[at - 1] == 10 and at < end:
            n_taxa = _read_lines(text, at, end, work)
    if n_taxa < 0:
        return -1
    # what else is a yes or no is a "no" that belongs to a noun: no verdict
    for k in range(n - 1):
        other = WORDS + COLUMNS * k
        if work[other + YES] != 0 or not is_of_a_noun(
            text, low, high, work[other + START], work[other + STOP], work
        ):
            return -1
    if is_struck(text, low, high, work) or work[HAS_GIVEN_UP] != 0:
        return -1
    return n_taxa
