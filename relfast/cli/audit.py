"""``relfast audit``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click


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
@click.option("--seed", type=int, default=0, show_default=True, metavar="S", help="Of the guesses.")
@click.option("--workers", type=click.IntRange(0), metavar="N", help="Worker processes; 0 = in this process.  [default: usable cores]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def command(files: tuple[str, ...], limit: int, seed: int, workers: int | None, as_json: bool) -> int:
    """What can be earned on records without solving them, under both policies.

    FILE holds records, with or without responses: .jsonl, .gz, .zst or .parquet, or - for stdin. Each task's
    blind strategies (a constant, the shortest option, the question copied) answer its records; what they earn is
    what a policy in training finds first. Responses in the file are shown beside them, right and wrong apart.
    """
    from relfast.audit import audit
    from relfast.engine.io.lines import lines_of
    from relfast.engine.io.sources import find_sources
    from relfast.json_text import Undecodable, decode_object

    def rows() -> Iterator[Mapping[str, Any]]:
        for source in find_sources(files):
            for line in lines_of(source):
                try:
                    yield decode_object(line)
                except Undecodable:
                    continue

    findings = audit(rows(), limit=limit, seed=seed, workers=workers)
    if as_json:
        import dataclasses

        import orjson

        click.echo(orjson.dumps([dataclasses.asdict(finding) for finding in findings]).decode())
        return 0
    from rich.console import Console

    from relfast.cli.layout import show_table

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
