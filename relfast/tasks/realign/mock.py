"""A stand-in for a model, without a server."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from relfast.tasks.realign.boxed import FLAT, extract_boxed_answer, without_spaces
from relfast.tasks.realign.steps import parse_steps

_CONTENT: Final = r"\1"


def mock_solution(question: str, reference: str | None = None) -> str:
    """A stand-in for a model: the same text for the same question, and all kinds of outcomes.

    With a reference it follows it closely or not at all, and answers right or wrong, by a hash of the
    question: so that every figure of a report has something to show. Without one it can only be vague.
    """
    steps = parse_steps(reference or "")
    answer = without_spaces(extract_boxed_answer(reference or "")) if reference else ""
    digest = hashlib.sha256(question.encode("utf-8", "replace")).digest()
    follows, is_right = digest[0] % 10 < 6, digest[1] % 10 < 6
    final = answer if is_right and answer else str(digest[2])
    lines = ["Sure, here is the solution."]
    if follows and steps:
        lines += [f"Step {n}: {FLAT.sub(_CONTENT, step)}" for n, step in enumerate(steps, 1)]
    else:
        lines += [f"{n}. {step}" for n, step in enumerate(_vague(question), 1)]
    lines.append(f"The answer is $\\boxed{{{final}}}$.")
    return "\n".join(lines)


def _vague(question: str) -> Sequence[str]:
    words = " ".join(question.split())[:80]
    return (
        f"We read the problem: {words}",
        "Draw a picture of the situation and guess a pattern.",
        "Check the pattern on a small case and trust it.",
    )


def answer(row: Mapping[str, Any], luck: random.Random) -> str:
    """The task's `mock`: luck is the question's hash, here as in ReAlign's own command."""
    gold = row.get("answer")
    reference = gold.get("solution", gold.get("benchmark_solution")) if isinstance(gold, Mapping) else None
    question = row.get("question", row.get("problem"))
    return mock_solution(str(question), reference if isinstance(reference, str) else row.get("solution"))
