"""Measures the reward of blind strategies on your records, under both policies.

A blind strategy answers without solving the problem: by a leak of the records ("the shortest option") or by a
constant ("No"). It sees the question's text, never gold. A model in training finds such strategies first, so
right answers should earn far more.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from relfast.engine.online.scorer import Scorer
from relfast.formats import Entry, read_row
from relfast.json_text import decode_text
from relfast.records import POLICIES, Policy
from relfast.results import ScoreBatch
from relfast.tasks import TASKS, find_task, infer_task

RIGHT: Final = "responses that are right"
WRONG: Final = "responses that are wrong"
"""The records' own responses, if they have any, split by whether ``strict`` scores them as correct."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The rewards of one strategy on the records of a task.

    Attributes
    ----------
    task, strategy
        Names; the strategies `RIGHT` and `WRONG` are the records' own responses.
    n
        Number of responses.
    rewards, correct
        By policy: the mean of the task's reward metric, and the share of correct responses; a response
        without a score counts as 0.
    """

    task: str
    strategy: str
    n: int
    rewards: Mapping[Policy, float]
    correct: Mapping[Policy, float]


def audit(
    rows: Iterable[Mapping[str, Any]],
    *,
    limit: int = 200,
    seed: int = 0,
    workers: int | None = None,
) -> list[Finding]:
    """Score the blind strategies of each task on records of dumps or data sets.

    Parameters
    ----------
    rows
        Rows of any input dialect, with or without responses. The first ``limit`` of each task are used; rows
        without a known task or without gold are skipped.
    seed
        Seed of the strategies' guesses.
    workers
        As for `relfast.Scorer`.

    Returns
    -------
    list of Finding
        By task, in the order of the table of tasks. For each task first the records' own responses, then the
        strategies, by falling reward under ``strict``.
    """
    taken: dict[str, list[Entry]] = {}
    for row in rows:
        entry = read_row(row, "auto")
        answer = entry.answer
        if isinstance(answer, str):
            answer = decode_text(answer)
        task = find_task(entry.task) or infer_task(answer)
        if task is None or not isinstance(answer, Mapping):
            continue
        entry.answer = answer
        of_task = taken.setdefault(task.name, [])
        if len(of_task) < limit:
            of_task.append(entry)
    findings: list[Finding] = []
    scorers = {policy: Scorer(policy=policy, workers=workers) for policy in POLICIES}
    try:
        for name in TASKS:
            if name in taken:
                findings += _audit_task(name, taken[name], scorers, random.Random(f"{seed}/{name}"))
    finally:
        for scorer in scorers.values():
            scorer.close()
    return findings


def _audit_task(
    name: str, entries: Sequence[Entry], scorers: Mapping[Policy, Scorer], rng: random.Random
) -> list[Finding]:
    findings = _own_responses(name, entries, scorers)
    blind = []
    for strategy, respond in TASKS[name].blind_strategies().items():
        responses = [respond(_without_gold(name, entry), rng) for entry in entries]
        blind.append(_finding(name, strategy, entries, responses, scorers))
    return findings + sorted(blind, key=lambda finding: -finding.rewards["strict"])


def _own_responses(name: str, entries: Sequence[Entry], scorers: Mapping[Policy, Scorer]) -> list[Finding]:
    answered = [(entry, sample) for entry in entries for sample in entry.samples() if isinstance(sample, str)]
    if not answered:
        return []
    scored = _scored(scorers["strict"], name, *zip(*answered, strict=True))
    findings = []
    for strategy, is_right in ((RIGHT, True), (WRONG, False)):
        chosen = [
            pair for pair, score in zip(answered, scored.scores, strict=True) if score.correct is is_right
        ]
        if chosen:
            their_entries, samples = zip(*chosen, strict=True)
            findings.append(_finding(name, strategy, their_entries, samples, scorers))
    return findings


def _finding(
    name: str,
    strategy: str,
    entries: Sequence[Entry],
    responses: Sequence[Any],
    scorers: Mapping[Policy, Scorer],
) -> Finding:
    rewards, correct = {}, {}
    for policy, scorer in scorers.items():
        batch = _scored(scorer, name, entries, responses)
        rewards[policy] = float(np.nan_to_num(batch.reward).mean())
        correct[policy] = sum(score.correct is True for score in batch.scores) / len(entries)
    return Finding(name, strategy, len(entries), rewards, correct)


def _scored(scorer: Scorer, name: str, entries: Sequence[Entry], responses: Sequence[Any]) -> ScoreBatch:
    questions = [_text(entry.question) for entry in entries]
    return scorer.score_batch(name, [entry.answer for entry in entries], responses, questions=questions)


def _without_gold(name: str, entry: Entry) -> dict[str, Any]:
    return {"id": _text(entry.id), "task": name, "question": _text(entry.question)}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
