"""Scored samples as a run keeps them, 14 bytes each, in memory or a file, and what they come to per
prompt.

Workers collect samples without numpy, and the kernel that reads lines writes them itself. At the end they
collapse into what `relfast.stats.prompts` counts.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final
from zlib import crc32

import orjson

from relfast.stats.prompts import (
    FURTHER,
    SAMPLE,
    Counts,
    Prompts,
    count_few,
    count_many,
    divided,
    prompts_of,
)
from relfast.tasks import TASKS

UNKNOWN_TASK: Final = "(unknown)"
"""The group of rows whose task is unknown."""


def group_of(task: object) -> str:
    """The task a row counts under. Names that no task has are one group: hostile rows could have a new one
    each."""
    return task if isinstance(task, str) and task in TASKS else UNKNOWN_TASK


def _task_numbers() -> dict[str, int]:
    """A number for each group of rows: the kernel's where it writes samples of a task, else a free one."""
    numbers = {name: task.text_kernel.number for name, task in TASKS.items() if task.text_kernel is not None}
    free = (number for number in range(FURTHER) if number not in numbers.values())
    return {name: numbers[name] if name in numbers else next(free) for name in (*TASKS, UNKNOWN_TASK)}


TASK_NUMBERS: Final = _task_numbers()

_MASK: Final = 0xFFFF_FFFF_FFFF_FFFF
_MULTIPLIER: Final = 0x9E37_79B9_7F4A_7C15


def id_text(record_id: Any) -> bytes:
    """An id as JSON, or as Python shows it where JSON cannot hold it."""
    try:
        return orjson.dumps(record_id)
    except (TypeError, ValueError):
        return repr(record_id).encode("utf-8", "surrogatepass")


def hash_id(json_text: bytes) -> int:
    """A 64-bit hash of an id's JSON text: multiply and fold, eight bytes at a time.

    The same in every process and in the kernel that reads lines without decoding them.
    """
    value = len(json_text)
    for at in range(0, len(json_text), 8):
        value = ((value ^ int.from_bytes(json_text[at : at + 8], "little")) * _MULTIPLIER) & _MASK
        value ^= value >> 29
    return value


def hash_vote(vote: str | int | None) -> int:
    """A 32-bit hash of a vote, 0 for none; a number stands for itself."""
    if vote is None:
        return 0
    if isinstance(vote, int):
        return vote
    return crc32(vote.encode("utf-8", "surrogatepass")) or 1


FEW: Final = 20_000
"""Samples that are counted without numpy."""


def collapse(samples: bytes | bytearray, tasks: Iterable[str]) -> tuple[dict[str, Prompts], int]:
    """Samples in the order of their rows → prompts of some tasks, and how many ids stand on several lines."""
    few = len(samples) <= FEW * SAMPLE.size
    return _prompts_of_tasks(*(count_few if few else count_many)(samples), tasks)


def _prompts_of_tasks(
    counts: Counts, several: Mapping[int, int], tasks: Iterable[str]
) -> tuple[dict[str, Prompts], int]:
    numbers = {name: TASK_NUMBERS.get(name, FURTHER) for name in tasks}
    found = {name: prompts_of(counts.get(number, {})) for name, number in numbers.items()}
    return found, sum(several.get(number, 0) for number in numbers.values())


def votes_of(samples: bytes | bytearray) -> bytes:
    """The votes of some `SAMPLE` records: all their lowest bytes, then the next ones, … (4 n bytes)."""
    return b"".join([samples[at :: SAMPLE.size] for at in _VOTE_BYTES])


def with_votes(samples: bytes | bytearray, votes: bytes) -> bytes | bytearray:
    """The records with other votes; unchanged if their numbers differ."""
    n = len(samples) // SAMPLE.size
    if len(votes) != 4 * n:
        return samples
    changed = bytearray(samples)
    for plane, at in enumerate(_VOTE_BYTES):
        changed[at :: SAMPLE.size] = votes[plane * n : (plane + 1) * n]
    return changed


_VOTE_BYTES: Final = range(9, 13)


CHUNK_BYTES: Final = SAMPLE.size * 50_000
"""Samples of 120 MB of responses: those of smaller inputs are never put down."""

SHARES: Final = 64
"""Of which as many are counted at a time as make about a chunk."""

_FOLDER_VARIABLES: Final = ("TMPDIR", "TEMP", "TMP")
_FOLDERS: Final = ("/tmp", "/var/tmp", "/usr/tmp")
"""Where tempfile puts files, the first that will do."""


class SampleStore:
    """Samples in the order of their rows, added to by ``+=``.

    Where no file is to be had, all of them are held.
    """

    def __init__(self) -> None:
        self._near = bytearray()
        self._file: int | None = None
        self._starts = [0]
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
        if self._file is None:
            return collapse(self._near, tasks)
        # not before: numpy would take its 30 MB beside the workers
        near, ends = divided(self._near, SHARES)
        chunks = [self._divided(start, end) for start, end in pairwise(self._starts)]
        step = max(1, SHARES * CHUNK_BYTES // (self._starts[-1] + len(near)))
        counts: Counts = {}
        several: Counter[int] = Counter()
        for first in range(0, SHARES, step):
            last = min(first + step, SHARES)
            parts = [read(at[first], at[last]) for read, at in chunks]
            some = b"".join([*parts, near[ends[first] : ends[last]]])
            if some:
                found, on_several = count_many(some)
                for task, kinds in found.items():
                    counts.setdefault(task, Counter()).update(kinds)
                several.update(on_several)
        return _prompts_of_tasks(counts, several, tasks)

    def _put_down(self) -> None:
        # where it does not work once it is not tried again
        self._hold = True
        try:
            if self._file is None:
                self._file = _file_without_name()
            self._write(self._near, self._starts[-1])
        except OSError:
            return  # there is no room: they stay here
        self._starts.append(self._starts[-1] + len(self._near))
        self._near.clear()
        self._hold = False

    def _divided(self, start: int, end: int) -> tuple[Callable[[int, int], bytes], list[int]]:
        """Divide samples where they are: what reads them then, and where each share begins and the last one
        ends."""
        samples, ends = divided(self._read(start, end), SHARES)
        try:
            self._write(samples, start)
        except OSError:  # a file system that copies what is changed has no room for it
            return lambda first, last: samples[first:last], ends
        return self._read, [start + at for at in ends]

    def _write(self, samples: bytes | bytearray, start: int) -> None:
        assert self._file is not None
        done = 0
        with memoryview(samples) as view:
            while done < len(samples):
                done += os.pwrite(self._file, view[done:], start + done)

    def _read(self, start: int, end: int) -> bytes:
        assert self._file is not None
        samples = os.pread(self._file, end - start, start)
        if len(samples) != end - start:
            raise OSError("a temporary file has changed")
        return samples


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
