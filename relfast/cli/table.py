"""The summary as a table for people: at most 80 columns wide, what needs more room stands below it; and lists of rows."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from relfast.cli.main import say
from relfast.cli.progress import columns_of
from relfast.errors import printable
from relfast.records import SCORED, STATUSES
from relfast.stats.summary import COLUMNS, Summary, TaskSummary, cells

INDENT: Final = "  "


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], columns: int, *, words: int = 1
) -> Iterator[str]:
    """The lines of a table where so many columns hold it, or else each row as a list that says what its numbers are.

    Parameters
    ----------
    words
        How many columns, from the left, hold names; the others hold numbers.
    """
    cells = [[*map(printable, row)] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) <= columns:
        for row in cells:
            named = [cell.ljust(width) for cell, width in zip(row[:words], widths, strict=False)]
            numbers = [cell.rjust(width) for cell, width in zip(row[words:], widths[words:], strict=True)]
            yield "  ".join(named + numbers).rstrip()
        return
    for cells_of_row in rows:
        named_cells = zip(header[words:], cells_of_row[words:], strict=True)
        parts = [f"{name} {cell}" for name, cell in named_cells if cell]
        yield from listed(" ".join(filter(None, cells_of_row[:words])), parts, columns)


def listed(name: str, parts: Sequence[str], columns: int) -> Iterator[str]:
    """``name: part · part · …``, in as many lines as it takes, further ones indented; no part is broken."""
    whole = " ".join(f"{printable(part)} ·".replace(" ", _HARD) for part in parts)
    lines = textwrap.wrap(
        f"{printable(name)}: {whole}",
        columns,
        subsequent_indent=INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return (line.replace(_HARD, " ").rstrip(" ·") for line in lines)


_HARD: Final = "\N{NO-BREAK SPACE}"


_STOPPED: Final = ("timeout", "crashed")


def how_to_list(summary: Summary) -> Iterator[str]:
    """The command that lists what hung or crashed, if anything did."""
    there = [status for status in _STOPPED if summary.count(status)]
    output = str(summary.output)
    if there and summary.output not in (None, "-") and not output.endswith(".parquet"):
        n = summary.count(*there)
        what = "1 record" if n == 1 else f"{n:,} records"
        grep = "zgrep" if output.endswith(".gz") else "zstdgrep" if output.endswith(".zst") else "grep"
        pattern = '"status":"({})"'.format("|".join(there))
        yield f"which {what} ({', '.join(there)}): {grep} -E {shlex.quote(pattern)} {shlex.quote(output)}"


MOST_TASKS: Final = 3
"""Tasks whose metrics, pass@k and tables stand below the table; of more they would fill several screens."""

MOST_MAJORITIES: Final = 4
"""Numbers of samples that maj@k is shown for: prompts that lost some samples each have one of their own."""

UNSCORED: Final = tuple(status for status in STATUSES if status not in SCORED)


def print_summary(summary: Summary) -> None:
    """On stderr, if there is one: a line a task, below it the task's metrics, then what was run."""
    say("\n".join(_lines(summary, columns_of(sys.stderr))))


def _lines(summary: Summary, columns: int) -> Iterator[str]:
    rows = [[name, *cells(task)] for name, task in summary.tasks.items()]
    header = ["task", *COLUMNS]
    if all(row[header.index("reward")] == row[header.index("correct")] for row in rows):
        _drop(header, rows, "reward")
    if not summary.count(*UNSCORED):
        _drop(header, rows, "unscored")
    yield from table(header, rows, columns)
    told = {name: [_metrics(task), _at_k(task), _lengths(task)] for name, task in summary.tasks.items()}
    if len(summary.tasks) <= MOST_TASKS:
        for name, task in summary.tasks.items():
            for parts in filter(None, told[name]):
                yield from listed(name, parts, columns)
            for shown in task.tables():
                yield f"{name} {shown.title}"
                yield from table(shown.columns, shown.rows, columns)
    elif any(map(any, told.values())):
        yield "metrics, pass@k and lengths by task: --summary FILE.json, relfast report"
    lost = {status.replace("_", " "): summary.count(status) for status in UNSCORED}
    if without := ", ".join(f"{n:,} {status}" for status, n in lost.items() if n):
        yield f"without a score: {without}"
    # one line whatever the width: it is there to be copied and compared
    yield summary.signature
    for note in summary.notes:
        yield from textwrap.wrap(f"note: {note}", columns)


def _drop(columns: list[str], rows: list[list[str]], name: str) -> None:
    at = columns.index(name)
    for row in (columns, *rows):
        del row[at]


def _metrics(task: TaskSummary) -> list[str]:
    return [f"{name} {total / n:.3g}" for name, (n, total) in task.sums.items() if n]


def _at_k(task: TaskSummary) -> list[str]:
    """pass@k for powers of two from 2 on (pass@1 says what ``correct`` says) and the largest k, maj@k for the numbers of samples that most prompts have; each
    with the prompts it rests on. avg@k is pass@1 of the same prompts, and in the JSON as all others are."""
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
        f"{name} {spread.quantile(0.5):,.0f} (95%: {spread.quantile(0.95):,.0f})"
        for name, spread in spreads
        if spread.most
    ]
    cut, known = task.lengths.truncated
    if known:
        parts.append(f"cut off {100 * cut / known:.1f}% of {known:,}")
    return parts
