"""What a second worker brings: whole commands on text dumps."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .measure import QUICK, against, size
from .workloads_dumps import DUMPS


def _repeat(path: Path, times: int, target: Path) -> int:
    """Write a file several times over; the new one's size."""
    with target.open("wb") as file:
        for _ in range(times):
            with path.open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 22)
    return target.stat().st_size


def _against_one_worker(
    path: Path,
    items: int,
    task: str,
    benchmark: Any,
    relfast_command: Callable[..., None],
    *options: str,
    on_one_core: bool = False,
) -> None:
    """Time two workers against one, in turn, each run with an output of its own: one that is written over is
    cut back first, and written to the disk by the run that closes it. One worker has all cores too, one of
    which then is its parent's, unless it is ``on_one_core``."""
    numbers = itertools.count()
    last: dict[int, Path] = {}
    cores = os.sched_getaffinity(0)

    def run(workers: int) -> None:
        last[workers] = path.with_name(f"{next(numbers)}.rows")
        os.sched_setaffinity(0, {min(cores)} if workers == 1 and on_one_core else cores)
        try:
            relfast_command("score", path, "-o", last[workers], "-q", "--workers", workers, *options)
        finally:
            os.sched_setaffinity(0, cores)

    against(
        benchmark,
        lambda: run(2),
        lambda: run(1),
        task=task,
        items=items,
        n_bytes=path.stat().st_size,
        workers=2,
        name="vs",
        limit=1.8,
        at_least=True,
        check=lambda *_: last[1].read_bytes() == last[2].read_bytes(),
    )


@pytest.mark.parametrize("times", [1] if QUICK else [1, 10], ids=lambda times: f"{times}00k")
def test_two_workers_against_one(
    times: int, tmp_path: Path, benchmark: Any, relfast_command: Callable[..., None]
) -> None:
    """At 100,000 responses start and end are a third of the time of two workers; at a million they are not."""
    n = size(benchmark, smoke=80, quick=100_000, full=100_000)
    once, path = tmp_path / "once.jsonl", tmp_path / "dump.jsonl"
    DUMPS["native"].write(once, n)
    _repeat(once, times, path)
    once.unlink()
    task = f"2 workers against 1, native, {n * times:,} responses"
    _against_one_worker(path, n * times, task, benchmark, relfast_command)
