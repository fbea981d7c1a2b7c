"""``relfast report``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from relfast.cli.parameters import FORMATS, with_options
from relfast.errors import UsageError
from relfast.support.outputs import refuse_existing

if TYPE_CHECKING:
    from relfast.report.canvas import Style


def _count(context: Any, parameter: Any, value: str) -> int:
    if value == "all":
        return 2**62
    if value.isdecimal():
        return int(value)
    raise click.BadParameter("must be a number or all")


STYLE: Final = ("style", "figure_width", "font", "font_size", "dpi", "titles")
"""The options of `style_options`."""

# fmt: off
style_options = with_options(
    click.option("--style", default="page", show_default=True, type=click.Choice(["page", "paper"]), help="Figures for the page, or for a paper's column: 85 mm wide, letters of 8 points, without titles."),
    click.option("--figure-width", type=click.FloatRange(1, 40), metavar="INCHES", help="Width of figures, in place of the style's."),
    click.option("--font", metavar="NAME", help="Font of figures: an installed one, or sans-serif, serif, monospace."),
    click.option("--font-size", type=click.FloatRange(4, 40), metavar="POINTS", help="Size of their letters."),
    click.option("--dpi", type=click.IntRange(50, 1200), metavar="N", help="Dots per inch of PNG files.  [default: 300]"),
    click.option("--titles/--no-titles", default=None, help="Whether figures have titles, whatever the style."),
)
# fmt: on
"""A decorator that gives a command the options of how figures look."""


def style_of(options: dict[str, Any]) -> Style:
    """Take the options of `style_options` out of ``options``; returns the style that they describe."""
    from relfast.report.canvas import STYLES

    style, width, *others = (options.pop(name) for name in STYLE)
    given = {"width": width, **dict(zip(STYLE[2:], others, strict=True))}
    return replace(STYLES[style], **{name: value for name, value in given.items() if value is not None})


@click.command(name="report")
@click.argument("scored", nargs=-1, required=True, metavar="SCORED...")
@click.option("-o", "--output", metavar="DIR", help="Folder of the report.")
@click.option("-f", "--format", "form", type=click.Choice(FORMATS), help="Print the numbers on stdout in this form; without -o nothing is drawn.")  # fmt: skip
@click.option("--dump", multiple=True, metavar="FILE", help="What SCORED was scored from, if it does not lie beside it; NAME=FILE for several models.")  # fmt: skip
@click.option("--records", default="10000", show_default=True, callback=_count, metavar="N|all", help="Records of a model that can be browsed; the texts of most lie in a folder beside the page.")  # fmt: skip
@click.option("--shards", is_flag=True, help="The inputs are parts of one run (`relfast score --shard`).")
@click.option("--overwrite", is_flag=True, help="Replace an existing report.")
@click.option("--embedder", default="auto", show_default=True, metavar="NAME|DIR", help="Embedding model of ReAlign's heatmaps.")  # fmt: skip
@style_options
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(
    scored: tuple[str, ...],
    output: str | None,
    form: str | None,
    overwrite: bool,
    embedder: str,
    quiet: bool,
    **options: Any,
) -> int:
    """Figures, tables and one HTML page from SCORED: rows of `relfast score`, or their --summary files.

    SCORED are files, patterns, folders, or - for stdin. Files with different records, and --shards of one run,
    are added up; files with the same records are several models, side by side. NAME=FILE says of which model a
    file is. Questions and responses are read from the dump that the journal beside the rows names, or from --dump. The
    results of `relfast realign` give ReAlign's own report.
    """
    from relfast.cli.progress import ProgressReporter
    from relfast.report.canvas import drawn_in
    from relfast.report.inputs import realign_results
    from relfast.report.scored import SCORES_AS, generate_report, read_models

    if output is None and form is None:
        raise UsageError("-o DIR writes the report, --format prints its numbers: say one of them, or both")
    results = realign_results(scored)
    if results is not None and len(scored) > 1:
        raise UsageError(f"{results} holds results of `relfast realign`: report on it alone")
    look = style_of(options)
    if results is not None and form is not None:
        raise UsageError(f"{results} holds results of `relfast realign`, whose tables its own report writes")
    if output is None:
        runs = read_models(scored, **options | {"records": 0})
        for note in dict.fromkeys(note for run in runs for note in run.summary.notes):
            click.echo(note, err=True)
        click.echo(SCORES_AS[str(form)]({run.name: run.summary for run in runs}), nl=False)
        return 0
    if os.path.exists(output) and not os.path.isdir(output):
        raise UsageError(f"{output} is a file; a report is a folder")
    refuse_existing(Path(output) / "index.html", unless=overwrite)
    with ProgressReporter(quiet=quiet) as reporter, drawn_in(look):
        if results is not None:
            from relfast.report.realign import generate_analysis_report
            from relfast.tasks.realign.alignment import StepAligner

            aligner = StepAligner(embedder)
            report = generate_analysis_report(results, output, aligner=aligner, on_step=reporter.step)
        else:
            report = generate_report(scored, output, embedder=embedder, on_step=reporter.step, **options)
    for note in report.notes:
        click.echo(note, err=True)
    click.echo(f"report in {report.directory / 'index.html'}", err=True)
    if form is not None:
        click.echo(SCORES_AS[form](report.summaries), nl=False)
    return 0
