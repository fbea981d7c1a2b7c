"""Keeping Ctrl-C away from RDKit.

While RDKit searches for a substructure it puts a SIGINT handler of its own in place of Python's. A Ctrl-C in
those microseconds is lost, and worse: the search ends early with a wrong answer (2026.09: a molecule is then
not contained in itself). Workers block SIGINT for good, since a terminal and a notebook send it to them
too; a process that has something else to do with it blocks it around searches.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Final

_SIGINT: Final = frozenset({signal.SIGINT})


_blocked_for_good = False


def block_for_good() -> None:
    """Have this process get no SIGINT any more, and all other signals: which of them its starter blocks is
    inherited. To be called by its first thread, before it starts others."""
    global _blocked_for_good
    _blocked_for_good = True
    signal.pthread_sigmask(signal.SIG_SETMASK, _SIGINT)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold a SIGINT back until the end, where Python's handler gets it. It is held back from this thread: of
    several, another one that does not block it may be chosen to get it."""
    if _blocked_for_good:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGINT)
    try:
        yield
    finally:
        if signal.SIGINT not in before:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGINT)
