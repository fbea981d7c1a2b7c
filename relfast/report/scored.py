"""A report on scored rows of any tasks: what `relfast score` wrote, several files merged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from relfast.errors import OutputError
from relfast.records import SCORED
from relfast.report.base import OnStep, Report, ignore_step
from relfast.report.page import Page, Section, write_page
from relfast.report.scored_figures import draw_figures
from relfast.report.scored_rows import read_scored
from relfast.report.scored_tables import page_tables, write_tables
from relfast.tasks import TASKS
from relfast.tasks.base import resolve


def generate_report(
    inputs: Sequence[str], output_dir: str | Path, *, shards: bool = False, on_step: OnStep = ignore_step
) -> Report:
    """Tables, figures and the page of scored files (JSONL, compressed or Parquet) and summaries (JSON).

    Several inputs are added up: of different records, or ``shards`` of one run. A summary has numbers but no
    rows: it adds to the tables, not to the distributions. Beside the rows that it is of it is not counted,
    and gives the signature and maj@k, which rows do not say. ``on_step`` is told of each step as it begins.

    Raises
    ------
    InputError
        An input is neither scored rows nor a summary.
    UsageError
        Inputs share rows, or may do so.
    MissingExtraError, OutputError
    """
    scored = read_scored(inputs, shards=shards, on_step=on_step)
    on_step("drawing figures")
    report = Report(Path(output_dir))
    try:
        report.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(report.directory, error.strerror or str(error)) from error
    summary = scored.summary
    page = Page(
        "Scores",
        "What `relfast score` found, by task.",
        [
            ("inputs", ", ".join(scored.inputs)),
            ("responses", f"{summary.rows:,}"),
            ("without a score", f"{summary.rows - summary.count(*SCORED):,}"),
        ],
    )
    text = [summary.signature] if summary.signature else []
    page.sections = [
        Section("Summary", [*text, *summary.notes], page_tables(summary)),
        Section("Figures", pictures=draw_figures(scored, report)),
    ]
    for name, drawn in scored.drawn.items():
        own = TASKS[name].figures
        if own is not None:
            page.sections.append(resolve(own.section)(drawn.columns, drawn.correct, report))
    write_tables(summary, report)
    report.files.append(write_page(page, report.directory))
    return report
