"""Sources cut into blocks of whole lines, the unit that is scored, committed and resumed.

Where a block ends depends on the input's bytes alone, never on the number of workers or on time: that
is what makes a resumed run's bytes equal to an uninterrupted one's. A plain file and the same bytes from
a pipe or a gzip file give the same blocks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from relfast.engine.codecs import Damaged
from relfast.engine.sources import STDIN, Source
from relfast.errors import InputError, ReadError

BLOCK_BYTES: Final = 1 << 20
"""Target size: about 500 text records (1 ms of a kernel) or 200 of REL-C3; large enough that sending a
block costs nothing, small enough that two workers finish together."""

BLOCK_LINES: Final = 4_096
"""Most lines in a block, so that short lines do not make huge ones."""

NUMPY_BYTES: Final = 16 * 2**20
"""Bytes after which the import of numpy (0.1 s) pays: it counts and sums ten times as fast."""

_MASK: Final = 0xFFFF_FFFF_FFFF_FFFF

Fault = tuple[str, str]
"""Type and message of what is wrong with a line."""


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
        Byte range in the (decompressed) source, or rows for Parquet.
    data
        The bytes, for sources that workers cannot read themselves; else None.
    faults
        Lines that are no lines: index → (type, message). Their text is not in ``data``.
    group, checksum
        Row group of a Parquet file that a worker reads; sum of the bytes, to see on resume that they
        are still the same.
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
    checksum: int = 0

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def then(self) -> Position:
        """Where the run goes on after this block."""
        return Position(self.seq + 1, self.source, self.end, self.first_index + self.n_lines)


@dataclass(frozen=True, slots=True)
class Position:
    """Where a run stands: the next block's number, source, offset in it, and line index."""

    seq: int = 0
    source: int = 0
    offset: int = 0
    index: int = 0


def blocks(sources: Sequence[Source], max_line: int) -> Iterator[Block]:
    """All blocks of a run, in order.

    Raises
    ------
    InputError
        A source cannot be opened.
    ReadError
        A source fails, or shrinks, while it is read.
    """
    seq = index = 0
    for number, source in enumerate(sources):
        if source.codec == "parquet":
            from relfast.engine.parquet import cut_parquet

            cut = cut_parquet(source.path, max_line)
        elif source.seekable:
            cut = _cut_file(source.path, max_line)
        else:
            cut = _cut_stream(source, max_line)
        for block in cut:
            block.seq, block.source, block.first_index = seq, number, index
            block.faults = {index + line: fault for line, fault in block.faults.items()}
            yield block
            seq += 1
            index += block.n_lines


def checksum(data: bytes | bytearray | memoryview) -> int:
    """Sum of the 8-byte words of ``data``, modulo 2^64: 20 µs a MB with numpy."""
    words = len(data) // 8
    view = memoryview(data)
    tail = int.from_bytes(view[8 * words :], sys.byteorder)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "frombuffer"):
        total = int(numpy.frombuffer(view[: 8 * words], numpy.uint64).sum())
    else:
        total = sum(view[: 8 * words].cast("Q"))
    return (total + tail) & _MASK


def count_lines(data: bytearray, length: int) -> int:
    """Number of line ends among the first ``length`` bytes."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "frombuffer"):
        return int(numpy.count_nonzero(numpy.frombuffer(data, numpy.uint8, length) == 10))
    return data.count(b"\n", 0, length)


def _cut_file(path: str, max_line: int) -> Iterator[Block]:
    """Byte ranges of a regular file, as large as it is now. The bytes are looked at, not kept."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise InputError(error.strerror or str(error), file=path) from error
    # workers open it themselves, and this process may change its directory meanwhile
    path = os.path.abspath(path)
    try:
        size = os.fstat(descriptor).st_size
        if size > NUMPY_BYTES:
            import numpy  # noqa: F401  # see `checksum`
        buffer = bytearray(BLOCK_BYTES)
        offset = 0
        while offset < size:
            got = min(size - offset, BLOCK_BYTES)
            _fill(descriptor, buffer, got, offset, path)
            length = got if got < BLOCK_BYTES else buffer.rfind(b"\n") + 1
            if length:
                for start, end, n_lines, fault in _pieces(buffer, length, max_line):
                    total = checksum(memoryview(buffer)[start:end])
                    yield _block(offset + start, offset + end, n_lines, total, fault, path=path)
                    length = end
            else:
                length, text, total = _long_line(descriptor, buffer, offset, size, path)
                fault = _too_long(max_line) if text > max_line else None
                yield _block(offset, offset + length, 1, total, fault, path=path)
            offset += length
    finally:
        os.close(descriptor)


def _fill(descriptor: int, buffer: bytearray, length: int, offset: int, path: str) -> None:
    done = 0
    try:
        while done < length:
            got = os.preadv(descriptor, [memoryview(buffer)[done:length]], offset + done)
            if not got:
                raise ReadError(f"it shrank to {offset + done} bytes while it was read", file=path)
            done += got
    except OSError as error:
        raise ReadError(error.strerror or str(error), file=path) from error


def _long_line(descriptor: int, buffer: bytearray, offset: int, size: int, path: str) -> tuple[int, int, int]:
    """A line longer than a block, piece by piece: its length with and without its end, its checksum."""
    seen = total = 0
    while offset + seen < size:
        length = min(size - offset - seen, BLOCK_BYTES)
        _fill(descriptor, buffer, length, offset + seen, path)
        end = buffer.find(b"\n", 0, length) + 1
        total += checksum(memoryview(buffer)[: end or length])
        if end:
            return seen + end, seen + end - 1, total & _MASK
        seen += length
    return seen, seen, total & _MASK


def _too_long(max_line: int) -> Fault:
    return "LineTooLong", f"line is longer than {max_line} bytes (--max-line-bytes)"


def _block(start: int, end: int, n_lines: int, total: int, fault: Fault | None, **more: object) -> Block:
    if fault is not None:
        return Block(0, 0, 0, n_lines, start, end, data=b"", faults={0: fault}, checksum=total)
    return Block(0, 0, 0, n_lines, start, end, checksum=total, **more)  # type: ignore[arg-type]


def _pieces(buffer: bytearray, length: int, max_line: int) -> Iterator[tuple[int, int, int, Fault | None]]:
    """The first `BLOCK_LINES` of the whole lines in ``buffer[:length]``, those that are too long by
    themselves: (start, end, number of lines, fault)."""
    if length <= max_line:
        n_lines = count_lines(buffer, length) + (buffer[length - 1] != 10)
        if n_lines > BLOCK_LINES:
            length, n_lines = _nth_line_end(buffer, BLOCK_LINES), BLOCK_LINES
        yield 0, length, n_lines, None
        return
    start = at = n_lines = total = 0
    while at < length and total < BLOCK_LINES:
        end = buffer.find(b"\n", at, length) + 1 or length
        total += 1
        if end - at - (buffer[end - 1] == 10) > max_line:
            if n_lines:
                yield start, at, n_lines, None
            yield at, end, 1, _too_long(max_line)
            start, n_lines = end, 0
        else:
            n_lines += 1
        at = end
    if n_lines:
        yield start, at, n_lines, None


def _nth_line_end(buffer: bytearray, n: int) -> int:
    end = 0
    for _ in range(n):
        end = buffer.index(b"\n", end) + 1
    return end


def _cut_stream(source: Source, max_line: int) -> Iterator[Block]:
    """Blocks of a source that can only be read forward."""
    stream = source.open()
    cutter = StreamCutter(max_line)
    try:
        while chunk := stream.read(BLOCK_BYTES):
            yield from cutter.feed(chunk)
            if cutter.at > NUMPY_BYTES and "numpy" not in sys.modules:
                import numpy  # noqa: F401  # see `checksum`
        yield from cutter.finish()
    except Damaged as error:
        yield from cutter.finish(("DamagedInput", f"{error}; the lines before it were scored"))
    except OSError as error:
        # what arrived is scored before the error is told
        raise ReadError(error.strerror or str(error), file=source.path) from error
    finally:
        if source.path != STDIN:
            stream.close()


class StreamCutter:
    """Bytes in, blocks out, with the ends that `_cut_file` gives them; at most a line is held back."""

    def __init__(self, max_line: int) -> None:
        self.max_line = max_line
        self.at = 0
        self._held = bytearray()
        self._dropping = False
        self._dropped = self._dropped_sum = 0

    def feed(self, chunk: bytes) -> Iterator[Block]:
        """The blocks that are whole with this chunk."""
        self._held += chunk
        return self._cut(len(self._held), final=False)

    def finish(self, fault: Fault | None = None) -> Iterator[Block]:
        """The rest; where the stream broke, a faulty line in place of a torn one."""
        if fault is None:
            yield from self._cut(len(self._held), final=True)
            return
        if not self._dropping:
            yield from self._cut(self._held.rfind(b"\n") + 1, final=True)
        self._swallow(len(self._held))
        yield self._drop(fault)

    def _cut(self, length: int, *, final: bool) -> Iterator[Block]:
        """Blocks of the first ``length`` bytes held."""
        held = self._held
        while length:
            before = len(held)
            if self._dropping:
                end = held.find(b"\n", 0, min(length, BLOCK_BYTES)) + 1
                if not end and length < BLOCK_BYTES and not final:
                    return
                self._swallow(end or min(length, BLOCK_BYTES))
                if end or (final and not held):
                    yield self._drop(_too_long(self.max_line))
            elif length < BLOCK_BYTES:
                if not final:
                    return
                yield from self._take(length)
            elif end := held.rfind(b"\n", 0, BLOCK_BYTES) + 1:
                yield from self._take(end)
            else:
                end = held.find(b"\n", BLOCK_BYTES, length) + 1
                if (end - 1 if end else length) > self.max_line:
                    self._dropping = True
                elif end or final:
                    yield self._one_line(end or length)
                else:
                    return
            length -= before - len(held)

    def _take(self, length: int) -> Iterator[Block]:
        """Blocks of whole lines, from the first of ``length`` bytes."""
        taken = 0
        for start, end, n_lines, fault in _pieces(self._held, length, self.max_line):
            yield self._made(start, end, n_lines, fault)
            taken = end
        del self._held[:taken]
        self.at += taken

    def _one_line(self, length: int) -> Block:
        block = self._made(0, length, 1, None)
        pieces = range(0, length, BLOCK_BYTES)
        block.checksum = (
            sum(checksum(self._held[at : min(at + BLOCK_BYTES, length)]) for at in pieces) & _MASK
        )
        del self._held[:length]
        self.at += length
        return block

    def _made(self, start: int, end: int, n_lines: int, fault: Fault | None) -> Block:
        data = bytes(memoryview(self._held)[start:end])
        return _block(self.at + start, self.at + end, n_lines, checksum(data), fault, data=data)

    def _swallow(self, length: int) -> None:
        self._dropped_sum += checksum(self._held[:length])
        self._dropped += length
        del self._held[:length]

    def _drop(self, fault: Fault) -> Block:
        block = _block(self.at, self.at + self._dropped, 1, self._dropped_sum & _MASK, fault)
        self.at += self._dropped
        self._dropping, self._dropped, self._dropped_sum = False, 0, 0
        return block
