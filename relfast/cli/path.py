"""``relfast path``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

PLACES: Final = {
    "lm-eval": "integrations/lm_eval/tasks",
}
"""What is asked for, and where in the package it is."""


@click.command(name="path")
@click.argument("what", type=click.Choice(list(PLACES)))
def command(what: str) -> None:
    """Say where the tasks for lm-evaluation-harness are: a folder of YAML, for --include_path."""
    click.echo(Path(__file__).parent.parent / PLACES[what])
