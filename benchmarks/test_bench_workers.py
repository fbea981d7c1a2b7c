"""What a second worker brings, and what a longer file takes of memory: whole commands on text dumps."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from .conftest import environment
from .measure import QUICK, against, size
from .workloads_dumps import DUMPS, Dump

IN_TEXT = Dump(
    lambda record, responses, number: {
        **{name: record[name] for name in ("id", "task", "answer")},
        "run": json.dumps({"response": responses[0]}),
    },
    ("--map", "response=run.@.response"),
)
"""Responses within JSON that stands in a text, which no kernel looks into."""


def _repeat(path: Path, times: int, target: Path) -> int:
    """Write a file several times over; the new one's size."""
    with target.open("wb") as file:
        for _ in range(times):
            with path.open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 22)
    return target.stat().st_size


@pytest.mark.parametrize(
    ("name", "dump", "n", "times"),
    [
        ("native", DUMPS["native"], 100_000, 1),
        *([] if QUICK else [("native", DUMPS["native"], 100_000, 10)]),
        ("the ordinary way", IN_TEXT, 20_000 if QUICK else 200_000, 1),
    ],
)
def test_two_workers_against_one(
    name: str,
    dump: Dump,
    n: int,
    times: int,
    tmp_path: Path,
    benchmark: Any,
    relfast_command: Callable[..., None],
) -> None:
    """In turn, each run with an output of its own: one that is written over is cut back first, and written to the
    disk by the run that closes it. One worker has all cores too, one of which then is its parent's. At 100,000
    responses start and end are a third of the time of two workers; at a million they are not."""
    n = size(benchmark, smoke=80, quick=n, full=n)
    once, path = tmp_path / "once.jsonl", tmp_path / "dump.jsonl"
    dump.write(once, n)
    n_bytes = _repeat(once, times, path)
    once.unlink()
    numbers = itertools.count()
    last: dict[int, Path] = {}

    def run(workers: int) -> None:
        last[workers] = tmp_path / f"{next(numbers)}.rows"
        relfast_command("score", path, "-o", last[workers], "-q", "--workers", workers, *dump.arguments(path))

    against(
        benchmark,
        lambda: run(2),
        lambda: run(1),
        task=f"2 workers against 1, {name}, {n * times:,} responses",
        items=n * times,
        n_bytes=n_bytes,
        workers=2,
        name="vs",
        limit=1.8,
        at_least=True,
        check=lambda *_: last[1].read_bytes() == last[2].read_bytes(),
    )


def test_memory_of_a_longer_file(tmp_path: Path, benchmark: Any) -> None:
    """Peak memory of all processes, what they share counted once: 4 GB of input against 200 MB."""
    n = size(benchmark, smoke=80, quick=80_000, full=80_000)  # 210 MB
    times = 2 if benchmark.disabled or QUICK else 20
    once, path, out = tmp_path / "once.jsonl", tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    DUMPS["native"].write(once, n)
    n_bytes = _repeat(once, times, path)
    peaks: dict[Path, list[float]] = {once: [], path: []}

    def measure() -> float:
        for _ in range(3):
            for dump, seen in peaks.items():
                seen.append(_peak("score", dump, "-o", out, "--overwrite", "-q", "--workers", 2))
        return min(peaks[path]) / min(peaks[once])

    growth = benchmark.pedantic(measure, rounds=1, iterations=1)
    assert benchmark.disabled or growth <= 1.1
    benchmark.extra_info |= {
        "task": f"memory of {n_bytes / 1e9:.1f} GB against {once.stat().st_size / 1e6:.0f} MB, 2 workers",
        "items": n * times,
        "correct": out.read_bytes().count(b"\n") == n * times,
        "vs": round(growth, 3),
        "spread": [min(peaks[path]), max(peaks[path])],
        "limit": 1.1,
        "limit_is": "at most",
    }


def _peak(*arguments: object) -> float:
    """Most megabytes (PSS) that the processes of a command held together, looked at every 10 ms."""
    command = [sys.executable, "-m", "relfast", *map(str, arguments)]
    most = 0
    with subprocess.Popen(command, env=environment()) as process:
        root = psutil.Process(process.pid)
        while process.poll() is None:
            most = max(most, sum(map(_pss, [root, *root.children()])))
            time.sleep(0.01)
    assert process.returncode == 0
    return most / 1e6


def _pss(process: psutil.Process) -> int:
    """Bytes of a process, of shared pages its part; 0 where it has gone."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0
