"""ReAlign's workloads: real solutions of problems of MATH and GSM8K."""

from __future__ import annotations

from typing import Any

import corpora
import numpy as np
from numpy.typing import NDArray

from relfast.tasks.realign.extract import parse_steps

SEED = 20240


def solutions(count: int) -> list[dict[str, Any]]:
    """``count`` solutions with their references, spread over the file so that all sources are there."""
    rows = corpora.solutions()
    return [rows[k] for k in np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(int)]


def steps(count: int) -> list[str]:
    """``count`` distinct steps of solutions, in the order in which they come."""
    sides = ("benchmark_solution", "llm_solution")
    texts = [row[side] for row in solutions(max(50, count // 3)) for side in sides]
    return [*dict.fromkeys(step for text in texts for step in parse_steps(text))][:count]


def matrices(pairs: int, rows: int, columns: int) -> NDArray[np.float32]:
    """Random similarities, (pairs, rows, columns) float32."""
    return np.random.default_rng(SEED).random((pairs, rows, columns), np.float32)
