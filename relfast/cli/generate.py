"""``relfast generate``: one subcommand a task, each with its own parameters."""

from __future__ import annotations

import gzip
import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Final, TypeVar

import click
import orjson

from relfast.cli.progress import Counting, ProgressReporter, Status
from relfast.errors import MissingExtraError, UsageError
from relfast.outputs import STDOUT, whole_file
from relfast.tasks import find_task, get_task

F = TypeVar("F", bound=Callable[..., Any])

SEQBENCH: Final = "seqbench"


def _sizes(context: click.Context, parameter: click.Parameter, text: str) -> tuple[int, ...]:
    """Sizes such as 5,10,20 or 5:50:5 (from, to and with, step)."""
    try:
        if ":" not in text:
            return tuple(int(part) for part in text.split(","))
        first, last, *step = (int(part) for part in text.split(":"))
        return tuple(range(first, last + 1, *step))
    except (TypeError, ValueError):
        raise click.BadParameter(
            f"{text!r} is neither a list such as 5,10,20 nor a range such as 5:50:5"
        ) from None


_COUNT = click.option(
    "-n", "count", type=click.IntRange(0), required=True, metavar="N", help="Records to make."
)
_SEED = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="S", help="The same seed gives the same bytes.")  # fmt: skip
_OUTPUT = click.option("-o", "--output", default=STDOUT, show_default=True, metavar="FILE", help=".jsonl, .jsonl.gz or .jsonl.zst; - for stdout.")  # fmt: skip
_OVERWRITE = click.option("--overwrite", is_flag=True, help="Replace an existing output.")
_QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress and no closing line.")


def _common(function: F) -> F:
    """What every generator takes."""
    for option in (_QUIET, _OVERWRITE, _OUTPUT, _SEED, _COUNT):
        function = option(function)
    return function


def _rel_a(name: str) -> click.Command:
    @click.command(name.lower(), short_help=get_task(name).summary)
    @_common
    @click.option("--gridsize", type=int, default=3, show_default=True, help="Rows and columns of a panel.")
    @click.option("--maxval", type=int, default=1000, show_default=True, help="Largest value.")
    @click.option("--distractors", type=click.Choice(["random", "hard"]), default="random", show_default=True, help="Other choices: random matrices, as published, or near misses that break one element of the rule.")  # fmt: skip
    def command(**options: Any) -> None:
        _generate(name, **options)

    command.help = f"Make {name} records: {get_task(name).summary}."
    return command


def _rel_b() -> click.Command:
    @click.command("rel-b1", short_help=get_task("REL-B1").summary)
    @_common
    @click.option("--num-leaves", type=int, default=50, show_default=True, help="Taxa in the tree.")
    @click.option("--seq-len", type=int, default=300, show_default=True, help="Columns of the alignment.")
    @click.option("--n-convergent-sites", type=int, default=5, show_default=True, help="Planted blocks of a yes record.")  # fmt: skip
    @click.option("--length-convergent-block", type=int, default=5, show_default=True, help="Columns of a block.")  # fmt: skip
    @click.option("--n-convergent-taxa", type=int, default=2, show_default=True, help="Taxa that share the motifs.")  # fmt: skip
    @click.option("--selection", type=click.Choice(["distant", "clades"]), default="distant", show_default=True, help="Taxa at least 3 edges apart, or whole clades at least 4.")  # fmt: skip
    @click.option("--taxa-as", type=click.Choice(["name", "index"]), default="name", show_default=True, help="Gold taxa: names in the question, or places in their list sorted as texts, as published.")  # fmt: skip
    @click.option("--yes-fraction", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="Share of yes records.")  # fmt: skip
    def command(**options: Any) -> None:
        """Make REL-B1 records: homoplasy in an alignment evolved along a random tree."""
        _generate("REL-B1", **options)

    return command


_FORMULA = click.option("--formula", "formulas", multiple=True, metavar="FORMULA", help="Draw from these, e.g. C5H8Br2 (repeatable).  [default: 105 small organic formulas]")  # fmt: skip
_UNIVERSE_MIN = click.option("--universe-min", type=int, default=8, show_default=True, help="Fewest isomers of a formula.")  # fmt: skip
_UNIVERSE_MAX = click.option("--universe-max", type=int, default=100, show_default=True, help="Most isomers of a formula.")  # fmt: skip
_KEEP = click.option("--keep", type=click.Choice(["all", "unstrained"]), default="all", show_default=True, help="unstrained: no triple or cumulated double bonds in rings.")  # fmt: skip


def _isomers(function: F) -> F:
    """What both tasks made of isomer universes take."""
    for option in (_KEEP, _UNIVERSE_MAX, _UNIVERSE_MIN, _FORMULA):
        function = option(function)
    return function


def _rel_c1() -> click.Command:
    @click.command("rel-c1", short_help=get_task("REL-C1").summary)
    @_common
    @click.option("--sizes", callback=_sizes, metavar="SIZES", default="5:50:5", show_default=True, help="Molecules of a question, in turn.")  # fmt: skip
    @click.option("--yes-fraction", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="Share of yes records.")  # fmt: skip
    @_isomers
    def command(formulas: tuple[str, ...], **options: Any) -> None:
        """Make REL-C1 records: are these molecules constitutional isomers?"""
        _generate("REL-C1", formulas=formulas or None, with_progress=True, **options)

    return command


def _rel_c2() -> click.Command:
    @click.command("rel-c2", short_help=get_task("REL-C2").summary)
    @_common
    @click.option("--bank", type=click.Path(), metavar="FILE", help="One SMILES a line, plain or gzip.  [default: the molecules of the published records]")  # fmt: skip
    @click.option("--sizes", callback=_sizes, metavar="SIZES", default="5:50:5", show_default=True, help="Molecules of a question, in turn.")  # fmt: skip
    @click.option("--strategy", type=click.Choice(["similarity", "scaffold", "mixed"]), default="similarity", show_default=True, help="What the molecules of a group have in common.")  # fmt: skip
    @click.option("--min-atoms", type=int, default=8, show_default=True, help="Fewest heavy atoms of gold.")
    @click.option("--tanimoto", type=float, nargs=2, default=(0.35, 0.90), show_default=True, metavar="LOW HIGH", help="Similarity to the group's first molecule.")  # fmt: skip
    @click.option("--mcs-steps", type=int, default=500, show_default=True, help="Search steps after which a group is given up; more steps, larger motifs.")  # fmt: skip
    def command(**options: Any) -> None:
        """Make REL-C2 records: the largest connected motif of similar molecules."""
        _generate("REL-C2", **options)

    return command


def _rel_c3() -> click.Command:
    @click.command("rel-c3", short_help=get_task("REL-C3").summary)
    @_common
    @click.option("--given", callback=_sizes, metavar="SIZES", default="5:50:5", show_default=True, help="Molecules given in a question, in turn.")  # fmt: skip
    @_isomers
    def command(formulas: tuple[str, ...], **options: Any) -> None:
        """Make REL-C3 records: name the isomers that a list leaves out."""
        _generate("REL-C3", formulas=formulas or None, with_progress=True, **options)

    return command


def _seqbench() -> click.Command:
    command = importlib.import_module("relfast.cli.generate_seqbench").command
    assert isinstance(command, click.Command)
    return command


_SUBCOMMANDS: Final[dict[str, Callable[[], click.Command]]] = {
    **{f"rel-a{i}": (lambda name=f"REL-A{i}": _rel_a(name)) for i in range(1, 5)},  # type: ignore[misc]
    "rel-b1": _rel_b,
    "rel-c1": _rel_c1,
    "rel-c2": _rel_c2,
    "rel-c3": _rel_c3,
    SEQBENCH: _seqbench,
}


class _Group(click.Group):
    """Subcommands made when they are asked for; names in any case, as everywhere."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        make = _SUBCOMMANDS.get(cmd_name.lower())
        if make is not None:
            return make()
        task = find_task(cmd_name)
        if task is not None:
            raise UsageError(
                f"{task.name} has no published generator; its records can be scored, not generated"
            )
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, get_task(name).summary) for name in _SUBCOMMANDS])


@click.group(name="generate", cls=_Group)
def command() -> None:
    """Make new records of a benchmark, with gold answers that our own scorer has confirmed.

    Records go to the output and nothing else does. The same task, parameters and seed give the same bytes; the
    first M of N records are those of a run of M.
    """


def _generate(
    name: str,
    *,
    count: int,
    seed: int,
    output: str,
    overwrite: bool,
    quiet: bool,
    with_progress: bool = False,
    **parameters: Any,
) -> None:
    reporter = ProgressReporter(quiet=quiet)
    if with_progress:

        def isomers(formula: str, found: int) -> None:
            told = f"isomers of {formula}: {found:,} found (kept for the next time)"
            reporter.update(lambda: Status((told,)))

        parameters["progress"] = isomers
    records = get_task(name).source.generate(name, count, seed, **parameters)
    started = time.monotonic()
    counting = Counting(reporter, "records", count)
    with whole_file(output, overwrite=overwrite) as raw, _packed(raw, output) as file, reporter:
        for n, record in enumerate(records, 1):
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            counting.update(n)
    if not quiet:
        seconds = time.monotonic() - started
        where = "stdout" if output == STDOUT else output
        click.echo(f"{count:,} {name} records in {where} ({seconds:.1f} s)", err=True)


@contextmanager
def _packed(raw: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    if name.endswith(".gz"):
        # no time and no name in the header: the same records are the same bytes
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
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
