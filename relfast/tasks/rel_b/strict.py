"""The ``strict`` reading of a response to REL-B1: the verdict it ends with, and the taxa listed with it.

``yes`` and ``no`` count as words only. One that begins a line or sentence, or follows a colon or "answer
is", is a statement; the last statement is the verdict. Taxa are read from the verdict's line on: numbers
called taxa, or else the last list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from relfast.records import Extracted
from relfast.tasks.final import offers_alternatives, on_one_line
from relfast.tasks.reasoning import lower, read_strictly
from relfast.tasks.rel_b.claim import NOTHING, Homoplasy

# no verdicts: the question's own "Yes/No and if Yes, list …" (it has no group), and "no" for "not any"
_WORD: Final = re.compile(r"(?:yes\s?(?:/|\||or)\s?no|no\s?(?:/|\||or)\s?yes|(yes|no))\b")
_CONDITION: Final = re.compile(r"\b(?:if|whether|when)\s+$")
_NOT_ANY: Final = re.compile(
    r"\s+(?:doubt|other|others|further|more|additional|one|longer|matter|wonder|need|explanation|exceptions?|"
    r"idea|taxa|taxon|single|particular|clear)\b",
)

_STATED: Final = re.compile(
    r"(?:^|[\n.!?:;>|]|\b(?:answer|verdict|label|conclusion)(?:\s+(?:is|would be|must be))?)"
    r"[\s*_#`\"'(\[{<>–—-]*$",
)
_ENDS: Final = re.compile(r"[\s*_`\"')\]}]*(?:$|[\n.,;:!?<>/–—-]|[0-9(\[]|tax(?:on|a)\b)")
_NO_HOMOPLASY: Final = re.compile(r"\s+(?:\w+\s+){0,4}?(?:homoplasy|convergence)\b")

_LOOK_BACK: Final = 60
"""Characters before a verdict or list that decide what it is."""

_REACH: Final = 2_000
"""Characters within which two verdicts can be one statement."""

_MAX_TEXT: Final = 200_000
"""Characters at the end of a response within which its answer is looked for."""

_MAX_STATEMENT: Final = 50_000
"""Characters of the answer itself: a list of several thousand taxa."""

_MOST_NEAR: Final = 500
"""Verdicts looked at on each side: more do not fit within reach."""

_ENUMERATOR: Final = re.compile(r"^[ \t>*-]*\(?([0-9]{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)

_LIST: Final = re.compile(
    r"(?:\btax(?:ons?|a)[\s_#:-]{0,3}+[\"'`]?+[0-9]{1,9}+|(?<![\w.])[0-9]{1,9}+)(?![\w]|\.[0-9])"
    r"(?:(?:[\s,;&*•()\[\]{}\"'`+/|-]|\band\b)++"
    r"(?:\btax(?:ons?|a)[\s_#:-]{0,3}+[\"'`]?+[0-9]{1,9}+|(?<![\w.])[0-9]{1,9}+)(?![\w]|\.[0-9]))*+",
)
_DIGITS: Final = re.compile(r"[0-9]+")
_TAXON: Final = re.compile(r"tax(?:on|a)")
_CALLED_TAXA: Final = re.compile(r"\btax(?:ons?|a)\b[^\d\n]*$")
_CALLED_OTHERWISE: Final = re.compile(
    r"\b(?:columns?|sites?|positions?|blocks?|motifs?|lengths?|steps?|nodes?|clades?|groups?|lines?|rows?)\b[\W_]*$",
)
_COUNTED: Final = re.compile(
    r"\s+(?:taxa|taxons?|species|leaves|columns?|sites?|positions?|of|out|pairs?|groups?)\b"
)


class _Verdict(NamedTuple):
    start: int
    end: int
    label: str
    stated: bool
    """Stands where an answer stands; else only mentioned."""
    weak: bool
    """A mention that says nothing by itself ("with no signal")."""


def extract_strict(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> Extracted[Homoplasy]:
    """A `Homoplasy`; ``reason`` is ``no_answer``, ``several_answers`` or one of
    `relfast.tasks.reasoning.read_strictly`."""
    text, reason = read_strictly(response, reasoning)
    if reason is not None:
        return Extracted(NOTHING, found=False, reason=reason)
    text = lower(text[-_MAX_TEXT:])
    verdicts = list(_verdicts(text))
    at = _final(verdicts)
    if at is None:
        return Extracted(NOTHING, found=False, reason="no_answer")
    final = verdicts[at]
    if _hedges(text, verdicts, at):
        return Extracted(NOTHING, found=False, reason="several_answers")
    line_start = text.rfind("\n", 0, final.start) + 1
    taxa = _taxa(text[line_start : line_start + _MAX_STATEMENT], final.label)
    return Extracted(Homoplasy(final.label, list(dict.fromkeys(taxa))))


def _verdicts(text: str) -> Iterator[_Verdict]:
    for match in _WORD.finditer(text):
        start, end = match.span()
        if match[1] is None or text[start - 1 : start].isalnum() or text[start - 1 : start] == "_":
            continue
        before = text[max(0, start - _LOOK_BACK) : start]
        label = match[1]
        if _CONDITION.search(before) or (label == "no" and _NOT_ANY.match(text, end)):
            continue
        stated = _STATED.search(before) is not None and not (start > _LOOK_BACK and not before.strip())
        ends = _ENDS.match(text, end, end + _LOOK_BACK) is not None
        weak = label == "no" and not stated and not ends and not _NO_HOMOPLASY.match(text, end)
        yield _Verdict(start, end, label, stated, weak)


def _final(verdicts: list[_Verdict]) -> int | None:
    for wanted in (lambda v: v.stated, lambda v: not v.weak):
        for at in reversed(range(len(verdicts))):
            if wanted(verdicts[at]):
                return at
    return None


def _hedges(text: str, verdicts: list[_Verdict], at: int) -> bool:
    """Whether the opposite is said beside the final verdict with nothing that sets one above the other."""
    final = verdicts[at]
    for others in (reversed(verdicts[max(0, at - _MOST_NEAR) : at]), verdicts[at + 1 : at + _MOST_NEAR]):
        for other in others:
            first, second = sorted((other, final))
            if second.start - first.end > _REACH:
                break
            if other.label != final.label and _beside(text, first, second, other.stated):
                return True
    return False


def _beside(text: str, first: _Verdict, second: _Verdict, stated: bool) -> bool:
    between = text[first.end : second.start]
    if on_one_line(between):
        return stated or offers_alternatives(_LISTED.sub(" ", between))
    line_start = text.rfind("\n", 0, first.start) + 1
    leading = first.start - line_start <= _LOOK_BACK and offers_alternatives(
        _LEAD_IN.sub(" ", text[line_start : first.start])
    )
    return leading and offers_alternatives(_LEAD_IN.sub(" ", between))


_LISTED: Final = re.compile(r"\btax(?:ons?|a)(?:[\s_]?[0-9]+)?|\b(?:yes|no|involved)\b|[0-9]+")
_LEAD_IN: Final = re.compile(rf"{_LISTED.pattern}|\b(?:final|answer|verdict|label|conclusion)\b")


def _taxa(statement: str, label: str) -> list[str]:
    statement = _without_enumeration(statement)
    called: list[str] = []
    lists: list[list[str]] = []
    for match in _LIST.finditer(statement):
        before = statement[max(0, match.start() - _LOOK_BACK) : match.start()]
        numbers = [number.lstrip("0") or "0" for number in _DIGITS.findall(match[0])]
        if _TAXON.search(match[0]) or _CALLED_TAXA.search(before):
            called += numbers
        elif _CALLED_OTHERWISE.search(before) or (
            len(numbers) == 1 and _COUNTED.match(statement, match.end())
        ):
            continue
        else:
            lists.append(numbers)
    if called or label == "no":
        return called
    longer = [numbers for numbers in lists if len(numbers) > 1]
    return (longer or lists or [[]])[-1]


def _without_enumeration(statement: str) -> str:
    """Without the numbers of a numbered list ("1. taxon_7"): 1, 2, 3, … at the beginnings of lines."""
    found = [int(match[1]) for match in _ENUMERATOR.finditer(statement)]
    if found and found[0] in (1, 2) and found == list(range(found[0], found[0] + len(found))):
        return _ENUMERATOR.sub("", statement)
    return statement
