"""Samples of a run where they do not fill memory: however many rows it has, some megabytes are held.

A million rows have 14 MB of samples, and the tables that count them as much again. So they are put down in a
file without a name as they come, a chunk at a time, each chunk divided into shares by prompt. To count them,
a few shares are read at a time: they have all samples of their prompts, in the order of a prompt's rows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, Final

from relfast.stats.prompts import Divide, Prompts, divider, merged
from relfast.stats.samples import SAMPLE, collapse

CHUNK_BYTES: Final = SAMPLE.size * 50_000
"""Samples of 120 MB of responses: those of smaller inputs are never put down."""

SHARES: Final = 64
"""Of which as many are counted at a time as make about a chunk."""


class SampleStore:
    """Samples in the order of their rows, added to by ``+=``.

    Where the machine code that divides them is missing, or no file is to be had, all of them are held.
    """

    def __init__(self) -> None:
        self._near = bytearray()
        self._file: IO[bytes] | None = None
        self._size = 0
        self._ends: list[Sequence[int]] = []
        self._divide: Divide | None = None
        self._hold = False

    def __del__(self) -> None:
        # whichever way a run ends
        if self._file is not None:
            self._file.close()

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
        parts, repeated = [], 0
        step = max(1, SHARES * CHUNK_BYTES // (self._size + len(near)))
        for first in range(0, SHARES, step):
            last = min(first + step, SHARES)
            pieces = [self._read(each[first], each[last]) for each in self._ends]
            prompts, several = collapse(b"".join((*pieces, near[ends[first] : ends[last]])), tasks)
            parts.append(prompts)
            repeated += several
        return {name: merged([prompts[name] for prompts in parts]) for name in tasks}, repeated

    def _put_down(self) -> None:
        # where it does not work once it is not tried again
        self._hold = True
        self._divide = self._divide or divider(SHARES)
        if self._divide is None:
            return
        samples, ends = self._divide(self._near)
        try:
            if self._file is None:
                import tempfile  # most runs have too few rows to come here

                self._file = tempfile.TemporaryFile(prefix="relfast-", buffering=0)  # noqa: SIM115 -- kept
            done = 0
            while done < len(samples):
                done += os.pwrite(self._file.fileno(), samples[done:], self._size + done)
        except OSError:
            return  # there is no room: they stay here
        self._ends.append([self._size + end for end in ends])
        self._size += len(samples)
        self._near.clear()
        self._hold = False

    def _read(self, start: int, end: int) -> bytes:
        assert self._file is not None
        data = os.pread(self._file.fileno(), end - start, start)
        if len(data) != end - start:
            raise OSError("a temporary file has changed")
        return data
