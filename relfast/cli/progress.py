"""Progress on stderr: a bar on a terminal, a plain line every few seconds elsewhere.

What is shown is a `Status`; how it is drawn is the same for every command.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

from relfast.errors import printable

if TYPE_CHECKING:
    from relfast.engine.file_run import run

SECONDS_BETWEEN_FRAMES: Final = 0.2
SECONDS_BETWEEN_LINES: Final = 10.0

MIN_BAR: Final = 8
MAX_BAR: Final = 40
"""Columns of a bar: it takes what the text leaves; text that leaves less is cut, fact by fact."""

_CLEAR: Final = "\r\x1b[2K"


def columns_of(stream: TextIO | None) -> int:
    """How wide a terminal is; 80 for what is none."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return int(os.environ.get("COLUMNS") or os.get_terminal_size(stream.fileno()).columns) or 80  # type: ignore[union-attr]
    return 80


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

    def line(self, columns: int) -> str:
        """A bar, where it is known how much is done, and the text: never wider than the terminal."""
        if self.share is None:
            return self.text(columns)[:columns]
        text = self.text(columns - MIN_BAR - 1)
        width = min(MAX_BAR, max(1, columns - len(text) - 1))
        done = int(self.share * width)
        return f"{'━' * done}{'─' * (width - done)} {text}"[:columns]


def counted_status(done: int, total: int, seconds: float, facts: Sequence[str], before: int = 0) -> Status:
    """How far a job of known length is that has done some, and some ``before`` that took no time."""
    left = seconds / done * (total - done - before) if done else None
    return Status(facts, (before + done) / max(1, total), left)


class ProgressReporter:
    """Shows what it is told, as often as the place where it shows it can bear. A context manager.

    A terminal has a line that is drawn anew, and gone in the end. No thread draws it (processes are forked beside
    it), and the cursor stays visible: the second Ctrl-C ends the process on the spot, which would leave the
    terminal without one.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._stream: TextIO | None = sys.stderr
        dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
        self._terminal = self._stream is not None and self._stream.isatty() and not dumb
        self._every = SECONDS_BETWEEN_FRAMES if self._terminal else SECONDS_BETWEEN_LINES
        self._next = time.monotonic() + self._every
        self._line = ""

    def __enter__(self) -> ProgressReporter:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._line:
            self._write(_CLEAR)

    def update(self, status: Callable[[], Status], *, at_once: bool = False) -> None:
        """Show a status if it is time. ``at_once``: on a terminal in any case, for steps that are few and long."""
        now = time.monotonic()
        if self._quiet or (now < self._next and not (at_once and self._terminal)):
            return
        self._next = now + self._every
        if self._terminal:
            self._line = printable(status().line(columns_of(self._stream)))
            self._write(_CLEAR + self._line)
        else:
            self._write(f"relfast: {status().text()}\n")

    def step(self, text: str) -> None:
        """What is being done from now on: one of a job's few and long steps."""
        self.update(lambda: Status((text,)), at_once=True)

    def say(self, text: str) -> None:
        """A line that stays, above the bar. Any thread may call it; ``quiet`` does not silence it."""
        self._write(f"{_CLEAR if self._line else ''}relfast: {text}\n{self._line}")

    def _write(self, text: str) -> None:
        """On stderr, which may be closed, or a pipe without a reader: rows matter, this does not."""
        if self._stream is not None:
            try:
                self._stream.write(text)
                self._stream.flush()
            except OSError:
                self._stream = None


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
