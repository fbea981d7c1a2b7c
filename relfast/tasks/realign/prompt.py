"""ReAlign's prompt: one step a line, since steps are what is aligned, and the answer in a box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_PROBLEM: Final = """Solve the following math problem. Write one step of your reasoning per line, and put \
your final answer into \\boxed{{}}.

Problem:
{question}

Solution:
"""


def steps_and_box(question: str, row: Mapping[str, Any]) -> str:
    """What a model is asked to solve a problem; the row adds nothing."""
    return _PROBLEM.format(question=question)
