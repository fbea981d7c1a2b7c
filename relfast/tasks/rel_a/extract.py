"""Reading the chosen panel out of a response to REL-A1…A7: as published, and by the forms of ``strict``."""

from __future__ import annotations

import re
from typing import Final

from relfast.records import Extracted, Options
from relfast.tasks.final_value import read_choice
from relfast.tasks.reasoning import strip_reasoning
from relfast.tasks.rel_a import N_CHOICES

# The published pattern with possessive quantifiers: white space, '#' and digits exclude one another, so
# giving back can never help, and "Answer" before 32,000 spaces takes 0.1 ms instead of 9.8 s.
_ANSWER: Final = re.compile(r"Answer\s*+#?+\s*+(\d++)", re.IGNORECASE)
_FROM_ONE: Final = re.compile(r"\b([1-8])\b")
_FROM_ZERO: Final = re.compile(r"\b([0-7])\b")

MAX_INT_DIGITS: Final = 4300
"""CPython's own limit for int(text); the published scorer raises ValueError beyond it."""


def extract(response: object, options: Options) -> Extracted[int | None]:
    """The chosen panel, 0-based, as the policy reads it."""
    if options.strict:
        return _extract_strict(response, options.reasoning)
    if options.strip_reasoning and isinstance(response, str):
        response = strip_reasoning(response, options.reasoning)
    return _extract_reference(response)


def _extract_reference(response: object) -> Extracted[int | None]:
    if not response:
        return Extracted(0, found=False)
    if not isinstance(response, str):
        return Extracted(None, found=False, error=f"response is {type(response).__name__}, not text")
    text = response.strip()
    match = _ANSWER.search(text)
    if match is not None:
        digits = match[1]
        if len(digits) > MAX_INT_DIGITS:
            return Extracted(None, found=False, error=f"answer number has more than {MAX_INT_DIGITS} digits")
        number = int(digits)
        return Extracted(number - 1 if 1 <= number <= N_CHOICES else 0)
    match = _FROM_ONE.search(text)
    if match is not None:
        return Extracted(int(match[1]) - 1)
    match = _FROM_ZERO.search(text)
    if match is not None:
        return Extracted(int(match[1]))
    return Extracted(0, found=False)


def _extract_strict(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> Extracted[int | None]:
    """The chosen panel, 0-based; ``reason`` as `relfast.tasks.final_value.read_choice` has it."""
    value, reason = read_choice(response, reasoning)
    return Extracted(None if value is None else value - 1, found=value is not None, reason=reason)
