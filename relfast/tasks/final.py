"""Which of several answers in a text is the final one. Shared by the tasks' ``strict`` extractors.

The last answer counts, earlier ones are reasoning. But answers with nothing between them that sets one
above the other ("Answer 4 or Answer 1", two of them on two lines) are one statement; if they differ, the
response hedges and has no answer.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple


class Candidate(NamedTuple):
    """An answer found in a text: its span and its value."""

    start: int
    end: int
    value: Any


_ALTERNATIVE: Final = re.compile(
    r"(?:[\W_]++|(?:or|and|also|else|but|then|maybe|perhaps|possibly|probably|either|alternatively|not|"
    r"it|its|that|this|is|are|was|could|might|may|would|be|the|a|an|i|my|if|otherwise)\b)*+",
    re.IGNORECASE,
)
_CONCLUDING: Final = re.compile(
    r"\b(?:so|therefore|thus|hence|final|finally|consequently|overall|conclu\w++)\b|=>|→|⇒|∴", re.IGNORECASE
)
_OFFERING: Final = re.compile(r"\b(?:or|and|also|maybe|perhaps|possibly|alternatively)\b", re.IGNORECASE)


def offers_alternatives(between: str) -> bool:
    """Whether the text between two answers says nothing but that there is another one."""
    return _ALTERNATIVE.fullmatch(between) is not None


def concludes(between: str) -> bool:
    """Whether the text between two answers draws a conclusion: the second replaces the first."""
    return _CONCLUDING.search(between) is not None and _OFFERING.search(between) is None


def on_one_line(between: str) -> bool:
    return "\n" not in between and "\r" not in between
