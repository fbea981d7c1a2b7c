"""Rates along the sizes of a task's problems, and its published tables rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from relfast.report import figures
from relfast.report.base import Report
from relfast.report.figures import Point
from relfast.report.overview import Drawer, interval, percent, tasks_of
from relfast.report.page import Section, Table
from relfast.report.scored_rows import Scored
from relfast.report.sizes import COMPLETION, Cell, SizeTable, bins_of, column_mean
from relfast.tasks import TASKS
from relfast.tasks.display import Axis, Display, Layout

PUBLISHED: Final = "(published layout)"


def sections(runs: Sequence[Scored], report: Report) -> list[Section]:
    """A section a task that says its sizes, where rows have them."""
    made = []
    for name in tasks_of(runs):
        display = TASKS[name].display if name in TASKS else None
        if display is not None:
            section = _section(name, display, runs, report)
            if section is not None:
                made.append(section)
    return made


def _section(name: str, display: Display, runs: Sequence[Scored], report: Report) -> Section | None:
    draw = Drawer(report)
    tables: list[Table] = []
    stem = "".join(c if c.isalnum() else "_" for c in name.lower())
    known = {run.name: table for run in runs if (table := run.counted.sizes.get(name)) is not None}
    for axis in display.axes:
        with_axis = {run: table for run, table in known.items() if table.values(axis.name)}
        if not any(len(table.values(axis.name)) > 1 for table in with_axis.values()):
            continue
        metrics = ["correct", *([COMPLETION] if display.completion else []), *display.shown]
        for metric in metrics:
            _draw(
                draw, f"{stem}_{metric.replace(' ', '_')}_by_{axis.name}.png", name, axis, metric, with_axis
            )
        tables.append(_numbers(axis, metrics, with_axis))
    for layout in display.layouts:
        published = _published(layout, display, known)
        if published is not None:
            tables.append(published)
    if not tables:
        return None
    tables.sort(key=lambda table: not table.title.endswith(PUBLISHED))
    text = [f"{TASKS[name].summary.capitalize()}."]
    return Section(f"{name} by size", text, tables, draw.pictures, pictures_first=True)


def _draw(draw: Drawer, file: str, task: str, axis: Axis, metric: str, tables: dict[str, SizeTable]) -> None:
    words = {"correct": "accuracy"}.get(metric, metric.replace("_", " "))
    points: dict[str, dict[Any, Point]] = {}
    for run, table in tables.items():
        found = {value: table.cell(axis.name, value).point(metric) for value in table.values(axis.name)}
        points[run] = {value: point for value, point in found.items() if point is not None}
    if not any(points.values()):
        return
    title = f"{task}: {words} by {axis.label}"
    caption = "Mean with 95 % interval."
    if axis.words:
        groups = sorted({value for of_run in points.values() for value in of_run})
        draw(file, title, caption, lambda path: figures.dots(path, title, groups, points, words))
    else:
        draw(file, title, caption, lambda path: figures.lines(path, title, points, axis.label, words))


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
