"""What is counted of the rows of one task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from relfast.plain import Plain
from relfast.records import SCORED, STATUSES, Score
from relfast.stats.sums import units_of
from relfast.tasks import TASKS
from relfast.tasks.facts import Breakdown, Metric

if TYPE_CHECKING:
    from relfast.tasks.block_rows import Counted

METRICS: Final = {name: task.metric_by_name for name, task in TASKS.items()}
BREAKDOWNS: Final = {name: task.breakdown for name, task in TASKS.items() if task.breakdown is not None}


@dataclass(slots=True, repr=False, eq=False)
class TaskTally(Plain):
    """Counts of one task.

    ``rewards`` and the values of ``sums`` are (number of rows that have it, sum in units of
    `relfast.stats.sums`). ``cells`` is the table of `relfast.tasks.facts.Breakdown` that the task has, if it
    has one: rows, then a count for each flag and units for each number.
    """

    statuses: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    found: int = 0
    rewards: list[int] = field(default_factory=lambda: [0, 0])
    sums: dict[str, list[int]] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)
    cells: dict[str, list[int]] = field(default_factory=dict)

    def add(self, score: Score, times: int = 1) -> None:
        """Count a row, or as many rows like it."""
        self.statuses[score.status] += times
        if score.status not in SCORED:
            return
        if score.status == "ok":
            self.found += times
        if score.reward is not None and (units := units_of(score.reward)) is not None:
            self.rewards[0] += times
            self.rewards[1] += units * times
        if score.metrics:
            name = score.task or ""
            _add_metrics(self, METRICS.get(name, {}), score.metrics, times)
            breakdown = BREAKDOWNS.get(name)
            if breakdown is not None and breakdown.by[0] in score.metrics:
                self._add_cell(name, breakdown, score.metrics, times)

    def add_all(self, scores: Sequence[Score]) -> None:
        """Count rows, of this task all of them: what `add` does with each, by columns."""
        for status, times in Counter([score.status for score in scores]).items():
            self.statuses[status] += times
        scored = [score for score in scores if score.status in SCORED]
        self.found += sum([score.status == "ok" for score in scored])
        n, units, _ = _added([score.reward for score in scored], None)
        self.rewards[0] += n
        self.rewards[1] += units
        rows = [score.metrics for score in scored if score.metrics]
        if not rows:
            return
        name = scored[0].task or ""
        known = METRICS.get(name, {})
        names = dict.fromkeys(metric for metrics in rows for metric in metrics if metric in known)
        self._add_columns(known, {metric: [metrics.get(metric) for metrics in rows] for metric in names})
        breakdown = BREAKDOWNS.get(name)
        if breakdown is not None:
            cells: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
            for metrics in rows:
                if breakdown.by[0] in metrics:
                    cells.setdefault(tuple([metrics[key] for key in breakdown.by]), []).append(metrics)
            for same in cells.values():
                kinds = Counter([tuple([metrics[key] for key in breakdown.sums]) for metrics in same])
                for values, times in kinds.items():
                    row = {**same[0], **dict(zip(breakdown.sums, values, strict=True))}
                    self._add_cell(name, breakdown, row, times)

    def _add_columns(self, known: Mapping[str, Metric], columns: Mapping[str, Sequence[Any]]) -> None:
        numbers: list[tuple[int, str, int, int]] = []
        labels: list[tuple[int, str, Counter[str]]] = []
        for name, column in columns.items():
            metric = known[name]
            if metric.kind != "label":
                n, units, first = _added(column, metric.undefined)
                if n:
                    numbers.append((first, name, n, units))
                continue
            counts = Counter(column)
            del counts[None]
            if counts:
                labels.append((column.index(next(iter(counts))), name, counts))
        # in the order in which rows have them
        for _, name, n, units in sorted(numbers, key=itemgetter(0)):
            mine = self.sums.setdefault(name, [0, 0])
            mine[0] += n
            mine[1] += units
        for _, name, counts in sorted(labels, key=itemgetter(0)):
            mine_counts = self.labels.setdefault(name, {})
            for label, times in counts.items():
                mine_counts[label] = mine_counts.get(label, 0) + times

    def _add_cell(self, task: str, breakdown: Breakdown, metrics: Mapping[str, Any], times: int) -> None:
        name = _cell_name(breakdown, metrics)
        cell = self.cells.get(name)
        if cell is None:
            cell = self.cells[name] = [0] * (1 + len(breakdown.sums))
        cell[0] += times
        for at, metric in enumerate(breakdown.sums, 1):
            value = metrics[metric] or 0
            cell[at] += times * (bool(value) if is_flag(task, metric) else units_of(value) or 0)

    def __reduce__(self) -> tuple[Any, ...]:
        """As one tuple: a worker sends some with each block, and dataclasses take 50 µs by themselves."""
        counts = self.statuses, self.found, self.rewards, self.sums, self.labels, self.cells
        return TaskTally, counts

    def merge(self, other: TaskTally) -> None:
        for status, n in other.statuses.items():
            if n:
                self.statuses[status] += n
        self.found += other.found
        self.rewards[0] += other.rewards[0]
        self.rewards[1] += other.rewards[1]
        for name, (n_rows, total) in other.sums.items():
            mine = self.sums.setdefault(name, [0, 0])
            mine[0] += n_rows
            mine[1] += total
        for name, counts in other.labels.items():
            mine_counts = self.labels.setdefault(name, {})
            for label, n in counts.items():
                mine_counts[label] = mine_counts.get(label, 0) + n
        for name, cell in other.cells.items():
            mine = self.cells.setdefault(name, [0] * len(cell))
            mine[:] = [a + b for a, b in zip(mine, cell, strict=True)]


def is_flag(task: str, metric: str) -> bool:
    """Whether a metric's sum is a count, which JSON shows without a point."""
    return METRICS[task][metric].kind == "flag"


class Firsts:
    """On which line metrics and labels stand first: the order in which rows have them."""

    def __init__(self, known: Mapping[str, Metric]) -> None:
        self._known = known
        self._order = {metric: at for at, metric in enumerate(known)}
        self._at: dict[tuple[str, str | None], int] = {}

    def tell(self, metric: str, label: str | None, line: int) -> None:
        key = metric, label
        self._at[key] = min(self._at.get(key, line), line)

    def look(self, score: Score, line: int) -> None:
        """Look at a row."""
        if score.status not in SCORED:
            return
        for name, value in score.metrics.items():
            metric = self._known.get(name)
            if metric is not None and value is not None:
                self.tell(name, value if metric.kind == "label" else None, line)

    def metrics(self) -> list[str]:
        first: dict[str, int] = {}
        for (metric, _), line in self._at.items():
            first[metric] = min(first.get(metric, line), line)
        return sorted(first, key=lambda metric: (first[metric], self._order[metric]))

    def labels(self, metric: str) -> list[str]:
        found = [(line, label) for (name, label), line in self._at.items() if name == metric and label]
        return [label for _, label in sorted(found)]


def tally_of_written(name: str, counted: Counted, firsts: Firsts, lines: Sequence[int] | None) -> TaskTally:
    """What `TaskTally.add_all` would make of the rows."""
    tally = TaskTally()
    tally.statuses.update(counted.statuses)
    tally.found = counted.statuses.get("ok", 0)
    tally.rewards = list(counted.rewards)
    known = METRICS[name]
    sums: dict[str, list[int]] = {}
    labels: dict[str, dict[str, int]] = {}

    def add(metric: str, first: int, n: int, units: int) -> None:
        mine = sums.setdefault(metric, [0, 0])
        mine[0] += n
        mine[1] += units
        firsts.tell(metric, None, first if lines is None else lines[first])

    def add_label(metric: str, label: str, first: int, n: int) -> None:
        mine = labels.setdefault(metric, {})
        mine[label] = mine.get(label, 0) + n
        firsts.tell(metric, label, first if lines is None else lines[first])

    for metric, first, n, units in counted.sums:
        add(metric, first, n, units)
    for first, metric, label, n in counted.labels:
        add_label(metric, label, first, n)
    breakdown = BREAKDOWNS.get(name)
    for cell in counted.cells:
        for metric, value in cell.shared.items():
            if value is None:
                continue
            if known[metric].kind == "label":
                add_label(metric, value, cell.first, cell.rows)
            elif value != known[metric].undefined and (of_one := units_of(value)) is not None:
                add(metric, cell.first, cell.rows, of_one * cell.rows)
        if breakdown is not None:
            mine = tally.cells.setdefault(_cell_name(breakdown, cell.shared), [0] * (1 + len(cell.sums)))
            for at, value in enumerate((cell.rows, *cell.sums)):
                mine[at] += value
    tally.sums = {metric: sums[metric] for metric in firsts.metrics() if metric in sums}
    tally.labels = {
        metric: {label: labels[metric][label] for label in firsts.labels(metric)}
        for metric in firsts.metrics()
        if metric in labels
    }
    return tally


def _cell_name(breakdown: Breakdown, metrics: Mapping[str, Any]) -> str:
    return "/".join("" if metrics[key] is None else f"{metrics[key]:g}" for key in breakdown.by)


def counted_columns(
    task: str,
    found: Sequence[bool],
    rewards: Sequence[float | None],
    metrics: Mapping[str, Sequence[Any]],
) -> Counted:
    """What is counted of scored rows of a task without cells: whether each has an answer, rewards, and
    metrics by name."""
    from relfast.tasks.block_rows import Counted, Sum  # whoever comes here has it

    sums, labels = [], []
    for name, column in metrics.items():
        metric = METRICS[task].get(name)
        if metric is None:
            continue
        if metric.kind == "label":
            counts = Counter(column)
            del counts[None]
            labels += [(column.index(label), name, label, times) for label, times in counts.items()]
        else:
            n, units, first = _added(column, metric.undefined)
            if n:
                sums.append(Sum(name, first, n, units))
    n, units, _ = _added(rewards, None)
    n_found = sum(found)
    return Counted({"ok": n_found, "no_answer": len(found) - n_found}, (n, units), sums, labels, [])


_NUMBERS: Final = (int, float)  # a union would be made anew for each value


def _added(values: Sequence[Any], undefined: float | None) -> tuple[int, int, int]:
    """How many of some values are numbers that have a mean, their sum in units, and where the first stands.

    Rows have few different numbers: each is turned into units once.
    """
    n = total = 0
    first = len(values)
    try:
        counts = Counter(values)
    except TypeError:  # what is no number can be a list
        return _added([value if isinstance(value, _NUMBERS) else None for value in values], undefined)
    for value, times in counts.items():
        if isinstance(value, _NUMBERS) and value != undefined and (units := units_of(value)) is not None:
            n += times
            total += units * times
            if first:
                first = min(first, values.index(value))
    return n, total, first


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
        elif isinstance(value, _NUMBERS) and value != metric.undefined:
            units = units_of(value)
            if units is None:
                continue
            mine = task.sums.get(name)
            if mine is None:
                mine = task.sums[name] = [0, 0]
            mine[0] += times
            mine[1] += units * times
