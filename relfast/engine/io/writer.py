"""Where rows go: what every writer does, and the writer for pipes and devices."""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
import time
from collections.abc import Iterator
from typing import IO, Any, Final, Protocol

from relfast.engine.io.blocks import Position
from relfast.engine.io.commit_log import Commit
from relfast.errors import OutputError

READER_SECONDS: Final = 10.0
"""How long a named pipe's reader is waited for: a shell starts both at once, in any order."""

_LOOK_AGAIN_SECONDS: Final = 0.05


class ConsumerGone(Exception):
    """The reader of the rows has gone (``| head``)."""


class Writer(Protocol):
    """Where rows go."""

    commits: list[Commit]
    """Blocks whose rows are there from before."""

    def write(
        self, rows: bytes, then: Position, votes: bytes = b"", input_sum: int = 0, embedder: str = ""
    ) -> None:
        """Append a block's rows; ``then`` is where the input goes on."""

    def written_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of ``commits``."""

    def finish(self, n_rows: int) -> None:
        """All rows are written."""

    def withdraw(self) -> None:
        """Take back the files that this run has made, if no rows are in them."""

    def close(self) -> None: ...


class StreamWriter:
    """Rows to stdout, a named pipe or a device: nothing to lock, nothing to resume.

    ``stream`` must be unbuffered, so that nothing is left to be flushed when it fails.
    """

    def __init__(self, name: str, stream: IO[bytes]) -> None:
        self.commits: list[Commit] = []
        self._name, self._stream = name, stream
        self._written = 0

    @classmethod
    def of_stdout(cls) -> StreamWriter:
        if sys.stdout is None:
            raise OutputError("stdout", "it is closed")
        sys.stdout.flush()
        return cls("stdout", getattr(sys.stdout.buffer, "raw", sys.stdout.buffer))

    @classmethod
    def of_device(cls, path: str) -> StreamWriter:
        # an ordinary open of a pipe without a reader would wait for ever
        until = time.monotonic() + READER_SECONDS
        while True:
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                os.set_blocking(descriptor, True)
                return cls(path, open(descriptor, "wb", buffering=0))
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise OutputError(path, error.strerror or str(error)) from error
                if time.monotonic() > until:
                    said = f"no process reads this pipe (waited {READER_SECONDS:g} s): start its reader first"
                    raise OutputError(path, said) from error
            time.sleep(_LOOK_AGAIN_SECONDS)

    def write(
        self, rows: bytes, then: Position, votes: bytes = b"", input_sum: int = 0, embedder: str = ""
    ) -> None:
        view = memoryview(rows)
        try:
            while view:
                done = self._stream.write(view)
                if done is None:  # it was made non-blocking, and it is full
                    select.select([], [self._stream], [])
                    continue
                view = view[done:]
                self._written += done
        except BrokenPipeError:
            raise ConsumerGone from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(self._name, f"{reason} after {self._written} bytes") from error

    def written_rows(self) -> Iterator[dict[str, Any]]:
        return iter(())

    def finish(self, n_rows: int) -> None:
        pass

    def withdraw(self) -> None:
        pass

    def close(self) -> None:
        if self._name != "stdout":
            self._stream.close()


def is_stream(path: str) -> bool:
    """Whether an output path is a pipe or a device, which can be neither locked nor continued."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
