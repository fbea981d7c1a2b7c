"""The ``strict`` reading of a response to REL-A1…A7: the panel it settles on, or the reason why none.

A number counts when it is tied to a word ("Answer 4", "the missing panel is 4", "\\boxed{4}", "4 is the
answer") or stands alone on the last line. A tie that asserts (``is``, ``:``) or begins its line is a
statement; the last statement is the answer, and numbers mentioned in passing count only without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from relfast.records import Extracted
from relfast.tasks.final import concludes, offers_alternatives, on_one_line
from relfast.tasks.reasoning import lower, read_strictly

N_CHOICES: Final = 8


# what may stand between the word and its number; the question's own "(1-8)" is none of the numbers
_FILLER: Final = (
    r"(?:\s*+\(1\s?(?:-|–|to)\s?8\)|[\s:=#*_`\"'“”‘’(\[{$\\<>~→\u00a0\u202f]++|[-–—][ \t]++|"
    r"(?:is|are|be|will|must|should|would|no\.|number|index|boxed|text|textbf|mathbf|mathrm|the|a|"
    r"correct|right|final|missing|best|most likely|"
    r"answer|option|choice|panel|therefore|thus|clearly)\b){0,12}+"
)
_NUMBER: Final = r"([0-9]{1,9}+)(?!\w|[.,][0-9]|\s?[-–—]\s?[0-9])"
_WORD: Final = re.compile("answer|option|choice|panel|boxed")
_TIE: Final = re.compile(rf"(?:'?s)?+({_FILLER}){_NUMBER}(?=([\s*_`)\]]*+[:\[])?)", re.ASCII)
_TIED_BEFORE: Final = re.compile(
    r"(?<![\w.,-])([0-9]{1,9})[\s*_`)\]}$\"']{1,9}(?:is|as|would be|must be)\s+(?:the\s+)?"
    r"(?:(?:correct|missing|right|final|best)\s+){0,2}$",
    re.ASCII,
)
_ALONE: Final = re.compile(
    r"^[ \t*_`\"'$(\[{\\]*+([0-9]{1,9}+)[ \t*_`\"'$)\]}.!\\]*+$", re.ASCII | re.MULTILINE
)
_ASSERTS: Final = re.compile(r"[:=→]|\b(?:is|are|be)\b", re.ASCII)
_MISSING: Final = re.compile(r"\b(?:missing|correct|right|final|best|next|last|ninth|9th|chosen)\b", re.ASCII)
_ANOTHER: Final = re.compile(
    r"[^\w\n]*+(?:(?:or|and|to|through|maybe|perhaps|possibly|else|also|either|alternatively|the|answer|"
    r"option|choice|number)\b[^\w\n]*+){0,6}+([0-9]++)(?![\w]|[.,][0-9])",
    re.ASCII,
)
_BEFORE_ON_LINE: Final = re.compile(
    r"(?:[\W_]++|[0-9]{1,2}[.)](?=\s)|(?:so|therefore|thus|hence|the|my|correct|right|final|best|missing|is|it|it's|"
    r"this|that|would|could|might|may|must|be|or|and|i|we|choose|pick|select|think|believe|say|maybe|perhaps|possibly)\b)*+",
    re.ASCII,
)
_AFTER_ON_LINE: Final = re.compile(r"[\W_]*+", re.ASCII)

_MAX_TEXT: Final = 200_000
"""Characters at the end of a response within which its answer is looked for."""

_MAX_MARKUP: Final = 80
"""Longest filler and markup around an answer on its line; more of it is prose."""

_LOOK_BACK: Final = 50
"""Characters before a word that can say what it is about."""

_REACH: Final = 2_000
"""Characters within which two answers can be one statement."""


class _Choice(NamedTuple):
    """A number that may be the answer.

    ``asserted``: the tie says that it is. ``leading``: nothing but markup and filler before it on its
    line. ``bare``: nothing else after it either. ``described``: followed by a colon or bracket, as the
    question lists its choices. ``boxed``: tied by LaTeX, as reasoning about other things ends too.
    """

    start: int
    end: int
    value: int
    asserted: bool
    leading: bool
    bare: bool
    described: bool
    boxed: bool


def extract_strict(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> Extracted[int | None]:
    """The chosen panel, 0-based; ``reason`` is ``no_answer``, ``several_answers``, ``out_of_range`` or one
    of `relfast.tasks.reasoning.read_strictly`."""
    text, reason = read_strictly(response, reasoning)
    if reason is not None:
        return Extracted(None, found=False, reason=reason)
    text = lower(text[-_MAX_TEXT:])
    choices = _without_listing(sorted(_choices(text)))
    if not choices:
        return Extracted(None, found=False, reason="no_answer")
    statements = [at for at, choice in enumerate(choices) if choice.asserted or choice.leading]
    at = statements[-1] if statements else len(choices) - 1
    final = choices[at]
    if _goes_on(text, final) or any(_hedges(text, other, final) for other in _neighbours(text, choices, at)):
        return Extracted(None, found=False, reason="several_answers")
    if not 1 <= final.value <= N_CHOICES:
        return Extracted(None, found=False, reason="out_of_range")
    return Extracted(final.value - 1)


def _choices(text: str) -> Iterator[_Choice]:
    spans = set()
    at = 0
    for found in _WORD.finditer(text):
        start, end = found.span()
        before = text[max(0, start - _LOOK_BACK) : start]
        if start < at or before[-1:].isalnum() or before[-1:] == "_":
            continue
        word = found[0]
        match = _TIE.match(text, end)
        if match is None:
            match = _TIED_BEFORE.search(before)
            if match is not None:
                first = start - len(before) + match.start()
                spans.add((first, first + len(match[1])))
                leading, bare = _place(text, first, end)
                yield _Choice(first, end, int(match[1]), True, leading, bare, False, False)
            continue
        at = match.end(2)
        filler = match[1]
        boxed = word == "boxed" or "boxed" in filler
        asserted = boxed or _ASSERTS.search(filler) is not None
        spans.add(match.span(2))
        leading, bare = _place(text, start, at)
        if word == "panel" and not boxed:
            # "Panel 7 has sum 20", "each panel is 6 less": most panels spoken of are those that are given
            leading = bare
            asserted = asserted and (_MISSING.search(before) is not None or "index" in filler)
        yield _Choice(start, at, int(match[2]), asserted, leading, bare, match[3] is not None, boxed)
    if _ALONE.search(text, text.rstrip().rfind("\n") + 1) is None:
        return
    # numbers alone on the lines just above belong to the same statement
    for match in _ALONE.finditer(text):
        if match.span(1) not in spans:
            yield _Choice(match.start(), match.end(), int(match[1]), False, True, True, False, False)


def _place(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Whether a choice begins its line, and whether it is all there is on it."""
    line_start = text.rfind("\n", max(0, start - _MAX_MARKUP), start) + 1
    if line_start == 0 and start > _MAX_MARKUP:
        return False, False
    if _BEFORE_ON_LINE.fullmatch(text, line_start, start) is None:
        return False, False
    line_end = text.find("\n", end, end + _MAX_MARKUP)
    if line_end < 0:
        line_end = len(text)
        if line_end - end > _MAX_MARKUP:
            return True, False
    return True, _AFTER_ON_LINE.fullmatch(text, end, line_end) is not None


def _without_listing(choices: list[_Choice]) -> list[_Choice]:
    """Without "Answer 1: …, Answer 2: …": the question's choices, copied or gone through one by one."""
    described = {choice.value for choice in choices if choice.described}
    return choices if len(described) < 2 else [choice for choice in choices if not choice.described]


def _goes_on(text: str, final: _Choice) -> bool:
    """Whether the answer's line goes on with another number to choose: "Answer 4 or 1", "Answer 1, 2, 3"."""
    if final.described:
        return False
    match = _ANOTHER.match(text, final.end)
    return match is not None and len(match[1]) == 1 and int(match[1]) not in (0, 9, final.value)


def _neighbours(text: str, choices: list[_Choice], at: int) -> Iterator[_Choice]:
    """The other choices that may belong to the final statement, nearest first."""
    final = nearer = choices[at]
    for other in reversed(choices[:at]):
        same_line = on_one_line(text[other.end : nearer.start])
        if final.start - other.end > _REACH or not (same_line or other.bare):
            break
        yield other
        nearer = other
    nearer = final
    for other in choices[at + 1 :]:
        if other.start - final.end > _REACH or not on_one_line(text[nearer.end : other.start]):
            break
        yield other
        nearer = other


def _hedges(text: str, other: _Choice, final: _Choice) -> bool:
    """Whether another choice stands beside the final one, so that none of them is the answer."""
    if other.value == final.value or not 1 <= other.value <= N_CHOICES:
        return False
    first, second = sorted((other, final))
    between = text[first.end : second.start]
    if offers_alternatives(between):
        return on_one_line(between) or (other.bare and final.bare and other.boxed == final.boxed)
    if on_one_line(between):
        return other.asserted == final.asserted and not (
            final is second and concludes(between) and not other.asserted
        )
    return other.bare and final.bare and other.boxed == final.boxed and _leads_in(between)


def _leads_in(between: str) -> bool:
    return len(between) <= _MAX_MARKUP and _BEFORE_ON_LINE.fullmatch(between) is not None
