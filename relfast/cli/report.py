"""``relfast report``."""

from __future__ import annotations

from pathlib import Path

import click

from relfast.errors import UsageError
from relfast.outputs import refuse_existing


@click.command(name="report")
@click.argument("scored", nargs=-1, required=True, metavar="SCORED...")
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder of the report.")
@click.option("--shards", is_flag=True, help="The inputs are parts of one run (`relfast score --shard`).")
@click.option("--overwrite", is_flag=True, help="Replace an existing report.")
@click.option("--embedder", default="auto", show_default=True, metavar="NAME|DIR", help="Embedding model of ReAlign's heatmaps.")  # fmt: skip
@click.option("--device", default="cpu", show_default=True, help="Device of the embedding model.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(
    scored: tuple[str, ...],
    output: str,
    shards: bool,
    overwrite: bool,
    embedder: str,
    device: str,
    quiet: bool,
) -> int:
    """Figures, tables and one HTML page from SCORED: rows of `relfast score`, or their --summary files.

    SCORED are files, patterns, folders, or - for stdin. Several inputs are added up: they must hold different
    records, or be --shards of one run. The results of `relfast realign` give ReAlign's own report.
    """
    from relfast.cli.progress import ProgressReporter
    from relfast.report.inputs import realign_results
    from relfast.report.scored import generate_report

    refuse_existing(Path(output) / "index.html", unless=overwrite)
    results = realign_results(scored)
    if results is not None and len(scored) > 1:
        raise UsageError(f"{results} holds results of `relfast realign`: report on it alone")
    with ProgressReporter(quiet=quiet) as reporter:
        if results is not None:
            from relfast.realign.aligner import StepAligner
            from relfast.report.realign import generate_analysis_report

            aligner = StepAligner(embedder, device)
            report = generate_analysis_report(results, output, aligner=aligner, on_step=reporter.step)
        else:
            report = generate_report(scored, output, shards=shards, on_step=reporter.step)
    for note in report.notes:
        click.echo(note, err=True)
    click.echo(f"report in {report.directory / 'index.html'}", err=True)
    return 0
