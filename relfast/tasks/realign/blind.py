"""Blind strategies for ReAlign, which solve nothing, and the mock model, which needs no server.

What a strategy earns, a metric pays for nothing. Strategies get a record without gold.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from relfast.tasks.realign.extract import FLAT, extract_boxed_answer, parse_steps, without_spaces

_NUMBER: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+")


def _question(record: Mapping[str, Any]) -> str:
    return " ".join(str(record.get("question") or "").split())


def _numbers(record: Mapping[str, Any]) -> list[str]:
    return [number.replace(",", "") for number in _NUMBER.findall(_question(record))] or ["0"]


def _boxed(answer: object) -> str:
    return f"\\boxed{{{answer}}}"


def filler(record: Mapping[str, Any], rng: random.Random) -> str:
    lines = (f"We get ({at})." for at in range(1, 6))
    return "\n".join(("Let us think step by step.", *lines, "Therefore we have the result.", _boxed(2)))


def sum_of_numbers(record: Mapping[str, Any], rng: random.Random) -> str:
    total = sum(map(float, _numbers(record)))
    return f"{' + '.join(_numbers(record))} = {total:g}\n{_boxed(f'{total:g}')}"


def product_of_two(record: Mapping[str, Any], rng: random.Random) -> str:
    a, b = (_numbers(record) * 2)[:2]
    product = f"{float(a) * float(b):g}"
    return f"{a} * {b} = {product}\n{_boxed(product)}"


STRATEGIES: Final[dict[str, Callable[[Mapping[str, Any], random.Random], str]]] = {
    "no answer": lambda record, rng: "I do not know.",
    "copies the problem": lambda record, rng: _question(record),
    "copies the problem, a sentence a line": lambda record, rng: "\n".join(
        _SENTENCE.split(_question(record))
    ),
    "copies the problem, then 2": lambda record, rng: f"{_question(record)}\n{_boxed(2)}",
    "copies the problem, then one of its numbers": lambda record, rng: (
        f"{_question(record)}\n{_boxed(rng.choice(_numbers(record)))}"
    ),
    "filler, then 2": filler,
    "always 2": lambda record, rng: _boxed(2),
    "always 10": lambda record, rng: _boxed(10),
    "an integer from 1 to 20": lambda record, rng: _boxed(rng.randint(1, 20)),
    "the problem's last number": lambda record, rng: _boxed(_numbers(record)[-1]),
    "the sum of the problem's numbers": sum_of_numbers,
    "the product of its first two": product_of_two,
    "all its numbers": lambda record, rng: "\n".join(map(_boxed, dict.fromkeys(_numbers(record)))),
}
"""Name → strategy."""


_CONTENT: Final = r"\1"


def mock_solution(question: str, reference: str | None = None) -> str:
    """The mock model's solution: the same text for the same question, with all kinds of outcomes.

    A hash of the question decides whether the solution follows the reference closely or not at all, and
    whether its answer is right; so every figure of a report has something to show. Without a reference it
    is vague.
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
        words = " ".join(question.split())[:80]
        lines += [
            f"1. We read the problem: {words}",
            "2. Draw a picture of the situation and guess a pattern.",
            "3. Check the pattern on a small case and trust it.",
        ]
    lines.append(f"The answer is $\\boxed{{{final}}}$.")
    return "\n".join(lines)


def answer(row: Mapping[str, Any], luck: random.Random) -> str:
    """`Task.mock`; ignores ``luck``: the question's hash decides, as in ``relfast realign --mock``."""
    gold = row.get("answer")
    reference = gold.get("solution", gold.get("benchmark_solution")) if isinstance(gold, Mapping) else None
    question = row.get("question", row.get("problem"))
    return mock_solution(str(question), reference if isinstance(reference, str) else row.get("solution"))
