"""ReAlign's cases: published problems of MATH and GSM8K, and a few with answers of other kinds."""

from __future__ import annotations

from typing import Any, Final

from corpora import solutions
from strict.corpus import Case

from relfast.tasks.realign.gate import BASE

FULL: Final = BASE
"""A right answer is read where this is paid; how the working is graded, `tests/tasks/realign/test_strict.py` tests."""

EVERY: Final = 87
"""Of the published solutions each such is a case, where its model was right."""

SPECIAL: Final[dict[str, tuple[str, str, str]]] = {
    "mixed": (
        "A cake takes $2\\frac{1}{2}$ cups of flour and a pie $1\\frac{1}{4}$ cups. How much do both take?",
        "The whole cups are 3 and the rest is $\\frac{3}{4}$.\nTogether that is $\\boxed{\\frac{15}{4}}$ cups.",
        "\\frac{15}{4}",
    ),
    "money": (
        "Tom earns $50 an hour and works 25 hours a week. How much does he earn in a week, in dollars?",
        "He earns 50*25=<<50*25=1250>>1250 dollars.\n#### 1250",
        "1250",
    ),
    "point": (
        "Where do $x + y = 1$ and $x - y = 7$ meet?",
        "Adding gives $2x = 8$, so $x = 4$ and $y = -3$.\nThe point is $\\boxed{(4,-3)}$.",
        "(4,-3)",
    ),
    "option": (
        "How many of the numbers are prime? (A) 12 (B) 15 (C) 18 (D) 20",
        "Counting them gives 18.\nThe answer is $\\boxed{\\text{(C)}}$.",
        "\\text{(C)}",
    ),
}
"""Problems with answers of one kind, by the tag that the table's groups ask for."""


def was_right(row: dict[str, Any]) -> bool:
    return bool(row["correct"] if "correct" in row else row["pred"] == row["gold"])


def cases() -> list[Case]:
    """Words: ``right``, the answer as it stands in a box; ``copy``: the problem; ``n`` and ``m``: the right and a wrong
    integer, with ``next`` after the right one."""
    found = [
        _case(row["question"], row["benchmark_solution"], row["gold"], None)
        for row in solutions()[::EVERY]
        if was_right(row) and ".." not in row["gold"]
    ]
    return found + [_case(*other, tag) for tag, other in SPECIAL.items()]


def _case(question: str, solution: str, right: str, tag: str | None) -> Case:
    words = {"right": right, "copy": " ".join(question.split())}
    tags = set() if tag is None else {tag}
    if right.isdigit():
        words |= {"n": right, "m": str(int(right) + 7), "next": str(int(right) + 1)}
        tags.add("integer")
    record = {"task": "ReAlign", "question": question, "answer": {"benchmark_solution": solution}}
    return Case(record, words, tags=frozenset(tags))
