"""ReAlign's own result rows: ``benchmark_solution`` beside ``llm_solution``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relfast.formats.entry import MISSING, Entry

_GOLD: Final = ("benchmark_solution", "benchmark_steps")


def matches(row: Mapping[str, Any]) -> bool:
    return "llm_solution" in row and any(key in row for key in _GOLD)


def read(row: Mapping[str, Any]) -> Entry:
    return Entry(
        id=row.get("id", MISSING),
        task="ReAlign",
        question=row.get("question", MISSING),
        answer={key: row[key] for key in _GOLD if key in row},
        response=row.get("llm_solution", MISSING),
        row=row,
    )
