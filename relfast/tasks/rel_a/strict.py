"""The ``strict`` reading of a response to REL-A1…A7: the choice it settles on, or the reason why none.

Sentences are read from the last one back (`walk.Walk`), until one states a choice.
"""

from __future__ import annotations

from typing import Final

from relfast.records import Extracted
from relfast.tasks.reasoning import lower, read_strictly
from relfast.tasks.rel_a.numbers import names_a_choice
from relfast.tasks.rel_a.said import N_CHOICES, SEVERAL
from relfast.tasks.rel_a.skim import PLAIN, opens_with_the_answer
from relfast.tasks.rel_a.units import MAX_PLAIN, units
from relfast.tasks.rel_a.walk import OR, Walk

_MAX_TEXT: Final = 60_000
"""Characters at the end of a response within which its answer is looked for."""


def extract_strict(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> Extracted[int | None]:
    """The chosen panel, 0-based; ``reason`` is ``no_answer``, ``several_answers``, ``out_of_range`` or one
    of `relfast.tasks.reasoning.read_strictly`."""
    text, reason = read_strictly(response, reasoning)
    if reason is not None:
        return Extracted(None, found=False, reason=reason)
    value, reason = _settles_on(lower(text[-_MAX_TEXT:]).replace("’", "'"))
    if reason is not None:
        return Extracted(None, found=False, reason=reason)
    return Extracted(value - 1)


def _settles_on(text: str) -> tuple[int, str | None]:
    """The choice, or 0 and the reason why none."""
    plain = _plain_end(text) or opens_with_the_answer(text)
    if plain:
        return plain, None
    walk = Walk(text)
    for unit in units(text):
        if walk.goes_on(unit):
            continue
        break
    value = walk.answer()
    if value is None:
        return 0, "no_answer"
    if value == SEVERAL:
        return 0, "several_answers"
    if not 1 <= value <= N_CHOICES:
        return 0, "out_of_range"
    return value, None


def _plain_end(text: str) -> int:
    """The answer of a last line that is nothing else, below one that is none; or 0. Decides most texts."""
    end = len(text.rstrip())
    start = text.rfind("\n", 0, end) + 1
    found = PLAIN.fullmatch(text, start, end) if end - start <= MAX_PLAIN else None
    if found is None:
        return 0
    end = _rstrip(text, start)
    if not end:
        return int(found[1])
    start = max(text.rfind("\n", 0, end) + 1, end - MAX_PLAIN - 1)
    line = text[start:end]
    if end - start > MAX_PLAIN or not (names_a_choice(line) or OR.match(line)):
        return int(found[1])
    return 0


def _rstrip(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end
