"""The chemistry lanes: whole commands against the toolkit floor, and two workers against one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import workloads_chem
from .floors import toolkit, write_toolkit_work
from .measure import against, size

pytestmark = pytest.mark.skipif(
    not workloads_chem.SHARED.is_dir(), reason="the published records (../shared) are not here"
)

WORKERS = 2


def dump_of(task: str, n: int, path: Path) -> int:
    records = workloads_chem.missing_isomers(n) if task == "REL-C3" else workloads_chem.motifs(n)
    return workloads_chem.write_dump(path, records)


@pytest.mark.parametrize(("task", "quick", "full"), [("REL-C3", 10_000, 20_000), ("REL-C2", 2_500, 5_000)])
def test_against_toolkit_floor(
    task: str, quick: int, full: int, tmp_path: Path, benchmark: Any, relfast_command: Callable[..., None]
) -> None:
    n = size(benchmark, smoke=60, quick=quick, full=full)
    path, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    dump_of(task, n, path)
    work = write_toolkit_work(path, WORKERS)
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, "--overwrite", "-q", "--workers", WORKERS),
        lambda: toolkit(work),
        task=f"relfast score, {task}, {n:,} records, against the toolkit floor",
        items=n,
        n_bytes=path.stat().st_size,
        workers=WORKERS,
        limit=1.25,
        check=lambda *_: out.read_bytes().count(b"\n") == n,
    )


def test_two_workers_against_one(
    tmp_path: Path, benchmark: Any, relfast_command: Callable[..., None]
) -> None:
    n = size(benchmark, smoke=40, quick=4_000, full=8_000)
    path = tmp_path / "dump.jsonl"
    dump_of("REL-C2", n, path)
    outs = {workers: tmp_path / f"{workers}.jsonl" for workers in (1, 2)}

    def run(workers: int) -> None:
        relfast_command("score", path, "-o", outs[workers], "--overwrite", "-q", "--workers", workers)

    against(
        benchmark,
        lambda: run(2),
        lambda: run(1),
        task=f"2 workers against 1, REL-C2, {n:,} records",
        items=n,
        workers=2,
        name="vs",
        limit=1.8,
        at_least=True,
        rounds=3,
        check=lambda *_: outs[1].read_bytes() == outs[2].read_bytes(),
    )
