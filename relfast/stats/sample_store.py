"""Samples of a run where they do not fill memory: however many rows it has, some megabytes are held.

A million rows have 14 MB of samples, and the tables that count them as much again. So they are put down in a
file without a name as they come, a chunk at a time, each chunk divided into shares by prompt. To count them,
a few shares are read at a time: they have all samples of their prompts, in the order of a prompt's rows.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from relfast.stats.prompts import Divide, Prompts, WorkSpace, divider, merged
from relfast.stats.samples import SAMPLE, collapse

CHUNK_BYTES: Final = SAMPLE.size * 50_000
"""Samples of 120 MB of responses: those of smaller inputs are never put down."""

SHARES: Final = 64
"""Of which as many are counted at a time as make about a chunk."""

_FOLDER_VARIABLES: Final = ("TMPDIR", "TEMP", "TMP")
_FOLDERS: Final = ("/tmp", "/var/tmp", "/usr/tmp")
"""Where tempfile puts files, the first that will do."""

_THREADS: Final = 2
"""Threads that count them: machine code does nearly all of it, and lets go of the interpreter's lock."""

_T = TypeVar("_T")
_R = TypeVar("_R")


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
        if self._divide is None or self._file is None:
            return collapse(self._near, tasks)
        near, ends = self._divide(self._near)
        step = max(1, SHARES * CHUNK_BYTES // (self._size + len(near)))

        mine = threading.local()

        def counted(first: int) -> tuple[dict[str, Prompts], int]:
            last = min(first + step, SHARES)
            pieces = [self._read(each[first], each[last]) for each in self._ends]
            space = mine.__dict__.setdefault("space", WorkSpace())
            return collapse(b"".join((*pieces, near[ends[first] : ends[last]])), tasks, space)

        parts = _by_threads(counted, range(0, SHARES, step))
        repeated = sum(several for _, several in parts)
        return {name: merged([prompts[name] for prompts, _ in parts]) for name in tasks}, repeated

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

    def _read(self, start: int, end: int) -> bytes:
        assert self._file is not None
        data = os.pread(self._file, end - start, start)
        if len(data) != end - start:
            raise OSError("a temporary file has changed")
        return data


def _by_threads(work: Callable[[_T], _R], todo: Sequence[_T]) -> list[_R]:
    """What ``work`` makes of each, in their order, by this thread and others. Raises what it raises."""
    results: dict[int, _R] = {}
    failed: list[Exception] = []
    left = iter(enumerate(todo))

    def some(left: Iterable[tuple[int, _T]]) -> None:
        for number, each in left:
            results[number] = work(each)

    def some_by_thread() -> None:
        try:
            some(left)
        except Exception as error:  # raised again in the caller's thread
            failed.append(error)

    threads = [threading.Thread(target=some_by_thread, daemon=True) for _ in todo[1:_THREADS]]
    for thread in threads:
        thread.start()
    try:
        some(left)
    finally:
        for thread in threads:
            thread.join()
    if failed:
        raise failed[0]
    return [results[number] for number in range(len(todo))]


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
