"""What a run came to, task by task: the numbers that are reported, what they are merged from, and summaries
that merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from relfast.plain import Plain
from relfast.records import SCORED
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
from relfast.stats.samples import Prompts, collapse, group_of
from relfast.stats.sums import ExactSum, add_counts, rounded
from relfast.stats.tally import BREAKDOWNS, Tally, TaskTally, is_flag
from relfast.stats.unusable import Cause, describe
from relfast.tables import to_arrow, to_pandas
from relfast.tasks import TASKS
from relfast.tasks.base import resolve

if TYPE_CHECKING:
    from relfast.comparison.model import Comparison
    from relfast.stats.lengths import Lengths
    from relfast.stats.samples import SampleStore
    from relfast.tasks.facts import ShownTable


@dataclass(slots=True, repr=False, eq=False)
class TaskSummary(Plain):
    """What is reported of the task ``name``.

    ``rows`` counts responses, scored or not; ``prompts`` those with a scored response. ``histogram`` counts
    prompts by (scored samples, right samples); ``majority`` maps a number of samples to (prompts, sum of
    majority scores). Both add up over shards that share no prompt. ``rewards`` and the values of ``sums`` are
    (number of rows that have it, sum), those of ``cells`` (rows, sums of the task's `Breakdown`). All sums
    are exact: summaries of shards merge into that of the whole, to the last digit. ``lengths``
    is there where the dump was read for it (``--lengths``).
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
    lengths: Lengths | None = None

    @classmethod
    def of(cls, name: str, tally: TaskTally, prompts: Prompts) -> TaskSummary:
        """From the counts of its rows and its prompts."""
        breakdown = BREAKDOWNS.get(name)
        numbers = [] if breakdown is None else [not is_flag(name, metric) for metric in breakdown.sums]

        def numbers_of(cell: list[int]) -> list[float]:
            pairs = zip(numbers, cell[1:], strict=True)
            return [cell[0], *(ExactSum.of(value) if number else value for number, value in pairs)]

        return cls(
            name,
            sum(tally.statuses.values()),
            sum(prompts.histogram.values()),
            dict(tally.statuses),
            tally.found,
            [float(tally.rewards[0]), ExactSum.of(tally.rewards[1])],
            {name: [n, ExactSum.of(total)] for name, (n, total) in tally.sums.items()},
            {name: dict(value) for name, value in tally.labels.items()},
            prompts.histogram,
            prompts.majority,
            {key: numbers_of(cell) for key, cell in tally.cells.items()},
        )

    def merge(self, other: TaskSummary) -> None:
        """Add a shard's summary; prompts are taken to lie in one shard each."""
        self.rows += other.rows
        self.prompts += other.prompts
        add_counts(self.statuses, other.statuses)
        self.found += other.found
        self.rewards = _added(self.rewards, other.rewards)
        for name, pair in other.sums.items():
            self.sums[name] = _added(self.sums.get(name, [0, ExactSum.of(0)]), pair)
        for name, counts in other.labels.items():
            add_counts(self.labels.setdefault(name, {}), counts)
        for name, cell in other.cells.items():
            self.cells[name] = _added(self.cells[name], cell) if name in self.cells else list(cell)
        add_counts(self.histogram, other.histogram)
        add_majorities(self.majority, other.majority)
        if other.lengths is not None:
            if self.lengths is None:
                self.lengths = type(other.lengths)()
            self.lengths.merge(other.lengths)

    @property
    def scored(self) -> int:
        """Responses with a score."""
        return sum(self.statuses[status] for status in SCORED)

    @property
    def mean(self) -> float | None:
        """The mean of ``correct`` over scored responses; None without any, as the next two."""
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
        unless a prompt has several samples. pass@k is over the prompts with k samples or more, the others
        over those with exactly k."""
        if max((n for n, _ in self.histogram), default=0) < 2:
            return {}
        return {
            "pass@k": pass_at_k(self.histogram, level),
            "avg@k": avg_at_k(self.histogram, level),
            "maj@k": maj_at_k(self.majority, level),
        }

    def tables(self) -> list[ShownTable]:
        """The tables of the task's own aggregates; empty where it has none."""
        breakdown = BREAKDOWNS.get(self.name)
        if not self.cells or breakdown is None or breakdown.tables is None:
            return []
        return list(resolve(breakdown.tables)(self.cells))

    def correct_interval(self, level: float = LEVEL) -> Interval | None:
        """The interval of the mean of ``correct``, in 0…1; see `relfast.stats.intervals.share_interval`."""
        return share_interval(self.histogram, level)

    def parsed_interval(self, level: float = LEVEL) -> Interval | None:
        """Wilson's interval of the share of scored responses that could be read as an answer. Samples of a
        prompt count as independent: what was found is not kept by prompt."""
        return wilson(self.found, self.scored, level) if self.scored else None

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: the reported numbers, and under ``merge`` what merging needs.

        ``records`` is the number of responses under its older name.
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
        at_k = self.at_k()
        for name, points in at_k.items():
            result[name] = {str(k): shown(point.value) for k, point in points.items()}
            result[f"{name}_prompts"] = {str(k): point.prompts for k, point in points.items()}
        for name, points in at_k.items():
            result[f"{name}_interval"] = {str(k): shown_interval(p.interval) for k, p in points.items()}
        breakdown = BREAKDOWNS.get(self.name)
        if self.cells and breakdown is not None:
            result[breakdown.name] = resolve(breakdown.aggregate)(self.cells)
        if self.lengths is not None:
            result["lengths"] = self.lengths.to_dict()
        result["merge"] = {
            "histogram": [[n, right, count] for (n, right), count in sorted(self.histogram.items())],
            "majority": [[k, n, shown(total)] for k, (n, total) in sorted(self.majority.items())],
            "rewards": [self.rewards[0], shown(self.rewards[1])],
            "found": self.found,
            "sums": {name: [n, shown(total)] for name, (n, total) in self.sums.items()},
            "cells": {name: [_count_or_sum(value) for value in cell] for name, cell in self.cells.items()},
            "exact": self._exact(),
        }
        return result

    def flat(self) -> dict[str, Any]:
        """The reported numbers as one row of a table: name → number, None where there is none."""
        mean, error = clustered_mean(self.histogram)
        row: dict[str, Any] = {"task": self.name, "prompts": self.prompts, "responses": self.rows}
        row |= {"correct": shown(mean), "correct_se": shown(error)}
        row |= _bounds("correct", self.correct_interval())
        row |= {"reward": shown(self.mean_reward), "parsed": shown(self.parsed)}
        row |= _bounds("parsed", self.parsed_interval())
        if self.lengths is not None:
            row |= self.lengths.flat()
        row |= self.statuses
        row |= {f"metrics.{name}": shown(total / n) for name, (n, total) in self.sums.items() if n}
        for name, points in self.at_k().items():
            for k, point in points.items():
                key = f"{name[:-1]}{k}"
                row |= {key: shown(point.value), **_bounds(key, point.interval)}
        return row

    def _exact(self) -> dict[str, Any]:
        """The sums under ``merge`` with the digits that a number in JSON does not keep."""

        def text(value: float) -> str:
            return ExactSum.from_number(value).to_text()

        return {
            "rewards": text(self.rewards[1]),
            "sums": {name: text(total) for name, (_, total) in self.sums.items()},
            "majority": {str(k): text(total) for k, (_, total) in sorted(self.majority.items())},
            "cells": {
                name: [None if isinstance(value, int) else text(value) for value in cell[1:]]
                for name, cell in self.cells.items()
            },
        }

    def _take_exact(self, exact: Mapping[str, Any]) -> None:
        """Put in what `_exact` gave."""
        self.rewards[1] = ExactSum.from_text(exact["rewards"])
        for name, text in exact["sums"].items():
            self.sums[name][1] = ExactSum.from_text(text)
        for k, text in exact["majority"].items():
            self.majority[int(k)][1] = ExactSum.from_text(text)
        for name, texts in exact["cells"].items():
            for at, text in enumerate(texts, 1):
                if text is not None:
                    self.cells[name][at] = ExactSum.from_text(text)

    @classmethod
    def from_dict(cls, name: str, data: Mapping[str, Any]) -> TaskSummary:
        merge = data["merge"]
        made = cls(
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
        if "lengths" in data:
            from relfast.stats.lengths import Lengths  # few dumps are read for them

            made.lengths = Lengths.from_dict(data["lengths"])
        if "exact" in merge:  # not in summaries from before there were exact sums
            made._take_exact(merge["exact"])
        return made


def _bounds(name: str, interval: Interval | None) -> dict[str, float | None]:
    return {
        f"{name}_low": shown(interval and interval.low),
        f"{name}_high": shown(interval and interval.high),
    }


def _added(mine: list[float], theirs: list[float]) -> list[float]:
    """Columns added: counts as they are, sums exactly."""
    return [
        a + b if isinstance(a, int) and isinstance(b, int) else ExactSum.from_number(a) + b
        for a, b in zip(mine, theirs, strict=True)
    ]


def add_majorities(mine: dict[int, list[float]], theirs: Mapping[int, list[float]]) -> None:
    """Add `TaskSummary.majority` of other prompts."""
    for k, (n_prompts, total) in theirs.items():
        mine[k] = _added(mine.get(k, [0, ExactSum.of(0)]), [n_prompts, total])


def shown(value: float | None) -> float | None:
    """As it is reported; see `relfast.stats.sums.rounded`."""
    return None if value is None else rounded(value)


def shown_interval(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [shown(bound) for bound in interval]


def _count_or_sum(value: float) -> float | None:
    return value if isinstance(value, int) else shown(value)


__all__ = ["Summary", "Tally", "TaskSummary", "add_majorities", "summarize"]

_ORDER: Final = {name: place for place, name in enumerate(TASKS)}


@dataclass(slots=True, repr=False, eq=False)
class Summary(Plain):
    """What a run came to: per task the numbers, and the signature that says how they were made.

    ``output`` is where the rows went, ``seconds`` the wall time of this run, ``unusable`` why records are
    ``invalid_record``, the most frequent cause first.
    """

    tasks: dict[str, TaskSummary]
    signature: str
    output: str | None = None
    seconds: float | None = None
    notes: list[str] = field(default_factory=list)
    unusable: list[Cause] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows of all tasks, those without a score among them."""
        return sum(task.rows for task in self.tasks.values())

    def count(self, *statuses: str) -> int:
        """Rows with one of these statuses."""
        return sum(task.statuses[status] for task in self.tasks.values() for status in statuses)

    def __repr__(self) -> str:
        means = (f"{name} {_number(task.mean)}" for name, task in self.tasks.items())
        why = f"; {describe(self.unusable, self.rows, 'python')}" if self.unusable else ""
        return f"<Summary of {self.rows:,} responses: {', '.join(means) or 'no task'}{why}>"

    def _repr_html_(self) -> str:
        from relfast.tables import html_table

        rows = [[name, *cells(task, "[{:.3f}, {:.3f}]")] for name, task in self.tasks.items()]
        return html_table(["task", *COLUMNS], rows, notes=[self.signature, *self.notes])

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`, a row a task: counts, means with their intervals, ``metrics.NAME`` and
        pass@k, avg@k, maj@k. Raises `MissingExtraError`."""
        return to_pandas(self._columns(), "Summary.to_pandas")

    def to_arrow(self) -> Any:
        """The same as a `pyarrow.Table`. Raises `MissingExtraError`."""
        return to_arrow(self._columns(), "Summary.to_arrow")

    def _columns(self) -> dict[str, Sequence[Any]]:
        rows = [task.flat() for task in self.tasks.values()]
        names = dict.fromkeys(key for row in rows for key in row)
        return {name: [row.get(name) for row in rows] for name in names}

    def compare(self, *others: Summary, **options: Any) -> Comparison:
        """Hold the rows of this run against those of others; see `relfast.compare` for ``options``.

        Raises
        ------
        UsageError
            A summary's rows are not where it says they went, or the runs cannot be compared.
        """
        # the comparison stands on the engine, which stands on this
        result: Comparison = resolve("relfast.comparison:compare")(self, *others, **options)
        return result

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: what ``--summary`` writes, with all that `from_dict` and `merge` need."""
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
        """The summary that `to_dict` has written, but for ``unusable``, whose causes are for reading only.

        Raises
        ------
        KeyError, TypeError, ValueError, AttributeError, IndexError
            It is no summary.
        """
        summary = cls(
            {}, data["signature"], data.get("output"), data.get("seconds"), list(data.get("notes", ()))
        )
        for name, task in data["tasks"].items():
            summary._add(TaskSummary.from_dict(group_of(name), task))
        return summary

    def merge(self, other: Summary) -> None:
        """Add the summary of another shard. Different signatures are noted, not hidden."""
        if other.signature != self.signature:
            self.notes.append(f"merged with a summary signed {other.signature}")
        for task in other.tasks.values():
            self._add(task)

    def _add(self, task: TaskSummary) -> None:
        if task.name in self.tasks:
            self.tasks[task.name].merge(task)
        else:
            self.tasks[task.name] = task


def summarize(tally: Tally, signature: str, store: SampleStore | None = None) -> Summary:
    """The summary of a tally, tasks in the order of the task table; its samples may be in a ``store``."""
    names = sorted(tally.tasks, key=lambda name: _ORDER.get(name, len(_ORDER)))
    prompts, repeated = collapse(tally.samples, names) if store is None else store.collapse(names)
    summary = Summary(
        {name: TaskSummary.of(name, tally.tasks[name], prompts[name]) for name in names}, signature
    )
    if repeated:
        what = "1 id occurs" if repeated == 1 else f"{repeated} ids occur"
        summary.notes.append(f"{what} on more than one line; such lines are samples of one prompt")
    return summary


COLUMNS: Final = ("prompts", "responses", "correct", "95% interval", "reward", "parsed", "unscored")
"""What tables for people have of a task: the headings of `cells`."""


def cells(task: TaskSummary, interval: str = "{:.3f}–{:.3f}") -> list[str]:
    """What is shown of a task, under `COLUMNS`."""
    bounds = task.correct_interval()
    return [
        f"{task.prompts:,}",
        f"{task.rows:,}",
        _number(task.mean),
        "–" if bounds is None else interval.format(*bounds),
        _number(task.mean_reward),
        "–" if task.parsed is None else f"{100 * task.parsed:.1f}%",
        f"{task.rows - task.scored:,}",
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
