"""Cutting a solution into steps, as ReAlign's `parse_reasoning_to_steps` does. Linear time, total."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

HEADERS: Final = ("sure", "here is")
"""A line that starts so, in any case, is talk and no step ("Surely, …" goes with it: published)."""

MIN_STEP_CHARS: Final = 2

MAX_STEPS: Final = 2048
"""Most steps of one side that are aligned. The longest of 2,624 real solutions has 119; 300,000 lines of
two characters would ask for as many embeddings and a table of 3·10⁵ × n cells."""

# Possessive: nothing is read twice. `\d` and `\s` take Unicode digits and blanks, as published.
_NUMBER: Final = re.compile(r"(?:Step\s++)?+\d++[.:)]\s*+")
_BRACKETED: Final = re.compile(r"\([a-zA-Z0-9]++\)\s*+")
_BLANKS: Final = re.compile(r"\s++")


def parse_steps(text: str) -> list[str]:
    """The steps of a solution: its lines without talk, numbering and near-empty ones, in order.

    Of each line one leading ``Step 3:``, ``3.`` or ``3)`` and then one leading ``(a)`` is removed.
    """
    steps = []
    for raw in text.split("\n"):
        line = raw.strip()
        # what follows only shortens a line: one that is too short already needs no look
        if len(line) < MIN_STEP_CHARS:
            continue
        # the first character rules most lines out: 10 MB of short ones take a third of the time
        first = line[0]
        if first in "sShH" and line[:7].lower().startswith(HEADERS):
            continue
        if (first == "S" or first.isdecimal()) and (number := _NUMBER.match(line)):
            line = line[number.end() :]
        if line.startswith("(") and (bracket := _BRACKETED.match(line)):
            line = line[bracket.end() :]
        if len(line) >= MIN_STEP_CHARS:
            steps.append(line)
    return steps


def without_repeats(steps: Sequence[str], reference: Iterable[str]) -> list[str]:
    """The steps less those that say again, word for word, what an earlier one said.

    A step may stand as often as the reference has it: solutions that the reference itself repeats
    ("x = 4") stay whole. Case, spacing and closing punctuation do not make a step new.
    """
    left = Counter(map(_wording, reference))
    kept = []
    seen: set[str] = set()
    for step in steps:
        wording = _wording(step)
        if wording not in seen or left[wording] > 0:
            kept.append(step)
        left[wording] -= 1
        seen.add(wording)
    return kept


def _wording(step: str) -> str:
    return _BLANKS.sub(" ", step).strip(" .,;:!").casefold()
