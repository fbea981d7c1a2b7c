"""Blocks: pieces of an input in which a run scores, commits and resumes."""

from __future__ import annotations

from dataclasses import dataclass, field

from relfast.records import Plain

Fault = tuple[str, str]
"""Type and message of the error of a line that cannot be scored."""


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
        Index of the first line, counted over all sources, and the number of lines.
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
