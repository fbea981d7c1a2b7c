"""Counts of a run's rows, collected as they come; they add up over blocks and workers, in any order.

For each row only a few bytes are kept (`relfast.stats.samples`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from relfast.records import CUT_OFF, SCORED, STATUSES, Plain, Score
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
from relfast.tasks import TASKS
from relfast.tasks.base import Metric

_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")

METRICS: Final = {name: task.metric_by_name for name, task in TASKS.items()}
BREAKDOWNS: Final = {name: task.breakdown for name, task in TASKS.items() if task.breakdown is not None}


@dataclass(slots=True, repr=False, eq=False)
class TaskTally(Plain):
    """Counts of the rows of one task.

    ``rewards`` and the values of ``sums`` are (number of rows with a value, sum in units of
    `relfast.stats.sums`). ``cells`` is the table of the task's `relfast.tasks.base.Breakdown`, if it has
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

    def add(self, scores: Sequence[Score], times: Sequence[int] | None = None) -> None:
        """Count rows, which must all be of this task, each of them once or so many ``times``. Works column by
        column, which is faster."""
        for status, n in _counted([score.status for score in scores], times).items():
            self.statuses[status] += n
        scored = [score for score in scores if score.status in SCORED]
        if times is not None:
            times = [n for score, n in zip(scores, times, strict=True) if score.status in SCORED]
        rows = [score.metrics for score in scored]
        task = scored[0].task or "" if scored else ""
        known = METRICS.get(task, {})
        # only the task's metrics: rows that other programs wrote may have any number of other names
        names = [name for name in dict.fromkeys(itertools.chain.from_iterable(rows)) if name in known]
        columns = {metric: [metrics.get(metric) for metrics in rows] for metric in names}
        self.found += _counted([score.status for score in scored], times)["ok"]
        self.cut_off += _counted([CUT_OFF in metrics for metrics in rows], times)[True]
        n, units = _added([score.reward for score in scored], times, None)
        self.rewards[0] += n
        self.rewards[1] += units
        self._add_columns(known, columns, times)
        breakdown = BREAKDOWNS.get(task)
        if breakdown is not None and breakdown.by[0] in columns:
            keys = zip(*[columns[name] for name in breakdown.by], strict=True)
            added = [_addends(task, name, columns[name]) for name in breakdown.sums]
            cells = _counted([*zip(keys, zip(*added, strict=True), strict=True)], times)
            for (key, values), n in cells.items():
                add_columns(self.cells, {_cell_name(key): (1, *values)}, n)

    def _add_columns(
        self, known: Mapping[str, Metric], columns: Mapping[str, Sequence[Any]], times: Sequence[int] | None
    ) -> None:
        for name, column in columns.items():
            metric = known[name]
            if metric.kind != "label":
                n, units = _added(column, times, metric.undefined)
                if n:
                    add_columns(self.sums, {name: (n, units)})
                continue
            counts = _counted(column, times)
            del counts[None]
            if counts:
                add_counts(self.labels.setdefault(name, {}), counts)

    def merge(self, other: TaskTally) -> None:
        """Add the counts of other rows."""
        add_counts(self.statuses, other.statuses)
        self.found += other.found
        self.cut_off += other.cut_off
        self.rewards[0] += other.rewards[0]
        self.rewards[1] += other.rewards[1]
        add_columns(self.sums, other.sums)
        for name, counts in other.labels.items():
            add_counts(self.labels.setdefault(name, {}), counts)
        add_columns(self.cells, other.cells)


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


def _counted(values: Sequence[_K], times: Sequence[int] | None) -> Counter[_K]:
    """How often each value occurs: most occur in many rows. Value i counts ``times[i]`` times; None: once."""
    if times is None:
        return Counter(values)
    counts: Counter[_K] = Counter()
    for value, n in zip(values, times, strict=True):
        counts[value] += n
    return counts


def _added(values: Sequence[Any], times: Sequence[int] | None, undefined: float | None) -> tuple[int, int]:
    """Number of finite values other than ``undefined``, and their sum in units."""
    n, total = 0, 0
    numbers = [value if isinstance(value, _NUMBERS) else None for value in values]
    for value, counted in _counted(numbers, times).items():
        if value is not None and value != undefined and (units := units_of(value)) is not None:
            n, total = n + counted, total + units * counted
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
        groups: dict[str, list[tuple[Score, int]]] = {}
        for key, times in sorted(self.outcomes.items()):
            score = row_of(key)
            groups.setdefault(group_of(score.task), []).append((score, times))
        for name, group in groups.items():
            scores, counts = zip(*group, strict=True)
            self.tasks.setdefault(name, TaskTally()).add(scores, counts)
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
