"""What a run came to in one task: the numbers that are reported, and what they are merged from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from relfast.plain import Plain
from relfast.records import SCORED
from relfast.stats.estimates import AtK, avg_at_k, clustered_mean, pass_at_k, pass_at_k_intervals
from relfast.stats.intervals import LEVEL, Interval, share_interval, wilson
from relfast.stats.prompts import Prompts
from relfast.stats.sums import ExactSum
from relfast.stats.task_tally import BREAKDOWNS, TaskTally, is_flag
from relfast.tasks.base import resolve

if TYPE_CHECKING:
    from relfast.stats.lengths import Lengths
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
        for status, n in other.statuses.items():
            self.statuses[status] += n
        self.found += other.found
        self.rewards = _added(self.rewards, other.rewards)
        for name, pair in other.sums.items():
            self.sums[name] = _added(self.sums.get(name, [0, ExactSum.of(0)]), pair)
        for name, counts in other.labels.items():
            mine = self.labels.setdefault(name, {})
            for label, n in counts.items():
                mine[label] = mine.get(label, 0) + n
        for name, cell in other.cells.items():
            self.cells[name] = _added(self.cells[name], cell) if name in self.cells else list(cell)
        for key, n in other.histogram.items():
            self.histogram[key] = self.histogram.get(key, 0) + n
        add_majorities(self.majority, other.majority)
        if other.lengths is not None:
            if self.lengths is None:
                self.lengths = type(other.lengths)()
            self.lengths.merge(other.lengths)

    @property
    def scored(self) -> int:
        """Responses with a score."""
        return sum(self.statuses[status] for status in SCORED)

    def at_k(self) -> dict[str, dict[int, AtK]]:
        """``pass@k``, ``avg@k`` and ``maj@k`` by k, each with its number of prompts; empty unless a prompt
        has several samples. pass@k is over the prompts with k samples or more, the others over those with
        exactly k."""
        if max((n for n, _ in self.histogram), default=0) < 2:
            return {}
        return {
            "pass@k": pass_at_k(self.histogram),
            "avg@k": avg_at_k(self.histogram),
            "maj@k": {k: AtK(total / n, int(n)) for k, (n, total) in sorted(self.majority.items()) if n},
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

    def at_k_intervals(self, level: float = LEVEL) -> dict[str, dict[int, Interval]]:
        """The intervals of `at_k`, under the same names and k."""
        points = self.at_k()
        if not points:
            return {}
        by_size = {k: {key: n for key, n in self.histogram.items() if key[0] == k} for k in points["avg@k"]}
        averages = {k: share_interval(part, level) for k, part in by_size.items()}
        return {
            "pass@k": pass_at_k_intervals(self.histogram, level),
            "avg@k": {k: interval for k, interval in averages.items() if interval is not None},
            # what a tie shares varies less than a draw of 0 or 1: no narrower than it should be
            "maj@k": {
                k: wilson(at.value * at.prompts, at.prompts, level) for k, at in points["maj@k"].items()
            },
        }

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
            "correct": shown(mean),
            "correct_se": shown(error),
            "correct_interval": shown_interval(self.correct_interval()),
            "reward": shown(self.rewards[1] / self.rewards[0]) if self.rewards[0] else None,
            "parsed": shown(parsed),
            "parsed_interval": shown_interval(self.parsed_interval()),
            "metrics": {name: shown(total / n) for name, (n, total) in self.sums.items() if n},
            "labels": self.labels,
            "statuses": self.statuses,
        }
        for name, points in self.at_k().items():
            result[name] = {str(k): shown(point.value) for k, point in points.items()}
            result[f"{name}_prompts"] = {str(k): point.prompts for k, point in points.items()}
        for name, bounds in self.at_k_intervals().items():
            result[f"{name}_interval"] = {str(k): shown_interval(interval) for k, interval in bounds.items()}
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
        interval, parsed = self.correct_interval(), self.parsed_interval()
        row: dict[str, Any] = {"task": self.name, "prompts": self.prompts, "responses": self.rows}
        row |= {"correct": shown(mean), "correct_se": shown(error)}
        row |= {
            "correct_low": shown(interval and interval.low),
            "correct_high": shown(interval and interval.high),
        }
        row["reward"] = shown(self.rewards[1] / self.rewards[0]) if self.rewards[0] else None
        row["parsed"] = shown(self.found / self.scored) if self.scored else None
        row |= {"parsed_low": shown(parsed and parsed.low), "parsed_high": shown(parsed and parsed.high)}
        if self.lengths is not None:
            row |= self.lengths.flat()
        row |= self.statuses
        row |= {f"metrics.{name}": shown(total / n) for name, (n, total) in self.sums.items() if n}
        bounds = self.at_k_intervals()
        for name, points in self.at_k().items():
            for k, point in points.items():
                key = f"{name[:-1]}{k}"
                row |= {key: shown(point.value), f"{key}_low": shown(bounds[name][k].low)}
                row[f"{key}_high"] = shown(bounds[name][k].high)
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
    """Rounded to where the order of summation, and so the number of workers, no longer shows."""
    return None if value is None else float(f"{value:.12g}")


def shown_interval(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [shown(bound) for bound in interval]


def _count_or_sum(value: float) -> float | None:
    return value if isinstance(value, int) else shown(value)
