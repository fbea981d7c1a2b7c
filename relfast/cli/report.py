"""``relfast report``."""

from __future__ import annotations

import click

from relfast.errors import UsageError


@click.command(name="report")
@click.argument("scored", nargs=-1, required=True, metavar="SCORED...")
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder of the report.")
@click.option("--embedder", default="auto", show_default=True, metavar="NAME|DIR", help="Embedding model of ReAlign's heatmaps.")  # fmt: skip
@click.option("--device", default="cpu", show_default=True, help="Device of the embedding model.")
def command(scored: tuple[str, ...], output: str, embedder: str, device: str) -> int:
    """Figures, tables and one HTML page from SCORED: rows of `relfast score`, or their --summary files.

    Several inputs are taken as shards of one run. The results of `relfast realign` give ReAlign's own report.
    """
    from relfast.report.scored import generate_report, looks_like_results

    results = [path for path in scored if looks_like_results(path)]
    if results and len(scored) > 1:
        raise UsageError(f"{results[0]} holds results of `relfast realign`: report on it alone")
    if results:
        from relfast.realign.aligner import StepAligner
        from relfast.report.realign import generate_analysis_report

        report = generate_analysis_report(results[0], output, aligner=StepAligner(embedder, device))
    else:
        report = generate_report(scored, output)
    for note in report.notes:
        click.echo(note, err=True)
    click.echo(f"report in {report.directory / 'index.html'}", err=True)
    return 0
