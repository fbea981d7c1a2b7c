"""Stand-ins for a model and a judge, without a server."""

from __future__ import annotations

from relfast.tasks.realign.boxed import same_answer
from relfast.tasks.realign.mock import mock_solution

__all__ = ["mock_solution", "mock_verdict"]


def mock_verdict(benchmark_answer: str, llm_answer: str) -> tuple[bool, str]:
    """A stand-in for a judge: right if the answers are equal but for spaces."""
    is_right = same_answer(benchmark_answer, llm_answer)
    return (
        is_right,
        f"{'CORRECT' if is_right else 'INCORRECT'}\nMock verdict: the answers are compared as texts.",
    )
