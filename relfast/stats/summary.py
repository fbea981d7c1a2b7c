"""`Summary` and `TaskSummary`: the numbers reported for a run, task by task, with the counts from which the
summaries of shards can be merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from relfast.records import CUT_OFF, SCORED, Plain
from relfast.stats.intervals import (
    LEVEL,
    AtK,
    Interval,
    avg_at_k,
    clustered_mean,
    maj_at_k,
    pass_at_k,
    share_interval,
    wilson,
)
from relfast.stats.samples import Repeats, collapse, group_of
from relfast.stats.sums import add_columns, add_counts, number_of, numbers_of, rounded
from relfast.stats.tally import BREAKDOWNS, Tally, TaskTally, in_order, is_flag
from relfast.stats.unusable import Cause, describe
from relfast.tables import number, share
from relfast.tasks import TASKS
from relfast.tasks.base import resolve

if TYPE_CHECKING:
    from relfast.stats.lengths import Lengths
    from relfast.stats.samples import SampleStore
    from relfast.tasks.base import ShownTable


@dataclass(slots=True, repr=False, eq=False)
class TaskSummary(Plain):
    """The results of a run for the task ``name``.

    ``counts`` are counts of its rows. ``histogram`` counts prompts by (scored samples, right samples);
    ``majorities`` maps a number of samples to (prompts, sum of majority scores). Both add up over shards that
    share no prompt. Sums are in units of `relfast.stats.sums`, so that summaries of shards merge into that of
    the whole run, to the last digit. ``lengths`` is None unless the run measured them (``--lengths``).
    """

    name: str
    counts: TaskTally
    histogram: dict[tuple[int, int], int]
    majorities: dict[int, list[int]]
    lengths: Lengths | None = None

    def merge(self, other: TaskSummary) -> None:
        """Add the summary of a shard; assumes that all samples of a prompt lie in one shard."""
        self.counts.merge(other.counts)
        add_counts(self.histogram, other.histogram)
        add_columns(self.majorities, other.majorities)
        if other.lengths is not None:
            if self.lengths is None:
                self.lengths = type(other.lengths)()
            self.lengths.merge(other.lengths)

    @property
    def rows(self) -> int:
        """Number of responses, scored or not."""
        return sum(self.statuses.values())

    @property
    def prompts(self) -> int:
        """Number of prompts with a scored response."""
        return sum(self.histogram.values())

    @property
    def statuses(self) -> dict[str, int]:
        return self.counts.statuses

    @property
    def found(self) -> int:
        """Number of responses that could be read as an answer."""
        return self.counts.found

    @property
    def labels(self) -> dict[str, dict[str, int]]:
        """Metric → label → number of rows, by the task's order of metrics, the most frequent label first."""
        return {
            name: dict(sorted(counts.items(), key=lambda label: (-label[1], label[0])))
            for name, counts in in_order(self.name, self.counts.labels)
        }

    @property
    def rewards(self) -> list[float]:
        """Number of rows with a reward, and the sum of rewards."""
        n, units = self.counts.rewards
        return [float(n), number_of(units)]

    @property
    def sums(self) -> dict[str, list[float]]:
        """Metric → number of rows that have it, and the sum of its values, by the task's order of metrics."""
        return numbers_of(dict(in_order(self.name, self.counts.sums)))

    @property
    def majority(self) -> dict[int, list[float]]:
        """Number of samples k → number of prompts with k samples, and the sum of their majority scores."""
        return numbers_of(self.majorities)

    @property
    def cells(self) -> dict[str, list[float]]:
        """The cells of the task's `Breakdown`: number of rows, then counts of flags and sums of numbers."""
        breakdown = BREAKDOWNS.get(self.name)
        flags = [True, *(is_flag(self.name, metric) for metric in breakdown.sums)] if breakdown else []
        return {
            name: [value if flag else number_of(value) for value, flag in zip(cell, flags, strict=True)]
            for name, cell in self.counts.cells.items()
        }

    @property
    def scored(self) -> int:
        """Number of responses with a score."""
        return sum(self.statuses[status] for status in SCORED)

    @property
    def mean(self) -> float | None:
        """The mean of ``correct`` over scored responses. This and the next two are None without any."""
        return clustered_mean(self.histogram)[0]

    @property
    def mean_reward(self) -> float | None:
        return self.rewards[1] / self.rewards[0] if self.rewards[0] else None

    @property
    def parsed(self) -> float | None:
        """The share of scored responses that could be read as an answer."""
        return self.found / self.scored if self.scored else None

    def at_k(self, level: float = LEVEL) -> dict[str, dict[int, AtK]]:
        """``pass@k``, ``avg@k`` and ``maj@k`` by k, each with its number of prompts and its interval; empty
        unless a prompt has several samples. pass@k averages over prompts with k samples or more, the other
        two over prompts with exactly k."""
        if max((n for n, _ in self.histogram), default=0) < 2:
            return {}
        return {
            "pass@k": pass_at_k(self.histogram, level),
            "avg@k": avg_at_k(self.histogram, level),
            "maj@k": maj_at_k(self.majority, level),
        }

    def tables(self) -> list[ShownTable]:
        """The tables of the task's `Breakdown`; empty if it has none."""
        breakdown = BREAKDOWNS.get(self.name)
        if not self.counts.cells or breakdown is None or breakdown.tables is None:
            return []
        return list(resolve(breakdown.tables)(self.cells))

    def correct_interval(self, level: float = LEVEL) -> Interval | None:
        """The interval of the mean of ``correct``, in 0…1; see `relfast.stats.intervals.share_interval`."""
        return share_interval(self.histogram, level)

    def parsed_interval(self, level: float = LEVEL) -> Interval | None:
        """Wilson's interval of the share of scored responses that could be read as an answer. It takes
        samples of a prompt as independent, since this count is not kept by prompt."""
        return wilson(self.found, self.scored, level) if self.scored else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: the reported numbers, and under ``merge`` what merging needs.

        ``records`` is an older name of ``responses``.
        """
        mean, error = clustered_mean(self.histogram)
        samples = sorted({n for n, _ in self.histogram})
        result: dict[str, Any] = {
            "records": self.rows,
            "responses": self.rows,
            "prompts": self.prompts,
            "samples_per_prompt": {"min": samples[0], "max": samples[-1]} if samples else None,
            "correct": shown(mean),
            "correct_se": shown(error),
            "correct_interval": shown_interval(self.correct_interval()),
            "reward": shown(self.mean_reward),
            "parsed": shown(self.parsed),
            "parsed_interval": shown_interval(self.parsed_interval()),
            "metrics": {name: shown(total / n) for name, (n, total) in self.sums.items() if n},
            "labels": self.labels,
            "statuses": self.statuses,
        }
        if self.counts.cut_off:
            result[CUT_OFF] = self.counts.cut_off
        at_k = self.at_k()
        for name, points in at_k.items():
            result[name] = {str(k): shown(point.value) for k, point in points.items()}
            result[f"{name}_prompts"] = {str(k): point.prompts for k, point in points.items()}
        for name, points in at_k.items():
            result[f"{name}_interval"] = {str(k): shown_interval(p.interval) for k, p in points.items()}
        breakdown = BREAKDOWNS.get(self.name)
        if self.counts.cells and breakdown is not None:
            result[breakdown.name] = resolve(breakdown.aggregate)(self.cells)
        if self.lengths is not None:
            result["lengths"] = self.lengths.to_dict()
        counts = self.counts
        # sums as hexadecimal texts: they have more digits than JSON numbers keep
        result["merge"] = {
            "histogram": [[n, right, count] for (n, right), count in sorted(self.histogram.items())],
            "found": counts.found,
            "rewards": [counts.rewards[0], f"{counts.rewards[1]:x}"],
            "sums": {name: [n, f"{units:x}"] for name, (n, units) in in_order(self.name, counts.sums)},
            "majority": [[k, n, f"{units:x}"] for k, (n, units) in sorted(self.majorities.items())],
            "cells": {name: [f"{value:x}" for value in cell] for name, cell in counts.cells.items()},
        }
        return result

    def flat(self) -> dict[str, Any]:
        """The reported numbers as a row of a table: column → number, or None."""
        mean, error = clustered_mean(self.histogram)
        row: dict[str, Any] = {"task": self.name, "prompts": self.prompts, "responses": self.rows}
        row |= {"correct": shown(mean), "correct_se": shown(error)}
        row |= _bounds("correct", self.correct_interval())
        row |= {"reward": shown(self.mean_reward), "parsed": shown(self.parsed)}
        row |= _bounds("parsed", self.parsed_interval())
        if self.lengths is not None:
            row |= self.lengths.flat()
        row |= self.statuses
        row |= {CUT_OFF: self.counts.cut_off} if self.counts.cut_off else {}
        row |= {f"metrics.{name}": shown(total / n) for name, (n, total) in self.sums.items() if n}
        for name, points in self.at_k().items():
            for k, point in points.items():
                key = f"{name[:-1]}{k}"
                row |= {key: shown(point.value), **_bounds(key, point.interval)}
        return row

    @classmethod
    def from_dict(cls, name: str, data: Mapping[str, Any]) -> TaskSummary:
        merge = data["merge"]
        n_rewards, rewards = merge["rewards"]
        counts = TaskTally(
            dict(data["statuses"]),
            merge["found"],
            [n_rewards, int(rewards, 16)],
            {name: [n, int(units, 16)] for name, (n, units) in merge["sums"].items()},
            {name: dict(value) for name, value in data["labels"].items()},
            {name: [int(value, 16) for value in cell] for name, cell in merge["cells"].items()},
            data.get(CUT_OFF, 0),
        )
        histogram = {(n, right): count for n, right, count in merge["histogram"]}
        majority = {k: [n, int(units, 16)] for k, n, units in merge["majority"]}
        made = cls(name, counts, histogram, majority)
        if "lengths" in data:
            from relfast.stats.lengths import Lengths  # few dumps are read for them

            made.lengths = Lengths.from_dict(data["lengths"])
        return made


def _bounds(name: str, interval: Interval | None) -> dict[str, float | None]:
    return {
        f"{name}_low": shown(interval and interval.low),
        f"{name}_high": shown(interval and interval.high),
    }


def shown(value: float | None) -> float | None:
    """A number as it is reported; see `relfast.stats.sums.rounded`."""
    return None if value is None else rounded(value)


def shown_interval(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [shown(bound) for bound in interval]


__all__ = ["Summary", "Tally", "TaskSummary", "summarize"]

_ORDER: Final = {name: place for place, name in enumerate(TASKS)}


@dataclass(slots=True, repr=False, eq=False)
class Summary(Plain):
    """The results of a run: the numbers of each task, and the signature that says how they were made.

    ``output`` is the file of the rows, ``seconds`` the wall time of this run. ``unusable`` lists why records
    are ``invalid_record``, the most frequent cause first.
    """

    tasks: dict[str, TaskSummary]
    signature: str
    output: str | None = None
    seconds: float | None = None
    notes: list[str] = field(default_factory=list)
    unusable: list[Cause] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Number of rows of all tasks, including those without a score."""
        return sum(task.rows for task in self.tasks.values())

    def count(self, *statuses: str) -> int:
        """Number of rows with one of these statuses."""
        return sum(task.statuses[status] for task in self.tasks.values() for status in statuses)

    def __repr__(self) -> str:
        means = (f"{name} {number(task.mean)}" for name, task in self.tasks.items())
        why = f"; {describe(self.unusable, self.rows, 'python')}" if self.unusable else ""
        return f"<Summary of {self.rows:,} responses: {', '.join(means) or 'no task'}{why}>"

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: what ``--summary`` writes, including what `from_dict` and `merge` need."""
        return {
            "signature": self.signature,
            "records": self.rows,
            "responses": self.rows,
            "output": self.output,
            "seconds": self.seconds,
            "notes": self.notes,
            **({"unusable": [cause.to_dict() for cause in self.unusable]} if self.unusable else {}),
            "tasks": {name: task.to_dict() for name, task in self.tasks.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        """The summary from the result of `to_dict`, without ``unusable``, which is for people to read.

        Raises
        ------
        KeyError, TypeError, ValueError, AttributeError, IndexError
            ``data`` is no summary.
        """
        summary = cls(
            {}, data["signature"], data.get("output"), data.get("seconds"), list(data.get("notes", ()))
        )
        for name, task in data["tasks"].items():
            summary._add(TaskSummary.from_dict(group_of(name), task))
        return summary

    def merge(self, other: Summary) -> None:
        """Add the summary of another shard. A different signature is added to ``notes``."""
        if other.signature != self.signature:
            self.notes.append(f"merged with a summary signed {other.signature}")
        of_parts = {*self._notes_on_gold(), *other._notes_on_gold()}
        for task in other.tasks.values():
            self._add(task)
        self.notes = [note for note in self.notes if note not in of_parts] + self._notes_on_gold()

    def _notes_on_gold(self) -> list[str]:
        """What `Metric.lacks` says about the rows of the tasks."""
        notes = []
        for name, task in self.tasks.items():
            for metric in TASKS[name].metric_objects if name in TASKS else ():
                of = task.counts.sums.get(metric.beside, [0])[0]
                if n := of - sum(task.labels.get(metric.name, {}).values()) if metric.lacks else 0:
                    notes.append(f"{name}: for {n:,} of {of:,} responses {metric.lacks}")
        return notes

    def _add(self, task: TaskSummary) -> None:
        if task.name in self.tasks:
            self.tasks[task.name].merge(task)
        else:
            self.tasks[task.name] = task


def summarize(tally: Tally, signature: str, store: SampleStore | None = None) -> Summary:
    """The summary of a tally, with tasks in the order of the task table. The samples are taken from
    ``store``, or from the tally itself."""
    names = sorted(tally.tasks, key=lambda name: _ORDER.get(name, len(_ORDER)))
    prompts, repeats = collapse(tally.samples, names) if store is None else store.collapse(names)
    summary = Summary(
        {name: TaskSummary(name, tally.tasks[name], *prompts[name]) for name in names}, signature
    )
    summary.notes += _notes_on(repeats)
    summary.notes += summary._notes_on_gold()
    return summary


def _notes_on(repeats: Repeats) -> Iterator[str]:
    """What was done about ids and questions that stand on several lines."""
    lines = "on more than one line; such lines are samples of one prompt"
    if repeats.ids:
        yield f"{'1 id occurs' if repeats.ids == 1 else f'{repeats.ids} ids occur'} {lines}"
    if repeats.without_id:
        n = repeats.without_id
        yield f"without an id, {'1 question occurs' if n == 1 else f'{n} questions occur'} {lines}"
    if repeats.apart:
        n = repeats.apart
        yield (
            f"{'1 id occurs' if n == 1 else f'{n} ids occur'} with different questions or, without one, gold;"
            " these are different prompts"
        )


COLUMNS: Final = ("prompts", "responses", "correct", "95 % interval", "reward", "parsed", "unscored")
"""The headings of `cells`, in tables for people."""


def cells(task: TaskSummary) -> list[str]:
    """The texts that tables show for a task, under the headings `COLUMNS`."""
    bounds = task.correct_interval()
    return [
        f"{task.prompts:,}",
        f"{task.rows:,}",
        number(task.mean),
        "–" if bounds is None else "{:.3f}–{:.3f}".format(*bounds),
        number(task.mean_reward),
        share(task.parsed),
        f"{task.rows - task.scored:,}",
    ]
