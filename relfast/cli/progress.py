"""Progress on stderr: a bar on a terminal, a plain line every few seconds elsewhere.

Rich draws the bar. It is loaded when there is a bar to draw: a command that ends at once, or writes to a file,
does not wait for it. What is shown is a `Status`; how it is drawn is the same for every command.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO, cast

if TYPE_CHECKING:
    from relfast.engine.file_run import run

SECONDS_BETWEEN_FRAMES: Final = 0.2
SECONDS_BETWEEN_LINES: Final = 10.0

MIN_BAR: Final = 8
MAX_BAR: Final = 40
"""Columns of a bar: it takes what the text leaves; text that leaves less is cut, fact by fact."""


class Status(NamedTuple):
    """What is shown: facts, the first the most important, and how much is done where that is known."""

    facts: Sequence[str]
    share: float | None = None
    seconds_left: float | None = None

    def text(self, columns: int | None = None) -> str:
        """``41% · ETA 0:02:10 · 12,000 rows · 4,100 rows/s``, with as many facts as fit into ``columns``."""
        parts = []
        if self.share is not None:
            parts.append(f"{100 * self.share:.0f}%")
        if self.seconds_left is not None:
            left = int(self.seconds_left)
            parts.append(f"ETA {left // 3600}:{left // 60 % 60:02}:{left % 60:02}")
        parts += self.facts
        while columns is not None and len(parts) > 1 and len(" · ".join(parts)) > columns:
            parts.pop()
        return " · ".join(parts)


def counted_status(done: int, total: int, seconds: float, facts: Sequence[str], before: int = 0) -> Status:
    """How far a job of known length is that has done some, and some ``before`` that took no time."""
    left = seconds / done * (total - done - before) if done else None
    return Status(facts, (before + done) / max(1, total), left)


class ProgressReporter:
    """Shows what it is told, as often as the place where it shows it can bear. A context manager."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._stream = _Stderr()
        self._terminal = self._stream.is_terminal()
        self._every = SECONDS_BETWEEN_FRAMES if self._terminal else SECONDS_BETWEEN_LINES
        self._next = time.monotonic() + self._every
        self._bar: _Bar | None = None

    def __enter__(self) -> ProgressReporter:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, status: Callable[[], Status], *, at_once: bool = False) -> None:
        """Show a status if it is time. ``at_once``: on a terminal in any case, for steps that are few and long."""
        now = time.monotonic()
        if self._quiet or (now < self._next and not (at_once and self._terminal)):
            return
        self._next = now + self._every
        if not self._terminal:
            self._stream.write(f"relfast: {status().text()}\n")
            return
        if self._bar is None:
            self._bar = _Bar(self._stream)
        self._bar.show(status())

    def step(self, text: str) -> None:
        """What is being done from now on: one of a job's few and long steps."""
        self.update(lambda: Status((text,)), at_once=True)

    def say(self, text: str) -> None:
        """A line that stays, above the bar. Any thread may call it; ``quiet`` does not silence it."""
        if self._bar is None:
            self._stream.write(f"relfast: {text}\n")
        else:
            self._bar.say(f"relfast: {text}")


def scoring_status(state: run.Progress, now: float, idle: float = 0.0) -> Status:
    """How far a dump is scored: rows, speed, errors; what an earlier run did counts for no speed.

    ``idle``: seconds since input was last done. An end that is overdue by a second is no longer promised.
    """
    seconds = max(now - state.started, 1e-9)
    rows = state.rows - state.resumed_rows
    done = state.done_bytes - state.resumed_bytes
    facts: tuple[str, ...] = (
        f"{state.rows:,} rows",
        f"{rows / seconds:,.0f} rows/s",
        f"{state.invalid + state.crashes:,} errors",
        f"{state.timeouts:,} timeouts",
        f"{done / seconds / 1e6:,.1f} MB/s",
    )
    slow = state.slow and state.done_bytes != state.total_bytes
    if slow:
        # what is done says nothing of when these end
        limit = f", up to {state.timeout:g} s each" if state.timeout else ""
        facts = (f"{state.slow:,} slow {'record' if state.slow == 1 else 'records'}{limit}", *facts)
    if not state.total_bytes:
        return Status(facts)
    if slow or not done:
        return Status(facts, state.done_bytes / state.total_bytes)
    left = (state.total_bytes - state.done_bytes) / max(done / seconds, 1e-9)
    overdue = idle > left + 1
    return Status(facts, state.done_bytes / state.total_bytes, None if overdue else left)


def scoring(reporter: ProgressReporter, name: str = "") -> Callable[[run.Progress], None]:
    """What shows how far a dump is scored, as it is told; ``name`` is of what is scored, where that is not
    plain."""
    done, moved = 0, time.monotonic()

    def update(state: run.Progress) -> None:
        nonlocal done, moved
        now = time.monotonic()
        if state.done_bytes != done:
            done, moved = state.done_bytes, now

        def status() -> Status:
            found = scoring_status(state, now, now - moved)
            return found._replace(facts=(name, *found.facts)) if name else found

        reporter.update(status)

    return update


class _Bar:
    """A line of a terminal that is drawn anew, never wider than the terminal, and gone in the end.

    No thread draws it (processes are forked beside it), and the cursor stays visible: the second Ctrl-C ends the
    process on the spot, which would leave the terminal without one.
    """

    def __init__(self, stream: _Stderr) -> None:
        from rich.console import Console
        from rich.live import Live

        class BarConsole(Console):
            def show_cursor(self, show: bool = True) -> bool:
                return False

        self._console = BarConsole(
            file=cast(TextIO, stream), force_terminal=True, force_jupyter=False, highlight=False
        )
        self._live: Live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def show(self, status: Status) -> None:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        width = self._console.width
        line = Table.grid(padding=(0, 1, 0, 0))
        if status.share is None:
            line.add_row(Text(status.text(width), no_wrap=True, overflow="ellipsis"))
        else:
            text = status.text(width - MIN_BAR - 1)
            bar = ProgressBar(1.0, status.share, width=min(MAX_BAR, max(1, width - len(text) - 1)))
            line.add_row(bar, Text(text, no_wrap=True, overflow="ellipsis"))
        self._live.update(line, refresh=True)

    def say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)

    def close(self) -> None:
        self._live.stop()


class _Stderr:
    """Stderr, which may be closed, or a pipe without a reader: rows matter, this does not."""

    def __init__(self) -> None:
        self._stream: TextIO | None = sys.stderr

    @property
    def encoding(self) -> str:
        return (self._stream and self._stream.encoding) or "utf-8"

    def is_terminal(self) -> bool:
        dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
        return self._stream is not None and self._stream.isatty() and not dumb

    def write(self, text: str) -> int:
        if self._stream is not None:
            try:
                self._stream.write(text)
                self._stream.flush()
            except OSError:
                self._stream = None
        return len(text)

    def flush(self) -> None:
        """Every write has done it."""
