"""Blind strategies for ReAlign: responses made without solving the problem.

What they earn is what the metric leaks. Records are given without gold: ``id``, ``task``, ``question``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

_NUMBER: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+")


def _question(record: Mapping[str, Any]) -> str:
    return " ".join(str(record.get("question") or "").split())


def _numbers(record: Mapping[str, Any]) -> list[str]:
    return [number.replace(",", "") for number in _NUMBER.findall(_question(record))] or ["0"]


def _boxed(answer: object) -> str:
    return f"\\boxed{{{answer}}}"


def copy(record: Mapping[str, Any], rng: random.Random) -> str:
    return _question(record)


def copy_lines(record: Mapping[str, Any], rng: random.Random) -> str:
    return "\n".join(_SENTENCE.split(_question(record)))


def copy_and_guess(record: Mapping[str, Any], rng: random.Random) -> str:
    return f"{_question(record)}\n{_boxed(rng.choice(_numbers(record)))}"


def copy_and_two(record: Mapping[str, Any], rng: random.Random) -> str:
    return f"{_question(record)}\n{_boxed(2)}"


def filler(record: Mapping[str, Any], rng: random.Random) -> str:
    lines = (f"We get ({at})." for at in range(1, 6))
    return "\n".join(("Let us think step by step.", *lines, "Therefore we have the result.", _boxed(2)))


def _constant(answer: str) -> Callable[[Mapping[str, Any], random.Random], str]:
    return lambda record, rng: _boxed(answer)


def last_number(record: Mapping[str, Any], rng: random.Random) -> str:
    return _boxed(_numbers(record)[-1])


def sum_of_numbers(record: Mapping[str, Any], rng: random.Random) -> str:
    total = sum(map(float, _numbers(record)))
    return f"{' + '.join(_numbers(record))} = {total:g}\n{_boxed(f'{total:g}')}"


def product_of_two(record: Mapping[str, Any], rng: random.Random) -> str:
    a, b = (_numbers(record) * 2)[:2]
    product = f"{float(a) * float(b):g}"
    return f"{a} * {b} = {product}\n{_boxed(product)}"


def every_number(record: Mapping[str, Any], rng: random.Random) -> str:
    return "\n".join(_boxed(number) for number in dict.fromkeys(_numbers(record)))


def small_integer(record: Mapping[str, Any], rng: random.Random) -> str:
    return _boxed(rng.randint(1, 20))


def no_answer(record: Mapping[str, Any], rng: random.Random) -> str:
    return "I do not know."


STRATEGIES: Final[dict[str, Callable[[Mapping[str, Any], random.Random], str]]] = {
    "no answer": no_answer,
    "copies the problem": copy,
    "copies the problem, a sentence a line": copy_lines,
    "copies the problem, then 2": copy_and_two,
    "copies the problem, then one of its numbers": copy_and_guess,
    "filler, then 2": filler,
    "always 2": _constant("2"),
    "always 10": _constant("10"),
    "an integer from 1 to 20": small_integer,
    "the problem's last number": last_number,
    "the sum of the problem's numbers": sum_of_numbers,
    "the product of its first two": product_of_two,
    "all its numbers": every_number,
}
"""Name → function of a record without gold and a random source, giving a response."""
