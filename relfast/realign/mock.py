"""Stand-ins for a model and a judge, without a server."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from relfast.tasks.realign.boxed import extract_boxed_answer, same_answer, without_spaces
from relfast.tasks.realign.steps import parse_steps

_BOX: Final = re.compile(r"\\boxed\{([^{}]*+)\}")
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
        lines += [f"Step {n}: {_BOX.sub(_CONTENT, step)}" for n, step in enumerate(steps, 1)]
    else:
        lines += [f"{n}. {step}" for n, step in enumerate(_vague(question), 1)]
    lines.append(f"The answer is $\\boxed{{{final}}}$.")
    return "\n".join(lines)


def mock_verdict(benchmark_answer: str, llm_answer: str) -> tuple[bool, str]:
    """A stand-in for a judge: right if the answers are equal but for spaces."""
    is_right = same_answer(benchmark_answer, llm_answer)
    return (
        is_right,
        f"{'CORRECT' if is_right else 'INCORRECT'}\nMock verdict: the answers are compared as texts.",
    )


def _vague(question: str) -> Sequence[str]:
    words = " ".join(question.split())[:80]
    return (
        f"We read the problem: {words}",
        "Draw a picture of the situation and guess a pattern.",
        "Check the pattern on a small case and trust it.",
    )
