"""Outputs that grow and are continued: what a run has written survives its end, whatever ends it.

A run holds its output's lock, writes a header of its settings, appends whole pieces, and cuts back what it
could not write whole. A later run holds its own settings against the header, drops what a kill has torn, and
goes on. Rows with their journal (`relfast.engine.files.io.writer`), responses
(`relfast.inference.request_log`) and the folders of a cluster (`relfast.distributed.run`) do it by this.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from relfast.errors import OutputError, ResumeMismatchError
from relfast.support.outputs import open_locked, open_output, replaced

PATHS: Final = "paths"
"""Key of the files' paths in a header. They are shown, not compared: a file may have been moved since."""


class GrowingFile:
    """A file that one run at a time appends to.

    Attributes
    ----------
    size
        Bytes that are whole; where the next piece goes.
    is_new
        Whether it was made when it was opened.

    Parameters
    ----------
    path
        Where it is; made if it is not there.
    locked
        Whether others are kept out, until it is closed or the process ends; else it is beside a locked one.

    Raises
    ------
    OutputError
        It cannot be opened, or another run holds its lock.
    """

    def __init__(self, path: str, *, locked: bool = True) -> None:
        self.path, self.size = path, 0
        self._file, self.is_new = open_locked(path) if locked else open_output(path)

    @property
    def length(self) -> int:
        """Bytes in it, whole or not."""
        return os.fstat(self._file).st_size

    def begin(self, pieces: Iterable[bytes]) -> None:
        """Begin it with these bytes. What is in it stays until they are there: before, a command may turn out
        wrong or be interrupted. Raises `OutputError`, and then the old ones are as they were."""
        if not self.length:
            self.append(b"".join(pieces))
            return
        try:
            new = replaced(self.path, pieces)
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(self.path, f"{reason}; its old rows are as they were") from error
        os.close(self._file)
        self._file = new
        self.size = self.length

    def append(self, data: bytes) -> None:
        """Append bytes, all or none: what a full disk or a signal leaves torn is cut off. Raises
        `OutputError`."""
        view, done = memoryview(data), 0
        try:
            while done < len(data):
                done += os.pwrite(self._file, view[done:], self.size + done)
        except BaseException as error:
            self.cut_back(self.size)
            if not isinstance(error, OSError):
                raise
            raise OutputError(
                self.path,
                f"{error.strerror or error} after {self.size} bytes; all rows in it are whole,"
                " --resume goes on from there",
            ) from error
        self.size += len(data)

    def cut_back(self, size: int) -> None:
        """Keep the first bytes only. If that fails, the next run cuts."""
        self.size = size
        with contextlib.suppress(OSError):
            # a new, empty file is not cut: ext4 flushes files that were ever cut to 0 when they close
            if self.length != size:
                os.ftruncate(self._file, size)

    def read(self, start: int, end: int) -> bytes:
        """Bytes of it; fewer where it is shorter."""
        return os.pread(self._file, end - start, start)

    def lines(self) -> Iterator[bytes]:
        """Its lines, the last one torn, maybe."""
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            yield from file

    def sync(self) -> None:
        """Have what is written survive a power cut."""
        os.fsync(self._file)

    def withdraw(self) -> None:
        """Delete it if this run has made it."""
        if self.is_new:
            with contextlib.suppress(OSError):
                os.unlink(os.path.realpath(self.path))  # a link was there before

    def close(self) -> None:
        """Give up the lock; harmless if done."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def check_settings(
    before: Mapping[str, Any] | None,
    now: Mapping[str, Any],
    header: object,
    output: object,
    show: Callable[[Any], str] = str,
) -> None:
    """Hold the settings of a run against those in the header of the one it continues.

    Parameters
    ----------
    before, now
        They; None: there is no header, or it is torn.
    header, output
        The paths of header and output.
    show
        How values are shown.

    Raises
    ------
    ResumeMismatchError
        They differ; the message has the first difference.
    """
    if before is None:
        raise ResumeMismatchError(
            f"{header} is missing or unreadable (torn), so it is not known how {output} was made"
        )
    flat_before, flat_now = dict(_flatten(before)), dict(_flatten(now))
    for name in {**flat_before, **flat_now}:
        old, new = flat_before.get(name), flat_now.get(name)
        if old != new and not name.startswith(f"{PATHS} "):
            for shown, path in now.get(PATHS, {}).items():
                if name.startswith(f"{shown} "):
                    name = f"{name.removeprefix(shown).lstrip()} of {path}"
            raise ResumeMismatchError(f"{name} was {_shown(old, show)} and is {_shown(new, show)}")


def _flatten(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flatten(item, f"{prefix} {key}" if prefix else str(key))
    else:
        # through JSON, as settings read from a header went: tuples become lists
        yield prefix, json.loads(json.dumps(value))


def _shown(value: Any, show: Callable[[Any], str]) -> str:
    text = "not set" if value is None else show(value)
    return text if len(text) <= 80 else text[:77] + "…"
