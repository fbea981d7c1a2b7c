"""Rows to numbers: means with clustered errors, pass@k, maj@k, and summaries that merge.

A `Tally` is what has been counted so far. Per row only a few bytes are kept (`relfast.stats.samples`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from relfast.records import SCORED, STATUSES, Score
from relfast.stats.estimates import AtK, clustered_mean, pass_at_k
from relfast.stats.samples import (
    FURTHER,
    SAMPLE,
    TASK_NUMBERS,
    Prompts,
    collapse,
    hash_id,
    hash_vote,
    id_text,
)
from relfast.tasks import TASKS
from relfast.tasks.base import Breakdown, Metric, resolve
from relfast.tasks.breakdown import ShownTable

_METRICS: Final = {name: task.metric_by_name for name, task in TASKS.items()}
_BREAKDOWNS: Final = {name: task.breakdown for name, task in TASKS.items() if task.breakdown is not None}
_ORDER: Final = {name: place for place, name in enumerate(TASKS)}

LABELS: Final = {
    metric.name: metric
    for task in TASKS.values()
    for metric in task.metric_by_name.values()
    if metric.kind == "label"
}
"""Metrics that are words, by name; their values are counted, not averaged."""


@dataclass(slots=True)
class TaskTally:
    """Counts of one task.

    ``rewards`` and the values of ``sums`` are (number of rows that have it, sum). ``cells`` is the
    table of `relfast.tasks.base.Breakdown` that the task has, if it has one.
    """

    statuses: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    found: int = 0
    rewards: list[float] = field(default_factory=lambda: [0.0, 0.0])
    sums: dict[str, list[float]] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)
    cells: dict[str, list[float]] = field(default_factory=dict)

    def add(self, score: Score, times: int = 1) -> None:
        """Count a row, or as many rows like it."""
        self.statuses[score.status] += times
        if score.status not in SCORED:
            return
        if score.status == "ok":
            self.found += times
        if score.reward is not None:
            self.rewards[0] += times
            self.rewards[1] += score.reward * times
        if score.metrics:
            name = score.task or ""
            _add_metrics(self, _METRICS.get(name, {}), score.metrics, times)
            breakdown = _BREAKDOWNS.get(name)
            if breakdown is not None and breakdown.by[0] in score.metrics:
                self._add_cell(name, breakdown, score.metrics, times)

    def _add_cell(self, task: str, breakdown: Breakdown, metrics: Mapping[str, Any], times: int) -> None:
        name = "/".join("" if metrics[key] is None else f"{metrics[key]:g}" for key in breakdown.by)
        cell = self.cells.get(name)
        if cell is None:
            # sums of flags are counts, which JSON shows without a point
            flags = [_METRICS[task][metric].kind == "flag" for metric in breakdown.sums]
            cell = self.cells[name] = [0, *(0 if flag else 0.0 for flag in flags)]
        cell[0] += times
        for at, metric in enumerate(breakdown.sums, 1):
            cell[at] += times * (metrics[metric] or 0)

    def merge(self, other: TaskTally) -> None:
        for status, n in other.statuses.items():
            self.statuses[status] += n
        self.found += other.found
        self.rewards = [a + b for a, b in zip(self.rewards, other.rewards, strict=True)]
        for name, (n_rows, total) in other.sums.items():
            mine = self.sums.setdefault(name, [0, 0.0])
            mine[0] += n_rows
            mine[1] += total
        for name, counts in other.labels.items():
            mine_counts = self.labels.setdefault(name, {})
            for label, n in counts.items():
                mine_counts[label] = mine_counts.get(label, 0) + n
        for name, cell in other.cells.items():
            mine = self.cells.setdefault(name, [0] * len(cell))
            mine[:] = [a + b for a, b in zip(mine, cell, strict=True)]


UNKNOWN_TASK: Final = "(unknown)"


@dataclass(slots=True)
class Tally:
    """Counts of a run so far, per task; rows whose task is unknown count under ``(unknown)``.

    ``samples`` holds the scored rows in order, as `SAMPLE` records one after the other.
    """

    tasks: dict[str, TaskTally] = field(default_factory=dict)
    samples: bytearray = field(default_factory=bytearray)

    @classmethod
    def of(cls, scores: Iterable[Score]) -> Tally:
        """The tally of some scores."""
        tally = cls()
        tally.samples += b"".join([tally.add(score) for score in scores])
        return tally

    def add(self, score: Score, times: int = 1) -> bytes:
        """Count a row (or as many rows like it); its `SAMPLE` record, empty if it is not scored."""
        name = score.task or UNKNOWN_TASK
        task = self.tasks.get(name)
        if task is None:
            task = self.tasks[name] = TaskTally()
        task.add(score, times)
        if score.status not in SCORED:
            return b""
        key = orjson.dumps(score.index) if score.id is None else id_text(score.id)
        number = TASK_NUMBERS[name] + (FURTHER if score.sample else 0)
        return SAMPLE.pack(number, hash_id(key), hash_vote(score.vote), bool(score.correct))

    def merge(self, other: Tally) -> None:
        for name, task in other.tasks.items():
            self.tasks.setdefault(name, TaskTally()).merge(task)
        self.samples += other.samples

    @property
    def rows(self) -> int:
        return sum(sum(task.statuses.values()) for task in self.tasks.values())

    def count(self, *statuses: str) -> int:
        return sum(task.statuses[status] for task in self.tasks.values() for status in statuses)


def _add_metrics(
    task: TaskTally, known: Mapping[str, Metric], metrics: Mapping[str, Any], times: int
) -> None:
    """Add a row's metrics; the texts of ``--details`` stand beside them and are no metrics."""
    for name, value in metrics.items():
        metric = known.get(name)
        if metric is None or value is None:
            continue
        if metric.kind == "label":
            counts = task.labels.setdefault(name, {})
            counts[value] = counts.get(value, 0) + times
        elif isinstance(value, int | float) and value != metric.undefined:
            mine = task.sums.get(name)
            if mine is None:
                mine = task.sums[name] = [0, 0.0]
            mine[0] += times
            mine[1] += value * times


@dataclass(slots=True)
class TaskSummary:
    """What is reported of the task ``name``.

    ``rows`` counts responses, scored or not; ``prompts`` those with a scored response. ``histogram`` counts
    prompts by (scored samples, right samples); ``majority`` maps a number of samples to (prompts, sum of
    majority scores). Both add up over shards that share no prompt.
    """

    name: str
    rows: int
    prompts: int
    statuses: dict[str, int]
    found: int
    rewards: list[float]
    sums: dict[str, list[float]]
    labels: dict[str, dict[str, int]]
    histogram: dict[tuple[int, int], int]
    majority: dict[int, list[float]]
    cells: dict[str, list[float]]

    @classmethod
    def of(cls, name: str, tally: TaskTally, prompts: Prompts) -> TaskSummary:
        """From the counts of its rows and its prompts."""
        return cls(
            name,
            sum(tally.statuses.values()),
            sum(prompts.histogram.values()),
            dict(tally.statuses),
            tally.found,
            list(tally.rewards),
            {name: list(value) for name, value in tally.sums.items()},
            {name: dict(value) for name, value in tally.labels.items()},
            prompts.histogram,
            prompts.majority,
            {name: list(cell) for name, cell in tally.cells.items()},
        )

    def merge(self, other: TaskSummary) -> None:
        """Add a shard's summary; prompts are taken to lie in one shard each."""
        mine, theirs = self._as_tally(), other._as_tally()
        mine.merge(theirs)
        self.rows += other.rows
        self.prompts += other.prompts
        self.statuses, self.found, self.rewards = mine.statuses, mine.found, mine.rewards
        self.sums, self.labels, self.cells = mine.sums, mine.labels, mine.cells
        for key, n in other.histogram.items():
            self.histogram[key] = self.histogram.get(key, 0) + n
        add_majorities(self.majority, other.majority)

    def _as_tally(self) -> TaskTally:
        return TaskTally(self.statuses, self.found, self.rewards, self.sums, self.labels, self.cells)

    @property
    def scored(self) -> int:
        return sum(self.statuses[status] for status in SCORED)

    def at_k(self) -> dict[str, dict[int, AtK]]:
        """``pass@k`` and ``maj@k`` by k, each with its number of prompts; empty unless a prompt has several
        samples. pass@k is over the prompts with k samples or more, maj@k over those with exactly k."""
        if max((n for n, _ in self.histogram), default=0) < 2:
            return {}
        return {
            "pass@k": pass_at_k(self.histogram),
            "maj@k": {k: AtK(total / n, int(n)) for k, (n, total) in sorted(self.majority.items()) if n},
        }

    def tables(self) -> list[ShownTable]:
        """The tables of the task's own aggregates; empty where it has none."""
        breakdown = _BREAKDOWNS.get(self.name)
        if not self.cells or breakdown is None or breakdown.tables is None:
            return []
        return list(resolve(breakdown.tables)(self.cells))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: the reported numbers, and under ``merge`` what merging needs.

        ``records`` is the number of responses under its older name.
        """
        mean, error = clustered_mean(self.histogram)
        samples = sorted({n for n, _ in self.histogram})
        parsed = self.found / self.scored if self.scored else None
        result: dict[str, Any] = {
            "records": self.rows,
            "responses": self.rows,
            "prompts": self.prompts,
            "samples_per_prompt": {"min": samples[0], "max": samples[-1]} if samples else None,
            "correct": _shown(mean),
            "correct_se": _shown(error),
            "reward": _shown(self.rewards[1] / self.rewards[0]) if self.rewards[0] else None,
            "parsed": _shown(parsed),
            "metrics": {name: _shown(total / n) for name, (n, total) in self.sums.items() if n},
            "labels": self.labels,
            "statuses": self.statuses,
        }
        for name, points in self.at_k().items():
            result[name] = {str(k): _shown(point.value) for k, point in points.items()}
            result[f"{name}_prompts"] = {str(k): point.prompts for k, point in points.items()}
        breakdown = _BREAKDOWNS.get(self.name)
        if self.cells and breakdown is not None:
            result[breakdown.name] = resolve(breakdown.aggregate)(self.cells)
        result["merge"] = {
            "histogram": [[n, right, count] for (n, right), count in sorted(self.histogram.items())],
            "majority": [[k, n, _shown(total)] for k, (n, total) in sorted(self.majority.items())],
            "rewards": [self.rewards[0], _shown(self.rewards[1])],
            "found": self.found,
            "sums": {name: [n, _shown(total)] for name, (n, total) in self.sums.items()},
            "cells": {name: [_count_or_sum(value) for value in cell] for name, cell in self.cells.items()},
        }
        return result

    @classmethod
    def from_dict(cls, name: str, data: Mapping[str, Any]) -> TaskSummary:
        merge = data["merge"]
        return cls(
            name,
            data["records"],
            data["prompts"],
            dict(data["statuses"]),
            merge["found"],
            list(merge["rewards"]),
            {name: list(value) for name, value in merge["sums"].items()},
            {name: dict(value) for name, value in data["labels"].items()},
            {(n, right): count for n, right, count in merge["histogram"]},
            {k: [n, total] for k, n, total in merge["majority"]},
            {name: list(cell) for name, cell in merge["cells"].items()},
        )


def add_majorities(mine: dict[int, list[float]], theirs: Mapping[int, list[float]]) -> None:
    """Add `TaskSummary.majority` of other prompts."""
    for k, (n_prompts, total) in theirs.items():
        entry = mine.setdefault(k, [0, 0.0])
        entry[0] += n_prompts
        entry[1] += total


def _shown(value: float | None) -> float | None:
    """Rounded to where the order of summation, and so the number of workers, no longer shows."""
    return None if value is None else float(f"{value:.12g}")


def _count_or_sum(value: float) -> float | None:
    return value if isinstance(value, int) else _shown(value)


@dataclass(slots=True)
class Summary:
    """What a run came to: per task the numbers, and the signature that says how they were made.

    ``output`` is where the rows went, ``seconds`` the wall time of this run.
    """

    tasks: dict[str, TaskSummary]
    signature: str
    output: str | None = None
    seconds: float | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(task.rows for task in self.tasks.values())

    def count(self, *statuses: str) -> int:
        """Rows with one of these statuses."""
        return sum(task.statuses[status] for task in self.tasks.values() for status in statuses)

    def to_dict(self) -> dict[str, Any]:
        return {
            "signature": self.signature,
            "records": self.rows,
            "responses": self.rows,
            "output": self.output,
            "seconds": self.seconds,
            "notes": self.notes,
            "tasks": {name: task.to_dict() for name, task in self.tasks.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        return cls(
            {name: TaskSummary.from_dict(name, task) for name, task in data["tasks"].items()},
            data["signature"],
            data.get("output"),
            data.get("seconds"),
            list(data.get("notes", ())),
        )

    def merge(self, other: Summary) -> None:
        """Add the summary of another shard. Different signatures are noted, not hidden."""
        if other.signature != self.signature:
            self.notes.append(f"merged with a summary signed {other.signature}")
        for name, task in other.tasks.items():
            if name in self.tasks:
                self.tasks[name].merge(task)
            else:
                self.tasks[name] = task


def summarize(tally: Tally, signature: str) -> Summary:
    """The summary of a tally, tasks in the order of the task table."""
    names = sorted(tally.tasks, key=lambda name: _ORDER.get(name, len(_ORDER)))
    prompts, repeated = collapse(tally.samples, names)
    summary = Summary(
        {name: TaskSummary.of(name, tally.tasks[name], prompts[name]) for name in names}, signature
    )
    if repeated:
        what = "1 id occurs" if repeated == 1 else f"{repeated} ids occur"
        summary.notes.append(f"{what} on more than one line; such lines are samples of one prompt")
    return summary
