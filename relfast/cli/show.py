"""``relfast show``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from relfast.errors import InputError, UsageError

DRAWN: Final = "SeqBench"


@click.command(name="show")
@click.argument("record", metavar="FILE[:ID | :INDEX]")
@click.option("--id", "record_id", help="The record of that id. [default: the first record]")
@click.option("--index", type=int, help="The record on that line, counted from 0.")
def command(record: str, record_id: str | None, index: int | None) -> None:
    """Draw a maze of SeqBench: doors, keys, the gold plan, and the model's where there is a response."""
    from relfast.formats import read_row
    from relfast.formats.paths import MISSING
    from relfast.tasks import find_task, infer_task
    from relfast.tasks.seqbench.display import draw, picture_of

    path, row = _find(record, record_id, index)
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


def _find(record: str, record_id: str | None, index: int | None) -> tuple[str, Mapping[str, Any]]:
    """The file, and the row asked for."""
    from relfast.engine.io.lines import iterate_lines
    from relfast.json_text import Undecodable, decode_object

    path, which = record, None
    if not Path(record).exists() and ":" in record:
        path, _, which = record.rpartition(":")
    if sum(part is not None for part in (which, record_id, index)) > 1:
        raise UsageError("say once which record: FILE:ID, FILE:INDEX, --id or --index")
    if which is not None and which.isdecimal():
        index = int(which)
    elif which is not None:
        record_id = which
    for number, line in enumerate(iterate_lines(path)):
        if index is not None and number < index:
            continue
        try:
            row = decode_object(line)
        except Undecodable as error:
            if index is None:
                continue
            raise InputError(str(error), file=path, line=number + 1) from None
        if record_id is None or record_id in (str(row.get("id")), str(row.get("instance_id"))):
            return path, row
    wanted = f"line {index}" if index is not None else f"id {record_id!r}" if record_id else "record"
    raise InputError(f"no {wanted} in this file", file=path)
