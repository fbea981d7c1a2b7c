"""Counts of a run's rows, collected as they come; they add up over blocks and workers, in any order.

For each row only a few bytes are kept (`relfast.stats.samples`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from relfast.records import CUT_OFF, SCORED, STATUSES, Score
from relfast.stats.samples import (
    FURTHER,
    SAMPLE,
    TASK_NUMBERS,
    flags_of,
    group_of,
    hash_key,
    hash_vote,
    key_of,
)
from relfast.stats.sums import add_columns, add_counts, units_of
from relfast.support.plain import Plain
from relfast.tasks import TASKS
from relfast.tasks.facts import Metric

_T = TypeVar("_T")

METRICS: Final = {name: task.metric_by_name for name, task in TASKS.items()}
BREAKDOWNS: Final = {name: task.breakdown for name, task in TASKS.items() if task.breakdown is not None}


@dataclass(slots=True, repr=False, eq=False)
class TaskTally(Plain):
    """Counts of the rows of one task.

    ``rewards`` and the values of ``sums`` are (number of rows with a value, sum in units of
    `relfast.stats.sums`). ``cells`` is the table of the task's `relfast.tasks.facts.Breakdown`, if it has
    one: for each cell the number of rows, then the count of each flag and the sum (units) of each number.
    ``cut_off`` counts responses that were cut off before they began.
    """

    statuses: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    found: int = 0
    rewards: list[int] = field(default_factory=lambda: [0, 0])
    sums: dict[str, list[int]] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)
    cells: dict[str, list[int]] = field(default_factory=dict)
    cut_off: int = 0

    def add(self, scores: Sequence[Score]) -> None:
        """Count rows, which must all be of this task. Works column by column, which is faster."""
        for status, times in Counter([score.status for score in scores]).items():
            self.statuses[status] += times
        scored = [score for score in scores if score.status in SCORED]
        rows = [score.metrics for score in scored]
        task = scored[0].task or "" if scored else ""
        known = METRICS.get(task, {})
        # only the task's metrics: rows that other programs wrote may have any number of other names
        names = [name for name in dict.fromkeys(itertools.chain.from_iterable(rows)) if name in known]
        columns = {metric: [metrics.get(metric) for metrics in rows] for metric in names}
        self.found += sum([score.status == "ok" for score in scored])
        self.cut_off += sum([CUT_OFF in metrics for metrics in rows])
        n, units = _added([score.reward for score in scored], None)
        self.rewards[0] += n
        self.rewards[1] += units
        self._add_columns(known, columns)
        breakdown = BREAKDOWNS.get(task)
        if breakdown is not None and breakdown.by[0] in columns:
            keys = zip(*[columns[name] for name in breakdown.by], strict=True)
            added = [_addends(task, name, columns[name]) for name in breakdown.sums]
            for (key, values), n in Counter(zip(keys, zip(*added, strict=True), strict=True)).items():
                add_columns(self.cells, {_cell_name(key): (1, *values)}, n)

    def _add_columns(self, known: Mapping[str, Metric], columns: Mapping[str, Sequence[Any]]) -> None:
        for name, column in columns.items():
            metric = known[name]
            if metric.kind != "label":
                n, units = _added(column, metric.undefined)
                if n:
                    add_columns(self.sums, {name: (n, units)})
                continue
            counts = Counter(column)
            del counts[None]
            if counts:
                add_counts(self.labels.setdefault(name, {}), counts)

    def merge(self, other: TaskTally, times: int = 1) -> None:
        """Add the counts of other rows, ``times`` times."""
        add_counts(self.statuses, other.statuses, times)
        self.found += other.found * times
        self.cut_off += other.cut_off * times
        self.rewards[0] += other.rewards[0] * times
        self.rewards[1] += other.rewards[1] * times
        add_columns(self.sums, other.sums, times)
        for name, counts in other.labels.items():
            add_counts(self.labels.setdefault(name, {}), counts, times)
        add_columns(self.cells, other.cells, times)


def is_flag(task: str, metric: str) -> bool:
    """Whether a metric is a flag, so that its sum is a count, which JSON shows without a decimal point."""
    return METRICS[task][metric].kind == "flag"


def _cell_name(key: Sequence[float | None]) -> str:
    return "/".join(["" if value is None else f"{value:g}" for value in key])


def _addends(task: str, metric: str, values: Sequence[Any]) -> list[int]:
    """What each value of a metric adds to its cell: 0 or 1 for a flag, units for a number."""
    if is_flag(task, metric):
        return [bool(value) for value in values]
    return [units_of(value or 0) or 0 for value in values]


_NUMBERS: Final = (int, float)  # ``int | float`` would be evaluated anew for each value


def _added(values: Sequence[Any], undefined: float | None) -> tuple[int, int]:
    """Number of finite values other than ``undefined``, and their sum in units."""
    n, total = 0, 0
    # a Counter, since most values occur in many rows
    for value, times in Counter([value for value in values if isinstance(value, _NUMBERS)]).items():
        if value != undefined and (units := units_of(value)) is not None:
            n, total = n + times, total + units * times
    return n, total


def in_order(task: str, counted: Mapping[str, _T]) -> list[tuple[str, _T]]:
    """What is counted of metrics, in the order of the task's table of metrics: that in which rows come tells
    nothing, and differs with the number of workers."""
    places = {name: place for place, name in enumerate(METRICS.get(task, ()))}
    return sorted(counted.items(), key=lambda item: (places.get(item[0], len(places)), item[0]))


@dataclass(slots=True, repr=False, eq=False)
class Tally(Plain):
    """Counts of a run so far, for each group of rows (`relfast.stats.samples.group_of`).

    ``samples`` holds a `SAMPLE` record for each scored row, in order. ``outcomes`` counts rows that are not
    in ``tasks`` yet: result key of the text kernel → number of rows. A run adds them up, and looks at what a
    key means once, at its end (`expand`): each block has some hundred keys.
    """

    tasks: dict[str, TaskTally] = field(default_factory=dict)
    samples: bytearray = field(default_factory=bytearray)
    outcomes: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, scores: Iterable[Score]) -> Tally:
        """The tally of some scores."""
        tally, rows = cls(), [*scores]
        tally.add_samples(rows)
        tally.add(rows)
        return tally

    def add(self, scores: Iterable[Score]) -> None:
        """Count rows; their samples, whose order matters, are added by `add_samples`."""
        groups: dict[str, list[Score]] = {}
        for score in scores:
            groups.setdefault(group_of(score.task), []).append(score)
        for name, group in groups.items():
            self.tasks.setdefault(name, TaskTally()).add(group)

    def add_samples(self, scores: Iterable[Score]) -> None:
        """Add the samples of rows, which must be in the order of the output."""
        self.samples += b"".join([sample_of(score) for score in scores])

    def merge(self, other: Tally) -> None:
        """Add the counts and samples of other rows."""
        for name, task in other.tasks.items():
            self.tasks.setdefault(name, TaskTally()).merge(task)
        self.samples += other.samples
        add_counts(self.outcomes, other.outcomes)

    def expand(self, row_of: Callable[[int], Score]) -> None:
        """Count the rows in ``outcomes`` by task; ``row_of`` gives the row of a key."""
        for key, times in sorted(self.outcomes.items()):
            score, row = row_of(key), TaskTally()
            row.add([score])
            self.tasks.setdefault(group_of(score.task), TaskTally()).merge(row, times)
        self.outcomes.clear()

    def take_samples(self) -> bytearray:
        """Remove the samples from the tally and return them: a run of millions of rows keeps them elsewhere
        (`relfast.stats.samples.SampleStore`)."""
        samples, self.samples = self.samples, bytearray()
        return samples

    @property
    def rows(self) -> int:
        n_expanded = sum(sum(task.statuses.values()) for task in self.tasks.values())
        return n_expanded + sum(self.outcomes.values())

    def count(self, *statuses: str) -> int:
        return sum(self.statuses(*statuses))

    def statuses(self, *statuses: str) -> list[int]:
        """The number of rows with each of these statuses, of those that are counted by task."""
        counts = [task.statuses for task in self.tasks.values()]
        return [sum([each[status] for each in counts]) for status in statuses]


def sample_of(score: Score) -> bytes:
    """The `SAMPLE` record of a row; empty if the row has no score."""
    if score.status not in SCORED:
        return b""
    key = key_of(score.id, score.prompt, score.index)
    number = TASK_NUMBERS[group_of(score.task)] + flags_of(key) + (FURTHER if score.sample else 0)
    return SAMPLE.pack(number, hash_key(key), hash_vote(score.vote), bool(score.correct))
