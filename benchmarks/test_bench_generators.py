"""Generators: records a second on one core, against writing the same records as JSON.

Each figure is the median of `ROUNDS` rounds in which a generator and its floor take turns. The floor of a
record task is the standard library's ``json.dumps`` of the very same records (what any generator must at
least pay). ``items_per_s`` is per core.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from relfast.tasks import get_task
from relfast.tasks.rel_a.rules import fitting_choices

ROUNDS = 5

# task, parameters, records of a full round
CASES: list[tuple[str, dict[str, Any], int]] = [
    ("REL-A1", {"distractors": "random"}, 1000),
    ("REL-A2", {"distractors": "random"}, 1000),
    ("REL-A3", {"distractors": "random"}, 1000),
    ("REL-A4", {"distractors": "random"}, 1000),
    ("REL-A1", {"distractors": "hard"}, 1000),
    ("REL-A2", {"distractors": "hard"}, 1000),
    ("REL-A3", {"distractors": "hard"}, 1000),
    ("REL-A4", {"distractors": "hard"}, 1000),
    ("REL-B1", {}, 100),
    ("REL-C1", {}, 500),
    ("REL-C3", {}, 300),
    ("REL-C2", {"sizes": (5, 10, 20)}, 300),
    # its own sizes: 5, 10, … 50
    ("REL-C2", {}, 1000),
]


def _records(benchmark: BenchmarkFixture, full: int) -> int:
    if benchmark.disabled:
        return min(full, 10)
    return full // 4 if os.environ.get("RELFAST_BENCH_QUICK") else full


def _cpu_seconds() -> float:
    """Those of this process, and of the ones it has waited for."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


def _seconds(function: Callable[[], object]) -> float:
    """CPU seconds: the targets are per core, and these programs have one thread and hardly wait."""
    started = _cpu_seconds()
    function()
    return _cpu_seconds() - started


def _in_turns(
    benchmark: BenchmarkFixture, work: Callable[[], object], floor: Callable[[], object]
) -> tuple[float, float]:
    """Median CPU seconds of both, taken in turns; the work's rounds are also the benchmark's own."""
    work()
    times: list[tuple[float, float]] = []

    def round_() -> None:
        times.append((_seconds(work), _seconds(floor)))

    benchmark.pedantic(round_, rounds=1 if benchmark.disabled else ROUNDS, iterations=1)
    own, floors = zip(*times, strict=True)
    return statistics.median(own), statistics.median(floors)


@pytest.mark.parametrize(
    ("task", "parameters", "full"), CASES, ids=lambda value: str(value) if isinstance(value, str) else None
)
def test_generate(benchmark: BenchmarkFixture, task: str, parameters: dict[str, Any], full: int) -> None:
    n = _records(benchmark, full)
    if task == "REL-C2":
        from relfast.chem.bank import load_bank

        # reading the bank is paid once a run, not once a record
        bank = load_bank(None, 8)
        bank.near(0, 0.35, 0.9)
        parameters = {**parameters, "bank": bank}
    source = get_task(task).source
    records = list(source.generate(task, n, 1, **parameters))
    own, floor = _in_turns(
        benchmark,
        lambda: list(source.generate(task, n, 1, **parameters)),
        lambda: [json.dumps(record) for record in records],
    )
    correct = list(source.generate(task, n, 1, **parameters)) == records and len(records) == n
    if task.startswith("REL-A"):
        correct = correct and all(
            fitting_choices(task, r["metadata"]["panels"], r["metadata"]["choices"])
            == [r["answer"]["target"]]
            for r in records
        )
    assert correct
    kind = ", hard distractors" if parameters.get("distractors") == "hard" else ""
    if task == "REL-C2":
        kind = ", groups of 5 to 20" if "sizes" in parameters else ", groups of 5 to 50"
    benchmark.extra_info.update(
        task=f"generate {task}{kind}, per CPU second (against json.dumps of the records)",
        parameters=str({k: v for k, v in parameters.items() if k != "bank"}),
        items=n,
        items_per_s=n / own,
        MB_per_s=sum(len(json.dumps(r)) for r in records) / own / 1e6,
        workers=1,
        correct=correct,
        floor="json.dumps of the records",
        floor_ratio=own / floor,
    )
