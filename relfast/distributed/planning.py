"""Chunks measured in any order, parts numbered in order: scored while what comes after them is measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from relfast.distributed.part_scoring import Failed
from relfast.distributed.parts import Chunk, Input, Numbering, Part, first_lines
from relfast.errors import InputError

_CHUNKS_OF_LIMIT: Final = 16
"""Chunks that are measured at a time where only the first lines are wanted."""


class Planning:
    """Grows the list of parts as chunks are measured.

    Parameters
    ----------
    chunks
        All of the run, in order.
    limit
        Only the first lines, so many; None = all.
    """

    def __init__(self, chunks: Sequence[Chunk], limit: int | None) -> None:
        self.parts: list[Part] = []
        self._chunks, self._limit = list(chunks), limit
        self._numbers = {chunk: number for number, chunk in enumerate(chunks)}
        self._numbering = Numbering()
        self._answers: dict[int, list[Part]] = {}
        self._failed: dict[int, Failed] = {}
        self._asked = self._placed = 0

    @property
    def failed(self) -> list[Failed]:
        """The chunks that could not be measured, in order."""
        return [self._failed[number] for number in sorted(self._failed)]

    @property
    def finished(self) -> bool:
        return self._placed == self._asked and not self._wants_more()

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
        return self._limit is None or (self._placed == self._asked and self._numbering.index < self._limit)

    def take(self, chunk: Chunk, answer: list[Part] | InputError) -> list[Part]:
        """A chunk's parts, or why there are none; the parts that can be scored with it."""
        number = self._numbers[chunk]
        if isinstance(answer, InputError):
            where = f"{chunk.input.path} bytes {chunk.start}-{chunk.end}"
            self._failed[number] = Failed(where, reason_of(answer, chunk.input))
        self._answers[number] = [] if isinstance(answer, InputError) else answer
        found: list[Part] = []
        while self._placed in self._answers:
            found += self._numbering.numbered(self._answers.pop(self._placed))
            self._placed += 1
        if self._limit is not None:
            found = list(first_lines(found, self._limit))
        self.parts += found
        return found


def reason_of(error: InputError, item: Input) -> str:
    """What an error says of an input, without its name."""
    return str(error).removeprefix(f"{item.path}: ")
