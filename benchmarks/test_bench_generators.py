"""Generators: records a second on one core, against writing the same records as JSON.

Each figure is the median of `ROUNDS` rounds in which a generator and its floor take turns. The floor of a
record task is the standard library's ``json.dumps`` of the very same records (what any generator must at
least pay), that of the enumerator RDKit's writing of the SMILES. ``items_per_s`` is per core.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
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


def test_generate_command(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """``relfast generate rel-c2`` with its own settings, from its start to its end."""
    n, out = _records(benchmark, 1000), tmp_path / "made.jsonl"
    command = [sys.executable, "-m", "relfast", "generate", "rel-c2", "-n", str(n), "-q", "--overwrite"]
    # what a first run keeps for those that come after it
    subprocess.run([*command, "-o", str(out)], check=True)
    records = [json.loads(line) for line in out.read_bytes().splitlines()]
    own, floor = _in_turns(
        benchmark,
        lambda: subprocess.run([*command, "-o", str(out)], check=True),
        lambda: [json.dumps(record) for record in records],
    )
    correct = records == list(get_task("REL-C2").source.generate("REL-C2", n, 0))
    assert correct
    benchmark.extra_info.update(
        task="relfast generate rel-c2, the whole command, per CPU second (against json.dumps of the records)",
        items=n,
        items_per_s=n / own,
        workers=1,
        correct=correct,
        floor="json.dumps of the records",
        floor_ratio=own / floor,
    )


@pytest.mark.parametrize("size", [5, 20, 50])
def test_motifs(benchmark: BenchmarkFixture, size: int) -> None:
    """The largest motif of similar molecules, against RDKit's search, given up after 500 of its steps."""
    from relfast.chem.bank import load_bank
    from relfast.chem.motif import STEPS_OF_OURS, largest_motif, motifs_by_rdkit

    bank, numbers = load_bank(None, 8), random.Random(size)
    drawn = (bank.similar_group(numbers, size, 0.35, 0.9) for _ in range(10_000))
    groups = list(itertools.islice((group for group in drawn if group), _records(benchmark, 40)))
    steps = 500 * STEPS_OF_OURS
    own, floor = _in_turns(
        benchmark,
        lambda: [largest_motif(group, 8, steps) for group in groups],
        lambda: [motifs_by_rdkit(group, 8, steps) for group in groups],
    )
    found = [(largest_motif(group, 8, steps), motifs_by_rdkit(group, 8, steps)) for group in groups]
    # where both have one, it is as large
    both = [(motif, places) for motif, places in found if motif and places]
    correct = bool(both) and all(len(places[0][0]) == motif.n_atoms for motif, places in both)
    assert correct
    benchmark.extra_info.update(
        task=f"largest motif of {size} molecules, per CPU second (against RDKit's FindMCS)",
        items=len(groups),
        items_per_s=len(groups) / own,
        workers=1,
        correct=correct,
        floor="RDKit: FindMCS, 500 steps",
        floor_ratio=own / floor,
    )


@pytest.mark.parametrize(("formula", "count"), [("C6H6", 217), ("C8H8", 7427)])
def test_enumerate(benchmark: BenchmarkFixture, formula: str, count: int) -> None:
    """The search for all structures of a formula, against writing their SMILES with RDKit."""
    from relfast.chem import isomers as module

    if benchmark.disabled:
        formula, count = "C6H6", 217
    found = list(module.structures(formula))
    n = sum(len(chunk) for _, chunk in found)
    own, floor = _in_turns(
        benchmark,
        lambda: list(module.structures(formula)),
        lambda: [module._smiles(atoms, bonds) for atoms, chunk in found for bonds in chunk],
    )
    correct = len({module._smiles(atoms, bonds) for atoms, chunk in found for bonds in chunk}) == count
    assert correct
    benchmark.extra_info.update(
        task=f"isomers of {formula}, per CPU second (against writing their SMILES)",
        parameters=formula,
        items=n,
        items_per_s=n / own,
        workers=1,
        correct=correct,
        floor="RDKit: build, sanitize, canonical SMILES",
        floor_ratio=own / floor,
    )


@pytest.mark.parametrize("task", ["REL-C2", "REL-C3"])
def test_validate(benchmark: BenchmarkFixture, task: str) -> None:
    """Checking records against the format, against decoding them."""
    import orjson

    from relfast.validate import check_record

    n = _records(benchmark, 1000)
    parameters = {"sizes": (5, 10)} if task == "REL-C2" else {}
    lines = [orjson.dumps(record) for record in get_task(task).source.generate(task, n, 1, **parameters)]
    own, floor = _in_turns(
        benchmark,
        lambda: [check_record(orjson.loads(line)) for line in lines],
        lambda: [orjson.loads(line) for line in lines],
    )
    correct = not any(check_record(orjson.loads(line)) for line in lines)
    assert correct
    benchmark.extra_info.update(
        task=f"relfast validate, {task} (against orjson.loads)",
        items=n,
        items_per_s=n / own,
        workers=1,
        correct=correct,
        floor="orjson.loads",
        floor_ratio=own / floor,
    )
