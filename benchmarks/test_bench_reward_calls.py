"""Text rewards under ``strict``: one call through each trainer's door, and a batch.

What a trainer has at hand when it calls (columns, messages, a label) is made before the clock starts, all of it before
the first call but for what the trainer itself makes right before each (`Door.at_last`). The floor of a call is what any
of them begins with in a training loop: `json.loads` of the record and the response.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import relfast

from .measure import against, size
from .workloads_calls import BATCHES, DOORS, SEEDS, TASKS, Call, as_it_is, calls


def _seconds(
    function: Callable[..., Any],
    rows: Sequence[tuple[Any, ...]],
    rounds: int,
    at_last: Callable[[tuple[Any, ...]], tuple[Any, ...]] = as_it_is,
) -> Any:
    """Of each call, shape (n,)."""
    taken = np.empty(rounds * len(rows))
    at = 0
    for _ in range(rounds):
        for waiting in rows:
            row = at_last(waiting)
            started = time.perf_counter()
            function(*row)
            taken[at] = time.perf_counter() - started
            at += 1
    return taken


def _shown(taken: Any, floor: float) -> dict[str, float]:
    """Of calls, in s, and as multiples of a floor."""
    p50, p99 = np.percentile(taken, [50, 99])
    return {
        f"{name}{unit}": round(scale * float(value), 2)
        for name, value in (("p50", p50), ("p99", p99), ("max", np.max(taken)))
        for unit, scale in (("_us", 1e6), ("_x_floor", 1 / floor))
    }


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", DOORS)
def test_one_call(name: str, task: str, benchmark: Any) -> None:
    n = size(benchmark, smoke=8, quick=400, full=1_000)
    rounds = size(benchmark, smoke=1, quick=5, full=20)
    chosen = calls(task, n)
    door = DOORS[name]()
    rows = [door.arguments(call) for call in chosen]
    expected = [relfast.Scorer(policy="strict").reward(*_row(call)) for call in chosen]
    assert [door.call(*row) for row in rows] == expected  # it is warm then, too
    texts = [(json.dumps({**call._asdict(), "question": None}),) for call in chosen]
    ours: list[Any] = []
    theirs: list[Any] = []
    against(
        benchmark,
        lambda: ours.append(_seconds(door.call, rows, rounds, door.at_last)),
        lambda: theirs.append(_seconds(json.loads, texts, rounds)),
        task=f"one reward call, {task}, through {name} (against json.loads of its row)",
        items=rounds * len(chosen),
    )
    benchmark.extra_info.update(_shown(np.concatenate(ours), float(np.median(np.concatenate(theirs)))))


@pytest.mark.parametrize("task", TASKS)
def test_a_response_never_seen(task: str, benchmark: Any) -> None:
    """The first time of each response, by a scorer that has seen others: sentences and claims are new to it."""
    n = size(benchmark, smoke=8, quick=200, full=400)
    scorer = relfast.Scorer(policy="strict")
    for call in calls(task, n):
        scorer.reward(*_row(call))
    fresh = iter([calls(task, n, seed) for seed in range(1, SEEDS)])
    texts = [(json.dumps({**call._asdict(), "question": None}),) for call in calls(task, n)]
    ours: list[Any] = []
    theirs: list[Any] = []
    against(
        benchmark,
        lambda: ours.append(_seconds(scorer.reward, [_row(call) for call in next(fresh)], 1)),
        lambda: theirs.append(_seconds(json.loads, texts, 1)),
        task=f"one reward call, {task}, of a response never seen before (against json.loads of its row)",
        items=n,
        rounds=SEEDS - 1,
    )
    benchmark.extra_info.update(_shown(np.concatenate(ours), float(np.median(np.concatenate(theirs)))))


@pytest.mark.parametrize("n", [8, 64, 512])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_against_single_calls(name: str, task: str, n: int, benchmark: Any) -> None:
    """Responses of n / 8 prompts in one call, against as many single calls; by this thread's CPU time beside the clock."""
    if name != "Scorer" and n < 512:
        pytest.skip("what a batch saves is the same code's through each door: its largest is enough")
    repeats = size(benchmark, smoke=1, quick=1_024, full=4_096) // n or 1
    batch, single = BATCHES[name]()
    chosen = calls(task, n)
    columns, rows = batch.arguments(chosen), [single.arguments(call) for call in chosen]
    worked: dict[str, list[float]] = {"together": [], "singly": []}

    def together() -> Any:
        began = time.thread_time()
        for _ in range(repeats):
            rewards = batch.rewards(*columns)
        worked["together"].append(time.thread_time() - began)
        return rewards

    def singly() -> Any:
        began = time.thread_time()
        for _ in range(repeats):
            rewards = [single.call(*row) for row in rows]
        worked["singly"].append(time.thread_time() - began)
        return rewards

    against(
        benchmark,
        together,
        singly,
        task=f"{n} rewards, {task}, in a batch through {name} (against single calls)",
        items=repeats * n,
        name="vs",
        check=lambda batch, single: batch == single,
    )
    # the first time of either learns what single lines say
    pairs = list(zip(worked["together"], worked["singly"], strict=True))[-1 if benchmark.disabled else 1 :]
    benchmark.extra_info["cpu_vs"] = round(float(np.median([ours / theirs for ours, theirs in pairs])), 3)
    ours_in_all = sum(ours for ours, _ in pairs) / len(pairs)
    benchmark.extra_info["cpu_us_each"] = round(1e6 * ours_in_all / (repeats * n), 2)


def _row(call: Call) -> tuple[Any, ...]:
    return call.task, call.gold, call.response, call.question
