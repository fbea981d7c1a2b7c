"""``relfast score``."""

from __future__ import annotations

import errno
import os
import warnings
from typing import TYPE_CHECKING, Any

import click

from relfast.cli import signals
from relfast.cli.main import EXIT_ROWS_FAILED, EXIT_USAGE, HelpedCommand, say
from relfast.cli.parameters import FORMATS, check_timeout, options_of, pairs_of
from relfast.engine.files.io.codecs import ROWS
from relfast.engine.job import DEFAULT_TIMEOUT, MAX_LINE_BYTES
from relfast.errors import OutputError, UsageError
from relfast.formats import DIALECTS
from relfast.support.outputs import STDOUT, write_json
from relfast.tasks import AllOptions

if TYPE_CHECKING:
    from relfast.cli.progress import ProgressReporter
    from relfast.engine.files.score_files import Progress
    from relfast.engine.job import Job
    from relfast.stats.summary import Summary


@click.command(name="score", cls=HelpedCommand)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", metavar="OUT", help=f"Rows: {', '.join(ROWS)}, or - for stdout.  [default: INPUT.scored.jsonl]")  # fmt: skip
@click.option("--data", multiple=True, metavar="PATH", help="Gold records to join on id, when the dump holds only id and response.")  # fmt: skip
@click.option("--task", metavar="NAME", help="Task of records that name none.")
@click.option("--reward", multiple=True, metavar="TASK=METRIC", help="Metric that becomes the reward of a task.")  # fmt: skip
@click.option("--details", is_flag=True, help="Put the texts (pred, gold) into metrics.")
@click.option("--workers", type=click.IntRange(0), metavar="N", help="Worker processes; 0 = in this process.  [default: usable cores]")  # fmt: skip
@click.option("--timeout", type=float, callback=check_timeout, default=DEFAULT_TIMEOUT, show_default=True, metavar="SECONDS", help="Longest time for one record; 0 = none.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with an output that was interrupted.")
@click.option("--overwrite", is_flag=True, help="Start an existing output over.")
@click.option("--limit", type=click.IntRange(0), metavar="N", help="Only the first N lines.")
@click.option("--shard", metavar="I/N", help="Only part I (from 0) of N; the parts' outputs concatenate to the whole.")  # fmt: skip
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True, help="This machine, or a Ray cluster: INPUT may be URLs then, and OUT is a folder (docs/clusters.md).")  # fmt: skip
@click.option("--ray-address", metavar="auto|ADDR", help="Cluster of --engine ray.  [default: RAY_ADDRESS, else this machine's]")  # fmt: skip
@click.option("--part-bytes", type=click.IntRange(1), metavar="N", help="With --engine ray: input of a part, the unit that is handed out, written and resumed.  [default: 64 MiB]")  # fmt: skip
@click.option("--summary", "summary_path", metavar="FILE.json", help="Write the summary as JSON.")
@click.option("--lengths", is_flag=True, help="Also sum up lengths of responses and reasoning, tokens, and how many were cut off; reads the input twice.")  # fmt: skip
@click.option("--input-format", "dialect", type=click.Choice(["auto", *DIALECTS]), default="auto", show_default=True, metavar="DIALECT", help=f"How the dump is written: auto, {', '.join(DIALECTS)}.")  # fmt: skip
@click.option("--filter", metavar="NAME", help="Filter of lm-evaluation-harness whose samples are scored.  [default: the first in the file]")  # fmt: skip
@click.option("--map", "field_map", multiple=True, metavar="FIELD=PATH", help="Where a field is, e.g. response=choices[0].message.content.")  # fmt: skip
@options_of(AllOptions)
@click.option("--max-line-bytes", type=click.IntRange(1), default=MAX_LINE_BYTES, show_default=True, metavar="N", help="Longer lines are skipped with a row that says so.")  # fmt: skip
@click.option("-f", "--format", "form", type=click.Choice(FORMATS), help="Print the numbers on stdout in this form, in place of the table on stderr.")  # fmt: skip
@click.option("--fail-on-error", is_flag=True, help="Exit with 3 if some rows have no score.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no table.")
@click.option("-v", "--verbose", is_flag=True, help="Say on stderr what is read and how, what workers do, which records are slow or retried, and how long it took.")  # fmt: skip
def command(
    inputs: tuple[str, ...],
    *,
    output: str | None,
    reward: tuple[str, ...],
    field_map: tuple[str, ...],
    shard: str | None,
    engine: str,
    ray_address: str | None,
    part_bytes: int | None,
    summary_path: str | None,
    workers: int | None,
    resume: bool,
    overwrite: bool,
    limit: int | None,
    lengths: bool,
    form: str | None,
    fail_on_error: bool,
    quiet: bool,
    verbose: bool,
    **job_options: Any,
) -> int:
    """Score a run dump: one row per response, whatever happens.

    INPUT is a file (JSON lines, plain or compressed, Parquet, CSV), a pattern, a folder, or - for stdin. Rows go to the
    output and nothing else does; table and progress go to stderr.
    """
    from relfast.cli.progress import ProgressReporter
    from relfast.engine.columns.blocks import tell_nobody
    from relfast.engine.files.io.writer import ConsumerGone
    from relfast.engine.files.score_files import score_files
    from relfast.engine.job import make_job
    from relfast.stats.unusable import describe

    job = make_job(
        rewards=pairs_of(reward, "--reward"), field_map=pairs_of(field_map, "--map"), **job_options
    )
    if form is not None and output == STDOUT:
        raise UsageError("--format prints the numbers on stdout, and -o - the rows: one of them only")
    _check_summary_path(summary_path)
    _check_engine(engine, ray_address, part_bytes, shard, lengths)
    if quiet:
        warnings.filterwarnings("ignore", "relfast: kernels")
    watch: _Watch | None = None
    try:
        with ProgressReporter(quiet=quiet) as reporter:
            watch = _Watch(reporter, compiles=engine != "ray", quiet=quiet)
            how: dict[str, Any] = {
                "workers": workers,
                "resume": resume,
                "overwrite": overwrite,
                "progress": watch,
                "tell": reporter.say if verbose else tell_nobody,
                "summary": summary_path,
            }
            if engine == "ray":
                summary = _on_ray(inputs, output, job, ray_address, part_bytes, limit=limit, **how)
            else:
                how |= {"shard": _shard(shard), "lengths": lengths}
                summary = score_files(inputs, output, job, limit=limit, **how)
    except signals.Interrupted as signal:
        # the run's own count: what was scored when the signal came is still written
        n_rows = 0 if watch is None or watch.latest is None else watch.latest.rows
        say(f"relfast: {signal} after {n_rows:,} rows; the same command with --resume goes on from there")
        return signal.exit_code
    except ConsumerGone:
        return 0
    if summary_path is not None:
        write_json(summary_path, summary.to_dict())
    if form is not None:
        from relfast.report.scored import SCORES_AS

        click.echo(SCORES_AS[form]({summary.output or "scores": summary}), nl=False)
    if not quiet:
        _tell(summary, table=form is None)
        if not summary.rows and limit != 0 and shard is None:
            say(f"relfast: no records in {', '.join(inputs)}: the input is empty")
    # a single shard may hold only unusable records while the other shards are good
    useless = shard is None and 0 < summary.rows == summary.count("invalid_record")
    if summary.unusable and (useless or not quiet):
        say(f"relfast: {describe(summary.unusable, summary.rows, 'command')}")
    if useless:
        return EXIT_USAGE
    if fail_on_error and summary.count("invalid_record", "timeout", "crashed"):
        return EXIT_ROWS_FAILED
    return 0


class _Watch:
    """What is done after each block of a run: it shows progress, and warns early if no record so far could be
    used; ``latest`` is the last state."""

    def __init__(self, reporter: ProgressReporter, *, compiles: bool, quiet: bool) -> None:
        from relfast.cli.machine import Compiling
        from relfast.cli.progress import scoring

        self.latest: Progress | None = None
        self._rows_before = 0
        self._reporter, self._quiet, self._show = reporter, quiet, scoring(reporter)
        self._compiling = Compiling(reporter, quiet=quiet) if compiles else None

    def __call__(self, state: Progress) -> None:
        from relfast.stats.unusable import describe

        signals.check()
        self.latest = state
        if self._compiling is not None:
            self._compiling.of_run(state)
        useless_so_far = not self._rows_before and 0 < state.rows == state.invalid
        self._rows_before = state.rows
        if useless_so_far and not self._quiet and state.done_bytes != state.total_bytes:
            # right after the first block, so that nobody waits hours for a run without a usable record
            self._reporter.say(describe(state.causes(), state.rows, "command", so_far=True))
        self._show(state)


def _tell(summary: Summary, *, table: bool) -> None:
    """Print where the rows are and how to list the lost ones, and, with ``table``, the numbers."""
    from relfast.cli.table import how_to_list, print_summary

    if table:
        print_summary(summary)
    if summary.output not in (None, "-"):
        say(f"{summary.rows} rows in {summary.output}")
    for line in how_to_list(summary):
        say(line)


def _check_engine(
    engine: str, address: str | None, part_bytes: int | None, shard: str | None, lengths: bool
) -> None:
    if engine == "ray" and shard is not None:
        raise UsageError(
            "--shard is for machines that know nothing of each other; a cluster cuts the input itself:"
            " leave it out, or name only a part of the files"
        )
    if engine == "ray" and lengths:
        raise UsageError("--lengths is of one machine: leave out --engine ray, or --lengths")
    if engine != "ray" and (address is not None or part_bytes is not None):
        raise UsageError("--ray-address and --part-bytes go with --engine ray")


def _on_ray(
    inputs: tuple[str, ...],
    output: str | None,
    job: Job,
    address: str | None,
    part_bytes: int | None,
    **how: Any,
) -> Summary:
    from relfast_kernels.compiled import native

    from relfast.distributed.run import PART_BYTES, score_on_ray

    native.tell_missing()  # nodes are taken to be like this machine
    try:
        return score_on_ray(inputs, output, job, address=address, part_bytes=part_bytes or PART_BYTES, **how)
    except KeyboardInterrupt:
        signals.check()  # Ray raises a KeyboardInterrupt of its own in place of `Interrupted`
        raise


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal()):
        raise UsageError(f"--shard {text!r} is not of the form I/N, such as 0/4")
    return int(number), int(count)


def _check_summary_path(path: str | None) -> None:
    """Raise at once, not after hours of scoring, if the summary cannot be written."""
    if path is None:
        return
    if os.path.isdir(path):
        raise OutputError(path, os.strerror(errno.EISDIR))
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        raise OutputError(path, "its folder does not exist")
