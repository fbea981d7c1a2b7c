"""Generators: records a CPU second on one core, against the standard library's ``json.dumps`` of the very same records,
which any generator must at least pay."""

from __future__ import annotations

import json
from typing import Any

import pytest

from relfast.tasks import get_task
from relfast.tasks.rel_a.rules import fitting_choices

from .gate import cpu_seconds
from .measure import against, size

PANELS = ("REL-A1", "REL-A2", "REL-A3", "REL-A4")

CASES: list[tuple[str, str, dict[str, Any], int]] = [
    *((task, "", {"distractors": "random"}, 1000) for task in PANELS),
    *((task, ", hard distractors", {"distractors": "hard"}, 1000) for task in PANELS),
    ("REL-B1", "", {}, 100),
    ("REL-C1", "", {}, 500),
    ("REL-C3", "", {}, 300),
    ("REL-C2", ", groups of 5 to 20", {"sizes": (5, 10, 20)}, 300),
    ("REL-C2", ", groups of 5 to 50", {}, 1000),
]
"""Task, what is special, parameters, records of a full round."""


@pytest.mark.parametrize(("task", "kind", "parameters", "full"), CASES)
def test_generate(task: str, kind: str, parameters: dict[str, Any], full: int, benchmark: Any) -> None:
    n = size(benchmark, smoke=min(full, 10), quick=full // 4, full=full)
    if task == "REL-C2":
        from relfast.chem.bank import load_bank

        # reading the bank is paid once a run, not once a record
        bank = load_bank(None, 8)
        bank.near(0, 0.35, 0.9)
        parameters = {**parameters, "bank": bank}

    def generate() -> list[dict[str, Any]]:
        return list(get_task(task).source.generate(task, n, 1, **parameters))

    records = generate()
    against(
        benchmark,
        generate,
        lambda: [json.dumps(record) for record in records],
        clock=cpu_seconds,
        task=f"generate {task}{kind}, per CPU second (against json.dumps of the records)",
        items=n,
        n_bytes=sum(len(json.dumps(record)) for record in records),
        workers=1,
        check=lambda again, _: again == records and len(records) == n,
    )
    for record in records if task in PANELS else ():
        shown = record["metadata"]
        assert fitting_choices(task, shown["panels"], shown["choices"]) == [record["answer"]["target"]]
