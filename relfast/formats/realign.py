"""ReAlign's own rows: results (``benchmark_solution`` beside ``llm_solution``), and problems with responses
(``problem``, ``solution``), as its dataset has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relfast.formats.entry import MISSING, Entry

_GOLD: Final = ("benchmark_solution", "benchmark_steps")


def matches(row: Mapping[str, Any]) -> bool:
    if "llm_solution" in row:
        return any(key in row for key in _GOLD)
    return _is_problem(row)


def _is_problem(row: Mapping[str, Any]) -> bool:
    return "problem" in row and "solution" in row and "answer" not in row


def read(row: Mapping[str, Any]) -> Entry:
    if "llm_solution" not in row and _is_problem(row):
        return Entry(
            id=row.get("id", MISSING),
            task="ReAlign",
            question=row["problem"],
            answer={"solution": row["solution"]},
            response=row.get("response", MISSING),
            row=row,
        )
    return Entry(
        id=row.get("id", MISSING),
        task="ReAlign",
        question=row.get("question", MISSING),
        answer={key: row[key] for key in _GOLD if key in row},
        response=row.get("llm_solution", MISSING),
        row=row,
    )
