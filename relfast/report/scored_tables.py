"""The tables of a report on scored rows as files."""

from __future__ import annotations

import csv
import io
from typing import Final

from relfast.records import STATUSES
from relfast.report.base import Report
from relfast.stats.estimates import clustered_mean
from relfast.stats.summary import Summary, TaskSummary

_COLUMNS: Final = ("prompts", "responses", "correct", "standard error", "reward", "parsed")


def _numbers(task: TaskSummary) -> list[float | int | None]:
    mean, error = clustered_mean(task.histogram)
    reward = task.rewards[1] / task.rewards[0] if task.rewards[0] else None
    parsed = task.found / task.scored if task.scored else None
    return [task.prompts, task.rows, mean, error, reward, parsed]


def write_tables(summary: Summary, report: Report, suffix: str = "") -> None:
    """Write the numbers as CSV and LaTeX files, whose names end in ``suffix``. Raises `OutputError`."""
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
        f"summary_stats{suffix}.csv": stream.getvalue(),
        f"metrics{suffix}.csv": metrics.getvalue(),
        f"latex_table{suffix}.txt": _latex(summary),
    }
    report.write_texts(texts)


def _latex(summary: Summary) -> str:
    import pandas

    rows = {name: dict(zip(_COLUMNS, _numbers(task), strict=True)) for name, task in summary.tasks.items()}
    table = pandas.DataFrame.from_dict(rows, orient="index", columns=list(_COLUMNS))
    text: str = table.to_latex(float_format="%.3f", escape=True, na_rep="--")
    return text
