"""Scored samples as a run keeps them, 14 bytes each, in memory or a file, and what they come to per
prompt.

Workers collect samples without numpy, and the kernel that reads lines writes them itself. At the end they
collapse into a histogram of (samples, right samples) per prompt, which is all that clustered errors and
pass@k need, and majority votes.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import orjson
from relfast_kernels.layouts import SAMPLE_FURTHER

from relfast.stats.estimates import winners
from relfast.stats.prompts import Divide, Kind, Prompts, count_kinds, divider, kind_counter, prompts_of
from relfast.tasks import TASKS

if TYPE_CHECKING:
    import numpy.typing as npt


SAMPLE: Final = Struct("<BQIB")
"""One scored sample: number of its task (plus `FURTHER` unless it is the first of its line), hash of its
prompt's id, vote (0 = none), 0 or 1 for wrong or right."""

FURTHER: Final = SAMPLE_FURTHER

UNKNOWN_TASK: Final = "(unknown)"
"""The group of rows whose task is unknown."""


def group_of(task: object) -> str:
    """The task a row counts under. Names that no task has are one group: hostile rows could have a new one
    each."""
    return task if isinstance(task, str) and task in TASKS else UNKNOWN_TASK


_FIELDS: Final = [("task", "u1"), ("prompt", "<u8"), ("vote", "<u4"), ("correct", "u1")]


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


def collapse(samples: bytes | bytearray, tasks: Iterable[str]) -> tuple[dict[str, Prompts], int]:
    """Samples in the order of their rows → prompts of some tasks, and how many ids stand on several lines.

    By machine code where it is there. Few samples of one prompt each are counted without it, as loading it
    takes 5 ms, and more of them without numpy, whose import takes longer still.
    """
    tasks = list(tasks)
    numbers = _numbers_of(tasks)
    histograms = _one_each(samples, _VERY_FEW)
    counted = count_kinds(samples) if histograms is None else None
    if counted is not None:
        return of_kinds(*counted, tasks)
    if histograms is None:
        histograms = _one_each(samples, _FEW)
    if histograms is not None:
        return {name: Prompts(histograms.get(number, {}), {}) for name, number in numbers.items()}, 0
    import numpy as np

    table = np.frombuffer(samples, np.dtype(_FIELDS))
    result: dict[str, Prompts] = {}
    repeated = 0
    for name, number in numbers.items():
        chosen = table["task"] & (FURTHER - 1) == number
        result[name] = _prompts(table, chosen)
        if any(n > 1 for n, _ in result[name].histogram):
            repeated += _on_several_lines(table, chosen)
    return result, repeated


def of_kinds(
    kinds: Mapping[int, Mapping[Kind, int]], several: Mapping[int, int], tasks: Iterable[str]
) -> tuple[dict[str, Prompts], int]:
    """What `collapse` says, of prompts that are counted by kind already (`relfast.stats.prompts`)."""
    numbers = _numbers_of(tasks)
    found = {name: prompts_of(kinds.get(number, {})) for name, number in numbers.items()}
    return found, sum(several.get(number, 0) for number in numbers.values())


def _numbers_of(tasks: Iterable[str]) -> dict[str, int]:
    return {name: TASK_NUMBERS.get(name, FURTHER) for name in tasks}


_VERY_FEW: Final = 5_000
_FEW: Final = 250_000
_PROMPT: Final = range(1, 9)
_CORRECT: Final = 13
_CORRECT_BIT: Final = 6
"""A bit that no task's number has."""


def _one_each(samples: bytes | bytearray, most: int) -> dict[int, dict[tuple[int, int], int]] | None:
    """Histograms by task number of samples all of different prompts; None for others, and for more than
    ``most``."""
    n = len(samples) // SAMPLE.size
    if n > most:
        return None
    prompts = bytearray(8 * n)
    for place, at in enumerate(_PROMPT):
        prompts[place::8] = samples[at :: SAMPLE.size]
    if len(set(memoryview(prompts).cast("Q"))) < n:
        return None
    # task and outcome of each sample in one byte, and the bytes counted: 20 times quicker than a loop
    tasks, correct = samples[:: SAMPLE.size], samples[_CORRECT :: SAMPLE.size]
    kinds = int.from_bytes(tasks, "little") | int.from_bytes(correct, "little") << _CORRECT_BIT
    counted = kinds.to_bytes(n, "little")
    histograms: dict[int, dict[tuple[int, int], int]] = {}
    for kind in sorted(set(counted)):
        number, right = kind & (FURTHER - 1) & ~(1 << _CORRECT_BIT), kind >> _CORRECT_BIT & 1
        histogram = histograms.setdefault(number, {})
        histogram[1, right] = histogram.get((1, right), 0) + counted.count(kind)
    return histograms


def _prompts(samples: npt.NDArray[Any], chosen: npt.NDArray[Any]) -> Prompts:
    import numpy as np

    # one field at a time: a run has millions of samples, and this is where memory peaks
    prompts = samples["prompt"][chosen]
    if not len(prompts):
        return Prompts({}, {})
    prompts.sort()
    if (prompts[1:] != prompts[:-1]).all():
        # one sample a prompt, the usual case: nothing to group, and sorting keys alone is 20 times quicker
        n_right = int(samples["correct"][chosen].sum())
        wrong = len(prompts) - n_right
        return Prompts({(1, c): n for c, n in ((0, wrong), (1, n_right)) if n}, {})
    samples = samples[chosen]
    samples = samples[np.argsort(samples["prompt"], kind="stable")]
    starts = np.flatnonzero(np.r_[True, samples["prompt"][1:] != samples["prompt"][:-1]])
    sizes = np.diff(np.r_[starts, len(samples)])
    right = np.add.reduceat(samples["correct"].astype(np.int64), starts)
    kinds: Counter[Kind] = Counter()
    for start, size, n_right in zip(starts.tolist(), sizes.tolist(), right.tolist(), strict=True):
        if size == 1:
            kinds[Kind(1, n_right)] += 1
            continue
        group = samples[start : start + size]
        kinds[Kind(size, n_right, *winners(group["vote"].tolist(), group["correct"].tolist()))] += 1
    return prompts_of(kinds)


def _on_several_lines(samples: npt.NDArray[Any], chosen: npt.NDArray[Any]) -> int:
    """How many ids stand on more than one line."""
    import numpy as np

    lines = np.sort(samples["prompt"][chosen & (samples["task"] < FURTHER)])
    again = lines[1:] == lines[:-1]
    # of an id that stands there three times, the first pair counts
    return int(np.count_nonzero(again[:1]) + np.count_nonzero(again[1:] & ~again[:-1]))


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
