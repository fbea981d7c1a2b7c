"""A block, the unit that is scored, committed and resumed: whole lines of one source."""

from __future__ import annotations

from dataclasses import dataclass, field

from relfast.plain import Plain

Fault = tuple[str, str]
"""Type and message of what is wrong with a line."""


@dataclass(slots=True, repr=False, eq=False)
class Block(Plain):
    """Whole lines of one source.

    Attributes
    ----------
    seq
        Place among the blocks of the run.
    source
        Index of the source.
    first_index, n_lines
        Line numbers, counted over all sources.
    start, end
        Byte range in the (decompressed) source, or rows for Parquet.
    data
        The bytes, for sources that workers cannot read themselves; else None.
    faults
        Lines that are no lines: index → (type, message); before `place`, by their lines in the block. Their
        text is not in ``data``.
    group
        Row group of a Parquet file that a worker reads.
    filter
        Filter of lm-evaluation-harness whose rows are scored.
    checksum
        CRC-32 of the bytes of a stream, which cannot be looked at before it is read: on resume they must
        still be the same. 0 for files, which have a fingerprint.
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
        """Give the block the index of its first line."""
        self.first_index = first_index
        self.faults = {first_index + line: fault for line, fault in self.faults.items()}

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def then(self) -> Position:
        """Where the run goes on after this block."""
        return Position(self.seq + 1, self.source, self.end, self.first_index + self.n_lines)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Position(Plain):
    """Where a run stands: the next block's number, source, offset in it, and line index."""

    seq: int = 0
    source: int = 0
    offset: int = 0
    index: int = 0
