"""MkDocs' hook: what pages leave to the code, the help of every command and the table of dialects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

from relfast.cli.main import SHOW_ALL, cli
from relfast.formats.table import DIALECTS, Form

WIDTH: Final = 80


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put both in their places, where a page has one."""
    if "<!-- commands -->" in markdown:
        markdown = markdown.replace("<!-- commands -->", "\n".join(_help_of(cli, "relfast", None, 2)))
    return markdown.replace("<!-- dialects -->", dialects()) if "<!-- dialects -->" in markdown else markdown


def _help_of(command: click.Command, name: str, above: click.Context | None, level: int) -> Iterator[str]:
    """A heading and the help of a command, then those of the commands below it."""
    context = click.Context(command, info_name=name, parent=above, terminal_width=WIDTH)
    context.meta[SHOW_ALL] = True
    yield f"{'#' * level} {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from _help_of(found, below, context, min(level + 1, 4))


def _listed(paths: str) -> str:
    return ", ".join(f"`{path}`" for path in paths.split()) or "–"


def _responses(form: Form) -> str:
    if form.response or not form.said:
        return _listed(form.response)
    each = [(said.items or ".", [path for _, path in said.says if path]) for said in form.said]
    return "; ".join(
        _listed(items) + (f": {_listed(' '.join(says))}" if says else "") for items, says in each
    )


def dialects() -> str:
    """The table of dialects."""
    lines = [
        "| dialect | known by | `--input-format` asks | id | task | gold | question | responses |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, dialect in DIALECTS.items():
        for form in dialect.forms:
            known = [
                _listed(" ".join(dict.fromkeys(f"{tells} {form.when}".split()))).replace(", ", " + ")
                for tells in form.tells
            ]
            gold = _listed(" ".join(form.members) or form.answer)
            ids = _listed(f"{form.id} {form.number or ''}")
            asked = _listed(f"{form.when} {form.needs}").replace(", ", " + ")
            cells = [
                f"`{name}`",
                " or ".join(known),
                asked,
                ids,
                _listed(form.task),
                gold,
                _listed(form.question),
            ]
            lines.append(f"| {' | '.join([*cells, _responses(form)])} |")
    return "\n".join(lines) + "\n"
