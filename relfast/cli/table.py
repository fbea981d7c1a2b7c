"""Prints tables and lists for people; above all the summary, a table of at most 80 columns with details."""

from __future__ import annotations

import contextlib
import shlex
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from relfast.engine.files.io.codecs import packing_named
from relfast.errors import printable
from relfast.records import SCORED, STATUSES
from relfast.stats.summary import COLUMNS, Summary, TaskSummary, cells
from relfast.support.outputs import TABLES, ends_with
from relfast.tables import share

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def show_table(
    console: Console, header: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1
) -> None:
    """Print a table if the terminal is wide enough, or else each row as a list with the names of its columns.

    Parameters
    ----------
    words
        Number of leading columns that hold names; the others hold numbers.
    """
    if fits(console, header, rows, words=words):
        console.print(_table(header, rows, words))
        return
    for row in rows:
        named = zip(header[words:], row[words:], strict=False)
        parts = [f"{name} {cell}" for name, cell in named if cell]
        show_list(console, " ".join(filter(None, row[:words])), parts)


def fits(console: Console, header: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> bool:
    """Whether the terminal is wide enough for a table."""
    table = _table(header, rows, words)
    return console.measure(table, options=console.options.update(width=1_000)).maximum <= console.width


def show_list(console: Console, name: str, parts: Sequence[str]) -> None:
    """Print ``name: part · part · …``, wrapped between parts; further lines are indented."""
    whole = " ".join(f"{printable(part)} ·".replace(" ", _HARD) for part in parts)
    for line in textwrap.wrap(
        f"{printable(name)}: {whole}",
        console.width,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    ):
        console.print(line.replace(_HARD, " ").rstrip(" ·"), markup=False, soft_wrap=True)


_HARD: Final = "\N{NO-BREAK SPACE}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(pad_edge=False, box=None, header_style="bold")
    for place, name in enumerate(header):
        justify = "left" if place < words else "right"
        table.add_column(Text(printable(name)), justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


_STOPPED: Final = ("timeout", "crashed")


def how_to_list(summary: Summary) -> Iterator[str]:
    """A line with the command that lists the rows that hung or crashed; none if there are no such rows."""
    there = [status for status in _STOPPED if summary.count(status)]
    output = str(summary.output)
    if there and summary.output not in (None, "-") and not ends_with(output, *TABLES):
        n = summary.count(*there)
        what = "1 record" if n == 1 else f"{n:,} records"
        packing = packing_named(output)
        grep = "grep" if packing is None else packing.grep
        pattern = '"status":"({})"'.format("|".join(there))
        yield f"which {what} ({', '.join(there)}): {grep} -E {shlex.quote(pattern)} {shlex.quote(output)}"


MOST_TASKS: Final = 3
"""Most tasks in a summary whose metrics, pass@k and tables are printed; those of more would fill screens."""

MOST_MAJORITIES: Final = 4
"""Most values of k for which maj@k is shown: prompts that have lost samples add further ones."""

UNSCORED: Final = tuple(status for status in STATUSES if status not in SCORED)


def print_summary(summary: Summary) -> None:
    """Print the summary to stderr, if it is open: a line for each task, the metrics, and the signature."""
    from rich.console import Console

    if sys.stderr is None:
        return
    console = Console(file=sys.stderr, highlight=False)
    # written here, not by rich: its console ends the process if the pipe has no reader
    with console.capture() as text:
        _print(summary, console)
    with contextlib.suppress(OSError):
        sys.stderr.write(text.get())
        sys.stderr.flush()


def _print(summary: Summary, console: Console) -> None:
    """Print a summary to a console: table, details, statuses without a score, signature, notes."""
    rows = [[name, *cells(task)] for name, task in summary.tasks.items()]
    columns = ["task", *COLUMNS]
    if all(row[columns.index("reward")] == row[columns.index("correct")] for row in rows):
        _drop(columns, rows, "reward")
    if not summary.count(*UNSCORED):
        _drop(columns, rows, "unscored")
    show_table(console, columns, rows)
    details = {name: [_metrics(task), _at_k(task), _lengths(task)] for name, task in summary.tasks.items()}
    if len(summary.tasks) <= MOST_TASKS:
        for name, task in summary.tasks.items():
            for parts in filter(None, details[name]):
                show_list(console, name, parts)
            for shown in task.tables():
                console.print(f"{name} {shown.title}", markup=False)
                show_table(console, shown.columns, shown.rows)
    elif any(map(any, details.values())):
        console.print("metrics, pass@k and lengths by task: --summary FILE.json, relfast report")
    lost = {status.replace("_", " "): summary.count(status) for status in UNSCORED}
    if without := ", ".join(f"{n:,} {status}" for status, n in lost.items() if n):
        console.print(f"without a score: {without}", markup=False)
    if n := sum(task.counts.cut_off for task in summary.tasks.values()):
        console.print(f"cut off before the answer began: {n:,} (scored as empty responses)", markup=False)
    # on one line whatever the width, to be copied and compared
    console.print(summary.signature, style="dim", soft_wrap=True)
    for note in summary.notes:
        console.print(f"note: {note}", overflow="fold")


def _drop(columns: list[str], rows: list[list[str]], name: str) -> None:
    at = columns.index(name)
    for row in (columns, *rows):
        del row[at]


def _metrics(task: TaskSummary) -> list[str]:
    return [f"{name} {total / n:.3g}" for name, (n, total) in task.sums.items() if n]


def _at_k(task: TaskSummary) -> list[str]:
    """pass@k for powers of two from 2 on (pass@1 equals ``correct``) and for the largest k, and maj@k for
    the numbers of samples that most prompts have; each with its number of prompts. All other k, and avg@k,
    which is pass@1 of the same prompts, are in the JSON only."""
    lines = []
    left_out = 0
    for name, points in task.at_k().items():
        if name == "avg@k":
            continue
        if name == "maj@k":
            common = sorted(points, key=lambda k: -points[k].prompts)[:MOST_MAJORITIES]
            shown, left_out = sorted(common), len(points) - len(common)
        else:
            shown = [k for k in points if k > 1 and (k.bit_count() == 1 or k == max(points))]
        lines += [
            f"{name[:-1]}{k} {points[k].value:.3f} ({points[k].prompts:,}/{task.prompts:,})" for k in shown
        ]
    if left_out:
        lines.append(f"maj@k for {left_out:,} other k in the JSON")
    return [line.replace(")", " prompts)") if not at else line for at, line in enumerate(lines)]


def _lengths(task: TaskSummary) -> list[str]:
    """Medians and 95th percentiles, and the share of responses that were cut off."""
    if task.lengths is None:
        return []
    names = ("characters", "reasoning_characters", "tokens", "reasoning_tokens")
    spreads = [(name.replace("_", " "), getattr(task.lengths, name)) for name in names]
    parts = [
        f"{name} {spread.quantile(0.5):,.0f} (95 %: {spread.quantile(0.95):,.0f})"
        for name, spread in spreads
        if spread.most
    ]
    cut, known = task.lengths.truncated
    if known:
        parts.append(f"cut off {share(cut / known)} of {known:,}")
    return parts
