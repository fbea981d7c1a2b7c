"""Blocks, the pieces of an input in which a run scores, commits and resumes; and what their scoring gives
back: `Segment`s with rows and a tally, and `Detours`, counts of failures of the fast path.

"The ordinary way" of a line or response, here and elsewhere: Python decodes it into a record, and the task's
scorer scores it. The fast path and the kernels leave to it what they fail on or are not sure of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

from relfast.json_text import encode_row
from relfast.records import Plain, Score
from relfast.stats.tally import Tally

Fault = tuple[str, str]
"""Type and message of the error of a line that cannot be scored."""


BLOCK_LINES: Final = 16_384
"""Most lines in a block, so that a block of short lines does not have too many."""

UNKNOWN: Final = -1
"""The number of lines, or the index of the first one, of a block that is not counted yet."""


@dataclass(slots=True, repr=False, eq=False)
class Block(Plain):
    """Whole lines of one source.

    Attributes
    ----------
    seq
        Number of the block in the run, from 0.
    source
        Index of the source.
    first_index, n_lines
        Index of the first line, counted over all sources, and the number of lines; `UNKNOWN` until a worker
        has counted this block, or those before it.
    start, end
        Byte range in the (decompressed) source; for Parquet, the range of rows.
    path
        The file in which workers read the block themselves; None if they cannot.
    data
        The bytes, if workers cannot read the source themselves; else None.
    faults
        Lines that cannot be scored (too long, or damaged): line index → (type, message). Until `place` is
        called, indices count from the start of the block. The text of these lines is not in ``data``.
    parquet, group
        Whether the block is rows of a Parquet file, and the row group that a worker reads.
    filter
        Filter of lm-evaluation-harness whose rows are scored.
    checksum
        CRC-32 of the block's bytes if the source is a stream, to check on resume that the stream is still the
        same. 0 for files, which are checked by their fingerprint.
    """

    seq: int
    source: int
    first_index: int
    n_lines: int
    start: int
    end: int
    path: str | None = None
    data: bytes | None = None
    faults: dict[int, Fault] = field(default_factory=dict)
    parquet: bool = False
    group: int = 0
    filter: str | None = None
    checksum: int = 0

    def place(self, first_index: int) -> None:
        """Set the index of the first line, and count the indices of ``faults`` from it."""
        self.first_index = first_index
        self.faults = {first_index + line: fault for line, fault in self.faults.items()}

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def then(self) -> Position:
        """The position at which the run continues after this block."""
        return Position(self.seq + 1, self.source, self.end, self.first_index + self.n_lines)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Position(Plain):
    """A position in a run's input: the next block's number, source, offset in it, and first line."""

    seq: int = 0
    source: int = 0
    offset: int = 0
    index: int = 0


Tell = Callable[[str], None]
"""A function that takes a line of progress messages (``-v``). Any thread may call it; it must not raise."""


def tell_nobody(line: str) -> None:
    """The default `Tell`: ignores the line."""


Found = Mapping[str, tuple[int, str]]
"""Kind of work that was left to the ordinary way → how often, and the first error."""

_SHOWN: Final = 200
"""Characters of an error that are shown, since its message may quote a whole response."""


class Detours:
    """Counts failures of fast code, after which the ordinary way was taken, with the first error of each.
    What a kernel leaves because of a limit has not failed; `n_left` counts that."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, what: str, error: Exception) -> None:
        """Count that ``what`` (such as "a batch of REL-C3") failed with an error."""
        n, first = self._found.get(what, (0, ""))
        self._found[what] = n + 1, first or f"{error!r:.{_SHOWN}}"

    def merge(self, found: Found) -> None:
        """Add later counts, such as those that a worker sent."""
        for what, (more, later) in found.items():
            n, first = self._found.get(what, (0, ""))
            self._found[what] = n + more, first or later

    def take(self) -> Found:
        """The counts since the last call; they start at zero again."""
        found = self._found
        if found:
            self._found = {}
        return found

    def lines(self) -> Iterator[str]:
        """The lines that ``-v`` prints about them."""
        for what, (n, first) in self._found.items():
            times = "once" if n == 1 else f"{n:,} times, first"
            yield f"left to the ordinary way: {what}, {times}: {first}"


BATCH: Final = 4_096
"""Most records scored at a time: each takes 4 kB until its row is written, and a line can hold millions."""

_T = TypeVar("_T")


def batched(items: Iterable[_T], most: int = BATCH) -> Iterator[list[_T]]:
    """The items in batches of at most ``most``."""
    left = iter(items)
    while batch := list(islice(left, most)):
        yield batch


def rows_of(scores: Iterable[Score], tally: Tally) -> bytes:
    """Output rows of scores, which are added to a tally; only one batch of them is held in memory."""
    rows = []
    for batch in batched(scores):
        rows.append(encoded(batch, tally))
        tally.add(batch)
    return b"".join(rows)


def encoded(scores: Sequence[Score], tally: Tally) -> bytes:
    """Output rows of scores, whose samples alone are added to a tally."""
    tally.add_samples(scores)
    return b"".join([encode_row(score.to_row()) for score in scores])


@dataclass(slots=True, repr=False, eq=False)
class Segment(Plain):
    """Output rows of consecutive lines of a block, from the end of the segment before to line ``stop``
    (exclusive, counted within the block).

    ``n_fast`` counts the lines that the fast path scored or found the fields of, ``n_exact`` those that it
    left to the ordinary way; both are 0 if the fast path was not used. ``n_left`` counts, among the
    ``n_fast`` lines, those with a response that the task's kernels left to its scorer. ``detours`` are
    failures of a fast way that cost time and changed no row.
    """

    stop: int
    rows: bytes
    tally: Tally
    n_fast: int = 0
    n_exact: int = 0
    n_left: int = 0
    detours: Found = field(default_factory=dict)


Blocks = Callable[[Iterator[Block]], Iterator[tuple[Block, list[Segment]]]]
"""A function that scores blocks, in-process or on a pool; yields each with its segments, in order."""
