"""Helpers that all generators share: random streams, balanced plans, a check that gold is correct."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from relfast.errors import RelfastError, UsageError
from relfast.parameters import Whole
from relfast.records import POLICIES, Outcome, Record
from relfast.tasks import AllOptions
from relfast.tasks.base import KernelScorer, Task

_OPTIONS: Final = tuple(AllOptions(policy=policy) for policy in POLICIES)

MAX_RECORDS: Final = 10_000_000
"""Maximum records per run: ids have five digits or more, and ten million records of REL-A1 are 30 GB."""


MOCK_SKILL: Final = 0.5
"""Share of questions that a task's mock model knows the answer to."""


def stream(task: str, seed: int, index: int, *more: object) -> random.Random:
    """The random stream of one record: the same numbers on every machine, different for every other record.

    Seeding `random.Random` with text goes through SHA-512 and, like the generator itself, is the same
    in every Python since 3.2. Because each record has its own stream, the first m records of a run of n are
    the records of a run of m.
    """
    return random.Random("/".join(str(part) for part in (task, seed, index, *more)))


def check_count(n: int, seed: int) -> None:
    """Raise `UsageError` unless ``n`` and ``seed`` are integers that a run accepts."""
    Whole(0, MAX_RECORDS).check("number of records", n)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UsageError(f"seed must be an integer from 0, not {seed!r}")


class Slot(NamedTuple):
    """The class (yes or no) and the size of the record to generate at a place (0-based) of the run."""

    place: int
    yes: bool
    size: int


def plan(n: int, yes_fraction: float, sizes: Sequence[int]) -> Iterator[Slot]:
    """The classes and sizes of n records. In any first m records the number of yes is m * ``yes_fraction`` to
    within one record.

    Each class cycles through ``sizes`` on its own, so that a record's size does not reveal its class.
    """
    yes_so_far = 0
    for index in range(n):
        # floor of the exact share; the small term keeps 0.1 * 10 from landing below 1
        due = int((index + 1) * yes_fraction + 1e-9)
        yes = due > yes_so_far
        turn = yes_so_far if yes else index - yes_so_far
        yes_so_far = due
        yield Slot(index, yes, sizes[turn % len(sizes)])


class UnconfirmedGoldError(RelfastError):
    """A generated record whose gold relfast's own scorer rejects: a bug; the record is not handed out."""


def record_of(
    task: Task, id: str, question: str, answer: dict[str, Any], metadata: dict[str, Any], *stated: str
) -> dict[str, Any]:
    """A record in the published form. Responses ``stated`` that give its gold check it (`confirm`)."""
    record = {
        "id": id,
        "domain": task.gold.domain,
        "task": task.name,
        "question": question,
        "answer": answer,
        "metadata": metadata,
    }
    return confirm(task, record, *stated)


def confirm(task: Task, record: dict[str, Any], response: str, strictly: str | None = None) -> dict[str, Any]:
    """The record, after a check that ``response``, which states its gold, is correct under both policies.

    ``strictly`` replaces ``response`` under ``strict`` for tasks in which the policy reads gold differently.
    """
    for options in _OPTIONS:
        stated = response if strictly is None or not options.strict else strictly
        candidate = Record(0, record["id"], task.name, record["answer"], stated, record["question"])
        outcome = _outcome_of(task, candidate, options)
        if outcome.error is not None or not outcome.correct:
            why = outcome.error or outcome.metrics
            raise UnconfirmedGoldError(f"{record['id']}: gold is not correct under {options.policy}: {why}")
    return record


@lru_cache
def _kernels_of(task: Task, options: AllOptions) -> KernelScorer | None:
    return task.open_kernels(options, shows=False)


def _outcome_of(task: Task, candidate: Record, options: AllOptions) -> Outcome:
    """The outcome that a reward function would get; by kernels if possible: RDKit is 100 times slower."""
    kernels = _kernels_of(task, options) if task.can_hang else None
    if kernels is not None:
        gold = kernels.prepare(candidate.answer, candidate.question)
        (quick,) = kernels.score([gold], [candidate.response]) if gold >= 0 else (None,)
        if kernels.is_full:
            _kernels_of.cache_clear()
        if quick is not None:
            return quick
    (outcome,) = task.score([candidate], options)
    return outcome
