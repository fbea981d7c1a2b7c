"""``relfast path``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import click
from relfast_kernels.compiled.cache import base_directory

PLACES: Final[Mapping[str, Callable[[], Path]]] = {
    "lm-eval": lambda: Path(__file__).parent.parent / "integrations" / "lm_eval" / "tasks",
    "verl": lambda: Path(__file__).parent.parent / "rewards" / "verl.py",
    "cache": base_directory,
}
"""What is asked for, and where it is."""


@click.command(name="path")
@click.argument("what", type=click.Choice(list(PLACES)))
def command(what: str) -> None:
    """Say where something is: ``lm-eval``, the folder of tasks for lm-evaluation-harness's --include_path; ``verl``,
    the file for verl's reward.custom_reward_function.path; ``cache``, what holds kernels, models and vectors (it need not exist)."""
    click.echo(PLACES[what]())
