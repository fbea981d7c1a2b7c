"""What the scoring of blocks gives back: `Segment`s with rows and a tally, and `Detours`, counts of failures
of the fast path.

"The ordinary way" of a line or response, here and elsewhere: Python decodes it into a record, and the task's
scorer scores it. The fast path and the kernels leave to it what they fail on or are not sure of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

from relfast.engine.columns.blocks import Block
from relfast.json_text import encode_row
from relfast.records import Plain, Score
from relfast.stats.tally import Tally

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


PIECE: Final = 4_096
"""Most records scored at a time: each takes 4 kB until its row is written, and a line can hold millions."""

_T = TypeVar("_T")


def pieces(items: Iterable[_T], most: int = PIECE) -> Iterator[list[_T]]:
    """The items in lists of at most ``most``."""
    left = iter(items)
    while piece := list(islice(left, most)):
        yield piece


def rows_of(scores: Iterable[Score], tally: Tally) -> bytes:
    """Output rows of scores, which are added to a tally; only one piece of them is held in memory."""
    rows = []
    for piece in pieces(scores):
        rows.append(encoded(piece, tally))
        tally.add(piece)
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
