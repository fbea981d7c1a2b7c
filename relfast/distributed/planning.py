"""Chunks measured in any order, parts numbered in order: scored once all lines before are counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from relfast.distributed.part_scoring import Failed
from relfast.distributed.parts import Chunk, Input, Part
from relfast.errors import InputError

_CHUNKS_OF_LIMIT: Final = 16
"""Chunks that are measured at a time where only the first lines are wanted."""


class Planning:
    """Grows the list of parts as chunks are measured, and gives parts their first indices as the lines before
    them are counted, by measuring or by scoring.

    Parameters
    ----------
    chunks
        All of the run, in order.
    limit
        Only the first lines, so many; None = all.
    parts
        Those that are known already.
    """

    def __init__(self, chunks: Sequence[Chunk], limit: int | None, parts: Iterable[Part] = ()) -> None:
        self.parts = list(parts)
        """Those of the run, by number."""
        self._chunks, self._limit = list(chunks), limit
        self._numbers = {chunk: number for number, chunk in enumerate(chunks)}
        self._answers: dict[int, list[Part]] = {}
        self._failed: dict[int, Failed] = {}
        self._asked = self._taken = 0
        self._counts: dict[int, int] = {}
        self._ahead: dict[Chunk, int] = {}
        self._filters: dict[int, str | None] = {}
        self._starts: dict[int, int] = {}
        self._placed = 0

    @property
    def failed(self) -> list[Failed]:
        """The chunks that could not be measured, in order."""
        return [self._failed[number] for number in sorted(self._failed)]

    @property
    def finished(self) -> bool:
        """Whether all chunks are measured that had to be."""
        return self._taken == self._asked and not self._wants_more()

    def more(self) -> list[Chunk]:
        """The chunks that are to be measured now."""
        if not self._wants_more():
            return []
        end = len(self._chunks) if self._limit is None else self._asked + _CHUNKS_OF_LIMIT
        some = self._chunks[self._asked : end]
        self._asked += len(some)
        return some

    def _wants_more(self) -> bool:
        if self._asked == len(self._chunks):
            return False
        # with a limit only as many are looked at as it takes
        return self._limit is None or (self._taken == self._asked and (self._index() or 0) < self._limit)

    def take(self, chunk: Chunk, answer: list[Part] | InputError) -> list[Part]:
        """A chunk's parts, or why there are none; the parts that can be scored with it."""
        if chunk in self._ahead:
            if isinstance(answer, InputError):
                return []  # scoring it will say so
            return self.counted(self._ahead[chunk], sum(part.n_lines for part in answer))
        number = self._numbers[chunk]
        if isinstance(answer, InputError):
            where = f"{chunk.input.path} bytes {chunk.start}-{chunk.end}"
            self._failed[number] = Failed(where, reason_of(answer, chunk.input))
        self._answers[number] = [] if isinstance(answer, InputError) else answer
        while self._taken in self._answers:
            for part in self._answers.pop(self._taken):
                chosen = self._filters.setdefault(part.source, part.filter)
                self.parts.append(replace(part, number=len(self.parts), filter=chosen))
            self._taken += 1
        return self.ready()

    def counted(self, number: int, n_lines: int) -> list[Part]:
        """A part turns out to have so many lines; the parts that can be scored now."""
        self._counts.setdefault(number, n_lines)
        return self.ready()

    def ready(self) -> list[Part]:
        """The parts that can be scored, each once."""
        found: list[Part] = []
        while self._placed < len(self.parts) and (index := self._index()) is not None:
            part = self.parts[self._placed]
            line = index - self._starts.setdefault(part.source, index)
            part = replace(part, first_index=index, line=line)
            if self._limit is not None:
                left = self._limit - index
                if left <= 0:
                    del self.parts[self._placed :]
                    break
                part = part if 0 <= part.n_lines <= left else replace(part, take=left)
            self.parts[self._placed] = part
            self._placed += 1
            found.append(part)
        return found

    def ahead(self, n: int) -> list[Chunk]:
        """Chunks to be counted now, since parts run short that can be scored: ``n`` at most, each once."""
        if not self.finished:
            return []
        found: list[Chunk] = []
        asked = set(self._ahead.values())
        for part in self.parts[max(0, self._placed - 1) :]:
            if len(found) == n:
                break
            chunk = Chunk(part.source, part.input, part.start, part.end)
            if self._lines(part) < 0 and part.number not in asked:
                self._ahead[chunk] = part.number
                found.append(chunk)
        return found

    def _lines(self, part: Part) -> int:
        return self._counts.get(part.number, part.n_lines)

    def _index(self) -> int | None:
        """Index of the first line behind the parts that have theirs; None where it is not known."""
        if not self._placed:
            return 0
        before = self.parts[self._placed - 1]
        n_lines = self._lines(before)
        return None if n_lines < 0 else before.first_index + n_lines


def reason_of(error: InputError, item: Input) -> str:
    """What an error says of an input, without its name."""
    return str(error).removeprefix(f"{item.path}: ")
