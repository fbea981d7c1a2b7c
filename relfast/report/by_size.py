"""Rows counted along the sizes of their problems, prompt by prompt (sums that add up over files), and what
a page shows of them: rates, and published tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from relfast.records import SCORED, Record, Score
from relfast.report import figures
from relfast.report.figures import Point, interval, percent
from relfast.report.page import Picture, Report, Section, Table
from relfast.stats.intervals import effective_share_interval
from relfast.tasks import TASKS
from relfast.tasks.base import Task, resolve
from relfast.tasks.display import Axis, Column, Display, Layout, Measures

if TYPE_CHECKING:
    from relfast.report.scored_rows import Scored


@dataclass(slots=True)
class Sums:
    """A metric's sums over clusters (prompts): their number, the rows that have it, those squared; of values,
    of their squares, of values times rows."""

    prompts: int = 0
    rows: int = 0
    squared: int = 0
    total: float = 0.0
    squares: float = 0.0
    products: float = 0.0

    def add(self, value: float, n: int) -> None:
        """A cluster of ``n`` rows whose values come to ``value``."""
        self.prompts += 1
        self.rows += n
        self.squared += n * n
        self.total += value
        self.squares += value * value
        self.products += value * n

    def merge(self, other: Sums) -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def point(self) -> Point | None:
        """The mean of a metric from 0 to 1 with its 95 % interval: Wilson's, using the
        effective sample size: it stays within 0 and 1 and is not empty at them."""
        n = self.rows
        if not n:
            return None
        mean = min(1.0, max(0.0, self.total / n))
        spread = max(0.0, self.squares - 2 * mean * self.products + mean * mean * self.squared)
        return Point(mean, *effective_share_interval(mean, spread / n**2, self.prompts, n), n)


@dataclass(slots=True)
class Cell:
    """Rows of one size and one class of gold: how many, scored, without an answer, and their metrics."""

    rows: int = 0
    scored: int = 0
    no_answer: int = 0
    sums: dict[str, Sums] = field(default_factory=dict)

    def add(self, n: int, no_answer: int, values: Mapping[str, Sequence[float]]) -> None:
        """A prompt with ``n`` scored rows; of each metric how many rows have it, and the sum."""
        self.scored += n
        self.no_answer += no_answer
        for name, (n_rows, value) in values.items():
            self.sums.setdefault(name, Sums()).add(value, int(n_rows))

    def merge(self, other: Cell) -> None:
        self.rows += other.rows
        self.scored += other.scored
        self.no_answer += other.no_answer
        for name, sums in other.sums.items():
            self.sums.setdefault(name, Sums()).merge(sums)

    def mean(self, metrics: Sequence[str], each: int = 1) -> float | None:
        """Mean of a sum of metrics; None where no row has one of them."""
        total = 0.0
        for name in metrics:
            if name == "no_answer":
                n, value = self.scored, float(self.no_answer)
            else:
                sums = self.sums.get(name) or Sums()
                n, value = sums.rows, sums.total
            if not n:
                return None
            total += value / n
        return total / each

    def point(self, metric: str) -> Point | None:
        """See `Sums.point`."""
        sums = self.sums.get(metric)
        return None if sums is None else sums.point()


Classes = dict[str | None, Cell]
"""Class of gold → cell."""


@dataclass(slots=True)
class SizeTable:
    """A task's rows by the values of its axes: axis → value → class of gold → cell. ``None`` for an axis or a
    value holds all rows."""

    cells: dict[str | None, dict[float | str | None, Classes]] = field(default_factory=dict)

    def at(self, axis: str | None, value: float | str | None, gold: str | None) -> Cell:
        return self.cells.setdefault(axis, {}).setdefault(value, {}).setdefault(gold, Cell())

    def merge(self, other: SizeTable) -> None:
        for axis, values in other.cells.items():
            for value, classes in values.items():
                for gold, cell in classes.items():
                    self.at(axis, value, gold).merge(cell)

    def values(self, axis: str) -> list[Any]:
        """The values of an axis, numbers or words, in order."""
        return sorted(value for value in self.cells.get(axis, {}) if value is not None)

    def cell(
        self, axis: str | None, value: float | str | None, gold: str | None = None, *, any_gold: bool = True
    ) -> Cell:
        """The rows at a value; of one class of gold, or of any."""
        whole = Cell()
        for name, cell in self.cells.get(axis, {}).get(value, {}).items():
            if any_gold or name == gold:
                whole.merge(cell)
        return whole

    def bin(self, axis: Axis, name: str, gold: str | None = None, *, any_gold: bool = True) -> Cell:
        """The rows of a published bin."""
        whole = Cell()
        for value in self.values(axis.name):
            if axis.bin(value) == name:
                whole.merge(self.cell(axis.name, value, gold, any_gold=any_gold))
        return whole


def bins_of(axis: Axis) -> list[str]:
    """The names of an axis' bins, in order."""
    places = [axis.edges[0] - 1, *axis.edges]
    return [axis.bin(place) for place in places]


def column_mean(cell_of: Any, column: Column) -> float | None:
    """A published column's number: ``cell_of(gold, any_gold)`` gives the row's cell."""
    cell: Cell = cell_of(column.of, column.of is None)
    return cell.mean(column.metrics, column.each)


MAX_VALUES: Final = 500
"""Different sizes of an axis that are told apart: hostile records could have a new one each."""
NO_DISPLAY: Final = Display()
COMPLETION: Final = "task completion"


class SizeCounter:
    """Adds rows to a task's `SizeTable`. Rows of one prompt that follow each other are a cluster."""

    def __init__(self, task: Task, table: SizeTable) -> None:
        self._table = table
        self._display = task.display or NO_DISPLAY
        self._measure: Callable[[Record, Mapping[str, Any]], Measures] | None = None
        if self._display.measure is not None:
            self._measure = resolve(self._display.measure)
        columns = [column for layout in self._display.layouts for column in layout.columns]
        wanted = {*self._display.shown, *self._display.completion}.union(*(each.metrics for each in columns))
        self._metrics = sorted(wanted - {"correct", "no_answer"})
        self._prompt: tuple[Any, ...] | None = None
        self._measures = Measures({})
        self._rows = self._n = self._no_answer = 0
        self._values: dict[str, list[float]] = {}
        self._undefined = {name: metric.undefined for name, metric in task.metric_by_name.items()}

    def add(self, score: Score, record: Record | None) -> str | None:
        """Count a row; the class of its gold."""
        prompt = (score.index, score.id)
        if prompt != self._prompt:
            self.finish()
            self._prompt = prompt
            self._measures = self._measured(score, record)
        self._rows += 1
        if score.status in SCORED:
            self._n += 1
            self._no_answer += score.status == "no_answer"
            self._add("correct", bool(score.correct))
            metrics = score.metrics
            for name in self._metrics:
                value = metrics.get(name)
                if isinstance(value, int | float) and value != self._undefined.get(name):
                    self._add(name, value)
            completion = self._display.completion
            if completion:
                values = [metrics.get(name) for name in completion]
                known = [value for value in values if isinstance(value, int | float)]
                self._add(COMPLETION, sum(known) / len(completion))
        return self._measures.gold

    def _add(self, name: str, value: float) -> None:
        sums = self._values.setdefault(name, [0, 0.0])
        sums[0] += 1
        sums[1] += value

    def _measured(self, score: Score, record: Record | None) -> Measures:
        if self._measure is None:
            return Measures({})
        if record is None:
            record = Record(score.index, score.id, score.task or "", None, None, None, score.sample)
        return self._measure(record, score.metrics)

    def finish(self) -> None:
        """Count the prompt whose rows have come."""
        if not self._rows:
            return
        sizes, gold = self._measures
        places: list[tuple[str | None, float | str | None]] = [(None, None)]
        for axis in self._display.axes:
            value = sizes.get(axis.name)
            known = self._table.cells.get(axis.name, {})
            if value is not None and (value in known or len(known) < MAX_VALUES):
                places.append((axis.name, value))
        for axis_name, value in places:
            cell = self._table.at(axis_name, value, gold)
            cell.rows += self._rows
            if self._n:
                cell.add(self._n, self._no_answer, self._values)
        self._rows = self._n = self._no_answer = 0
        self._values = {}


PUBLISHED: Final = "(published layout)"


def sections(runs: Sequence[Scored], tasks: Sequence[str], report: Report) -> list[Section]:
    """A section a task that says its sizes, where rows have them."""
    made = []
    for name in tasks:
        display = TASKS[name].display if name in TASKS else None
        if display is not None:
            section = _section(name, display, runs, report)
            if section is not None:
                made.append(section)
    return made


def _section(name: str, display: Display, runs: Sequence[Scored], report: Report) -> Section | None:
    pictures: list[Picture] = []
    tables: list[Table] = []
    stem = "".join(c if c.isalnum() else "_" for c in name.lower())
    known = {run.name: table for run in runs if (table := run.counted.sizes.get(name)) is not None}
    for axis in display.axes:
        with_axis = {run: table for run, table in known.items() if table.values(axis.name)}
        if not any(len(table.values(axis.name)) > 1 for table in with_axis.values()):
            continue
        metrics = ["correct", *([COMPLETION] if display.completion else []), *display.shown]
        for metric in metrics:
            file = f"{stem}_{metric.replace(' ', '_')}_by_{axis.name}.png"
            pictures += _pictures(report, file, name, axis, metric, with_axis)
        tables.append(_numbers(axis, metrics, with_axis))
    for layout in display.layouts:
        published = _published(layout, display, known)
        if published is not None:
            tables.append(published)
    if not tables:
        return None
    tables.sort(key=lambda table: not table.title.endswith(PUBLISHED))
    text = [f"{TASKS[name].summary.capitalize()}."]
    return Section(f"{name} by size", text, tables, pictures, pictures_first=True)


def _pictures(
    report: Report, file: str, task: str, axis: Axis, metric: str, tables: dict[str, SizeTable]
) -> Iterator[Picture]:
    words = {"correct": "accuracy"}.get(metric, metric.replace("_", " "))
    points: dict[str, dict[Any, Point]] = {}
    for run, table in tables.items():
        found = {value: table.cell(axis.name, value).point(metric) for value in table.values(axis.name)}
        points[run] = {value: point for value, point in found.items() if point is not None}
    if not any(points.values()):
        return
    title = f"{task}: {words} by {axis.label}"
    if axis.words:
        groups = sorted({value for of_run in points.values() for value in of_run})
        figure = figures.dots(title, groups, points, words)
    else:
        figure = figures.lines(title, points, axis.label, words)
    yield report.draw(file, title, "Mean with 95 % interval.", figure)


def _numbers(axis: Axis, metrics: Sequence[str], tables: dict[str, SizeTable]) -> Table:
    many = len(tables) > 1
    rows = []
    for run, table in tables.items():
        for value in table.values(axis.name):
            cell = table.cell(axis.name, value)
            shown = value if isinstance(value, str) else f"{value:g}"
            point = cell.point("correct")
            means = [percent(cell.mean((metric,))) for metric in metrics[1:]]
            correct = percent(cell.mean(("correct",)))
            rows.append(
                [*([run] if many else []), shown, f"{cell.scored:,}", correct, interval(point), *means]
            )
    header = [
        *(["model"] if many else []), axis.label, "responses", "correct", "95 % interval",
        *(metric.replace("_", " ") for metric in metrics[1:]),
    ]  # fmt: skip
    return Table(f"By {axis.label}", header, rows, text_columns=int(many) or int(axis.words), folded=True)


def _published(layout: Layout, display: Display, tables: dict[str, SizeTable]) -> Table | None:
    """The published table's rows; None where no row has what it needs."""
    axis = next((axis for axis in display.axes if axis.name == layout.axis), None)
    rows: list[list[str]] = []
    for run, table in tables.items():
        places: list[Any] = (
            [None] if axis is None else bins_of(axis) if layout.binned else table.values(axis.name)
        )
        for place in places:

            def cell_of(
                gold: str | None, any_gold: bool, table: SizeTable = table, place: Any = place
            ) -> Cell:
                if layout.binned and axis is not None:
                    return table.bin(axis, place, gold, any_gold=any_gold)
                return table.cell(layout.axis, place, gold, any_gold=any_gold)

            whole = cell_of(None, True)
            if not whole.scored:
                continue
            numbers = [column_mean(cell_of, column) for column in layout.columns]
            shown = [
                "–" if value is None else f"{value:.{column.decimals}f}"
                for value, column in zip(numbers, layout.columns, strict=True)
            ]
            name = [] if place is None else [place if isinstance(place, str) else f"{place:g}"]
            rows.append([run, *name, *([f"{whole.scored}"] if layout.count else []), *shown])
    if not rows:
        return None
    header = [
        "Model",
        *([layout.axis_header] if axis is not None else []),
        *(["Count"] if layout.count else []),
    ]
    titles = [*header, *(column.header for column in layout.columns)]
    return Table(f"{layout.title} {PUBLISHED}", titles, rows, folded=True)
