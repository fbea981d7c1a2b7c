"""The tables of a report on scored rows, on its page and as files."""

from __future__ import annotations

import csv
import io
from typing import Final

from relfast.records import STATUSES
from relfast.report.base import Report
from relfast.report.page import Table
from relfast.stats.estimates import clustered_mean
from relfast.stats.summary import Summary, TaskSummary

_COLUMNS: Final = ("prompts", "responses", "correct", "standard error", "reward", "parsed")


def page_tables(summary: Summary) -> list[Table]:
    """The tables of the page."""
    rows = [[name, *(_shown(value) for value in _numbers(task))] for name, task in summary.tasks.items()]
    tables = [Table("Tasks", ["task", *_COLUMNS], rows, "The standard error is clustered by prompt.")]
    metrics = [
        [name, metric, _shown(total / n), f"{n:,}"]
        for name, task in summary.tasks.items()
        for metric, (n, total) in task.sums.items()
        if n
    ]
    if metrics:
        tables.append(Table("Metrics", ["task", "metric", "mean", "rows"], metrics, text_columns=2))
    at_k = [
        [name, kind, str(k), _shown(point.value), f"{point.prompts:,} of {task.prompts:,}"]
        for name, task in summary.tasks.items()
        for kind, points in task.at_k().items()
        for k, point in points.items()
    ]
    if at_k:
        note = "pass@k is over the prompts with k scored samples or more, maj@k over those with exactly k."
        tables.append(
            Table("Several samples", ["task", "", "k", "value", "prompts"], at_k, note, text_columns=2)
        )
    labels = [
        [name, metric, label, f"{count:,}"]
        for name, task in summary.tasks.items()
        for metric, counts in task.labels.items()
        for label, count in sorted(counts.items(), key=lambda item: -item[1])
    ]
    if labels:
        tables.append(Table("Labels", ["task", "metric", "label", "rows"], labels, text_columns=3))
    statuses = [
        [name, *(f"{task.statuses.get(status, 0):,}" for status in STATUSES)]
        for name, task in summary.tasks.items()
    ]
    tables.append(Table("Statuses", ["task", *(status.replace("_", " ") for status in STATUSES)], statuses))
    return tables


def _numbers(task: TaskSummary) -> list[float | int | None]:
    mean, error = clustered_mean(task.histogram)
    reward = task.rewards[1] / task.rewards[0] if task.rewards[0] else None
    parsed = task.found / task.scored if task.scored else None
    return [task.prompts, task.rows, mean, error, reward, parsed]


def write_tables(summary: Summary, report: Report) -> None:
    """Write the numbers as CSV and LaTeX files. Raises `OutputError`."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["task", *(name.replace(" ", "_") for name in _COLUMNS), *STATUSES])
    for name, task in summary.tasks.items():
        numbers = ["" if value is None else value for value in _numbers(task)]
        writer.writerow([name, *numbers, *(task.statuses.get(status, 0) for status in STATUSES)])
    metrics = io.StringIO()
    writer = csv.writer(metrics, lineterminator="\n")
    writer.writerow(["task", "metric", "rows", "mean"])
    for name, task in summary.tasks.items():
        for metric, (n, total) in task.sums.items():
            writer.writerow([name, metric, int(n), total / n if n else ""])
    texts = {
        "summary_stats.csv": stream.getvalue(),
        "metrics.csv": metrics.getvalue(),
        "latex_table.txt": _latex(summary),
    }
    report.write_texts(texts)


def _latex(summary: Summary) -> str:
    import pandas

    rows = {name: dict(zip(_COLUMNS, _numbers(task), strict=True)) for name, task in summary.tasks.items()}
    table = pandas.DataFrame.from_dict(rows, orient="index", columns=list(_COLUMNS))
    text: str = table.to_latex(float_format="%.3f", escape=True, na_rep="--")
    return text


def _shown(value: float | int | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
