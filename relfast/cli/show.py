"""``relfast show``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from relfast.errors import InputError

DRAWN: Final = "SeqBench"


@click.command(name="show")
@click.argument("record", metavar="FILE[:ID | :INDEX]")
def command(record: str) -> None:
    """Draw a maze of SeqBench: doors, keys, the gold plan, and the model's where there is a response.

    The record is the first of FILE, the one with an ID, or the one on the line INDEX, counted from 0.
    """
    from relfast.formats import read_row
    from relfast.formats.paths import MISSING
    from relfast.tasks import find_task, infer_task
    from relfast.tasks.seqbench.display import draw, picture_of

    path, row = _find(record)
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
    """The file, and the row asked for."""
    from relfast.engine.io.sources import iterate_lines
    from relfast.json_text import Undecodable, decode_object

    path, wanted = record, ""
    if not Path(record).exists() and ":" in record:
        colons = [at for at, character in enumerate(record) if character == ":"]
        # an id may have colons too
        at = next((at for at in colons if Path(record[:at]).exists()), colons[-1])
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
