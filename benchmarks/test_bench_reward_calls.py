"""Text rewards under ``strict``: one call through each trainer's door, a batch, and many threads at once.

The floor of a call is what any of them begins with in a training loop: `json.loads` of the record and the response.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pytest

import relfast

from .measure import against, size
from .workloads_calls import DOORS, TASKS, Call, calls, columns

THREADS: Final = 64


def _seconds(function: Callable[[Any], Any], arguments: Sequence[Any], rounds: int) -> Any:
    """Of each call, shape (n,)."""
    taken = np.empty(rounds * len(arguments))
    at = 0
    for _ in range(rounds):
        for argument in arguments:
            started = time.perf_counter()
            function(argument)
            taken[at] = time.perf_counter() - started
            at += 1
    return taken


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("door", DOORS)
def test_one_call(door: str, task: str, benchmark: Any) -> None:
    n = size(benchmark, smoke=8, quick=400, full=1_000)
    rounds = size(benchmark, smoke=1, quick=5, full=20)
    chosen = calls(task, n)
    reward = DOORS[door]()
    expected = [relfast.Scorer(policy="strict").reward(*_row(call)) for call in chosen]
    assert [reward(call) for call in chosen] == expected  # it is warm then, too
    texts = [json.dumps({**call._asdict(), "question": None}) for call in chosen]
    ours: list[Any] = []
    theirs: list[Any] = []
    against(
        benchmark,
        lambda: ours.append(_seconds(reward, chosen, rounds)),
        lambda: theirs.append(_seconds(json.loads, texts, rounds)),
        task=f"one reward call, {task}, through {door} (against json.loads of its row)",
        items=rounds * len(chosen),
    )
    taken, floor = np.concatenate(ours), float(np.median(np.concatenate(theirs)))
    p50, p99 = np.percentile(taken, [50, 99])
    benchmark.extra_info.update(
        {
            f"{name}{unit}": round(scale * float(value), 2)
            for name, value in (("p50", p50), ("p99", p99), ("max", np.max(taken)))
            for unit, scale in (("_us", 1e6), ("_x_floor", 1 / floor))
        }
    )


@pytest.mark.parametrize("task", TASKS)
def test_a_batch_against_single_calls(task: str, benchmark: Any) -> None:
    """512 responses of 64 prompts in one call, against as many single calls."""
    n = size(benchmark, smoke=16, quick=512, full=512)
    chosen = calls(task, max(1, n // 8)) * 8
    scorer = relfast.Scorer(policy="strict")
    tasks, golds, responses, questions = columns(chosen)
    against(
        benchmark,
        lambda: scorer.rewards(tasks, golds, responses, questions=questions),
        lambda: [scorer.reward(*_row(call)) for call in chosen],
        task=f"{n} rewards, {task}, in a batch (against single calls)",
        items=len(chosen),
        name="vs",
        check=lambda batch, single: batch == single,
    )


def test_64_threads_against_one(benchmark: Any) -> None:
    """The same batches from 64 threads at once, against one thread that makes them one after the other."""
    repeats = size(benchmark, smoke=1, quick=4, full=20)
    scorer = relfast.Scorer(policy="strict")
    batches = [columns(calls(task, size(benchmark, smoke=4, quick=64, full=64))) for task in TASKS]

    def score(at: int) -> None:
        tasks, golds, responses, questions = batches[at % len(batches)]
        scorer.rewards(tasks, golds, responses, questions=questions)

    def alone() -> None:
        for at in range(THREADS * repeats):
            score(at)

    def together() -> None:
        def some(first: int) -> None:
            for at in range(repeats):
                score(first + THREADS * at)

        threads = [threading.Thread(target=some, args=(first,)) for first in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    alone()
    against(
        benchmark,
        together,
        alone,
        task=f"text rewards from {THREADS} threads (against one thread)",
        items=sum(len(batch[0]) for batch in batches) * THREADS * repeats // len(batches),
        name="vs",
    )


def _row(call: Call) -> tuple[Any, ...]:
    return call.task, call.gold, call.response, call.question
