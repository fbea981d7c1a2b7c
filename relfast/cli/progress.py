"""Progress on stderr: a line that rewrites itself on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Final

from relfast.cli import signals
from relfast.engine.run import Progress

_TERMINAL_EVERY: Final = 0.2
_PLAIN_EVERY: Final = 5.0


class Reporter:
    """Prints what `update` is told, as often as the place it prints to can bear."""

    def __init__(self, *, quiet: bool) -> None:
        # stderr may be closed, or be a pipe that nobody reads any more: rows matter, this does not
        self._stream = sys.stderr
        self._quiet = quiet
        self._terminal = self._stream is not None and self._stream.isatty()
        self._every = _TERMINAL_EVERY if self._terminal else _PLAIN_EVERY
        self._next = time.monotonic() + self._every
        self._shown = False
        self._state: Progress | None = None

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._shown and self._terminal:
            self._write("\r\x1b[K")

    def update(self, state: Progress) -> None:
        signals.check()
        self._state = state
        now = time.monotonic()
        if self._quiet or self._stream is None or now < self._next:
            return
        self._next = now + self._every
        self._shown = True
        text = describe(state, now)
        self._write(f"\r\x1b[K{text}" if self._terminal else f"relfast: {text}\n")

    def say(self, text: str) -> None:
        """A line that stays, above the one that rewrites itself. Any thread may call it."""
        start = "\r\x1b[K" if self._terminal else ""
        self._write(f"{start}relfast: {text}\n")

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._stream = None

    def how_far(self) -> str:
        """Where an interrupted run stands, and how it goes on."""
        if self._state is None:
            return "before the first rows; the same command with --resume starts again"
        return f"after {self._state.rows:,} rows; the same command with --resume goes on from there"


def describe(state: Progress, now: float) -> str:
    """``12,000 rows · 4,100 rows/s · 9.1 MB/s · 3 errors · 0 timeouts · 41% · ETA 0:02:10``"""
    seconds = max(now - state.started, 1e-9)
    rows = state.rows - state.resumed_rows
    done = state.done_bytes - state.resumed_bytes
    parts = [
        f"{state.rows:,} rows",
        f"{rows / seconds:,.0f} rows/s",
        f"{done / seconds / 1e6:,.1f} MB/s",
        f"{state.invalid + state.crashes:,} errors",
        f"{state.timeouts:,} timeouts",
    ]
    if state.total_bytes:
        parts.append(f"{100 * state.done_bytes / state.total_bytes:.0f}%")
        left = int((state.total_bytes - state.done_bytes) / max(done / seconds, 1e-9))
        parts.append(f"ETA {left // 3600}:{left // 60 % 60:02}:{left % 60:02}")
    return " · ".join(parts)
