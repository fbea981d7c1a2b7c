"""ReAlign's workloads: real solutions where they are, made-up ones of the same shape elsewhere."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relfast.tasks.realign.steps import parse_steps

REAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "realign" / "model_solutions.jsonl.gz"
SEED = 20240

_WORDS = [
    "we",
    "have",
    "the",
    "total",
    "number",
    "of",
    "apples",
    "is",
    "then",
    "subtract",
    "from",
    "both",
    "sides",
    "so",
    "divide",
    "by",
    "two",
    "and",
    "each",
    "gets",
    "dollars",
    "per",
    "hour",
    "times",
    "equals",
    "therefore",
    "answer",
    "half",
    "first",
    "second",
    "remaining",
    "cost",
    "price",
    "of",
]


@cache
def solutions(count: int) -> list[dict[str, Any]]:
    """``count`` solutions with their references, spread over the file so that all sources are there."""
    rows = _real() if REAL.exists() else [_made_up(n) for n in range(count)]
    return [rows[k] for k in np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(int)]


def steps(count: int) -> list[str]:
    """``count`` distinct steps of solutions, in the order in which they come."""
    found: dict[str, None] = {}
    for row in solutions(max(50, count // 3)):
        for field in ("benchmark_solution", "llm_solution"):
            for step in parse_steps(row[field]):
                found.setdefault(step)
                if len(found) == count:
                    return list(found)
    return list(found)


def matrices(pairs: int, rows: int, columns: int) -> NDArray[np.float32]:
    """Random similarities, (pairs, rows, columns) float32."""
    return np.random.default_rng(SEED).random((pairs, rows, columns), np.float32)


def _real() -> list[dict[str, Any]]:
    with gzip.open(REAL, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def _made_up(number: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)

    def text(lines: int) -> str:
        # steps of GSM8K and MATH have 8 to 60 words
        sizes = rng.lognormal(2.8, 0.5, lines).astype(int) + 3
        return "\n".join(" ".join([*rng.choice(_WORDS, size), str(rng.integers(1000))]) for size in sizes)

    return {
        "id": number,
        "question": "?",
        "benchmark_solution": f"{text(4)}\n\\boxed{{{number}}}",
        "llm_solution": f"{text(11)}\n\\boxed{{{number}}}",
    }
