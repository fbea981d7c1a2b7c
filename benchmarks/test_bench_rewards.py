"""Rewards: one call, a warm batch, many callers at once, and a record that hangs."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from reward_cases import HANG

import relfast

from .measure import against, size
from .workloads_rewards import (
    Batch,
    missing_isomers,
    motifs,
    rdkit_floor,
    settle_the_floor,
)

WORKERS: Final = 2
THREADS: Final = 64


def _latencies(seconds: Any) -> dict[str, float]:
    p50, p99 = np.percentile(seconds, [50, 99])
    return {
        "p50_us": round(1e6 * p50, 1),
        "p99_us": round(1e6 * p99, 1),
        "max_us": round(1e6 * float(np.max(seconds)), 1),
    }


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("make", [motifs, missing_isomers], ids=["C2", "C3"])
def test_one_chemistry_call(make: Callable[[int, int], Batch], policy: Any, benchmark: Any) -> None:
    """`Scorer.reward`, each answer spelled anew, against RDKit alone: parse, canonical SMILES, search.

    By the clock, which a busy machine stretches, and by the calling thread's CPU time beside it.
    """
    n = size(benchmark, smoke=16, quick=1_024, full=4_096)
    seeds = itertools.count(1)
    batches: list[Batch] = []
    taken: list[Any] = []
    worked: list[Any] = []
    with relfast.Scorer(policy=policy, workers=WORKERS) as scorer:
        warm = make(64, 0)
        scorer.score_batch(warm.task, warm.answers, warm.responses)

        def rdkit() -> None:
            batches.append(make(n, next(seeds)))
            started = time.perf_counter()
            rdkit_floor(batches[-1], strict=policy == "strict")
            floors.append(time.perf_counter() - started)
            settle_the_floor()

        def ours() -> int:
            batch, seconds, cpu_seconds = batches[-1], np.zeros(n), np.zeros(n)
            for at in range(n):
                started, began = time.perf_counter(), time.thread_time()
                reward = scorer.reward(batch.task, batch.answers[at], batch.responses[at])
                cpu_seconds[at] = time.thread_time() - began
                seconds[at] = time.perf_counter() - started
                failed.extend([at] if reward is None else [])
            taken.append(seconds)
            worked.append(cpu_seconds)
            return len(failed)

        floors: list[float] = []
        failed: list[int] = []
        against(
            benchmark,
            ours,
            rdkit,
            task=f"one reward call, {warm.task}, {policy} (against the RDKit floor)",
            items=n,
            workers=WORKERS,
            check=lambda failures, _: failures == 0,
        )
    ratios = [float(mine.sum()) / theirs for mine, theirs in zip(taken, floors, strict=True)]
    benchmark.extra_info.update(
        floor_ratio=round(float(np.median(ratios)), 3),
        spread=[round(min(ratios), 3), round(max(ratios), 3)],
        **_latencies(np.concatenate(taken)),
        **{f"cpu_{name}": value for name, value in _latencies(np.concatenate(worked)).items()},
    )


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("make", [motifs, missing_isomers], ids=["C2", "C3"])
def test_a_warm_batch(make: Callable[[int, int], Batch], policy: Any, benchmark: Any) -> None:
    """512 rewards a batch on two workers, against half of RDKit's floor in one process."""
    n = size(benchmark, smoke=16, quick=512, full=512)
    seeds = itertools.count(1)
    at_hand: list[Batch] = []
    with relfast.Scorer(policy=policy, workers=WORKERS) as scorer:
        for _ in range(2):
            warm = make(n, 0)
            scorer.score_batch(warm.task, warm.answers, warm.responses)

        def floor() -> float:
            at_hand.append(make(n, next(seeds)))
            started = time.perf_counter()
            rdkit_floor(at_hand[-1], strict=policy == "strict")
            return time.perf_counter() - started

        seconds: list[tuple[float, float]] = []

        def ours() -> Any:
            batch = at_hand[-1]
            started = time.perf_counter()
            scores = scorer.score_batch(batch.task, batch.answers, batch.responses)
            seconds.append((time.perf_counter() - started, floor_seconds[-1]))
            return scores

        floor_seconds: list[float] = []

        def timed_floor() -> None:
            floor_seconds.append(floor())
            settle_the_floor()

        # the batch is made within the rival's turn, so its time is measured by hand
        against(
            benchmark,
            ours,
            timed_floor,
            task=f"{n} rewards, {warm.task}, {policy}, warm, two workers (against the RDKit floor / 2)",
            items=n,
            workers=WORKERS,
            limit=0.15,
            check=lambda scores, _: bool((scores.status == "ok").all()),
        )
    ratios = [2 * mine / theirs for mine, theirs in seconds]
    benchmark.extra_info.update(
        floor_ratio=round(float(np.median(ratios)), 3),
        spread=[round(min(ratios), 3), round(max(ratios), 3)],
    )


def test_64_callers_against_one_batch(benchmark: Any) -> None:
    """REL-C3 by single calls from 64 threads, against the same number in one batch."""
    calls = size(benchmark, smoke=1, quick=20, full=100)
    n = THREADS * calls
    seeds = itertools.count(100, 2)
    seconds: list[Any] = []
    with relfast.Scorer(policy="strict", workers=WORKERS) as scorer:
        warm = missing_isomers(64, 0)
        scorer.score_batch(warm.task, warm.answers, warm.responses)
        made: list[Batch] = []
        times: list[tuple[float, float]] = []

        def together() -> None:
            # the same molecules, so that neither side has the easier ones, and neither meets them first
            seed = next(seeds)
            first, batch, other = (missing_isomers(n, seed, spelling) for spelling in range(3))
            scorer.score_batch(first.task, first.answers, first.responses)
            made.append(other)
            started = time.perf_counter()
            scorer.score_batch(batch.task, batch.answers, batch.responses)
            times.append((time.perf_counter() - started, 0.0))

        def singly() -> int:
            batch = made[-1]
            taken = np.zeros(n)
            failures: list[int] = []

            def caller(first: int) -> None:
                for at in range(first, n, THREADS):
                    started = time.perf_counter()
                    if scorer.reward(batch.task, batch.answers[at], batch.responses[at]) is None:
                        failures.append(at)
                    taken[at] = time.perf_counter() - started

            threads = [threading.Thread(target=caller, args=(first,)) for first in range(THREADS)]
            started = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            times[-1] = (times[-1][0], time.perf_counter() - started)
            seconds.append(taken)
            return len(failures)

        against(
            benchmark,
            singly,
            together,
            task=f"{THREADS} threads × {calls} calls, REL-C3 (throughput against one batch)",
            items=n,
            workers=WORKERS,
            name="vs",
            limit=0.8,
            at_least=True,
            check=lambda failures, _: failures == 0,
        )
    ratios = [batch / single for batch, single in times]
    benchmark.extra_info.update(
        vs=round(float(np.median(ratios)), 3),
        spread=[round(min(ratios), 3), round(max(ratios), 3)],
        **_latencies(np.concatenate(seconds)),
    )


def test_a_hang_in_a_batch(benchmark: Any) -> None:
    """512 REL-C2 rewards with one that hangs, against the same batch without it plus the timeout."""
    n = size(benchmark, smoke=32, quick=512, full=512)
    timeout = 0.3 if benchmark.disabled else 2.0
    seeds = itertools.count(1_000, 2)
    lateness: list[float] = []
    plain: list[float] = []
    with relfast.Scorer(policy="reference", timeout=timeout, workers=WORKERS) as scorer:
        warm = motifs(n, 0)
        scorer.score_batch(warm.task, warm.answers, warm.responses)

        def without() -> None:
            batch = motifs(n, next(seeds))
            started = time.perf_counter()
            scorer.score_batch(batch.task, batch.answers, batch.responses)
            plain.append(time.perf_counter() - started)

        def with_one() -> list[str]:
            batch = motifs(n, next(seeds))
            batch.answers[n // 3], batch.responses[n // 3] = HANG
            started = time.perf_counter()
            scores = scorer.score_batch(batch.task, batch.answers, batch.responses)
            lateness.append(time.perf_counter() - started - timeout - plain[-1])
            time.sleep(0.1)  # the replacement comes up
            return list(scores.status)

        against(
            benchmark,
            with_one,
            without,
            task=f"{n} REL-C2 rewards, one hangs for {timeout:g} s (against the same without it)",
            items=n,
            workers=WORKERS,
            name="vs",
            check=lambda statuses, _: statuses[n // 3] == "timeout" and statuses.count("ok") == n - 1,
        )
    benchmark.extra_info["late_s"] = round(float(np.median(lateness)), 3)
    benchmark.extra_info["late_worst_s"] = round(max(lateness), 3)
    benchmark.extra_info["late_limit_s"] = 0.2
