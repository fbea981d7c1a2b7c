"""Records of all three benchmarks, in their own formats, with prompts that differ: for tests that ask them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from corpora import solutions

from relfast.tasks import get_task
from relfast.tasks.seqbench.generate import make_rows


def rel(n: int) -> list[dict[str, Any]]:
    return list(get_task("REL-A2").source.generate("REL-A2", n, 5))


def seqbench(n: int) -> list[dict[str, Any]]:
    return list(make_rows(n, 5, rows=5, cols=5, B=1))


def realign(n: int) -> list[dict[str, Any]]:
    """Problems as the dataset has them."""
    found: dict[str, str] = {}
    for row in solutions():
        found.setdefault(row["question"], row["benchmark_solution"])
    problems = list(found.items())[:n]
    assert len(problems) == n
    return [{"id": at, "problem": text, "solution": gold} for at, (text, gold) in enumerate(problems)]


def write_all(folder: Path, n: int) -> list[Path]:
    """A file of n records for each benchmark."""
    paths = []
    for make in (rel, seqbench, realign):
        path = folder / f"{make.__name__}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in make(n)), "utf-8")
        paths.append(path)
    return paths
