"""SIGINT and SIGTERM: the first one ends the command in an orderly way, the second one at once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

EXIT_BY_SIGNAL: Final = 128
"""The exit code of a command ended by signal N is 128 + N: 130 for SIGINT, 143 for SIGTERM."""

_HANDLED: Final = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """Raised in the main thread when SIGINT or SIGTERM arrives."""

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
    """Raise `Interrupted`, but not during an import: some compiled modules (orjson) crash if an exception
    interrupts it. Then a timer (SIGALRM) tries again, and after `_IMPORT_SECONDS` ends the process."""
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
    """Raise `Interrupted` again if a signal has come: Python may have swallowed it (in a destructor, say)."""
    if _pending:
        raise Interrupted(_pending[0])


@contextmanager
def interruptible(*, at_the_end: bool = False) -> Iterator[None]:
    """Raise `Interrupted` in the main thread at the first SIGINT or SIGTERM; the second ends the process.

    Signals that are ignored stay ignored, so that Ctrl-C does not end a shell's background job. With
    ``at_the_end`` SIGINT is ignored after the context: only the end of the process is left then, and a SIGINT
    would do nothing but change the exit status.
    """
    before = {}
    for signum in _HANDLED:
        if signal.getsignal(signum) != signal.SIG_IGN:
            before[signum] = signal.signal(signum, _interrupt)
    try:
        yield
    finally:
        if _pending:
            # a timer that still runs would end the process during its normal exit
            signal.setitimer(signal.ITIMER_REAL, 0)
        _pending.clear()
        for signum, handler in before.items():
            late = at_the_end and signum == signal.SIGINT
            signal.signal(signum, signal.SIG_IGN if late else handler)
