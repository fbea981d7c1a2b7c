"""``relfast generate``: one subcommand a task, each with its own parameters."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from contextlib import contextmanager
from operator import length_hint
from typing import IO, Any, Final

import click
import orjson

from relfast.cli.parameters import options_of
from relfast.cli.progress import ProgressReporter, Status, counted_status
from relfast.cores import default_workers, usable_cores
from relfast.errors import MissingExtraError, UsageError, did_you_mean
from relfast.outputs import STDOUT, whole_file
from relfast.tasks import TASKS, Task, find_task

GZIP_LEVEL: Final = 6
"""Level 9 takes more than twice as long for a file of mazes, for an eighth of its size."""


def subcommand(task: Task) -> click.Command:
    """The command that makes a task's records, its options those that the task declares."""
    declaring = task.parameters
    assert declaring is not None

    @click.command(task.name.lower())
    @click.option("-n", "count", type=click.IntRange(0), required=True, metavar="N", help="Records to make.")
    @click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="S", help="The same seed gives the same bytes.")  # fmt: skip
    @click.option("-o", "--output", default=STDOUT, show_default=True, metavar="FILE", help=".jsonl, .jsonl.gz or .jsonl.zst; - for stdout.")  # fmt: skip
    @click.option("--overwrite", is_flag=True, help="Replace an existing output.")
    @options_of(declaring)
    def command(count: int, seed: int, output: str, overwrite: bool, **parameters: Any) -> None:
        if "workers" in parameters and parameters["workers"] is None:
            parameters["workers"] = default_workers() or usable_cores()
        reporter = ProgressReporter(quiet=False)
        records = task.source.generate(
            task.name, count, seed, tell=lambda text: reporter.update(lambda: Status((text,))), **parameters
        )
        started = time.monotonic()
        total, n = length_hint(records, count), 0

        def status() -> Status:
            return counted_status(n, total, time.monotonic() - started, [f"{n:,} of {total:,} records"])

        with whole_file(output, overwrite=overwrite) as raw, _packed(raw, output) as file, reporter:
            for record in records:
                file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
                n += 1
                reporter.update(status)
        seconds = time.monotonic() - started
        where = "stdout" if output == STDOUT else output
        click.echo(f"{n:,} {task.name} records in {where} ({seconds:.1f} s)", err=True)

    if getattr(declaring, "parallel", False):
        command = click.option(
            "--workers", type=click.IntRange(1), help="Processes. [default: usable cores]"
        )(command)
    command.short_help = task.summary
    command.help = getattr(declaring, "about", f"Make {task.name} records: {task.summary}.")
    return command


_GENERATED: Final = {task.name.lower(): task for task in TASKS.values() if task.parameters is not None}


class _Group(click.Group):
    """Subcommands made when they are asked for; names in any case, as everywhere."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_GENERATED)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        task = _GENERATED.get(cmd_name.lower())
        if task is not None:
            return subcommand(task)
        task = find_task(cmd_name)
        if task is not None:
            raise UsageError(
                f"{task.name} has no published generator; its records can be scored, not generated"
            )
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            meant = did_you_mean(args[0], _GENERATED) or "; relfast generate --help lists them"
            ctx.fail(f"No such command {args[0]!r}{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, task.summary) for name, task in _GENERATED.items()])


@click.group(name="generate", cls=_Group)
def command() -> None:
    """Make new records of a benchmark, with gold answers that our own scorer has confirmed.

    Records go to the output and nothing else does. The same task, parameters and seed give the same bytes; the
    first M of N records are those of a run of M.
    """


@contextmanager
def _packed(raw: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    if name.endswith(".gz"):
        # no time and no name in the header: the same records are the same bytes
        with gzip.GzipFile(filename="", mode="wb", compresslevel=GZIP_LEVEL, fileobj=raw, mtime=0) as file:
            yield file  # type: ignore[misc]
    elif name.endswith(".zst"):
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("writing .zst", "zstd") from None
        with zstandard.ZstdCompressor().stream_writer(raw, closefd=False) as file:
            yield file
    else:
        yield raw
