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
    (
        "Simplify $2(x+1)+x$.",
        "Expanding the product gives $2x + 2 + x$, and like terms are added up.\nThis is $\\boxed{3x+2}$.",
        "3x + 2",
        "3x + 1",
    ),
)

SPECIAL: Final[dict[str, tuple[str, str, str, str]]] = {
    "mixed": (
        "A cake takes $2\\frac{1}{2}$ cups of flour and a pie $1\\frac{1}{4}$ cups. How much do both take?",
        "The whole cups are 3 and the rest is $\\frac{3}{4}$.\nTogether that is $\\boxed{\\frac{15}{4}}$ cups.",
        "\\frac{15}{4}",
        "\\frac{13}{4}",
    ),
    "money": (
        "Tom earns $50 an hour and works 25 hours a week. How much does he earn in a week, in dollars?",
        "He earns 50*25=<<50*25=1250>>1250 dollars.\n#### 1250",
        "1250",
        "1200",
    ),
    "percent": (
        "Of 60 pupils 21 walk to school. What percent is that?",
        "The share is $\\frac{21}{60} = \\frac{7}{20}$.\nIn percent this is $\\boxed{35\\%}$.",
        "35\\%",
        "21\\%",
    ),
    "union": (
        "Solve $x^2 - 3x - 10 > 0$. Use interval notation.",
        "It factors as $(x-5)(x+2) > 0$.\nSo $x \\in \\boxed{(-\\infty,-2)\\cup(5,\\infty)}$.",
        "(-\\infty,-2)\\cup(5,\\infty)",
        "(-2,5)",
    ),
    "point": (
        "Where do $x + y = 1$ and $x - y = 7$ meet?",
        "Adding gives $2x = 8$, so $x = 4$ and $y = -3$.\nThe point is $\\boxed{(4,-3)}$.",
        "(4,-3)",
        "(-3,4)",
    ),
    "option": (
        "How many of the numbers are prime? (A) 12 (B) 15 (C) 18 (D) 20",
        "Counting them gives 18.\nThe answer is $\\boxed{\\text{(C)}}$.",
        "\\text{(C)}",
        "\\text{(B)}",
    ),
}
"""Problems with answers of one kind, by the tag that the table's groups ask for."""


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
    found += [_case(*other, "") for other in OTHERS]
    return found + [_case(*other, "", tag) for tag, other in SPECIAL.items()]


def _other(gold: str) -> str:
    return str(int(gold) + 7) if gold.lstrip("-").isdigit() else "7919"


def _case(question: str, solution: str, right: str, wrong: str, response: str, *tag: str) -> Case:
    words = {"right": right, "wrong": wrong, "copy": " ".join(question.split())}
    tags = {"text" if right.isalpha() else "value", *tag}
    if right.isdigit():
        words |= {"n": right, "m": wrong, "next": str(int(right) + 1), "thousands": f"{int(right):,}"}
        tags.add("integer")
    if response:
        words["solution"] = response
        lines = [line for line in response.splitlines() if "boxed" not in line and not line.startswith("A:")]
        words["work"] = "\n".join(lines).strip()
    record = {"task": "ReAlign", "question": question, "answer": {"benchmark_solution": solution}}
    return Case(record, words, tags=frozenset(tags))
