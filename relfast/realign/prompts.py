"""What a model is asked about a problem, and what a judge is asked about an answer and replies."""

from __future__ import annotations

from typing import Final

from relfast.tasks.realign.boxed import extract_boxed_answer
from relfast.tasks.realign.prompt import steps_and_box

_VERDICT: Final = """You are grading an answer to a math problem. Decide whether the student's final answer \
is mathematically equivalent to the reference answer, whatever its form (1/2 and 0.5 are equivalent).

Problem:
{question}

Reference answer:
{reference}

Student's answer:
{student}

Reply with CORRECT or INCORRECT alone on the first line, and with your reason on the second.
"""

MAX_ANSWER_CHARS: Final = 4_000
"""What a judge reads of a solution that boxes nothing: its end, where an answer stands."""


def problem_prompt(question: str) -> str:
    """What a model is asked to solve a problem."""
    return steps_and_box(question, {})


def verdict_prompt(question: str, benchmark_answer: str, llm_answer: str) -> str:
    """What a judge is asked about an answer."""
    return _VERDICT.format(question=question, reference=benchmark_answer, student=llm_answer)


def answer_of(solution: str) -> str:
    """What a judge is shown of a solution: its boxed answer, or its end where it boxes none."""
    boxed = extract_boxed_answer(solution)
    return boxed if boxed else solution[-MAX_ANSWER_CHARS:].strip()


def parse_verdict(text: str) -> bool:
    """Whether a judge's reply says so: its first line contains CORRECT and not INCORRECT."""
    first = text.strip().split("\n", 1)[0].upper()
    return "CORRECT" in first and "INCORRECT" not in first
