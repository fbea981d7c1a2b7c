"""ReAlign's cases: published problems of MATH and GSM8K, and a few with answers of other kinds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Final

from strict.corpus import Case

from relfast.tasks.realign.graded import BASE

FULL: Final = BASE
"""A right answer is read where this is paid; how the working is graded, `tests/tasks/realign/test_strict.py` tests."""

SOLUTIONS: Final = Path(__file__).resolve().parent.parent / "data" / "realign" / "model_solutions.jsonl.gz"
EVERY: Final = 87
"""Of the published solutions each such is a case, where its model was right."""

OTHERS: Final[tuple[tuple[str, str, str, str], ...]] = (
    # question, solution, right, wrong
    (
        "Solve $x^2 = 9$. List all values of $x$.",
        "Taking roots on both sides gives two cases.\nSo $x = \\boxed{3, -3}$.",
        "-3, 3",
        "3, 9",
    ),
    (
        "At which point do $y = x$ and $y = 2 - x$ meet?",
        "Setting them equal gives $2x = 2$.\nThey meet at $\\boxed{(1, 1)}$.",
        "(1, 1)",
        "(2, 0)",
    ),
    (
        "A circle has radius 5. Find its area.",
        "The area is $\\pi r^2$ with $r = 5$.\nThat is $\\boxed{25\\pi}$.",
        "25\\pi",
        "10\\pi",
    ),
    (
        "What is the diagonal of a square with side 3?",
        "By Pythagoras $d^2 = 9 + 9 = 18$.\nSo $d = \\boxed{3\\sqrt{2}}$.",
        "3\\sqrt{2}",
        "2\\sqrt{3}",
    ),
    (
        "On what day does a 30-day trip end that starts on a Tuesday?",
        "$30 = 4 \\cdot 7 + 2$.\nTwo days after Tuesday is $\\boxed{\\text{Thursday}}$.",
        "Thursday",
        "Friday",
    ),
    (
        "For which x is $2x \\geq 6$? Use interval notation.",
        "Divide both sides by 2.\nThe solution is $\\boxed{[3,\\infty)}$.",
        "[3, \\infty)",
        "(3, \\infty)",
    ),
    ("Simplify $2(x+1)+x$.", "Expand to $2x + 2 + x$.\nThis is $\\boxed{3x+2}$.", "3x + 2", "3x + 1"),
)


def published() -> list[dict[str, Any]]:
    with gzip.open(SOLUTIONS, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def was_right(row: dict[str, Any]) -> bool:
    return bool(row["correct"] if "correct" in row else row["pred"] == row["gold"])


def cases() -> list[Case]:
    """Words: ``right``, ``wrong`` answers as they stand in a box; ``copy``: the problem; ``work``: a model's own
    solution without its answer line; ``n`` and ``m``: the right and a wrong integer, with ``next`` after it and
    ``thousands`` its digits grouped."""
    found = [
        _case(
            row["question"], row["benchmark_solution"], row["gold"], _other(row["gold"]), row["llm_solution"]
        )
        for row in published()[::EVERY]
        if was_right(row) and ".." not in row["gold"]
    ]
    return found + [_case(*other, "") for other in OTHERS]


def _other(gold: str) -> str:
    return str(int(gold) + 7) if gold.lstrip("-").isdigit() else "7919"


def _case(question: str, solution: str, right: str, wrong: str, response: str) -> Case:
    words = {"right": right, "wrong": wrong, "copy": " ".join(question.split())}
    tags = {"text"} if right.isalpha() else {"value"}
    if right.isdigit():
        words |= {"n": right, "m": wrong, "next": str(int(right) + 1), "thousands": f"{int(right):,}"}
        tags.add("integer")
    if response:
        words["solution"] = response
        lines = [line for line in response.splitlines() if "boxed" not in line and not line.startswith("A:")]
        words["work"] = "\n".join(lines).strip()
    record = {"task": "ReAlign", "question": question, "answer": {"benchmark_solution": solution}}
    return Case(record, words, tags=frozenset(tags))
