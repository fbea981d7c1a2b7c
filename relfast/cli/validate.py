"""``relfast validate``."""

from __future__ import annotations

import click

from relfast.cli.main import EXIT_FAILED


@click.command(name="validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--max-errors",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="N",
    help="Flaws shown per file; all are counted.",
)
@click.option("-q", "--quiet", is_flag=True, help="No summary on stderr.")
def command(files: tuple[str, ...], max_errors: int, quiet: bool) -> int:
    """Check records by their task, line by line: REL's against its document's format, SeqBench's and ReAlign's for
    gold that can be scored.

    FILE is .jsonl, .gz, .zst or .parquet, or - for stdin. Flaws go to stdout, one a line; the exit code is 1 if
    there is any.
    """
    from relfast.validate import FileCheck

    all_good = True
    for file in files:
        check = FileCheck(file)
        n_flaws = 0
        for flaw in check:
            n_flaws += 1
            if n_flaws <= max_errors:
                click.echo(str(flaw))
        all_good = all_good and not n_flaws
        if n_flaws > max_errors and not quiet:
            more = n_flaws - max_errors
            click.echo(
                f"{file}: {more:,} more flaw{'s' if more != 1 else ''}, not shown (--max-errors)", err=True
            )
        if not quiet:
            tasks = ", ".join(f"{task} {n:,}" for task, n in sorted(check.tasks.items()))
            click.echo(
                f"{file}: {check.n_records:,} records, {check.n_good:,} good{f' ({tasks})' if tasks else ''},"
                f" {n_flaws:,} flaw{'s' if n_flaws != 1 else ''}",
                err=True,
            )
    return 0 if all_good else EXIT_FAILED
