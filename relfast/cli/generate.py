"""``relfast generate``: a subcommand for each task with a generator, with options for its parameters."""

from __future__ import annotations

import time
from operator import length_hint
from typing import Any, Final

import click
import orjson

from relfast.cli.machine import Compiling
from relfast.cli.main import NamedGroup
from relfast.cli.parameters import options_of
from relfast.cli.progress import ProgressReporter, Status, counted_status
from relfast.engine.columns.blocks import batched
from relfast.engine.files.io.codecs import LINES, encoder
from relfast.engine.files.io.recognise import refuse_output
from relfast.errors import UsageError
from relfast.support.outputs import STDOUT, keep_apart, whole_file
from relfast.support.system import default_workers, usable_cores
from relfast.tasks import TASKS, Task, find_task

RECORDS_PACKED: Final = 1_024
"""Records that are compressed at a time."""


def subcommand(task: Task) -> click.Command:
    """The command that generates a task's records, with options for the parameters that the task declares."""
    declaring = task.parameters
    assert declaring is not None

    @click.command(task.name.lower())
    @click.option("-n", "count", type=click.IntRange(0), required=True, metavar="N", help="Records to make.")
    @click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="S", help="The same seed gives the same bytes.")  # fmt: skip
    @click.option("-o", "--output", default=STDOUT, show_default=True, metavar="FILE", help=f"{', '.join(LINES)}, or - for stdout.")  # fmt: skip
    @click.option("--overwrite", is_flag=True, help="Replace an existing output.")
    @options_of(declaring)
    def command(count: int, seed: int, output: str, overwrite: bool, **parameters: Any) -> None:
        refuse_output(output, LINES, "records are")
        bank = parameters.get("bank")
        keep_apart("generate", {"-o": [output], "--bank": [bank] if bank else []})
        if "workers" in parameters and parameters["workers"] is None:
            parameters["workers"] = default_workers() or usable_cores()
        reporter = ProgressReporter(quiet=False)
        Compiling(reporter).worth({unit: count * seconds for unit, seconds in task.making_seconds})
        records = task.generator_module.generate(
            task.name, count, seed, tell=lambda text: reporter.update(lambda: Status((text,))), **parameters
        )
        started = time.monotonic()
        total, n = length_hint(records, count), 0

        def status() -> Status:
            return counted_status(n, total, time.monotonic() - started, [f"{n:,} of {total:,} records"])

        encode = encoder(output)
        with whole_file(output, overwrite=overwrite) as file, reporter:
            for piece in batched(records, 1 if encode is None else RECORDS_PACKED):
                lines = b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in piece)
                file.write(lines if encode is None else encode(lines))
                n += len(piece)
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


class _Group(NamedGroup):
    """Makes a subcommand when it is looked up; names are accepted in any case."""

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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, task.summary) for name, task in _GENERATED.items()])


@click.group(name="generate", cls=_Group)
def command() -> None:
    """Make new records of a benchmark, with gold answers that our own scorer has confirmed.

    Records go to the output and nothing else does. The same task, parameters and seed give the same bytes; the
    first M of N records are those of a run of M.
    """
