"""The summary as a table for people: at most 80 columns wide, what needs more room stands below it."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Final

from relfast.records import SCORED, STATUSES
from relfast.stats.estimates import clustered_mean
from relfast.stats.summary import Summary, TaskSummary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from relfast.tasks.breakdown import ShownTable

UNSCORED: Final = tuple(status for status in STATUSES if status not in SCORED)


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
    table.add_column("task", no_wrap=True)
    columns = ["prompts", "responses", "correct", "± se", "reward", "parsed"]
    if summary.count(*UNSCORED):
        columns.append("unscored")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for name, task in summary.tasks.items():
        table.add_row(name, *cells(task)[: len(columns)])
    if console.measure(table, options=console.options.update(width=1_000)).maximum <= console.width:
        console.print(table)
    else:  # a line a task, folded: a table would cut its headings and numbers
        for name, task in summary.tasks.items():
            pairs = zip(columns, cells(task), strict=False)
            console.print(
                f"{name}: {' · '.join(f'{column} {cell}' for column, cell in pairs)}", overflow="fold"
            )
    for name, task in summary.tasks.items():
        for line in (_metrics(task), _at_k(task), _lengths(task), _unscored(task)):
            if line:
                console.print(f"{name}: {line}", overflow="fold")
        for shown in task.tables():
            console.print(_own_table(name, shown))
    # one line whatever the width: it is there to be copied and compared
    console.print(summary.signature, style="dim", soft_wrap=True)
    for note in summary.notes:
        console.print(f"note: {note}", overflow="fold")


def _own_table(task: str, shown: ShownTable) -> Table:
    """A table of a task's own aggregates, its title the first line."""
    from rich.table import Table

    table = Table(
        title=f"{task} {shown.title}",
        title_justify="left",
        title_style="",
        pad_edge=False,
        box=None,
        header_style="bold",
    )
    for place, name in enumerate(shown.columns):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    for row in shown.rows:
        table.add_row(*row)
    return table


def cells(task: TaskSummary) -> list[str]:
    """What the table shows of a task: prompts, responses, correct, its error, reward, parsed, unscored."""
    mean, error = clustered_mean(task.histogram)
    return [
        f"{task.prompts:,}",
        f"{task.rows:,}",
        _number(mean),
        _number(error),
        _number(task.rewards[1] / task.rewards[0] if task.rewards[0] else None),
        f"{100 * task.found / task.scored:.1f}%" if task.scored else "–",
        f"{task.rows - task.scored:,}",
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _metrics(task: TaskSummary) -> str:
    return " · ".join(f"{name} {total / n:.3g}" for name, (n, total) in task.sums.items() if n)


def _at_k(task: TaskSummary) -> str:
    """pass@k for powers of two and the largest k, maj@k for all; each with the prompts it rests on. avg@k is
    pass@1 of the same prompts, and in the JSON."""
    lines = []
    for name, points in task.at_k().items():
        if name == "avg@k":
            continue
        shown = [k for k in points if name == "maj@k" or k.bit_count() == 1 or k == max(points)]
        lines += [
            f"{name[:-1]}{k} {points[k].value:.3f} ({points[k].prompts:,}/{task.prompts:,})" for k in shown
        ]
    return " · ".join(lines).replace(")", " prompts)", 1)


def _lengths(task: TaskSummary) -> str:
    """Medians and 95th percentiles, and the share of responses that were cut off."""
    if task.lengths is None:
        return ""
    names = ("characters", "reasoning_characters", "tokens", "reasoning_tokens")
    spreads = [(name.replace("_", " "), getattr(task.lengths, name)) for name in names]
    parts = [
        f"{name} {spread.quantile(0.5):,.0f} (95%: {spread.quantile(0.95):,.0f})"
        for name, spread in spreads
        if spread.most
    ]
    cut, known = task.lengths.truncated
    if known:
        parts.append(f"cut off {100 * cut / known:.1f}% of {known:,}")
    return " · ".join(parts)


def _unscored(task: TaskSummary) -> str:
    failed = [(status, task.statuses[status]) for status in UNSCORED if task.statuses[status]]
    if not failed:
        return ""
    return "without a score: " + ", ".join(f"{n:,} {status.replace('_', ' ')}" for status, n in failed)
