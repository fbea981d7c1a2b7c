"""Measuring ratios: ours and its rival or floor in turn, in one run."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

QUICK = os.environ.get("RELFAST_BENCH_QUICK") == "1"
"""`make bench-quick`: three minutes for everything, on smaller workloads."""


def size(benchmark: Any, *, smoke: int, quick: int, full: int) -> int:
    """How much to measure: as a smoke test (timing is off), quickly, or in full."""
    if benchmark.disabled:
        return smoke
    return quick if QUICK else full


def against(
    benchmark: Any,
    ours: Callable[[], Any],
    rival: Callable[[], Any],
    *,
    task: str,
    items: int,
    n_bytes: int | None = None,
    workers: int | None = None,
    name: str = "floor_ratio",
    limit: float | None = None,
    at_least: bool = False,
    rounds: int = 5,
    check: Callable[[Any, Any], bool] | None = None,
) -> float:
    """Time ``ours`` and ``rival`` alternately and put what came out into ``extra_info``.

    ``floor_ratio`` (the default name) is ours / rival, to be at most ``limit``; with ``at_least`` it is
    rival / ours, to be at least ``limit``. Returns the median ratio. ``check`` gets both results.
    """
    rival_seconds: list[float] = []
    our_seconds: list[float] = []
    results: dict[str, Any] = {}

    def run_rival() -> None:
        gc.collect()
        started = time.perf_counter()
        results["rival"] = rival()
        rival_seconds.append(time.perf_counter() - started)

    def run_ours() -> None:
        started = time.perf_counter()
        results["ours"] = ours()
        our_seconds.append(time.perf_counter() - started)

    rounds = 1 if benchmark.disabled else min(rounds, 3) if QUICK else rounds
    benchmark.pedantic(run_ours, setup=run_rival, rounds=rounds, iterations=1)
    correct = True if check is None else check(results["ours"], results["rival"])
    assert correct, f"{task}: the result is wrong"
    ratios = [
        theirs / mine if at_least else mine / theirs
        for mine, theirs in zip(our_seconds, rival_seconds, strict=True)
    ]
    ratio = statistics.median(ratios)
    best = statistics.median(our_seconds)
    benchmark.extra_info.update(
        task=task,
        items=items,
        items_per_s=round(items / best, 1),
        correct=correct,
        rounds=rounds,
        **{name: round(ratio, 3), "spread": [round(min(ratios), 3), round(max(ratios), 3)]},
    )
    if n_bytes is not None:
        benchmark.extra_info["mb_per_s"] = round(n_bytes / best / 1e6, 1)
    if workers is not None:
        benchmark.extra_info["workers"] = workers
    if limit is not None:
        benchmark.extra_info["limit"] = limit
        benchmark.extra_info["limit_is"] = "at least" if at_least else "at most"
    return ratio
