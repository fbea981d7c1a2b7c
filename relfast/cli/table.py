"""The summary as a table for people."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from relfast.estimates import clustered_mean, pass_at_k
from relfast.records import STATUSES
from relfast.stats import Summary, TaskSummary

if TYPE_CHECKING:
    from rich.console import Console


def print_summary(summary: Summary) -> None:
    """On stderr, if there is one: a line a task, below it the task's metrics, then what was run."""
    from rich.console import Console

    if sys.stderr is None:
        return
    console = Console(file=sys.stderr, highlight=False)
    # written by ourselves: a console ends the process where nobody reads it
    with console.capture() as text:
        _print(summary, console)
    with contextlib.suppress(OSError):
        sys.stderr.write(text.get())
        sys.stderr.flush()


def _print(summary: Summary, console: Console) -> None:
    from rich.table import Table

    table = Table(pad_edge=False, box=None, header_style="bold")
    failed = [status for status in STATUSES[2:] if summary.count(status)]
    table.add_column("task", no_wrap=True)
    for name in ("records", "correct", "± se", "reward", "parsed", *(f.replace("_", " ") for f in failed)):
        table.add_column(name, justify="right", no_wrap=True)
    for name, task in summary.tasks.items():
        mean, error = clustered_mean(task.histogram)
        table.add_row(
            name,
            f"{task.rows:,}",
            _number(mean),
            _number(error),
            _number(task.rewards[1] / task.rewards[0] if task.rewards[0] else None),
            f"{100 * task.found / task.scored:.1f}%" if task.scored else "–",
            *(f"{task.statuses[status]:,}" for status in failed),
        )
    console.print(table)
    for name, task in summary.tasks.items():
        metrics = _metrics(task)
        if metrics:
            console.print(f"{name}: {metrics}", overflow="fold")
    console.print(summary.signature, style="dim", overflow="fold")
    for note in summary.notes:
        console.print(f"note: {note}", overflow="fold")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _metrics(task: TaskSummary) -> str:
    parts = [f"{name} {total / n:.3g}" for name, (n, total) in task.sums.items() if n]
    if task.histogram and max(n for n, _ in task.histogram) > 1:
        parts += [f"pass@{k} {value:.3f}" for k, value in pass_at_k(task.histogram).items() if k != "1"]
        parts += [f"maj@{k} {total / n:.3f}" for k, (n, total) in sorted(task.majority.items())]
    return " · ".join(parts)
