"""Samples of a run where they do not fill memory: however many rows it has, some megabytes are held.

A million rows have 14 MB of samples, and the tables that count them as much again. So they are put down in a
file without a name as they come, a chunk at a time, each chunk divided into shares by prompt. To count them,
a few shares are read at a time: they have all samples of their prompts, in the order of a prompt's rows.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Final

from relfast.stats.prompts import Divide, Prompts, divider, kind_counter
from relfast.stats.samples import SAMPLE, collapse, of_kinds

CHUNK_BYTES: Final = SAMPLE.size * 50_000
"""Samples of 120 MB of responses: those of smaller inputs are never put down."""

SHARES: Final = 64
"""Of which as many are counted at a time as make about a chunk."""

_FOLDER_VARIABLES: Final = ("TMPDIR", "TEMP", "TMP")
_FOLDERS: Final = ("/tmp", "/var/tmp", "/usr/tmp")
"""Where tempfile puts files, the first that will do."""


class SampleStore:
    """Samples in the order of their rows, added to by ``+=``.

    Where the machine code that divides them is missing, or no file is to be had, all of them are held.
    """

    def __init__(self) -> None:
        self._near = bytearray()
        self._file: int | None = None
        self._size = 0
        self._ends: list[Sequence[int]] = []
        self._divide: Divide | None = None
        self._hold = False

    def __del__(self) -> None:
        # whichever way a run ends
        if self._file is not None:
            os.close(self._file)

    def __iadd__(self, samples: bytes | bytearray) -> SampleStore:
        self._near += samples
        if len(self._near) >= CHUNK_BYTES and not self._hold:
            self._put_down()
        return self

    def collapse(self, tasks: Sequence[str]) -> tuple[dict[str, Prompts], int]:
        """As `relfast.stats.samples.collapse` does with all samples at once. Raises `OSError` where those
        that were put down cannot be read again."""
        counter = None if self._divide is None or self._file is None else kind_counter()
        if counter is None or self._divide is None:
            return collapse(self._near, tasks)
        near, ends = self._divide(self._near)
        step = max(1, SHARES * CHUNK_BYTES // (self._size + len(near)))
        for first in range(0, SHARES, step):
            last = min(first + step, SHARES)
            rest = near[ends[first] : ends[last]]
            samples = counter.room(sum(each[last] - each[first] for each in self._ends) + len(rest))
            at = 0
            for each in self._ends:
                to = at + each[last] - each[first]
                self._read(each[first], samples[at:to])
                at = to
            samples[at:] = rest
            if samples:
                counter.add(samples)
        return of_kinds(*counter.result(), tasks)

    def _put_down(self) -> None:
        # where it does not work once it is not tried again
        self._hold = True
        self._divide = self._divide or divider(SHARES)
        if self._divide is None:
            return
        samples, ends = self._divide(self._near)
        try:
            if self._file is None:
                self._file = _file_without_name()
            done = 0
            while done < len(samples):
                done += os.pwrite(self._file, samples[done:], self._size + done)
        except OSError:
            return  # there is no room: they stay here
        self._ends.append([self._size + end for end in ends])
        self._size += len(samples)
        self._near.clear()
        self._hold = False

    def _read(self, start: int, into: memoryview) -> None:
        assert self._file is not None
        if os.preadv(self._file, [into], start) != len(into):
            raise OSError("a temporary file has changed")


def _file_without_name() -> int:
    """A new temporary file. Raises `OSError`."""
    # as tempfile does, whose import takes 4 ms; a program that has it may have told it where files go
    places = () if "tempfile" in sys.modules else (*map(os.environ.get, _FOLDER_VARIABLES), *_FOLDERS)
    for folder in filter(None, places):
        with contextlib.suppress(OSError):
            return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    import tempfile

    with tempfile.TemporaryFile(prefix="relfast-", buffering=0) as file:
        return os.dup(file.fileno())
