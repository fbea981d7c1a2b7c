r"""The two published text functions. They take None, and give nothing for it."""

from __future__ import annotations

from relfast.tasks.realign import boxed, steps


def parse_reasoning_to_steps(reasoning_string: str | None) -> list[str]:
    """The steps of a solution: lines without talk and numbering."""
    return steps.parse_steps(reasoning_string) if reasoning_string else []


def extract_boxed_answer(text: str | None) -> str | None:
    r"""The answer in ``\boxed{…}``, or None."""
    return boxed.extract_boxed_answer(text) if text else None
