"""Keeping Ctrl-C away from RDKit.

During a substructure search RDKit replaces Python's SIGINT handler by its own. A Ctrl-C in those microseconds
is lost, and worse: the search ends early with a wrong answer (2026.09: a molecule is then not contained in
itself). Workers block SIGINT for good, since terminals and notebooks send it to them too; a process that has
to handle SIGINT blocks it only during each search.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Final

_SIGINT: Final = frozenset({signal.SIGINT})


_blocked_for_good = False


def block_for_good() -> None:
    """Block SIGINT in this process for good, and unblock all other signals (a process inherits the signals
    that its parent blocks). Call it from the first thread, before others start."""
    global _blocked_for_good
    _blocked_for_good = True
    signal.pthread_sigmask(signal.SIG_SETMASK, _SIGINT)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold SIGINT back until the end of the context, then Python's handler gets it. Only this thread blocks
    the signal: in a process with several threads the system may deliver it to another."""
    if _blocked_for_good:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGINT)
    try:
        yield
    finally:
        if signal.SIGINT not in before:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGINT)
