"""Sources cut into blocks of whole lines, the unit that is scored, committed and resumed.

Where a block ends depends on the input's bytes alone, never on the number of workers or on time: that
is what makes a resumed run's bytes equal to an uninterrupted one's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from zlib import crc32

from relfast.engine.codecs import Damaged
from relfast.engine.filters import Filters
from relfast.engine.sources import Source
from relfast.errors import InputError, ReadError

BLOCK_BYTES: Final = 1 << 20
"""Target size: about 500 text records (1 ms of a kernel) or 200 of REL-C3; large enough that sending a
block costs nothing, small enough that two workers finish together."""

LARGE_BLOCK_BYTES: Final = 3 << 20
LARGE_FILE_BYTES: Final = 128 << 20
"""Files from this size on are cut into larger blocks: what a block costs by itself (0.3 ms in the parent)
then no longer counts, and there are still enough of them."""

BLOCK_LINES: Final = 16_384
"""Most lines in a block, so that short lines do not make huge ones."""

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


def blocks(sources: Sequence[Source], max_line: int, filters: Filters | None = None) -> Iterator[Block]:
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
        streamed = not source.regular
        for block in cut:
            block.seq, block.source, block.first_index = seq, number, index
            block.faults = {index + line: fault for line, fault in block.faults.items()}
            if filters is not None:
                if streamed and block.data:
                    filters.look(number, block.start, block.data)
                block.filter = filters[number]
            yield block
            seq += 1
            index += block.n_lines


_PROBE_BYTES: Final = 1 << 14
_LONG_LINE: Final = 500


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
        most = LARGE_BLOCK_BYTES if size >= LARGE_FILE_BYTES else BLOCK_BYTES
        buffer = bytearray(most)
        offset = 0
        while offset < size:
            got = min(size - offset, most)
            _fill(descriptor, buffer, got, offset, path)
            length = got if got < most else buffer.rfind(b"\n") + 1
            if length:
                for start, end, n_lines, fault in _pieces(buffer, length, max_line):
                    yield _block(offset + start, offset + end, n_lines, fault, path=path)
                    length = end
            else:
                length, text = _long_line(descriptor, buffer, offset, size, path)
                fault = _too_long(max_line) if text > max_line else None
                yield _block(offset, offset + length, 1, fault, path=path)
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


def _long_line(descriptor: int, buffer: bytearray, offset: int, size: int, path: str) -> tuple[int, int]:
    """Length of a line longer than a block, with and without its end; looked for piece by piece."""
    seen = 0
    while offset + seen < size:
        length = min(size - offset - seen, len(buffer))
        _fill(descriptor, buffer, length, offset + seen, path)
        end = buffer.find(b"\n", 0, length) + 1
        if end:
            return seen + end, seen + end - 1
        seen += length
    return seen, seen


def _too_long(max_line: int) -> Fault:
    return "LineTooLong", f"line is longer than {max_line} bytes (--max-line-bytes)"


def _block(start: int, end: int, n_lines: int, fault: Fault | None, **more: object) -> Block:
    if fault is not None:
        return Block(0, 0, 0, n_lines, start, end, data=b"", faults={0: fault})
    return Block(0, 0, 0, n_lines, start, end, **more)  # type: ignore[arg-type]


def _pieces(buffer: bytearray, length: int, max_line: int) -> Iterator[tuple[int, int, int, Fault | None]]:
    """The first `BLOCK_LINES` of the whole lines in ``buffer[:length]``, those that are too long by
    themselves: (start, end, number of lines, fault)."""
    if length <= max_line:
        n_lines = _count_lines(buffer, length) + (buffer[length - 1] != 10)
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
    cutter = StreamCutter(max_line)
    try:
        with source.open() as stream:
            while chunk := stream.read(BLOCK_BYTES):
                yield from cutter.feed(chunk)
        yield from cutter.finish()
    except Damaged as error:
        yield from cutter.finish(("DamagedInput", f"{error}; the lines before it were scored"))
    except OSError as error:
        raise ReadError(error.strerror or str(error), file=source.path) from error


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
            if self._dropping:
                yield self._drop(_too_long(self.max_line))
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
                if end:
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
        del self._held[:length]
        self.at += length
        return block

    def _made(self, start: int, end: int, n_lines: int, fault: Fault | None) -> Block:
        data = bytes(memoryview(self._held)[start:end])
        block = _block(self.at + start, self.at + end, n_lines, fault, data=data)
        block.checksum = crc32(data)
        return block

    def _swallow(self, length: int) -> None:
        self._dropped_sum = crc32(self._held[:length], self._dropped_sum)
        self._dropped += length
        del self._held[:length]

    def _drop(self, fault: Fault) -> Block:
        block = _block(self.at, self.at + self._dropped, 1, fault)
        block.checksum = self._dropped_sum
        self.at += self._dropped
        self._dropping, self._dropped, self._dropped_sum = False, 0, 0
        return block
