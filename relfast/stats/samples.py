"""Scored samples as a run keeps them: 14 bytes each, in memory or in a file. At the end of a run they are
collapsed to counts of prompts by (samples, right samples), which is all that clustered errors and pass@k
need, and to majority votes.

Workers collect samples without numpy; the text kernel writes those of the lines that it scores.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress, pairwise
from struct import Struct, unpack
from typing import Any, Final, NamedTuple
from zlib import crc32

import orjson
from relfast_kernels.compiled import native
from relfast_kernels.entry import Spare
from relfast_kernels.layouts import (
    PROMPT_DIGITS,
    PROMPT_MARK,
    SAMPLE_ASKED,
    SAMPLE_FURTHER,
    SAMPLE_NO_ID,
)
from relfast_kernels.text.layouts import Digested

from relfast.stats.intervals import winners
from relfast.stats.sums import units_of
from relfast.tasks import TASKS

SAMPLE: Final = Struct("<BQIB")
"""One scored sample: number of its task (plus `FURTHER` unless it is the first of its line, and plus flags of
its prompt), hash of its prompt (`hash_key`), vote (0 = none), 0 or 1 for wrong or right."""

FURTHER: Final = SAMPLE_FURTHER
_FLAGS: Final = SAMPLE_ASKED | SAMPLE_NO_ID
_TASK: Final = FURTHER - 1 - _FLAGS
_NOT_FURTHER: Final = bytes(byte & (FURTHER - 1) for byte in range(256))
_IS_ASKED: Final = bytes(byte & _FLAGS == SAMPLE_ASKED for byte in range(256))
_PROMPT_BYTES: Final = range(1, 9)
_ID_BITS: Final = 0xFFFF_FFFF
"""The bits of a prompt's hash that come from its id alone, if the row names the prompt besides its id."""

FIELDS: Final = [("task", "u1"), ("prompt", "<u8"), ("vote", "<u4"), ("correct", "u1")]


class Prompts(NamedTuple):
    """Counts of a task's prompts.

    Attributes
    ----------
    histogram
        (samples, right samples) → number of prompts.
    majority
        Number of samples → (prompts, sum of majority scores in units of `relfast.stats.sums`), for prompts
        with several samples.
    """

    histogram: dict[tuple[int, int], int]
    majority: dict[int, list[int]]


class Kind(NamedTuple):
    """What is counted of a prompt: samples, and right samples. With several samples also the answers that
    share the highest number of votes, and how many of these answers are right."""

    samples: int
    right: int
    winners: int = 0
    winners_right: int = 0


def prompts_of(kinds: Mapping[Kind, int]) -> Prompts:
    """Counts of a task's prompts from the number of each kind; equal to the last bit for any order."""
    histogram: dict[tuple[int, int], int] = {}
    majority: dict[int, list[int]] = {}
    for kind in sorted(kinds):
        samples, right, winners, winners_right = kind
        key, times = (samples, right), kinds[kind]
        histogram[key] = histogram.get(key, 0) + times
        if samples > 1:
            entry = majority.setdefault(samples, [0, 0])
            entry[0] += times
            if winners:
                entry[1] += times * (units_of(winners_right / winners) or 0)
    return Prompts(histogram, majority)


Counts = dict[int, Counter[Kind]]
"""Number of a task → kind of prompt → number of prompts."""


class Repeats(NamedTuple):
    """What is worth a note about ids and lines.

    Attributes
    ----------
    ids
        Number of ids that stand on several lines and are one prompt there.
    without_id
        Number of prompts of rows without an id that stand on several lines.
    apart
        Number of ids that are several prompts, since their rows ask different questions.
    """

    ids: int = 0
    without_id: int = 0
    apart: int = 0


Several = Counter[int]
"""Number of a task, with the flags of its prompts → how many prompts stand on several lines; with `FURTHER` →
how many ids are several prompts."""


def count_few(samples: bytes | bytearray) -> tuple[Counts, Several]:
    """The prompts of some samples by kind, and what `Several` counts. It does without numpy, whose import
    takes as long as this with 600,000 prompts that have one sample each, or 80,000 samples of others."""
    size, n = SAMPLE.size, len(samples) // SAMPLE.size
    tasks, correct = samples[::size].translate(_NOT_FURTHER), samples[size - 1 :: size]
    prompts = unpack(f"<{n}Q", _column(samples, _PROMPT_BYTES))
    counts: Counts = {}
    several: Several = Counter()
    # first as if each sample had a prompt of its own, as most have
    for task in set(tasks):
        right = (_where(tasks, task) & int.from_bytes(correct, "little")).bit_count()
        kinds = counts.setdefault(task & _TASK, Counter())
        kinds.update({Kind(1, 1): right, Kind(1, 0): tasks.count(task) - right})
    if len(set(prompts)) < n:
        times = Counter(prompts)
        groups: dict[tuple[int, int], list[int]] = {}
        for at in compress(range(n), [times[prompt] > 1 for prompt in prompts]):
            groups.setdefault((tasks[at], prompts[at]), []).append(at * size)
        for (task, _), places in groups.items():
            if len(places) > 1:
                numbers, _, votes, rights = zip(
                    *[SAMPLE.unpack_from(samples, at) for at in places], strict=True
                )
                several[task] += sum(number < FURTHER for number in numbers) > 1
                kinds, right = counts[task & _TASK], sum(rights)
                kinds[Kind(1, 1)] -= right
                kinds[Kind(1, 0)] -= len(places) - right
                kinds[Kind(len(places), right, *winners(votes, rights))] += 1
    is_asked = tasks.translate(_IS_ASKED)
    if 1 in is_asked:
        keys = {*compress(zip(tasks, prompts, strict=True), is_asked)}
        ids = Counter((task, prompt & _ID_BITS) for task, prompt in keys)
        several.update((task & _TASK) + FURTHER for (task, _), times_asked in ids.items() if times_asked > 1)
    return {task: +kinds for task, kinds in counts.items()}, +several


def _column(samples: bytes | bytearray, of_each: range) -> bytearray:
    """Some bytes of each sample, one sample after the other."""
    column = bytearray(len(samples) // SAMPLE.size * len(of_each))
    for place, at in enumerate(of_each):
        column[place :: len(of_each)] = samples[at :: SAMPLE.size]
    return column


def _where(column: bytes | bytearray, value: int) -> int:
    """A number whose byte at a place is 1 where the column has this value, else 0."""
    return int.from_bytes(column.translate(bytes(byte == value for byte in range(256))), "little")


def count_many(samples: bytes | bytearray | memoryview) -> tuple[Counts, Several]:
    """The same as `count_few`, for many samples: sorts them with numpy."""
    import numpy as np

    table = np.frombuffer(samples, np.dtype(FIELDS))
    tasks, prompts = table["task"] & (FURTHER - 1), table["prompt"]
    order = np.lexsort((prompts, tasks))  # samples of a prompt stay in their order
    tasks, prompts = tasks[order], prompts[order]
    starts = np.flatnonzero(np.r_[True, (prompts[1:] != prompts[:-1]) | (tasks[1:] != tasks[:-1])])
    sizes = np.diff(np.r_[starts, len(table)])
    correct = table["correct"][order].astype(np.int64)
    right = np.add.reduceat(correct, starts)
    flagged = tasks[starts].astype(np.int64)
    tasks = flagged & _TASK
    asked = flagged & _FLAGS == SAMPLE_ASKED
    ids, n_prompts = np.unique(
        (tasks[asked] << 32) | (prompts[starts][asked] & _ID_BITS).astype(np.int64), return_counts=True
    )
    several = Counter(((ids[n_prompts > 1] >> 32) + FURTHER).tolist())
    counts: Counts = {}
    for kind, n in enumerate(np.bincount((2 * tasks + right)[sizes == 1]).tolist()):
        if n:
            counts.setdefault(kind >> 1, Counter())[Kind(1, kind & 1)] = n
    many = sizes > 1
    if not many.any():
        return counts, several
    of = np.repeat(np.arange(len(starts)), sizes)
    votes = table["vote"][order]
    voting = np.flatnonzero(many[of] & (votes != 0))
    voting = voting[np.lexsort((votes[voting], of[voting]))]
    votes, of, correct = votes[voting], of[voting], correct[voting]
    ends = np.flatnonzero(np.r_[(votes[1:] != votes[:-1]) | (of[1:] != of[:-1]), True][: len(votes)])
    times, of = np.diff(np.r_[-1, ends]), of[ends]
    most = np.zeros(len(starts), np.int64)
    np.maximum.at(most, of, times)
    best = times == most[of]
    chosen = np.bincount(of[best], minlength=len(starts))
    # if samples with equal votes differ in ``correct``, the last one counts
    chosen_right = np.bincount(of[best], correct[ends][best], len(starts)).astype(np.int64)
    columns = (column[many].tolist() for column in (tasks, sizes, right, chosen, chosen_right))
    for (task, *numbers), n in Counter(zip(*columns, strict=True)).items():
        counts.setdefault(task, Counter())[Kind(*numbers)] = n
    lines = np.add.reduceat((table["task"][order] < FURTHER).astype(np.int64), starts)
    several.update(flagged[many & (lines > 1)].tolist())
    return counts, several


UNKNOWN_TASK: Final = "(unknown)"
"""The group of rows whose task is unknown."""


def group_of(task: object) -> str:
    """The group that a row is counted in: its task. All unknown task names form one group, since hostile rows
    could each have a new name."""
    return task if isinstance(task, str) and task in TASKS else UNKNOWN_TASK


def _task_numbers() -> dict[str, int]:
    """A number for each group of rows: the text kernel's number of the task, else a free one."""
    numbers = {name: task.text_kernel.number for name, task in TASKS.items() if task.text_kernel is not None}
    free = (number for number in range(FURTHER) if number not in numbers.values())
    return {name: numbers[name] if name in numbers else next(free) for name in (*TASKS, UNKNOWN_TASK)}


TASK_NUMBERS: Final = _task_numbers()

_MASK: Final = 0xFFFF_FFFF_FFFF_FFFF
_MULTIPLIER: Final = 0x9E37_79B9_7F4A_7C15


def id_text(record_id: Any) -> bytes:
    """An id as JSON text; as Python's ``repr`` if orjson cannot write it."""
    try:
        return orjson.dumps(record_id)
    except (TypeError, ValueError):
        return repr(record_id).encode("utf-8", "surrogatepass")


_LONG: Final = 256
"""Bytes from which on the kernel hashes faster."""


_HASHED: Final = Spare[Any](lambda: Digested(text=b""))


@lru_cache(1)
def _of_kernel() -> Mapping[str, Callable[..., int]] | None:
    """The functions of the text kernel if they are compiled."""
    return native.load("text")


def hash_id(json_text: bytes) -> int:
    """A 64-bit hash of an id's JSON text: multiply and fold, eight bytes at a time.

    Equal in all processes; the text kernel computes the same hash, and is asked for that of a long text.
    """
    value = len(json_text)
    if value > _LONG and (functions := _of_kernel()) is not None:
        asked = _HASHED.take()
        asked.text = json_text
        value = functions["hash"](asked) & _MASK
        _HASHED.append(asked)
        return value
    for word in unpack(f"<{-(-value // 8)}Q", json_text + bytes(-value % 8)):
        value = ((value ^ word) * _MULTIPLIER) & _MASK
        value ^= value >> 29
    return value


def key_of(record_id: Any, prompt: str | None, index: int) -> bytes:
    """The bytes that tell a row's prompt: the JSON of its id and, as they stand in the row, of its ``prompt``
    (`relfast.records.Score.prompt`). Each row with neither is a prompt of its own, by its index."""
    if prompt is None:
        return orjson.dumps(index) if record_id is None else id_text(record_id)
    return b'%b%b%b"' % (id_text(record_id), PROMPT_MARK, prompt.encode())


_MARK_SIZE: Final = len(PROMPT_MARK) + PROMPT_DIGITS + 1


def _asks(key: bytes) -> bool:
    """Whether a key ends with a prompt: within a JSON text, no quote follows a colon, and no id ends so."""
    return len(key) > _MARK_SIZE and key[-_MARK_SIZE : -PROMPT_DIGITS - 1] == PROMPT_MARK


def read_key(key: bytes) -> tuple[Any, str | None]:
    """Id and ``prompt`` of a key."""
    if not _asks(key):
        return orjson.loads(key), None
    return orjson.loads(key[:-_MARK_SIZE]), key[-PROMPT_DIGITS - 1 : -1].decode()


def hash_key(key: bytes) -> int:
    """The 64-bit hash of a prompt's key: that of the id, or half of it each from id and ``prompt``. The text
    kernel computes the same."""
    if not _asks(key):
        return hash_id(key)
    return hash_id(key[:-_MARK_SIZE]) & _ID_BITS | int(key[-PROMPT_DIGITS - 1 : -1], 16) & ~_ID_BITS


def flags_of(key: bytes) -> int:
    """The flags of a prompt's key in the task byte of its samples."""
    if not _asks(key):
        return 0
    return SAMPLE_ASKED | SAMPLE_NO_ID if key.startswith(b"null,") else SAMPLE_ASKED


def digest_of(text: bytes) -> str:
    """What a row has as ``prompt``: a digest of its question, or of its gold without one."""
    return f"{hash_id(text):0{PROMPT_DIGITS}x}"


def hash_vote(vote: str | int | None) -> int:
    """A 32-bit hash of a vote: 0 for None, the vote itself if it is a number."""
    if vote is None:
        return 0
    if isinstance(vote, int):
        return vote
    return crc32(vote.encode("utf-8", "surrogatepass")) or 1


FEW: Final = 120_000
"""Up to this many samples are counted without numpy."""


def collapse(samples: bytes | bytearray, tasks: Iterable[str]) -> tuple[dict[str, Prompts], Repeats]:
    """The prompts of ``tasks``, from samples in the order of their rows."""
    few = len(samples) <= FEW * SAMPLE.size
    return _prompts_of_tasks(*(count_few if few else count_many)(samples), tasks)


def _prompts_of_tasks(
    counts: Counts, several: Mapping[int, int], tasks: Iterable[str]
) -> tuple[dict[str, Prompts], Repeats]:
    numbers = {name: TASK_NUMBERS.get(name, FURTHER) for name in tasks}
    found = {name: prompts_of(counts.get(number, {})) for name, number in numbers.items()}
    ids, asked, without_id, apart = (
        sum(several.get(number + flags, 0) for number in numbers.values())
        for flags in (0, SAMPLE_ASKED, _FLAGS, FURTHER)
    )
    return found, Repeats(ids + asked, without_id, apart)


def votes_of(samples: bytes | bytearray) -> bytes:
    """The votes of n `SAMPLE` records as 4 n bytes: first the lowest byte of each, then the next byte, …"""
    return b"".join([samples[at :: SAMPLE.size] for at in _VOTE_BYTES])


def with_votes(samples: bytes | bytearray, votes: bytes) -> bytes | bytearray:
    """The `SAMPLE` records with these votes; unchanged if there is not one vote for each."""
    n = len(samples) // SAMPLE.size
    if len(votes) != 4 * n:
        return samples
    changed = bytearray(samples)
    for plane, at in enumerate(_VOTE_BYTES):
        changed[at :: SAMPLE.size] = votes[plane * n : (plane + 1) * n]
    return changed


_HASH_BYTE: Final = 1
_VOTE_BYTES: Final = range(9, 13)


CHUNK_BYTES: Final = SAMPLE.size * 150_000
"""Samples are written to a file in chunks of this size, the samples of about 350 MB of responses; those of
smaller inputs stay in memory."""

SHARES: Final = 64
"""Most times that the file is read again at the end; each pass counts a share of the prompts."""


class SampleStore:
    """The samples of a run in the order of their rows; ``+=`` adds more. Many are moved to a temporary
    file; if none can be written, all stay in memory.
    """

    def __init__(self) -> None:
        self._near = bytearray()
        self._file: int | None = None
        self._put = 0
        self._hold = False

    def __del__(self) -> None:
        # also if the run ends with an error
        if self._file is not None:
            os.close(self._file)

    def __iadd__(self, samples: bytes | bytearray) -> SampleStore:
        self._near += samples
        if len(self._near) > FEW * SAMPLE.size:
            import numpy  # noqa: F401 (takes 0.1 s; here the workers score meanwhile)
        if len(self._near) >= CHUNK_BYTES and not self._hold:
            self._put_down()
        return self

    def collapse(self, tasks: Sequence[str]) -> tuple[dict[str, Prompts], Repeats]:
        """The result of `relfast.stats.samples.collapse` for all samples. Raises `OSError` if the temporary
        file cannot be read again."""
        if self._file is None:
            return collapse(self._near, tasks)
        import numpy as np

        n = min(SHARES, -(-(self._put + len(self._near)) // CHUNK_BYTES))
        counts: Counts = {}
        several: Several = Counter()
        for low, high in pairwise(256 * at // n for at in range(n + 1)):
            share = bytearray()
            for samples in self._all():
                # samples of an id have equal lowest bytes; for a byte below ``low`` the uint8 wraps around
                hashes = np.frombuffer(samples, np.uint8)[_HASH_BYTE :: SAMPLE.size]
                chosen = np.flatnonzero(hashes - np.uint8(low) < high - low)
                share += np.frombuffer(samples, np.dtype(FIELDS)).take(chosen).tobytes()
            if share:
                found, on_several = count_many(share)
                for task, kinds in found.items():
                    counts.setdefault(task, Counter()).update(kinds)
                several.update(on_several)
        return _prompts_of_tasks(counts, several, tasks)

    def _put_down(self) -> None:
        # if it fails once, it is not tried again
        self._hold = True
        try:
            if self._file is None:
                import tempfile  # its import takes 4 ms, and few runs need it

                with tempfile.TemporaryFile(prefix="relfast-", buffering=0) as file:
                    self._file = os.dup(file.fileno())
            done = 0
            with memoryview(self._near) as view:
                while done < len(view):
                    done += os.pwrite(self._file, view[done:], self._put + done)
        except OSError:
            return  # no room on the disk: the samples stay in memory
        self._put += done
        self._near.clear()
        self._hold = False

    def _all(self) -> Iterator[bytes | bytearray]:
        """All samples in chunks: those in the file, then those in memory."""
        assert self._file is not None
        for start in range(0, self._put, CHUNK_BYTES):
            n = min(CHUNK_BYTES, self._put - start)
            samples = os.pread(self._file, n, start)
            if len(samples) != n:
                raise OSError("a temporary file has changed")
            yield samples
        yield self._near
