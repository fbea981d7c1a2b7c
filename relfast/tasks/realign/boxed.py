r"""The final answer in ``\boxed{…}``, as ReAlign's `extract_boxed_answer` finds it. Linear time, total."""

from __future__ import annotations

import re
from typing import Final

OPENING: Final = "\\boxed{"

# The scan for a closing brace ends at the next brace, and every `\boxed{` has one: linear in the text.
FLAT: Final = re.compile(r"\\boxed\{([^{}]*+)\}")
_BRACE: Final = re.compile(r"[{}]")


def extract_boxed_answer(text: str) -> str | None:
    r"""The first ``\boxed{…}`` without braces inside, else the first one with its braces counted.

    None where there is no box, or where the first one is never closed.
    """
    if OPENING not in text:
        return None
    if flat := FLAT.search(text):
        return flat[1]
    start = text.index(OPENING) + len(OPENING)
    end = closing(text, start)
    return None if end < 0 else text[start:end]


def same_answer(gold: str | None, pred: str | None) -> bool:
    """ReAlign's symbolic correctness: both are there and not empty, and equal without their spaces."""
    return bool(gold) and bool(pred) and without_spaces(gold) == without_spaces(pred)


def without_spaces(answer: str | None) -> str:
    return "" if answer is None else answer.replace(" ", "")


def closing(text: str, start: int) -> int:
    """Index of the brace that closes the one before ``start``, or -1."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return -1
