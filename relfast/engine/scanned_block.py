"""A block's lines as the text kernel read them: which it has scored, and who scores the others."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from relfast_kernels.layouts import BLANK, FAST, FIELDS, LINE_COLUMNS, LINE_END, LINE_START, SLOW

from relfast.engine.block_rows import JUDGED, Between, JudgedBlock, SlowLines
from relfast.engine.pool.failures import Verdict
from relfast.engine.segments import Segment
from relfast.engine.text_work import kinds_of
from relfast.records import Place
from relfast.stats.summary import Tally

_SLOW: Final = (SLOW, FIELDS)
_FAST: Final = bytes(kind == FAST for kind in range(256))
_OTHERS: Final = bytes(kind not in (BLANK, FAST) for kind in range(256))
"""Kind of a line → whether no kernel has scored it."""


class LineReader(Protocol):
    """What a block asks of who has read its lines (`relfast.engine.text_fast_path.TextFastPath`)."""

    def read_left(self, block: ScannedBlock, start: int, stop: int) -> None: ...

    def judge(
        self, block: ScannedBlock, numbers: range, first_index: int, chosen: str | None
    ) -> JudgedBlock | None: ...

    def score(
        self,
        block: ScannedBlock,
        lines: SlowLines,
        first_index: int,
        chosen: str | None,
        verdicts: Mapping[Place, Verdict] | None,
    ) -> Segment: ...

    def rows(self, block: ScannedBlock, start: int, stop: int, first_index: int) -> tuple[bytes, Tally]: ...


class ScannedBlock:
    """A block's lines as the kernel read them."""

    def __init__(
        self,
        fast_path: LineReader,
        data: bytes | memoryview,
        address: bytes | ctypes.Array[ctypes.c_char],
        lines: ctypes.Array[ctypes.c_int64],
        n_lines: int,
    ) -> None:
        self._fast_path = fast_path
        self.data, self.address, self.lines, self.n_lines = data, address, lines, n_lines
        self._judged: JudgedBlock | None = None
        self.left: set[int] = set()
        """Lines with a response that the task's extractor has read, until they are counted."""

    def runs(self, start: int, stop: int) -> Iterator[tuple[int, int, bool]]:
        """Lines ``start`` to ``stop`` as runs (first, end, whether some of them are slow: not scored by a
        kernel).

        Where lines were judged all are one run, for slow ones among them to be scored together.
        """
        self._fast_path.read_left(self, start, stop)
        kinds = kinds_of(self.lines, start, stop)
        # a block has a thousand lines, most often all alike: found as bytes are, without a look at each
        others = kinds.translate(_OTHERS)
        if JUDGED in kinds:
            yield start, stop, any(map(kinds.count, _SLOW))
            return
        at = 0
        while at < len(kinds):
            other = others[at]
            end = others.find(1 - other, at)
            end = len(kinds) if end < 0 else end
            yield start + at, start + end, other > 0
            at = end

    def slow(self, start: int, stop: int, most: int) -> SlowLines:
        """The slow ones of some lines, at most so many, and how far that goes."""
        if self._judged is None:
            stop = min(start + most, stop)
            return SlowLines(start, stop, range(start, stop))
        numbers = [
            start + at
            for at, kind in enumerate(kinds_of(self.lines, start, stop))
            if kind not in (BLANK, FAST, JUDGED)
        ]
        if len(numbers) > most:
            stop = numbers[most]
        return SlowLines(start, stop, numbers[:most])

    def score(
        self,
        lines: SlowLines,
        first_index: int,
        chosen: str | None,
        verdicts: Mapping[Place, Verdict] | None = None,
    ) -> Segment:
        """The segment of lines some of which are slow; their indices count from the block's
        ``first_index``."""
        if self._judged is None:
            return self._fast_path.score(self, lines, first_index, chosen, verdicts)
        between = self._between(lines.start, lines.stop, first_index)
        lines = lines._replace(judged=self._judged, between=between)
        segment = self._fast_path.score(self, lines, first_index, chosen, verdicts)
        segment.n_left += self.take_left()
        return segment

    def take_left(self) -> int:
        """Count the lines of which an extractor has read a response, each once."""
        n = len(self.left)
        self.left.clear()
        return n

    def line(self, number: int) -> bytes:
        """The bytes of a line, its end excluded."""
        at = number * LINE_COLUMNS
        return bytes(self.data[self.lines[at + LINE_START] : self.lines[at + LINE_END]])

    def judge(self, start: int, stop: int, first_index: int, chosen: str | None) -> None:
        """Have lines that are slow scored by the judges of their tasks; those that are have rows then."""
        self._judged = self._fast_path.judge(self, range(start, stop), first_index, chosen)

    def rows(self, start: int, stop: int, first_index: int) -> tuple[bytes, Tally]:
        """Rows and tally of lines that are not slow."""
        if self._judged is None or JUDGED not in kinds_of(self.lines, start, stop):
            return self._fast_path.rows(self, start, stop, first_index)
        return self._judged.rows(start, stop, self._between(start, stop, first_index))

    def _between(self, start: int, stop: int, first_index: int) -> list[Between]:
        """The rows of those of some lines that the kernel has scored."""
        fast = kinds_of(self.lines, start, stop).translate(_FAST)
        found: list[Between] = []
        at = fast.find(1)
        while at >= 0:
            end = fast.find(0, at)
            end = len(fast) if end < 0 else end
            rows, tally = self._fast_path.rows(self, start + at, start + end, first_index)
            found.append(Between(start + at, rows, tally))
            at = fast.find(1, end)
        return found
