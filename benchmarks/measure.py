"""Measuring ratios: ours and its rival or floor in turn, in one run."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

QUICK = os.environ.get("RELFAST_BENCH_QUICK") == "1"
"""`make bench-quick`: three minutes for everything, on smaller workloads."""


def relfast_command(*arguments: object) -> None:
    """Run the ``relfast`` command as a user does, quietly; an exit code other than 0 fails."""
    command = [sys.executable, "-m", "relfast", *map(str, arguments)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    # bytecode is kept: an installed package has it, and to compile 200 modules anew takes 0.05 s a process
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, env=env, **quiet)


def size(benchmark: Any, *, smoke: int, quick: int, full: int) -> int:
    """How much to measure: as a smoke test (timing is off), quickly, or in full."""
    if benchmark.disabled:
        return smoke
    return quick if QUICK else full


def latencies(seconds: Any) -> dict[str, float]:
    """Of calls, an array in seconds: what the table shows of them, in µs."""
    p50, p99 = np.percentile(seconds, [50, 99])
    values = {"p50_us": p50, "p99_us": p99, "max_us": np.max(seconds)}
    return {name: round(1e6 * float(value), 2) for name, value in values.items()}


def against(
    benchmark: Any,
    ours: Callable[..., Any],
    rival: Callable[..., Any],
    *,
    task: str,
    items: int,
    n_bytes: int | None = None,
    limit: float | None = None,
    at_least: bool = False,
    rounds: int = 5,
    scale: float = 1.0,
    prepare: Callable[[], Any] | None = None,
    check: Callable[[Any, Any], bool] | None = None,
) -> None:
    """Time ``ours`` and ``rival`` alternately and put what came out into ``extra_info``.

    The ratio is ours / rival, to be at most ``limit``; with ``at_least`` it is rival / ours, to be at least
    ``limit``; times ``scale``, where the rival does another part of the work. What ``prepare`` makes of a round, out
    of the time of either, is given to both. ``check`` gets both results.
    """
    rival_seconds: list[float] = []
    our_seconds: list[float] = []
    given: list[Any] = []
    results: dict[str, Any] = {}

    def run_rival() -> None:
        given[:] = [] if prepare is None else [prepare()]
        gc.collect()
        started = time.perf_counter()
        results["rival"] = rival(*given)
        rival_seconds.append(time.perf_counter() - started)
        # has the C library put together what the rival has freed, which it does when next asked for more than a
        # kilobyte: up to 13 ms after RDKit, which would be counted to ours
        bytes(1 << 14)

    def run_ours() -> None:
        started = time.perf_counter()
        results["ours"] = ours(*given)
        our_seconds.append(time.perf_counter() - started)

    rounds = 1 if benchmark.disabled else min(rounds, 3) if QUICK else rounds
    benchmark.pedantic(run_ours, setup=run_rival, rounds=rounds, iterations=1)
    assert check is None or check(results["ours"], results["rival"]), f"{task}: the result is wrong"
    pairs = zip(our_seconds, rival_seconds, strict=True)
    ratios = [scale * (theirs / mine if at_least else mine / theirs) for mine, theirs in pairs]
    best = statistics.median(our_seconds)
    benchmark.extra_info.update(
        task=task,
        items=items,
        items_per_s=round(items / best, 1),
        ratio=round(statistics.median(ratios), 3),
        spread=[round(min(ratios), 3), round(max(ratios), 3)],
    )
    if n_bytes is not None:
        benchmark.extra_info["mb_per_s"] = round(n_bytes / best / 1e6, 1)
    if limit is not None:
        benchmark.extra_info |= {"limit": limit, "at_least": at_least}
