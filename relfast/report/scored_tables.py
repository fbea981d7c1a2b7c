"""The tables of a report on scored rows as files, models side by side included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from relfast.comparison.model import Side
from relfast.comparison.tables import best_in_bold
from relfast.records import STATUSES
from relfast.report.base import Report
from relfast.stats.estimates import clustered_mean
from relfast.stats.summary import Summary, TaskSummary
from relfast.tables import Cell, csv_text, latex_table, percent, percent_cell


def side_by_side_latex(runs: Mapping[str, Summary]) -> str:
    """Tasks × runs (by name): share correct in percent with its 95 % interval, the best of a task in bold.

    Each mean is over its own run's responses; ``relfast compare -f latex`` has those over common samples, and
    what they differ by.
    """
    tasks = dict.fromkeys(task for summary in runs.values() for task in summary.tasks)
    rows: list[list[str | Cell]] = [
        [task, *best_in_bold([_side(summary, task) for summary in runs.values()], share=True)]
        for task in tasks
    ]
    return latex_table(["Task", *(f"{name} (%)" for name in runs)], rows)


def _side(summary: Summary, task: str) -> Side | None:
    found = summary.tasks.get(task)
    mean = None if found is None else clustered_mean(found.histogram)[0]
    return None if found is None or mean is None else Side(mean, found.correct_interval())


def side_by_side_csv(runs: Mapping[str, Summary]) -> str:
    """A row a run and task, with all numbers of `relfast.stats.task_summary.TaskSummary.flat`."""
    rows = [{"run": name, **task.flat()} for name, summary in runs.items() for task in summary.tasks.values()]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return csv_text(columns, ([row.get(name) for name in columns] for row in rows))


_COLUMNS: Final = ("prompts", "responses", "correct", "standard error", "reward", "parsed")


def _numbers(task: TaskSummary) -> list[float | int | None]:
    mean, error = clustered_mean(task.histogram)
    reward = task.rewards[1] / task.rewards[0] if task.rewards[0] else None
    parsed = task.found / task.scored if task.scored else None
    return [task.prompts, task.rows, mean, error, reward, parsed]


def write_tables(summary: Summary, report: Report, suffix: str = "") -> None:
    """Write the numbers as CSV and LaTeX files, whose names end in ``suffix``. Raises `OutputError`."""
    report.write_texts(
        {
            f"summary_stats{suffix}.csv": summary_csv(summary),
            f"metrics{suffix}.csv": metrics_csv(summary),
            f"latex_table{suffix}.txt": summary_latex(summary),
        }
    )


def summary_csv(summary: Summary) -> str:
    """A row a task; no spreadsheet takes a name in it for a formula."""
    columns = (name.replace(" ", "_") for name in _COLUMNS)
    header = ["task", *columns, *STATUSES, "correct_low", "correct_high"]
    rows = [
        [
            name,
            *_numbers(task),
            *(task.statuses.get(status, 0) for status in STATUSES),
            *(task.correct_interval() or (None, None)),
        ]
        for name, task in summary.tasks.items()
    ]
    return csv_text(header, rows)


def metrics_csv(summary: Summary) -> str:
    """A row a task and metric."""
    rows = [
        [name, metric, int(n), total / n if n else None]
        for name, task in summary.tasks.items()
        for metric, (n, total) in task.sums.items()
    ]
    return csv_text(["task", "metric", "rows", "mean"], rows)


def summary_latex(summary: Summary) -> str:
    """A row a task, for a paper: accuracy in percent with its 95 % interval, reward, share parsed; with
    several samples of a prompt also the largest pass@k."""
    at_k = {name: task.at_k() for name, task in summary.tasks.items()}
    largest = max((max(points["pass@k"]) for points in at_k.values() if points), default=None)
    header = ["Task", "Prompts", "Responses", "Correct (%)", "Reward", "Parsed (%)"]
    if largest is not None:
        header.append(f"pass@{largest} (%)")
    rows: list[list[str | Cell]] = []
    for name, task in summary.tasks.items():
        prompts, responses, mean, _, reward, parsed = _numbers(task)
        row: list[str | Cell] = [name, str(prompts), str(responses)]
        row.append("--" if mean is None else percent_cell(mean, task.correct_interval()))
        row.append("--" if reward is None else f"{reward:.3f}")
        row.append("--" if parsed is None else percent(parsed))
        if largest is not None:
            point = at_k[name]["pass@k"].get(largest) if at_k[name] else None
            bounds = task.at_k_intervals()["pass@k"] if point is not None else {}
            row.append("--" if point is None else percent_cell(point.value, bounds.get(largest)))
        rows.append(row)
    return latex_table(header, rows)
