"""Rewards: one call, a warm batch, many callers at once, a record that hangs; and text rewards under ``strict``, one call
through each trainer's door, and a batch.

What a trainer has at hand when it calls (columns, messages, a label) is made before the clock starts, all of it before
the first call but for what the trainer itself makes right before each (`read_anew`). The floor of a text is what any
of them begins with in a training loop: `json.loads` of the record and the response.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pytest
from reward_cases import HANG
from reward_doors import Arguments, Row

import relfast

from .floors import rdkit_here
from .measure import against, latencies, size
from .workloads_calls import BATCHES, DOORS, SEEDS, TASKS, calls, made, read_anew
from .workloads_chem import Batch, batch

WORKERS: Final = 2


def _scored(scorer: relfast.Scorer, batch: Batch) -> relfast.ScoreBatch:
    return scorer.score_batch(batch.task, batch.answers, batch.responses)


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("task", ["REL-C2", "REL-C3"])
def test_one_chemistry_call(task: str, policy: Any, benchmark: Any) -> None:
    """`Scorer.reward`, each answer spelled anew, against RDKit alone: parse, canonical SMILES, search."""
    n = size(benchmark, smoke=16, quick=1_024, full=4_096)
    seeds = itertools.count(1)
    taken: list[float] = []
    with relfast.Scorer(policy=policy, workers=WORKERS) as scorer:
        _scored(scorer, batch(task, 64, 0))

        def ours(made: Batch) -> bool:
            whole = True
            for answer, response in zip(made.answers, made.responses, strict=True):
                started = time.perf_counter()
                whole &= scorer.reward(task, answer, response) is not None
                taken.append(time.perf_counter() - started)
            return whole

        against(
            benchmark,
            ours,
            lambda made: rdkit_here(made, strict=policy == "strict"),
            prepare=lambda: batch(task, n, next(seeds)),
            task=f"one reward call, {task}, {policy} (against the RDKit floor)",
            items=n,
            check=lambda whole, _: whole,
        )
    benchmark.extra_info.update(latencies(taken))


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("task", ["REL-C2", "REL-C3"])
def test_a_warm_batch(task: str, policy: Any, benchmark: Any) -> None:
    """512 rewards a batch on two workers, against half of RDKit's floor in one process."""
    n = size(benchmark, smoke=16, quick=512, full=512)
    seeds = itertools.count(1)
    with relfast.Scorer(policy=policy, workers=WORKERS) as scorer:
        for _ in range(2):
            _scored(scorer, batch(task, n, 0))
        against(
            benchmark,
            lambda made: _scored(scorer, made),
            lambda made: rdkit_here(made, strict=policy == "strict"),
            prepare=lambda: batch(task, n, next(seeds)),
            task=f"{n} rewards, {task}, {policy}, warm, two workers (against the RDKit floor / 2)",
            items=n,
            limit=0.15,
            scale=2.0,
            check=lambda scores, _: set(scores.status) <= {"ok", "no_answer"},
        )


def test_a_hang_in_a_batch(benchmark: Any) -> None:
    """512 REL-C2 rewards with one that hangs, against as many without it."""
    n = size(benchmark, smoke=32, quick=512, full=512)
    timeout = 0.3 if benchmark.disabled else 2.0
    seeds = itertools.count(1_000)
    with relfast.Scorer(policy="reference", timeout=timeout, workers=WORKERS) as scorer:
        _scored(scorer, batch("REL-C2", n, 0))

        def prepare() -> tuple[Batch, Batch]:
            time.sleep(0.1)  # the replacement comes up
            without, hanging = (batch("REL-C2", n, next(seeds)) for _ in range(2))
            hanging.answers[n // 3], hanging.responses[n // 3] = HANG
            return without, hanging

        against(
            benchmark,
            lambda batches: list(_scored(scorer, batches[1]).status),
            lambda batches: _scored(scorer, batches[0]),
            prepare=prepare,
            task=f"{n} REL-C2 rewards, one hangs for {timeout:g} s (against the same without it)",
            items=n,
            check=lambda statuses, _: (
                [at for at, status in enumerate(statuses) if status not in ("ok", "no_answer")] == [n // 3]
            ),
        )


# text rewards


def _seconds(function: Callable[..., Any], calls: Sequence[Arguments], rounds: int) -> Any:
    """Of each call, shape (n,)."""
    taken = np.empty(rounds * len(calls))
    for at, waiting in enumerate(itertools.chain.from_iterable(itertools.repeat(calls, rounds))):
        arguments = read_anew(waiting)
        started = time.perf_counter()
        function(**arguments)
        taken[at] = time.perf_counter() - started
    return taken


def _texts(rows: Sequence[Row]) -> list[Arguments]:
    """Of the floor: records with their responses, gold as the trainer has it too."""
    records = (
        {"task": task, "answer": answer, "gold": json.dumps(answer), "response": text, "question": None}
        for task, answer, text, _ in rows
    )
    return [{"s": json.dumps(record)} for record in records]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", DOORS)
def test_one_call(name: str, task: str, benchmark: Any) -> None:
    n = size(benchmark, smoke=8, quick=400, full=1_000)
    rounds = size(benchmark, smoke=1, quick=5, full=20)
    chosen, door = calls(task, n), DOORS[name]
    function, asked = made(door), [door.asks([row])[0] for row in chosen]
    expected = [relfast.Scorer(policy="strict").reward(*row) for row in chosen]
    # it is warm then, too
    assert [reward for call in asked for reward in door.read(function(**call))] == expected
    taken: list[Any] = []
    texts = _texts(chosen)
    against(
        benchmark,
        lambda: taken.append(_seconds(function, asked, rounds)),
        lambda: _seconds(json.loads, texts, rounds),
        task=f"one reward call, {task}, through {name} (against json.loads of its row)",
        items=rounds * len(chosen),
    )
    benchmark.extra_info.update(latencies(np.concatenate(taken)))


@pytest.mark.parametrize("task", TASKS)
def test_a_response_never_seen(task: str, benchmark: Any) -> None:
    """The first time of each response, by a scorer that has seen others: sentences and claims are new to it."""
    n = size(benchmark, smoke=8, quick=200, full=400)
    function, asks = made(DOORS["Scorer"]), DOORS["Scorer"].asks
    for call in asks(calls(task, n)):
        function(**call)
    fresh = iter([asks(calls(task, n, seed)) for seed in range(1, SEEDS)])
    texts = _texts(calls(task, n))
    taken: list[Any] = []
    against(
        benchmark,
        lambda: taken.append(_seconds(function, next(fresh), 1)),
        lambda: _seconds(json.loads, texts, 1),
        task=f"one reward call, {task}, of a response never seen before (against json.loads of its row)",
        items=n,
        rounds=SEEDS - 1,
    )
    benchmark.extra_info.update(latencies(np.concatenate(taken)))


@pytest.mark.parametrize(
    # what a batch saves is the same code's through each door: its largest is enough of the others
    ("name", "n"), [("Scorer", 8), ("Scorer", 64), *((name, 512) for name in BATCHES)]
)  # fmt: skip
@pytest.mark.parametrize("task", TASKS)
def test_a_batch_against_single_calls(name: str, task: str, n: int, benchmark: Any) -> None:
    """Responses of n / 8 prompts in one call, against as many single calls."""
    repeats = size(benchmark, smoke=1, quick=1_024, full=4_096) // n or 1
    batch, single, chosen = BATCHES[name], DOORS[name], calls(task, n)
    (together,), asked = batch.asks(chosen), [single.asks([row])[0] for row in chosen]
    of_many, of_one = made(batch), made(single)
    against(
        benchmark,
        lambda: [of_many(**together) for _ in range(repeats)][-1],
        lambda: [[of_one(**call) for call in asked] for _ in range(repeats)][-1],
        task=f"{n} rewards, {task}, in a batch through {name} (against single calls)",
        items=repeats * n,
        check=lambda many, each: batch.read(many) == [value for one in each for value in single.read(one)],
    )
