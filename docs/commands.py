"""MkDocs' hook for reference/commands.md: the help of every command, as the terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

from relfast.cli.main import cli

PLACE: Final = "<!-- commands -->"
WIDTH: Final = 80


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the help in its place, where a page has one."""
    return (
        markdown.replace(PLACE, "\n".join(_help_of(cli, "relfast", None, 2)))
        if PLACE in markdown
        else markdown
    )


def _help_of(command: click.Command, name: str, above: click.Context | None, level: int) -> Iterator[str]:
    """A heading and the help of a command, then those of the commands below it."""
    context = click.Context(command, info_name=name, parent=above, terminal_width=WIDTH)
    yield f"{'#' * level} {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from _help_of(found, below, context, min(level + 1, 4))
