"""``relfast validate``, ``audit``, ``show`` and ``tasks``: commands about records and tasks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from relfast.cli.main import EXIT_FAILED, EXIT_USAGE, say
from relfast.errors import InputError
from relfast.support.outputs import STDOUT, keep_apart
from relfast.tasks import TASKS

if TYPE_CHECKING:
    from relfast.audit import Finding


@click.command(name="validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--max-errors", type=click.IntRange(1), default=100, show_default=True, metavar="N", help="Flaws shown per file; all are counted.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="No summary on stderr.")
def validate(files: tuple[str, ...], max_errors: int, quiet: bool) -> int:
    """Check records by their task, line by line: REL's against its document's format, SeqBench's and ReAlign's for
    gold that can be scored.

    FILE is JSON lines, plain or compressed, or Parquet, a folder of them, or - for stdin. Flaws go to stdout, one a line; the exit code is 1 if
    there is any. What the published format has and `score` does not need is a note.
    """
    from relfast.engine.files.io.sources import paths_of
    from relfast.validate import FileCheck

    all_good = True
    for file in files:
        keep_apart("validate", {"stdout": [STDOUT], "FILE": paths_of(file)})
        check = FileCheck(file)
        n_flaws = n_notes = 0
        for flaw in check:
            n_notes += flaw.note
            n_flaws += not flaw.note
            if n_flaws + n_notes <= max_errors:
                click.echo(str(flaw))
        all_good = all_good and not n_flaws
        if n_flaws + n_notes > max_errors and not quiet:
            more = n_flaws + n_notes - max_errors
            click.echo(
                f"{file}: {more:,} more flaw{'s' if more != 1 else ''}, not shown (--max-errors)", err=True
            )
        if not quiet:
            tasks = ", ".join(f"{task} {n:,}" for task, n in sorted(check.tasks.items()))
            click.echo(
                f"{file}: {check.n_records:,} records, {check.n_good:,} good{f' ({tasks})' if tasks else ''},"
                f" {n_flaws:,} flaw{'s' if n_flaws != 1 else ''}"
                + (
                    f", {n_notes:,} notes on the published format, which score does not need"
                    if n_notes
                    else ""
                ),
                err=True,
            )
            for lacks, n in check.lacking.items():
                click.echo(f"{file}: in {n:,} of {check.n_records:,} records {lacks}", err=True)
    return 0 if all_good else EXIT_FAILED


@click.command(name="audit")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--limit", type=click.IntRange(1), default=200, show_default=True, metavar="N", help="Records of each task that are tried.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def audit(files: tuple[str, ...], limit: int, as_json: bool) -> int:
    """What can be earned on records without solving them, under both policies.

    FILE holds records, with or without responses: JSON lines, plain or compressed, Parquet, or - for stdin. Each task's
    blind strategies (a constant, the shortest option, the question copied) answer its records; what they earn is
    what a policy in training finds first. Responses in the file are shown beside them, right and wrong apart.
    """
    from relfast.audit import audit as audited
    from relfast.engine.files.io.sources import find_sources, lines_of, paths_in
    from relfast.json_text import Undecodable, decode_object

    sources = find_sources(files)
    keep_apart("audit", {"stdout": [STDOUT], "FILE": paths_in(sources)})
    n_rows = n_passed = 0
    first = ""

    def rows() -> Iterator[Mapping[str, Any]]:
        nonlocal n_rows, n_passed, first
        for source in sources:
            for number, line in enumerate(lines_of(source), 1):
                if not line.strip():
                    continue
                n_rows += 1
                try:
                    yield decode_object(line)
                except Undecodable as error:
                    n_passed += 1
                    first = first or f"{source.path}:{number}: {error}"

    findings = audited(rows(), limit=limit)
    if n_passed:
        say(f"relfast: {n_passed:,} of {n_rows:,} lines passed over; the first: {first}")
    if not findings:
        why = "no row has a known task and its gold" if n_rows else "the input is empty"
        say(f"relfast: no records in {', '.join(files)}: {why}")
    code = EXIT_USAGE if n_rows and not findings else 0
    if as_json:
        import orjson

        click.echo(orjson.dumps(findings).decode())
        return code
    if not findings:
        return code
    from rich.console import Console

    from relfast.cli.table import show_table

    rows_shown = []
    for found in findings:
        means = found.correct["reference"], found.rewards["reference"], found.rewards["strict"]
        rows_shown.append([found.task, found.strategy, _counts(found), *(f"{mean:.3f}" for mean in means)])
    header = ["task", "strategy", "n", "correct", "reward", "strict"]
    show_table(Console(highlight=False), header, rows_shown, words=2)
    return 0


def _counts(found: Finding) -> str:
    """How many responses a finding is about; of two numbers the first is that of ``reference``."""
    reference, strict = found.counts["reference"], found.counts["strict"]
    return f"{strict:,}" if reference == strict else f"{reference:,} / {strict:,}"


DRAWN: Final = "SeqBench"


@click.command(name="show")
@click.argument("record", metavar="FILE[:ID | :INDEX]")
def show(record: str) -> None:
    """Draw a maze of SeqBench: doors, keys, the gold plan, and the model's where there is a response.

    The record is the first of FILE, the one with an ID, or the one on the line INDEX, counted from 0.
    """
    from relfast.formats import read_row
    from relfast.formats.paths import MISSING
    from relfast.tasks import find_task, infer_task
    from relfast.tasks.seqbench.display import draw, picture_of

    path, row = _find(record)
    keep_apart("show", {"stdout": [STDOUT], "FILE": [path]})
    entry = read_row(row, "auto")
    question, answer, response = (
        None if part is MISSING else part for part in (entry.question, entry.answer, entry.response)
    )
    task = find_task(entry.task) or (infer_task(answer) if isinstance(answer, Mapping) else None)
    if task is not None and task.name != DRAWN:
        which = row.get("id", "the record")
        raise InputError(
            f"{which!r} is of {task.name}, and mazes of {DRAWN} are what is drawn here; `relfast report` shows every"
            " record on its page",
            file=path,
        )
    if isinstance(response, list) and response:
        response = response[0]
    try:
        picture = picture_of(question, answer, response, row)
    except InputError as error:
        raise InputError(str(error), file=path) from None
    for line in draw(picture):
        click.echo("".join(click.style(text, fg=colour) if colour else text for text, colour in line))


def _find(record: str) -> tuple[str, Mapping[str, Any]]:
    """The file and the row that FILE, FILE:ID or FILE:INDEX names."""
    from relfast.engine.files.io.sources import iterate_lines
    from relfast.json_text import Undecodable, decode_object

    path, wanted = record, ""
    if not os.path.exists(record) and ":" in record:
        colons = [at for at, character in enumerate(record) if character == ":"]
        # an id may have colons too
        at = next((at for at in colons if os.path.exists(record[:at])), colons[-1])
        path, wanted = record[:at], record[at + 1 :]
    index = int(wanted) if wanted.isdecimal() else None
    for number, line in enumerate(iterate_lines(path)):
        if index is not None and number < index:
            continue
        try:
            row = decode_object(line)
        except Undecodable as error:
            if index is None:
                continue
            raise InputError(str(error), file=path, line=number + 1) from None
        if index is not None or wanted in ("", str(row.get("id")), str(row.get("instance_id"))):
            return path, row
    what = f"line {index}" if index is not None else f"id {wanted!r}" if wanted else "record"
    raise InputError(f"no {what} in this file", file=path)


@click.command(name="tasks")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def tasks(as_json: bool) -> None:
    """List the tasks, their metrics and their reward metric."""
    rows = [
        {
            "task": task.name,
            "summary": task.summary,
            "metrics": ["correct", *task.metrics],
            "reward": task.default_reward("reference"),
            "reward_strict": task.default_reward("strict"),
            "revision": task.revision,
            "generate": task.generator is not None,
        }
        for task in TASKS.values()
    ]
    if as_json:
        import orjson

        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return
    for row in rows:
        reward = row["reward"]
        if row["reward_strict"] != reward:
            reward = f"{reward} (strict: {row['reward_strict']})"
        click.echo(f"{row['task']}  {row['summary']}")
        click.echo(f"        reward {reward}; metrics {', '.join(map(str, row['metrics']))}")  # type: ignore[call-overload]
