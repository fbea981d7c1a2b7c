"""Progress of a job that counts: a bar on a terminal, a plain line now and then elsewhere. On stderr."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import click

SECONDS_BETWEEN_LINES: Final = 5.0


def end_on_sigterm() -> None:
    """Make SIGTERM unwind the program like Ctrl-C: what has come is written, and the exit code is 143."""
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(signum: int, frame: FrameType | None) -> None:
    sys.exit(128 + signum)


@contextmanager
def counting(what: str, total: int, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A function that is told (done, failed)."""
    if quiet:
        yield lambda done, failed: None
    elif sys.stderr.isatty():
        yield from _bar(what, total)
    else:
        last = [0.0]

        def line(done: int, failed: int) -> None:
            now = time.monotonic()
            if done >= total or now - last[0] >= SECONDS_BETWEEN_LINES:
                last[0] = now
                click.echo(f"{done:,}/{total:,} {what}, {failed:,} failed", err=True)

        yield line


def _bar(what: str, total: int) -> Iterator[Callable[[int, int], None]]:
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[failed]} failed"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(file=sys.stderr)) as bar:
        task = bar.add_task(what, total=total, failed=0)

        def update(done: int, failed: int) -> None:
            bar.update(task, completed=done, failed=failed)

        yield update
