"""Sources cut into blocks of whole lines, the unit that is scored, committed and resumed.

Where a block ends depends on the input's bytes alone, never on the number of workers or on time: that
is what makes a resumed run's bytes equal to an uninterrupted one's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from relfast.engine.sources import Damaged, Source
from relfast.errors import InputError

BLOCK_BYTES: Final = 1 << 20
"""Target size: about 500 text records (1 ms of a kernel) or 200 of REL-C3; large enough that sending a
block costs nothing, small enough that two workers finish together."""

LARGE_BLOCK_BYTES: Final = 4 << 20
LARGE_FILE_BYTES: Final = 128 << 20
"""Files from this size on are cut into larger blocks: what a block costs by itself (0.3 ms in the parent)
then no longer counts, and there are still enough of them."""

BLOCK_LINES: Final = 16_384
"""Most lines in a block, so that short lines do not make huge ones."""


@dataclass(slots=True)
class Block:
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
        Byte range in the (decompressed) source, or row groups for Parquet.
    data
        The bytes, for sources that workers cannot read themselves; else None.
    faults
        Lines that are no lines: index → (type, message). Their text is not in ``data``.
    """

    seq: int
    source: int
    first_index: int
    n_lines: int
    start: int
    end: int
    path: str | None = None
    data: bytes | None = None
    faults: dict[int, tuple[str, str]] = field(default_factory=dict)
    parquet: bool = False

    @property
    def size(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Position:
    """Where a run stands: the next block's number, source, offset in it, and line index."""

    seq: int = 0
    source: int = 0
    offset: int = 0
    index: int = 0


def blocks(sources: Sequence[Source], start: Position, max_line: int) -> Iterator[Block]:
    """The blocks of a run from a position on."""
    seq, index = start.seq, start.index
    for number in range(start.source, len(sources)):
        source = sources[number]
        offset = start.offset if number == start.source else 0
        if source.codec == "parquet":
            from relfast.engine.parquet import row_groups

            cut = row_groups(source.path, offset)
        elif source.seekable:
            cut = _cut_file(source, offset, max_line)
        else:
            cut = _cut_stream(source, offset, max_line)
        for block in cut:
            block.seq, block.source, block.first_index = seq, number, index
            block.faults = {index + line: fault for line, fault in block.faults.items()}
            yield block
            seq += 1
            index += block.n_lines


def _block(start: int, end: int, n_lines: int, **more: object) -> Block:
    return Block(0, 0, 0, n_lines, start, end, **more)  # type: ignore[arg-type]


def _cut_file(source: Source, offset: int, max_line: int) -> Iterator[Block]:
    """Byte ranges of a regular file. The bytes are looked at (to count lines) but not kept."""
    try:
        descriptor = os.open(source.path, os.O_RDONLY)
    except OSError as error:
        raise InputError(error.strerror or str(error), file=source.path) from error
    try:
        size = os.fstat(descriptor).st_size
        buffer = bytearray(LARGE_BLOCK_BYTES if size >= LARGE_FILE_BYTES else BLOCK_BYTES)
        while offset < size:
            got = os.preadv(descriptor, [buffer], offset)
            if got <= 0:
                return  # the file shrank while it was read
            if offset + got >= size:
                length, n_lines = got, _count_lines(buffer, got)
                n_lines += buffer[got - 1 : got] != b"\n"
            else:
                length = buffer.rfind(b"\n", 0, got) + 1
                n_lines = _count_lines(buffer, length)
            if n_lines > BLOCK_LINES:
                length, n_lines = _nth_line_end(buffer, length, BLOCK_LINES), BLOCK_LINES
            if length:
                yield _block(offset, offset + length, n_lines, path=source.path)
            else:
                length = _long_line(descriptor, offset, got, size, max_line)
                if length <= max_line:
                    yield _block(offset, offset + length, 1, path=source.path)
                else:
                    yield _block(offset, offset + length, 1, data=b"", faults={0: _too_long(max_line)})
            offset += length
    finally:
        os.close(descriptor)


def _count_lines(buffer: bytearray, length: int) -> int:
    """How many line ends the first bytes hold.

    ``bytearray.count`` looks at each byte (3 GB/s); with long lines, hopping from end to end by `find`,
    which is memchr, is three times as fast.
    """
    if buffer.count(b"\n", 0, min(length, _PROBE_BYTES)) > _PROBE_BYTES // _LONG_LINE:
        return buffer.count(b"\n", 0, length)
    find = buffer.find
    n = 0
    at = find(b"\n", 0, length)
    while at >= 0:
        n += 1
        at = find(b"\n", at + 1, length)
    return n


_PROBE_BYTES: Final = 1 << 14
_LONG_LINE: Final = 500


def _nth_line_end(buffer: bytearray, length: int, n: int) -> int:
    end = 0
    for _ in range(n):
        end = buffer.index(b"\n", end, length) + 1
    return end


def _long_line(descriptor: int, offset: int, seen: int, size: int, max_line: int) -> int:
    """Length of a line longer than a block, its end included; looked for piece by piece."""
    while offset + seen < size:
        piece = os.pread(descriptor, BLOCK_BYTES, offset + seen)
        if not piece:
            break
        end = piece.find(b"\n")
        if end >= 0:
            return seen + end + 1
        seen += len(piece)
    return seen


def _too_long(max_line: int) -> tuple[str, str]:
    return "LineTooLong", f"line is longer than {max_line} bytes (--max-line-bytes)"


def _cut_stream(source: Source, offset: int, max_line: int) -> Iterator[Block]:
    """Blocks of a source that can only be read forward; ``offset`` bytes are read and dropped first."""
    with source.open() as stream:
        cutter = _Cutter(max_line)
        at = 0
        try:
            while chunk := stream.read(BLOCK_BYTES):
                if at < offset:
                    skipped = min(len(chunk), offset - at)
                    at += skipped
                    chunk = chunk[skipped:]
                    cutter.at = at
                    if not chunk:
                        continue
                at += len(chunk)
                yield from cutter.feed(chunk)
            yield from cutter.finish()
        except Damaged as error:
            yield from cutter.finish(("DamagedInput", f"{error}; the lines before it were scored"))


class _Cutter:
    """Bytes in, blocks out; block ends depend on the bytes alone, not on how they arrive."""

    def __init__(self, max_line: int) -> None:
        self.max_line = max_line
        self.at = 0
        self._held = bytearray()
        self._dropping = False
        self._dropped = 0

    def feed(self, chunk: bytes) -> Iterator[Block]:
        self._held += chunk
        while len(self._held) >= BLOCK_BYTES:
            if self._dropping:
                end = self._held.find(b"\n") + 1
                if not end:
                    self._dropped += len(self._held)
                    self._held.clear()
                    return
                yield self._drop(end)
                continue
            length = self._held.rfind(b"\n", 0, BLOCK_BYTES) + 1
            if not length:
                end = self._held.find(b"\n", BLOCK_BYTES) + 1
                if not end and len(self._held) <= self.max_line:
                    return
                if not end or end > self.max_line:
                    self._dropping = True
                    continue
                length = end
            yield self._take(length)

    def finish(self, fault: tuple[str, str] | None = None) -> Iterator[Block]:
        """The rest, and a last faulty line in place of a torn one where the stream broke."""
        if fault is None and self._held and not self._dropping:
            while self._held:
                length = self._held.rfind(b"\n", 0, BLOCK_BYTES) + 1
                yield self._take(length if length and len(self._held) > BLOCK_BYTES else len(self._held))
        elif self._dropping:
            yield self._drop(len(self._held))
        if fault is not None:
            length = self._held.rfind(b"\n") + 1
            if length:
                yield self._take(length)
            rest = len(self._held)
            self._held.clear()
            yield _block(self.at, self.at + rest, 1, data=b"", faults={0: fault})
            self.at += rest

    def _take(self, length: int) -> Block:
        n_lines = _count_lines(self._held, length)
        if n_lines > BLOCK_LINES:
            length, n_lines = _nth_line_end(self._held, length, BLOCK_LINES), BLOCK_LINES
        elif length == len(self._held) and self._held[-1:] != b"\n":
            n_lines += 1
        data = bytes(self._held[:length])
        del self._held[:length]
        block = _block(self.at, self.at + length, n_lines, data=data)
        self.at += length
        return block

    def _drop(self, end: int) -> Block:
        length = self._dropped + end
        del self._held[:end]
        self._dropping, self._dropped = False, 0
        block = _block(self.at, self.at + length, 1, data=b"", faults={0: _too_long(self.max_line)})
        self.at += length
        return block
