"""The tables of a report on scored rows as files, models side by side."""

from __future__ import annotations

from collections.abc import Mapping

from relfast.comparison.model import Side
from relfast.comparison.tables import best_in_bold
from relfast.stats.estimates import clustered_mean
from relfast.stats.summary import Summary
from relfast.tables import Cell, csv_text, latex_table


def scores_csv(runs: Mapping[str, Summary]) -> str:
    """A row a run (by name) and task, with all numbers of `relfast.stats.task_summary.TaskSummary.flat`; no
    spreadsheet takes a name in it for a formula."""
    rows = [{"run": name, **task.flat()} for name, summary in runs.items() for task in summary.tasks.values()]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return csv_text(columns, ([row.get(name) for name in columns] for row in rows))


def scores_latex(runs: Mapping[str, Summary]) -> str:
    """Tasks × runs: share correct in percent with its 95 % interval, the best of a task in bold.

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
