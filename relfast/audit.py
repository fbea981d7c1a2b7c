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

from relfast.engine.calls.scorer import Scorer
from relfast.formats import Entry, read_row
from relfast.json_text import decode_text
from relfast.records import POLICIES, Policy
from relfast.results import ScoreBatch
from relfast.tasks import TASKS, find_task, infer_task

RIGHT: Final = "responses that are right"
WRONG: Final = "responses that are wrong"
"""The records' own responses, if they have any, split by whether they are correct, under each policy."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The rewards of one strategy on the records of a task.

    Attributes
    ----------
    task, strategy
        Names; the strategies `RIGHT` and `WRONG` are the records' own responses.
    n
        Number of responses; of `RIGHT` and `WRONG` under ``strict``.
    rewards, correct
        By policy: the mean of the task's reward metric, and the share of correct responses; a response
        without a score counts as 0. Each policy says by itself which responses are right.
    counts
        Number of responses by policy.
    """

    task: str
    strategy: str
    n: int
    rewards: Mapping[Policy, float]
    correct: Mapping[Policy, float]
    counts: Mapping[Policy, int]


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
        without a known task, or without gold that ``strict`` can score, are skipped.
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
            if entries := _scorable(name, taken.get(name, []), scorers["strict"]):
                findings += _audit_task(name, entries, scorers, random.Random(f"{seed}/{name}"))
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
        asked = ({"id": _text(one.id), "task": name, "question": _text(one.question)} for one in entries)
        responses = [respond(record, rng) for record in asked]
        batches = {policy: _scored(scorer, name, entries, responses) for policy, scorer in scorers.items()}
        blind.append(_finding(name, strategy, batches, dict.fromkeys(batches, range(len(entries)))))
    return findings + sorted(blind, key=lambda finding: -finding.rewards["strict"])


def _scorable(name: str, entries: Sequence[Entry], scorer: Scorer) -> list[Entry]:
    """The records that have a score, whatever the response: others would only lower every mean."""
    statuses = [score.status for score in _scored(scorer, name, entries, [""] * len(entries)).scores]
    return [entry for entry, status in zip(entries, statuses, strict=True) if status != "invalid_record"]


def _own_responses(name: str, entries: Sequence[Entry], scorers: Mapping[Policy, Scorer]) -> list[Finding]:
    answered = [(entry, sample) for entry in entries for sample in entry.samples() if isinstance(sample, str)]
    if not answered:
        return []
    their_entries, samples = zip(*answered, strict=True)
    batches = {policy: _scored(scorer, name, their_entries, samples) for policy, scorer in scorers.items()}
    findings = []
    for strategy, is_right in ((RIGHT, True), (WRONG, False)):
        chosen = {
            policy: [at for at, score in enumerate(batch.scores) if score.correct is is_right]
            for policy, batch in batches.items()
        }
        if any(chosen.values()):
            findings.append(_finding(name, strategy, batches, chosen))
    return findings


def _finding(
    name: str,
    strategy: str,
    batches: Mapping[Policy, ScoreBatch],
    chosen: Mapping[Policy, Sequence[int]],
) -> Finding:
    """What the ``chosen`` responses of each policy's batch earn."""
    rewards, correct = {}, {}
    for policy, batch in batches.items():
        at = list(chosen[policy])
        rewards[policy] = float(np.nan_to_num(batch.reward[at]).mean()) if at else 0.0
        correct[policy] = sum(batch.scores[i].correct is True for i in at) / max(1, len(at))
    counts = {policy: len(at) for policy, at in chosen.items()}
    return Finding(name, strategy, counts["strict"], rewards, correct, counts)


def _scored(scorer: Scorer, name: str, entries: Sequence[Entry], responses: Sequence[Any]) -> ScoreBatch:
    questions = [_text(entry.question) for entry in entries]
    return scorer.score_batch(name, [entry.answer for entry in entries], responses, questions=questions)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
