"""Count rows by the sizes of their problems (`relfast.tasks.display.Axis`), as sums that add up over
files, and show them on the page: rates by size, and the published tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from relfast.records import SCORED, Record, Score
from relfast.report import figures
from relfast.report.figures import Point, interval
from relfast.report.page import Picture, Report, Section, Table
from relfast.stats.intervals import effective_share_interval
from relfast.stats.sums import add_columns
from relfast.tables import share
from relfast.tasks import TASKS
from relfast.tasks.base import Task, resolve
from relfast.tasks.display import Axis, Display, Layout, Measures

Cell = dict[str, list[float]]
"""Sums for the rows of one size and one class of gold: metric → six sums over clusters (prompts). With n
rows of a prompt that have the metric, and v the sum of their values, these are the sums of 1, n, n², v, v²
and v·n. Every scored row has ``correct`` and ``no_answer``."""

_NONE: Final = (0, 0, 0, 0.0, 0.0, 0.0)


def scored_in(cell: Cell) -> int:
    """The number of rows in a cell that have a score."""
    return int(cell.get("correct", _NONE)[1])


def mean_of(cell: Cell, metrics: Sequence[str], each: int = 1) -> float | None:
    """The sum of the means of some metrics, divided by ``each``; None if no row has one of the metrics."""
    total = 0.0
    for name in metrics:
        _, n, _, value, _, _ = cell.get(name, _NONE)
        if not n:
            return None
        total += value / n
    return total / each


def point_of(cell: Cell, metric: str) -> Point | None:
    """The mean of a metric between 0 and 1 with its 95 % interval: Wilson's, with the effective sample
    size. It stays within 0 and 1 and is not empty at 0 or 1."""
    prompts, n, squared, total, squares, products = cell.get(metric, _NONE)
    if not n:
        return None
    mean = min(1.0, max(0.0, total / n))
    spread = max(0.0, squares - 2 * mean * products + mean * mean * squared)
    return Point(mean, *effective_share_interval(mean, spread / n**2, int(prompts), n), int(n))


@dataclass(slots=True)
class SizeTable:
    """A task's rows by the values of its axes: axis → value → class of gold → cell. All rows are in the
    cells of axis None and value None."""

    cells: dict[str | None, dict[float | str | None, dict[str | None, Cell]]] = field(default_factory=dict)

    def at(self, axis: str | None, value: float | str | None, gold: str | None) -> Cell:
        return self.cells.setdefault(axis, {}).setdefault(value, {}).setdefault(gold, {})

    def merge(self, other: SizeTable) -> None:
        for axis, values in other.cells.items():
            for value, classes in values.items():
                for gold, cell in classes.items():
                    add_columns(self.at(axis, value, gold), cell)

    def values(self, axis: str) -> list[Any]:
        """The sorted values (numbers or words) of an axis."""
        return sorted(value for value in self.cells.get(axis, {}) if value is not None)

    def cell(self, axis: str | None, *values: float | str | None, of: str | None = None) -> Cell:
        """The sums of all rows at some values of an axis, with class of gold ``of`` (None: any class)."""
        whole: Cell = {}
        for value in values:
            for gold, cell in self.cells.get(axis, {}).get(value, {}).items():
                if of is None or gold == of:
                    add_columns(whole, cell)
        return whole


MAX_VALUES: Final = 500
"""Maximum values of an axis; rows with further values are not counted by it (hostile records could each
have a new value)."""
_NO_DISPLAY: Final = Display()
COMPLETION: Final = "task completion"


def display_of(task: str | None) -> Display:
    """The `Display` of a task by name; an empty one if there is no such task or it has none."""
    known = TASKS.get(task or "")
    return known.display if known is not None and known.display is not None else _NO_DISPLAY


class SizeCounter:
    """Adds rows to a task's `SizeTable`. Consecutive rows of one prompt form a cluster."""

    def __init__(self, task: Task, table: SizeTable) -> None:
        self._table = table
        self._display = display_of(task.name)
        self._measure: Callable[[Record, Mapping[str, Any]], Measures] | None = None
        if self._display.measure is not None:
            self._measure = resolve(self._display.measure)
        columns = [column for layout in self._display.layouts for column in layout.columns]
        wanted = {*self._display.shown, *self._display.completion}.union(*(each.metrics for each in columns))
        self._metrics = sorted(wanted - {"correct", "no_answer"})
        self._prompt: tuple[Any, ...] | None = None
        self._measures = Measures({})
        self._values: dict[str, list[float]] = {}
        self._undefined = {name: metric.undefined for name, metric in task.metric_by_name.items()}

    def add(self, score: Score, record: Record | None) -> str | None:
        """Count a row. Returns the class of its gold."""
        prompt = (score.index, score.id)
        if prompt != self._prompt:
            self.finish()
            self._prompt = prompt
            self._measures = self._measured(score, record)
        if score.status in SCORED:
            self._add("correct", bool(score.correct))
            self._add("no_answer", score.status == "no_answer")
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
        """Count the last prompt, whose rows are complete."""
        if self._prompt is None:
            return
        sizes, gold = self._measures
        places: list[tuple[str | None, float | str | None]] = [(None, None)]
        for axis in self._display.axes:
            value = sizes.get(axis.name)
            known = self._table.cells.get(axis.name, {})
            if value is not None and (value in known or len(known) < MAX_VALUES):
                places.append((axis.name, value))
        sums = {name: [1, n, n * n, v, v * v, v * n] for name, (n, v) in self._values.items()}
        for axis_name, value in places:
            add_columns(self._table.at(axis_name, value, gold), sums)
        self._values = {}


PUBLISHED: Final = "(published layout)"


Sizes = Mapping[str, Mapping[str, SizeTable]]
"""Run → task → the task's table."""


def sections(runs: Sizes, tasks: Sequence[str], report: Report) -> list[Section]:
    """One section for each task that has axes or published tables and rows to fill them."""
    made = (_section(name, display_of(name), runs, report) for name in tasks)
    return [section for section in made if section is not None]


def _section(name: str, display: Display, runs: Sizes, report: Report) -> Section | None:
    pictures: list[Picture] = []
    tables: list[Table] = []
    stem = "".join(c if c.isalnum() else "_" for c in name.lower())
    known = {run: by_task[name] for run, by_task in runs.items() if name in by_task}
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
    return Section(f"{name} by size", text, tables, pictures, pictures_first=True, folded=True)


def _pictures(
    report: Report, file: str, task: str, axis: Axis, metric: str, tables: dict[str, SizeTable]
) -> Iterator[Picture]:
    words = {"correct": "accuracy"}.get(metric, metric.replace("_", " "))
    points: dict[str, dict[Any, Point]] = {}
    for run, table in tables.items():
        found = {value: point_of(table.cell(axis.name, value), metric) for value in table.values(axis.name)}
        points[run] = {value: point for value, point in found.items() if point is not None}
    if len({value for of_run in points.values() for value in of_run}) < 2:
        return
    title = f"{task}: {words} by {axis.label}"
    if axis.words:
        groups = sorted({value for of_run in points.values() for value in of_run})
        figure = figures.dots(title, groups, points, words)
    else:
        figure = figures.lines(title, points, axis.label, words)
    yield report.draw(file, title, "Mean with 95 % interval.", figure)


def _numbers(axis: Axis, metrics: Sequence[str], tables: dict[str, SizeTable]) -> Table:
    """The table of means by the values of an axis."""
    many = len(tables) > 1
    rows = []
    for run, table in tables.items():
        for value in table.values(axis.name):
            cell = table.cell(axis.name, value)
            shown = value if isinstance(value, str) else f"{value:g}"
            correct, *means = (share(mean_of(cell, (metric,))) for metric in metrics)
            cells = [shown, f"{scored_in(cell):,}", correct, interval(point_of(cell, "correct")), *means]
            rows.append([*([run] if many else []), *cells])
    header = [
        *(["model"] if many else []), axis.label, "responses", "correct", "95 % interval",
        *(metric.replace("_", " ") for metric in metrics[1:]),
    ]  # fmt: skip
    return Table(f"By {axis.label}", header, rows, text_columns=int(many) or int(axis.words), folded=True)


def _published(layout: Layout, display: Display, tables: dict[str, SizeTable]) -> Table | None:
    """The published table for these runs; None if no row has what the table needs."""
    axis = next((axis for axis in display.axes if axis.name == layout.axis), None)
    rows: list[list[str]] = []
    for run, table in tables.items():
        known: list[Any] = [None] if axis is None else table.values(axis.name)
        places: dict[Any, list[Any]] = {value: [value] for value in known}
        if layout.binned and axis is not None:
            names = map(axis.bin, (axis.edges[0] - 1, *axis.edges))
            places = {name: [value for value in known if axis.bin(value) == name] for name in names}
        for place, values in places.items():
            n = scored_in(table.cell(layout.axis, *values))
            if not n:
                continue
            shown = []
            for column in layout.columns:
                cell = table.cell(layout.axis, *values, of=column.of)
                mean = mean_of(cell, column.metrics, column.each)
                shown.append("–" if mean is None else f"{mean:.{column.decimals}f}")
            name = [] if place is None else [place if isinstance(place, str) else f"{place:g}"]
            rows.append([run, *name, *([f"{n}"] if layout.count else []), *shown])
    if not rows:
        return None
    header = [
        "Model",
        *([layout.axis_header] if axis is not None else []),
        *(["Count"] if layout.count else []),
    ]
    titles = [*header, *(column.header for column in layout.columns)]
    return Table(f"{layout.title} {PUBLISHED}", titles, rows, folded=True)
