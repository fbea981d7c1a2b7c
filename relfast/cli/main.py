"""``relfast``: the table of commands, groups and examples in their help, exit codes of errors."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TextIO

import click

from relfast import __version__
from relfast.cli import signals
from relfast.errors import (
    InputError,
    ReadError,
    RelfastError,
    UnknownTaskError,
    UsageError,
    did_you_mean,
    printable,
)

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_ROWS_FAILED: Final = 3
EXIT_SIGINT: Final = 130

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _Command(NamedTuple):
    """An entry of the table of commands.

    ``target`` is the command's place, ``module:name``, which is imported only when the command is used;
    ``group`` and ``summary`` are for ``relfast --help`` (commands with the group "" are not listed);
    ``examples`` for the command's help.
    """

    target: str
    group: str
    summary: str
    examples: tuple[str, str]


COMMANDS: Final = {
    "score": _Command(
        "relfast.cli.score:command", "Score", "Score a run dump: one row per response, whatever happens.",
        ("relfast score run.jsonl", "relfast score run.jsonl --data gold.jsonl --map response=completion -o rows.parquet"),
    ),
    "compare": _Command(
        "relfast.cli.compare:command", "Score", "Is A better than B? Scored rows of the same records, paired.",
        ("relfast compare a.scored.jsonl b.scored.jsonl", "relfast compare old=a.scored.jsonl new=b.scored.jsonl --flips flips.csv"),
    ),
    "report": _Command(
        "relfast.cli.report:command", "Score", "Figures, tables and one HTML page from scored rows.",
        ("relfast report rows.jsonl -o report", "relfast report a.scored.jsonl b.scored.jsonl -o report"),
    ),
    "show": _Command(
        "relfast.cli.records:show", "Score", "Draw a maze of SeqBench with the gold plan and the model's.",
        ("relfast show run.jsonl:0", "relfast show run.jsonl:maze-7"),
    ),
    "bench": _Command(
        "relfast.cli.bench:command", "Ask models", "Ask models, score and report: all three benchmarks in one command.",
        ("relfast bench --mock", "relfast bench NAME@http://127.0.0.1:8000/v1 --set rel --samples 4"),
    ),
    "run": _Command(
        "relfast.cli.run:command", "Ask models", "Ask an OpenAI-compatible server for responses to records.",
        ("relfast run records.jsonl --api http://127.0.0.1:8000/v1 --model NAME -o run.jsonl", "relfast run records.jsonl --api http://127.0.0.1:8000/v1 --model NAME --samples 8 -o run.jsonl --resume"),
    ),
    "realign": _Command(
        "relfast.cli.bench:realign", "", "The same as bench --judge self, on problems of the hub.",
        ("relfast realign --mock --limit 2", "relfast realign --model NAME --api http://127.0.0.1:8000/v1"),
    ),
    "tasks": _Command(
        "relfast.cli.records:tasks", "Records", "List the tasks, their metrics and their reward metric.",
        ("relfast tasks", "relfast tasks --json"),
    ),
    "generate": _Command(
        "relfast.cli.generate:command", "Records", "Make new records of a benchmark, with gold answers.",
        ("relfast generate REL-A1 -n 100 --seed 1 -o records.jsonl", "relfast generate seqbench -n 10 --seed 1 -o mazes.jsonl"),
    ),
    "validate": _Command(
        "relfast.cli.records:validate", "Records", "Check records by their task, line by line.",
        ("relfast validate records.jsonl", "relfast validate records.jsonl.gz --max-errors 5"),
    ),
    "audit": _Command(
        "relfast.cli.records:audit", "Records", "What blind strategies earn on records: constants and leaks.",
        ("relfast audit records.jsonl", "relfast audit records.jsonl --limit 1000 --json"),
    ),
    "serve": _Command(
        "relfast.cli.serve:command", "Machines", "Serve rewards over HTTP: OpenRLHF, slime, batches of records.",
        ("relfast serve", "relfast serve --port 8080"),
    ),
    "embedder": _Command(
        "relfast.cli.machine:embedder", "Machines", "List, add and describe embedding models.",
        ("relfast embedder list", "relfast embedder add minilm"),
    ),
    "path": _Command(
        "relfast.cli.machine:path", "Machines", "Say where the tasks for a harness, or the caches, are.",
        ("relfast path lm-eval", "relfast path cache"),
    ),
    "warmup": _Command(
        "relfast.cli.machine:warmup", "Machines", "Compile and cache kernels; report versions and what is missing.",
        ("relfast warmup", "RELFAST_CACHE_DIR=/scratch/cache relfast warmup"),
    ),
}  # fmt: skip

_WIDEST: Final = max(map(len, COMMANDS))

_OTHER_WORDS: Final = {
    "eval": "score", "evaluate": "score", "grade": "score", "plot": "report", "diff": "compare", "list": "tasks",
    "server": "serve", "ask": "run", "infer": "run", "check": "validate", "lint": "validate", "draw": "show",
}  # fmt: skip
"""Names that other tools have for a command, for "did you mean"."""


class NamedGroup(click.Group):
    """A group that makes its commands when they are looked up, and suggests names for unknown ones."""

    def meant(self, ctx: click.Context, name: str) -> str:
        """The end of the message for an unknown name: "; did you mean …?" or ""."""
        return did_you_mean(name, self.list_commands(ctx))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            meant = self.meant(ctx, args[0]) or f"; {ctx.command_path} --help lists them"
            ctx.fail(f"No such command {args[0]!r}{meant}")
        return super().resolve_command(ctx, args)


class _LazyGroup(NamedGroup):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, function = entry.target.partition(":")
        command = getattr(importlib.import_module(module), function)
        assert isinstance(command, click.Command)
        command.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in entry.examples)
        return command

    def meant(self, ctx: click.Context, name: str) -> str:
        wanted = _OTHER_WORDS.get(name.lower())
        found = f"; did you mean {wanted!r}?" if wanted else super().meant(ctx, name)
        score = f"; to score this file: relfast score {shlex.quote(name)}" if os.path.exists(name) else ""
        return found or score

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title in dict.fromkeys(entry.group for entry in COMMANDS.values() if entry.group):
            with formatter.section(title):
                shown = {name: entry.summary for name, entry in COMMANDS.items() if entry.group == title}
                formatter.write_dl([(f"{name:{_WIDEST}}", summary) for name, summary in shown.items()])


_READ: Final = ("data", "task", "dialect", "filter", "field_map", "limit", "shard", "max_line_bytes")
ANSWERS: Final = ("temperature", "max_tokens", "seed", "system", "stop", "extra_body", "truncated")
SERVER: Final = ("key_env", "concurrency", "requests_per_minute", "timeout", "attempts", "backoff", "max_wait")  # fmt: skip
_OUTPUT: Final = ("output", "resume", "overwrite", "no_report", "fail_on_error", "workers", "quiet", "help")
_FIGURES: Final = ("figure_width", "font", "font_size", "dpi", "titles")
_ASKING: Final = {"How it answers": ANSWERS, "The server": SERVER, "The run": _OUTPUT}

_OPTION_GROUPS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "score": {
        "What is read": _READ,
        "What is written": ("output", "resume", "overwrite", "summary_path", "details", "lengths"),
        "How it runs": ("workers", "timeout", "fail_on_error", "engine", "ray_address", "part_bytes"),
        "What is said": ("quiet", "verbose", "help"),
    },
    "bench": {
        "What is asked": ("api", "mock", "sets", "records", "limit", "samples", "prompt", "judge"),
        **_ASKING,
        "The figures": ("style", *_FIGURES),
    },
    "run": {"What is asked": ("api", "model", "task", "limit", "samples", "prompt"), **_ASKING},
}
"""Headings of a command's help with the names of their options, in order. All options that are not named here
decide scores; their heading is `_REST`, and comes second."""

_REST: Final = "What decides a score"

_RARE: Final[Mapping[str, frozenset[str]]] = {
    "score": frozenset({"filter", "max_line_bytes", "part_bytes", "b1_min_f1", "tautomers", "device"}),
    "bench": frozenset({*ANSWERS[3:], *SERVER[2:], *_FIGURES, "reasoning", "device", "no_report"}),
    "run": frozenset({*ANSWERS[4:], *SERVER[2:]}),
}
"""Rarely needed options, which only ``--help-all`` shows."""


SHOW_ALL: Final = "relfast.help-all"
"""Key in a context's ``meta``: whether its help shows the rare options, too."""


def _help_all(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.meta[SHOW_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


class HelpedCommand(click.Command):
    """A command whose help shows options by group, and rare ones only with ``--help-all``."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        more = click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_help_all
        )
        return [*super().get_params(ctx), more] if self.name in _RARE else super().get_params(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = _OPTION_GROUPS.get(self.name or "", {})
        group_of = {name: group for group, names in groups.items() for name in names}
        shown: dict[str, list[tuple[str, str]]] = {}
        first = next(iter(groups), _REST)
        for title in dict.fromkeys([first, _REST, *groups]):
            shown[title] = []
        rare = frozenset() if ctx.meta.get(SHOW_ALL) else _RARE.get(self.name or "", frozenset())
        left: list[str] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            name = "help" if "--help" in parameter.opts else parameter.name or ""
            if name in rare:
                left.append(parameter.opts[-1])
            elif record is not None and name != "help_all":
                shown[group_of.get(name, _REST)].append(record)
        for title, records in shown.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if left:
            formatter.write_paragraph()
            formatter.write_text(f"--help-all shows {len(left)} more: {', '.join(left)}")


_EPILOG: Final = """\b
Examples:
  relfast score run.jsonl
  relfast COMMAND --help
\b
Completion in bash (zsh, fish alike):
  eval "$(_RELFAST_COMPLETE=bash_source relfast)"
"""


@click.group(
    cls=_LazyGroup,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="relfast")
def cli() -> None:
    """Score responses to the REL, ReAlign and SeqBench benchmarks: exactly, fast, one row a response."""


def main(arguments: list[str] | None = None) -> None:
    """Entry point: runs a command and ends the process with its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        with signals.interruptible(), _plain_warnings():
            code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # the reader of stdout has ended (`| head`), which is no error
        _discard(sys.stdout)
        code = 0
    except OSError as error:
        # a full disk under a redirected stdout; errors of named files are `OutputError`
        if error.errno not in _NO_ROOM:
            raise
        say(f"relfast: {error.filename or 'the output'} cannot be written: {error.strerror}")
        _discard(sys.stdout)
        code = EXIT_FAILED
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        # messages that cannot be written do not change the exit code
        _discard(sys.stderr)
    sys.exit(code)


def _run(arguments: list[str] | None) -> int:
    """Run a command, print its error if it fails, and return the exit code."""
    try:
        result: Any = cli.main(arguments, prog_name="relfast", standalone_mode=False)
    except click.exceptions.Exit as error:
        return error.exit_code
    except SystemExit:
        # click and rich end a command in this way when the reader has ended; relfast's own code does not
        raise BrokenPipeError from None
    except (click.Abort, KeyboardInterrupt) as error:
        say("relfast: interrupted")
        cause = error.__cause__ if isinstance(error, click.Abort) else error
        return cause.exit_code if isinstance(cause, signals.Interrupted) else EXIT_SIGINT
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        return error.exit_code
    except RelfastError as error:
        say(f"relfast: {error}")
        usage = isinstance(error, (UsageError, InputError, UnknownTaskError))
        return EXIT_USAGE if usage and not isinstance(error, ReadError) else EXIT_FAILED
    return result if isinstance(result, int) else 0


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show relfast's own warnings as a line, like errors, without their place in the code."""
    with warnings.catch_warnings():
        show_default = warnings.showwarning

        def show(message: Warning | str, *where: Any, **more: Any) -> None:
            if str(message).startswith("relfast: "):
                say(str(message))
            else:
                show_default(message, *where, **more)

        warnings.showwarning = show
        yield


def say(text: str) -> None:
    """Print lines to stderr, if it is open. Control characters (from an input, say) are replaced."""
    with contextlib.suppress(OSError):
        click.echo("\n".join(map(printable, text.split("\n"))), err=True)


def _discard(stream: TextIO) -> None:
    """Redirect a stream to /dev/null, so that Python's last flush does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
