"""``relfast generate seqbench``: new mazes in the dataset's own rows."""

from __future__ import annotations

import os

import click

from relfast.errors import UsageError


class _Length(click.ParamType[tuple[int, int]]):
    """A number, or bounds such as 40:60."""

    name = "L | LOW:HIGH"

    def convert(
        self, value: str | tuple[int, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        low, colon, high = value.partition(":")
        try:
            return int(low), int(high if colon else low)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor bounds such as 40:60", param, ctx)


@click.command("seqbench")
@click.option("--rows", type=int, help="Rows of the grid. [default: as L and B need]")
@click.option("--cols", type=int, help="Columns of the grid. [default: as L and B need]")
@click.option(
    "-L", "length", type=_Length(), help="Logical depth: actions of the shortest plan, hit exactly."
)
@click.option("-B", "doors", type=int, default=2, show_default=True, help="Locked doors on the way.")
@click.option(
    "-N",
    "noise",
    type=float,
    multiple=True,
    default=(0.0,),
    show_default=True,
    help="Share of the distracting facts that is kept. Repeatable: each maze once per value.",
)
@click.option(
    "--shuffle", is_flag=True, help="Mix the facts. [default: supporting ones first, in path order]"
)
@click.option(
    "--names", default="Bob,Alice", show_default=True, help="AGENT,TARGET, or random: others in each maze."
)
@click.option(
    "--remove-keys",
    type=int,
    multiple=True,
    default=(0,),
    show_default=True,
    help="Open so many doors and take their keys away. Repeatable: each maze once per value.",
)
@click.option("-n", "count", type=int, required=True, help="Mazes to make.")
@click.option("--seed", type=int, required=True, help="The same seed gives the same bytes.")
@click.option("-o", "--output", required=True, help=".jsonl, .jsonl.gz, .jsonl.zst, or - for stdout.")
@click.option("--overwrite", is_flag=True, help="Replace an existing output.")
@click.option("--workers", type=int, help="Processes. [default: usable cores]")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no closing line.")
def command(
    rows: int | None,
    cols: int | None,
    length: tuple[int, int] | None,
    doors: int,
    noise: tuple[float, ...],
    shuffle: bool,
    names: str,
    remove_keys: tuple[int, ...],
    count: int,
    seed: int,
    output: str,
    overwrite: bool,
    workers: int | None,
    quiet: bool,
) -> None:
    """Make SeqBench instances: mazes with keys and doors, their facts, and the shortest plan."""
    from relfast.cli.progress import Counting, ProgressReporter
    from relfast.tasks.seqbench.bulk import write_rows
    from relfast.tasks.seqbench.generate import Parameters

    people: tuple[str, str] | str = names
    if names != "random":
        parts = names.split(",")
        if len(parts) != 2:
            raise UsageError(f"--names takes AGENT,TARGET or random, not {names!r}")
        people = (parts[0].strip(), parts[1].strip())
    variants = [
        Parameters(rows, cols, length, doors, share, shuffle, people, removed)
        for removed in remove_keys
        for share in noise
    ]
    if workers is None:
        workers = len(os.sched_getaffinity(0))
    with ProgressReporter(quiet=quiet) as reporter:
        counting = Counting(reporter, "mazes", count)
        written = write_rows(
            output, count, seed, variants, workers, overwrite=overwrite, progress=counting.update
        )
    if not quiet:
        click.echo(f"{written} rows of {count} mazes written to {output}", err=True)
