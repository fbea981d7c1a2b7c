"""Progress on stderr: a line that rewrites itself on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Final

from relfast.engine.run import Progress

_TERMINAL_EVERY: Final = 0.2
_PLAIN_EVERY: Final = 5.0


class Reporter:
    """Prints what `update` is told, as often as the place it prints to can bear."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._every = _TERMINAL_EVERY if self._terminal else _PLAIN_EVERY
        self._next = time.monotonic() + self._every
        self._shown = False

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._shown and self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def update(self, state: Progress) -> None:
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + self._every
        self._shown = True
        text = describe(state, now)
        sys.stderr.write(f"\r\x1b[K{text}" if self._terminal else f"relfast: {text}\n")
        sys.stderr.flush()


def describe(state: Progress, now: float) -> str:
    """``12,000 rows · 4,100 rows/s · 9.1 MB/s · 3 errors · 0 timeouts · 41% · ETA 0:02:10``"""
    seconds = max(now - state.started, 1e-9)
    done = state.done_bytes - state.resumed_bytes
    parts = [
        f"{state.rows:,} rows",
        f"{state.rows / seconds:,.0f} rows/s",
        f"{done / seconds / 1e6:,.1f} MB/s",
        f"{state.invalid + state.crashes:,} errors",
        f"{state.timeouts:,} timeouts",
    ]
    if state.total_bytes:
        parts.append(f"{100 * state.done_bytes / state.total_bytes:.0f}%")
        left = int((state.total_bytes - state.done_bytes) / max(done / seconds, 1e-9))
        parts.append(f"ETA {left // 3600}:{left // 60 % 60:02}:{left % 60:02}")
    return " · ".join(parts)
