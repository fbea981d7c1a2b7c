"""Shows progress on stderr: a bar on a terminal, otherwise a plain line every few seconds.

Rich draws the bar. It is imported when the first bar is drawn, so that a command that ends at once, or whose
stderr is a file, does not wait for it. Commands give a `Status`; drawing is the same for all of them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO, cast

if TYPE_CHECKING:
    from relfast.engine.files.score_files import Progress

SECONDS_BETWEEN_FRAMES: Final = 0.2
SECONDS_BETWEEN_LINES: Final = 10.0

MIN_BAR: Final = 8
MAX_BAR: Final = 40
"""Width of the bar in columns: it takes what the text leaves. If the text leaves less than `MIN_BAR`, facts
are dropped from its end."""


class Status(NamedTuple):
    """A line of progress: facts, the most important first; if known, the share done and the time left."""

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
    """The status of a job of known length: ``done`` items in ``seconds``, and ``before`` items of earlier
    runs, which do not count for the speed."""
    left = seconds / done * (total - done - before) if done else None
    return Status(facts, (before + done) / max(1, total), left)


class ProgressReporter:
    """Shows statuses: every 0.2 seconds on a terminal, every 10 seconds elsewhere. A context manager."""

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
        """Show a status if it is time; on a terminal in any case with ``at_once``, for few and long steps."""
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
        """Show the name of the step that begins now, for jobs of few and long steps."""
        self.update(lambda: Status((text,)), at_once=True)

    def say(self, text: str) -> None:
        """Print a line that stays, above the bar. Thread-safe; ``quiet`` has no effect on it."""
        if self._bar is None:
            self._stream.write(f"relfast: {text}\n")
        else:
            self._bar.say(f"relfast: {text}")


def scoring_status(state: Progress, now: float, idle: float = 0.0) -> Status:
    """The status of scoring a dump: rows, speed, errors. Rows of an earlier run do not count for the speed.

    ``idle`` are the seconds since the last block was scored. If the estimated end has passed by more than a
    second, no estimate is shown.
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
        # the speed so far does not tell when slow records end, so no estimate is shown
        limit = f", up to {state.timeout:g} s each" if state.timeout else ""
        facts = (f"{state.slow:,} slow {'record' if state.slow == 1 else 'records'}{limit}", *facts)
    if not state.total_bytes:
        return Status(facts)
    if slow or not done:
        return Status(facts, state.done_bytes / state.total_bytes)
    left = (state.total_bytes - state.done_bytes) / max(done / seconds, 1e-9)
    overdue = idle > left + 1
    return Status(facts, state.done_bytes / state.total_bytes, None if overdue else left)


def scoring(reporter: ProgressReporter, name: str = "") -> Callable[[Progress], None]:
    """A callback that shows the progress of scoring, with a ``name`` if the command scores several dumps."""
    done, moved = 0, time.monotonic()

    def update(state: Progress) -> None:
        nonlocal done, moved
        now = time.monotonic()
        if state.done_bytes != done:
            done, moved = state.done_bytes, now

        def status() -> Status:
            shown = scoring_status(state, now, now - moved)
            return shown._replace(facts=(name, *shown.facts)) if name else shown

        reporter.update(status)

    return update


class _Bar:
    """A line of the terminal that is redrawn in place, never wider than the terminal, and removed at the end.

    It is not drawn by a thread of its own, since the process forks meanwhile. The cursor stays visible: a
    second Ctrl-C ends the process at once, which would leave the terminal without a cursor.
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
    """Stderr for progress. It may be closed, or a pipe without a reader: such errors are ignored."""

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
        """Do nothing: `write` flushes."""
