"""``relfast``: the table of commands, and errors turned into one line and an exit code."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import shlex
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

import click
from relfast_kernels.compiled import cache

from relfast import __version__
from relfast.cli import signals
from relfast.cli.examples import with_examples
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
    """Where a command lives, and its line in ``relfast --help``: asking for help loads none of them."""

    module: str
    summary: str


COMMANDS: Final = {
    "score": _Command("relfast.cli.score", "Score a run dump: one row per response, whatever happens."),
    "compare": _Command(
        "relfast.cli.compare", "Is A better than B? Scored rows of the same records, paired."
    ),
    "report": _Command("relfast.cli.report", "Figures, tables and one HTML page from scored rows."),
    "show": _Command("relfast.cli.show", "Draw a maze of SeqBench with the gold plan and the model's."),
    "bench": _Command(
        "relfast.cli.bench", "Ask models, score and report: all three benchmarks in one command."
    ),
    "run": _Command("relfast.cli.run", "Ask an OpenAI-compatible server for responses to records."),
    "realign": _Command("relfast.cli.realign", "The same as bench --judge self, on problems of the hub."),
    "tasks": _Command("relfast.cli.tasks", "List the tasks, their metrics and their reward metric."),
    "generate": _Command("relfast.cli.generate", "Make new records of a benchmark, with gold answers."),
    "validate": _Command("relfast.cli.validate", "Check records by their task, line by line."),
    "audit": _Command("relfast.cli.audit", "What blind strategies earn on records: constants and leaks."),
    "serve": _Command("relfast.cli.serve", "Serve rewards over HTTP: OpenRLHF, slime, batches of records."),
    "embedder": _Command("relfast.cli.embedder", "List, add and describe embedding models."),
    "path": _Command("relfast.cli.path", "Say where the tasks for a harness, or the caches, are."),
    "warmup": _Command(
        "relfast.cli.warmup", "Compile and cache kernels; report versions and what is missing."
    ),
}

_GROUPS: Final = {
    "Score": ("score", "compare", "report", "show"),
    "Ask models": ("bench", "run"),
    "Records": ("tasks", "generate", "validate", "audit"),
    "Machines": ("serve", "embedder", "path", "warmup"),
}


_WIDEST: Final = max(map(len, COMMANDS))

_OTHER_WORDS: Final = {
    "eval": "score",
    "evaluate": "score",
    "grade": "score",
    "plot": "report",
    "diff": "compare",
    "list": "tasks",
    "server": "serve",
    "ask": "run",
    "infer": "run",
    "check": "validate",
    "lint": "validate",
    "draw": "show",
}
"""What newcomers from other tools type."""


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = importlib.import_module(entry.module).command
        assert isinstance(command, click.Command)
        return with_examples(command, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            wanted = _OTHER_WORDS.get(args[0].lower())
            meant = f"; did you mean {wanted!r}?" if wanted else did_you_mean(args[0], COMMANDS)
            if not meant and Path(args[0]).exists():
                meant = f"; to score this file: relfast score {shlex.quote(args[0])}"
            ctx.fail(f"No such command {args[0]!r}{meant or '; relfast --help lists them'}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{_WIDEST}}", COMMANDS[name].summary) for name in names])


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
    """Entry point: runs a command and leaves with the contract's exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        cache.is_command = True
        with signals.interruptible(), _plain_warnings():
            code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # the reader of our stdout went away (`| head`): there is no reader to tell
        _discard(sys.stdout)
        code = 0
    except OSError as error:
        # a full disk under a redirected stdout; files that are named say so themselves
        if error.errno not in _NO_ROOM:
            raise
        say(f"relfast: {error.filename or 'the output'} cannot be written: {error.strerror}")
        _discard(sys.stdout)
        code = EXIT_FAILED
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        # what could not be told is no failure
        _discard(sys.stderr)
    sys.exit(code)


def _run(arguments: list[str] | None) -> int:
    try:
        result: Any = cli.main(arguments, prog_name="relfast", standalone_mode=False)
    except click.exceptions.Exit as error:
        return error.exit_code
    except SystemExit:
        # how click and rich end a command whose reader went away; nothing of ours leaves in this way
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
    """Have our own warnings be a line, as errors are: where in the code they were made tells a user nothing."""
    with warnings.catch_warnings():
        as_ever = warnings.showwarning

        def show(message: Warning | str, *where: Any, **more: Any) -> None:
            if str(message).startswith("relfast: "):
                say(str(message))
            else:
                as_ever(message, *where, **more)

        warnings.showwarning = show
        yield


def say(text: str) -> None:
    """Lines on stderr, if it is open; control characters of an input in them are replaced."""
    with contextlib.suppress(OSError):
        click.echo("\n".join(map(printable, text.split("\n"))), err=True)


def _discard(stream: TextIO) -> None:
    """Point a stream at nothing, so that the interpreter's last flush does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
