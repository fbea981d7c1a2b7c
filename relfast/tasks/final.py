"""Which of several answers in a text is the final one. Shared by the rooms' ``strict`` extractors.

The last answer counts, earlier ones are reasoning. But answers that stand together at the end, with
nothing but separators between them or on one line, are one statement; if they differ, the response
hedges and has no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

_BETWEEN_ALTERNATIVES: Final = re.compile(r"[\W_]*+(?:(?:or|and)\b[\W_]*+)?", re.IGNORECASE)


class Candidate(NamedTuple):
    """An answer found in a text: its span and its value."""

    start: int
    end: int
    value: Any


def final_candidates(text: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, given in order, that belong to the text's final statement (last one first)."""
    if not candidates:
        return []
    final = [candidates[-1]]
    for earlier in reversed(candidates[:-1]):
        between = text[earlier.end : final[-1].start]
        same_line = "\n" not in between and "\r" not in between
        if not (same_line or _BETWEEN_ALTERNATIVES.fullmatch(between)):
            break
        final.append(earlier)
    return final
