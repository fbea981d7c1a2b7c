"""SIGINT and SIGTERM: once in an orderly way, twice at once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

EXIT_BY_SIGNAL: Final = 128
"""A command ended by signal N leaves with 128 + N: 130 for SIGINT, 143 for SIGTERM."""

_HANDLED: Final = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """A signal asked the command to end."""

    def __init__(self, signum: int) -> None:
        self.signum = signum
        super().__init__(signal.Signals(signum).name)

    @property
    def exit_code(self) -> int:
        return EXIT_BY_SIGNAL + self.signum


_IMPORT_SECONDS: Final = 1.0
_LOOK_AGAIN_SECONDS: Final = 0.02

_pending: list[int] = []
_until = 0.0


def _interrupt(signum: int, frame: FrameType | None) -> None:
    global _until
    for handled in _HANDLED:
        signal.signal(handled, signal.SIG_DFL)  # the next one ends the process, and the kernel its workers
    _pending.append(signum)
    _until = time.monotonic() + _IMPORT_SECONDS
    _raise_unless_importing(frame)


def _raise_unless_importing(frame: FrameType | None) -> None:
    """Raise `Interrupted`, but not while modules are being imported: compiled ones crash on an exception
    in the middle of it (orjson does). Then the alarm clock looks again."""
    signum = _pending[0]
    if not _importing(frame):
        raise Interrupted(signum)
    if time.monotonic() > _until:
        os.write(2, b"relfast: interrupted\n")
        os._exit(EXIT_BY_SIGNAL + signum)
    signal.signal(signal.SIGALRM, lambda _, frame: _raise_unless_importing(frame))
    signal.setitimer(signal.ITIMER_REAL, _LOOK_AGAIN_SECONDS)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def check() -> None:
    """Raise what a signal raised where Python swallows exceptions (in a destructor, say)."""
    if _pending:
        raise Interrupted(_pending[0])


@contextmanager
def interruptible(*, at_the_end: bool = False) -> Iterator[None]:
    """Raise `Interrupted` in the main thread at the first SIGINT or SIGTERM; the second is not caught.

    A signal that is ignored stays so: a shell's background job does not end by its terminal's Ctrl-C.
    ``at_the_end`` of the process, when all that is left is to give back its memory, a SIGINT comes too late to be
    more than a wrong exit status, and is ignored from then on.
    """
    before = {}
    for signum in _HANDLED:
        if signal.getsignal(signum) != signal.SIG_IGN:
            before[signum] = signal.signal(signum, _interrupt)
    try:
        yield
    finally:
        if _pending:
            # everything is done: an alarm clock that still runs would end the process in its last moments
            signal.setitimer(signal.ITIMER_REAL, 0)
        _pending.clear()
        for signum, handler in before.items():
            late = at_the_end and signum == signal.SIGINT
            signal.signal(signum, signal.SIG_IGN if late else handler)
