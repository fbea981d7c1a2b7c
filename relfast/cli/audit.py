"""``relfast audit``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from relfast.cli.main import EXIT_USAGE, say


@click.command(name="audit")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    metavar="N",
    help="Records of each task that are tried.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def command(files: tuple[str, ...], limit: int, as_json: bool) -> int:
    """What can be earned on records without solving them, under both policies.

    FILE holds records, with or without responses: .jsonl, .gz, .zst or .parquet, or - for stdin. Each task's
    blind strategies (a constant, the shortest option, the question copied) answer its records; what they earn is
    what a policy in training finds first. Responses in the file are shown beside them, right and wrong apart.
    """
    from relfast.audit import audit
    from relfast.engine.io.sources import find_sources, lines_of
    from relfast.json_text import Undecodable, decode_object

    n_rows = n_passed = 0
    first = ""

    def rows() -> Iterator[Mapping[str, Any]]:
        nonlocal n_rows, n_passed, first
        for source in find_sources(files):
            for number, line in enumerate(lines_of(source), 1):
                if not line.strip():
                    continue
                n_rows += 1
                try:
                    yield decode_object(line)
                except Undecodable as error:
                    n_passed += 1
                    first = first or f"{source.path}:{number}: {error}"

    findings = audit(rows(), limit=limit)
    if n_passed:
        say(f"relfast: {n_passed:,} of {n_rows:,} lines passed over; the first: {first}")
    if not findings:
        why = "no row has a known task and its gold" if n_rows else "the input is empty"
        say(f"relfast: no records in {', '.join(files)}: {why}")
    code = EXIT_USAGE if n_rows and not findings else 0
    if as_json:
        import dataclasses

        import orjson

        click.echo(orjson.dumps([dataclasses.asdict(finding) for finding in findings]).decode())
        return code
    if not findings:
        return code
    from rich.console import Console

    from relfast.cli.table import show_table

    rows_shown = [
        [
            finding.task,
            finding.strategy,
            f"{finding.n:,}",
            f"{finding.correct['reference']:.3f}",
            f"{finding.rewards['reference']:.3f}",
            f"{finding.rewards['strict']:.3f}",
        ]
        for finding in findings
    ]
    header = ["task", "strategy", "n", "correct", "reward", "strict"]
    show_table(Console(highlight=False), header, rows_shown, words=2)
    return 0
