"""Chemistry: whole commands against the RDKit floor, and against the published loop."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from naive_rel import score_c3

from . import workloads_chem
from .floors import rdkit_alone, write_rdkit_work
from .measure import against, size

WORKERS = 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "policy", "limit"),
    [
        ("REL-C2", "reference", 0.25),
        ("REL-C2", "strict", 0.25),
        ("REL-C3", "reference", 0.4),
        ("REL-C3", "strict", 0.5),
    ],
)
def test_distinct_spellings(
    task: str,
    policy: str,
    limit: float,
    tmp_path: Path,
    benchmark: Any,
    relfast_command: Callable[..., None],
) -> None:
    """Each molecule spelled anew, both policies, against RDKit doing the same in as many processes."""
    n = size(benchmark, smoke=60, quick=4_000, full=20_000)
    path, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    records = workloads_chem.motifs if task == "REL-C2" else workloads_chem.missing_isomers
    workloads_chem.write_dump(path, records(n, distinct=True))
    strict = policy == "strict"
    work = write_rdkit_work(path, WORKERS, strict=strict)
    options = ("--overwrite", "-q", "--workers", WORKERS, "--policy", policy)
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, *options),
        lambda: rdkit_alone(work, strict=strict),
        task=f"relfast score, {task}, {policy}, {n:,} records, distinct spellings, against the RDKit floor",
        items=n,
        n_bytes=path.stat().st_size,
        workers=WORKERS,
        limit=limit,
        check=lambda *_: out.read_bytes().count(b"\n") == n,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "limit"), [("distinct spellings", 100.0), ("repeated answers", 300.0)])
def test_against_published_loop(
    answers: str, limit: float, tmp_path: Path, benchmark: Any, relfast_command: Callable[..., None]
) -> None:
    """REL-C3 on one core, whole command, against json.loads → the published scorer → json.dumps.

    The loop takes some 50 ms a record, so it is timed on every so many records only.
    """
    n = size(benchmark, smoke=40, quick=2_000, full=20_000)
    every = max(1, n // 25)
    path, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    distinct = answers == "distinct spellings"
    workloads_chem.write_dump(path, workloads_chem.missing_isomers(n, distinct=distinct))
    lines = path.read_bytes().splitlines()[::every]

    def loop() -> list[str]:
        rows = map(json.loads, lines)
        return [json.dumps(score_c3(row["answer"], row["response"])) for row in rows]

    def check(_: Any, expected: list[str]) -> bool:
        rows = out.read_bytes().splitlines()[::every]
        found = [json.loads(row)["metrics"] for row in rows]
        return all(
            item.items() <= json.loads(other).items() for item, other in zip(found, expected, strict=True)
        )

    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, "--overwrite", "-q", "--workers", 0),
        loop,
        task=f"relfast score, REL-C3, {n:,} records, {answers}, one core, against the published loop",
        items=n,
        workers=0,
        name="vs",
        limit=limit,
        at_least=True,
        rounds=3,
        scale=n / len(lines),
        check=check,
    )
