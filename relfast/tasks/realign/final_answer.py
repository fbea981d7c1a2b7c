r"""The final answer of a solution as ``strict`` reads it: boxed, marked in words, or the last line's value.

Statements are found in the order of the text; those that are denied, asked or supposed are none; the last one
counts, and different ones beside each other are several. Without any, the last line that has a value says it.
Linear time, total.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

from relfast.tasks.final import Candidate, concludes, offers_alternatives, on_one_line
from relfast.tasks.realign.last_line import RETRACTION, read_last_line
from relfast.tasks.realign.phrases import QUANTITY
from relfast.tasks.realign.statements import find_statements
from relfast.tasks.realign.value import NONE, FinalAnswer, Value, same
from relfast.tasks.realign.values import value_of
from relfast.tasks.unseen import without_unseen

_TAKEN_BACK: Final = re.compile(
    r"wrong|incorrect|mistake|error|not right|\bno[,.!]|scratch|disregard|ignore|forget|start over|again|never|take|kidding|joking",
    re.IGNORECASE,
)
"""In a change of mind without another answer, what leaves none."""

_REPLACED: Final = re.compile(
    r"\b(?:wait|actually|hmm|no(?=[,:;.!])|scratch that|correction|i (?:missed|made|forgot|overlooked|misread|miscounted)|recheck\w*|on second thought|let me redo)\b"
    r"|\bbut (?:it|that|this|now|after|then)\b",
    re.IGNORECASE,
)

_TAG: Final = re.compile(
    r"</?(?:b|i|u|em|strong|span|code|mark|font|center|sub|sup|small|big)(?:\s[^<>]{0,80})?>"
    r"|(</?(?:p|br|div|li|ul|ol|h[1-6]|tr|td|th|table|hr)(?:\s[^<>]{0,80})?/?>)",
    re.IGNORECASE,
)

_NAMED: Final = re.compile(
    r"\b(?:final|correct|answers?|ans|option|case|and|solution|result)\b|\b\d+[.)]", re.IGNORECASE
)
"""Between two answers, what only says that another one follows."""


def read_final_answer(text: str, *, reference: bool = False) -> FinalAnswer:
    """The final answer of a text.

    Parameters
    ----------
    reference
        The text is a reference: somebody wrote it to say one answer, so that its last box counts whatever
        stands beside it, and the last number of its last line where nothing else does.
    """
    if "~~" in text or "<" in text or "%" in text:
        text = without_unseen(text)
    if "</" in text or "<br" in text:
        text = _TAG.sub(lambda tag: "\n" if tag[1] else "", text)
    statements = find_statements(text)
    if any(boxed for _, _, boxed in statements):
        # "The answer is positive, because …" beside a box is no second answer
        statements = [
            item for item in statements if item[2] or not (reference or item[0].value[1].number is None)
        ]
    if statements and not statements[-1][0].value[1] and not reference:
        return FinalAnswer(None, NONE, "no_answer")  # a blank box
    statements = [item for item in statements if item[0].value[1]]
    denied = [statement.value for statement, asserted, _ in statements if not asserted]
    candidates = [statement for statement, asserted, _ in statements if asserted or reference]
    if not candidates:
        return read_last_line(text, denied, reference)
    last = candidates[-1]
    shown, value = last.value
    if reference:
        return FinalAnswer(shown, value)
    if any(not same(value, other) for other in _beside(text, candidates)):
        return FinalAnswer(None, NONE, "several_answers")
    if any(same(value, other) for _, other in denied) or _retracted(text[last.end :], value):
        return FinalAnswer(None, NONE, "denied")
    return FinalAnswer(shown, value)


def _beside(text: str, candidates: list[Candidate]) -> Iterator[Value]:
    """The values that belong to the final statement with the last one."""
    final = [candidates[-1]]
    for earlier in reversed(candidates[:-1]):
        between = text[earlier.end : final[-1].start]
        beside = on_one_line(between) and not concludes(between)
        if not (beside or offers_alternatives(_NAMED.sub(" ", between))):
            break
        final.append(earlier)
    for later, earlier in itertools.pairwise(final):
        if _REPLACED.search(text[earlier.end : later.start]):
            return
        yield earlier.value[1]


def _retracted(tail: str, value: Value) -> bool:
    """Whether what follows the last statement takes it back: a change of mind that does not end with it."""
    found = RETRACTION.search(tail)
    if found is None:
        return False
    after = [
        value_of(quantity[0].rstrip(",")) for quantity in QUANTITY.finditer(tail[found.start() :][:2_000])
    ]
    after = [one for one in after if one.number is not None]
    if after:
        return not same(after[-1], value)
    return _TAKEN_BACK.search(tail, found.start(), found.end() + 8) is not None
