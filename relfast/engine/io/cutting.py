"""Bytes cut into blocks of whole lines.

Where a block ends depends on the input's bytes alone, never on the number of workers or on time: that
is what makes a resumed run's bytes equal to an uninterrupted one's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from zlib import crc32

from relfast.engine.io.blocks import Block, Fault
from relfast.errors import ReadError

BLOCK_BYTES: Final = 1 << 20
"""Target size: about 500 text records (1 ms of a kernel) or 200 of REL-C3; large enough that sending a
block costs nothing, small enough that two workers finish together."""

BLOCK_LINES: Final = 16_384
"""Most lines in a block, so that short lines do not make huge ones."""


_PROBE_BYTES: Final = 1 << 14
_LONG_LINE: Final = 500


def lines_in(buffer: bytes | bytearray, length: int) -> int:
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


_PIECE: Final = 1 << 18
"""Bytes that are counted at a time: they stay where the processor has them at once."""


def count_lines(path: str, start: int, end: int) -> int:
    """Lines between two bytes of a file; the last may lack its end. Raises `ReadError`."""
    n, at, last = 0, start, 10
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(at)
            while at < end and (piece := file.read(min(_PIECE, end - at))):
                n += lines_in(piece, len(piece))
                at, last = at + len(piece), piece[-1]
    except OSError as error:
        raise ReadError(error.strerror or str(error), file=path) from error
    if at < end:
        raise ReadError("it changed while it was read", file=path)
    return n + (last != 10)


def too_long(max_line: int) -> Fault:
    """What is said of a line that is longer than ``max_line`` bytes."""
    return "LineTooLong", f"line is longer than {max_line} bytes (--max-line-bytes)"


def pieces(buffer: bytearray, length: int, max_line: int) -> Iterator[tuple[int, int, int, Fault | None]]:
    """The first `BLOCK_LINES` of the whole lines in ``buffer[:length]``, those that are too long by
    themselves: (start, end, number of lines, fault)."""
    if length <= max_line:
        n_lines = lines_in(buffer, length) + (buffer[length - 1] != 10)
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
            yield at, end, 1, too_long(max_line)
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


def _faulty(start: int, end: int, fault: Fault) -> Block:
    """One line that is none."""
    return Block(0, 0, 0, 1, start, end, data=b"", faults={0: fault})


class Cutter:
    """Bytes in, blocks out; at most a line and a block are held back.

    Parameters
    ----------
    path
        The file that the bytes are of, for workers to read blocks themselves; blocks of a stream have their
        bytes, and a checksum.
    at
        Where in it the bytes begin.
    most
        Bytes of a block.
    """

    def __init__(self, max_line: int, path: str | None = None, at: int = 0, most: int = 0) -> None:
        self.max_line, self.at = max_line, at
        self._path, self._most = path, most or BLOCK_BYTES
        self._held = bytearray()
        self._dropping = False
        self._dropped = self._dropped_sum = 0

    @property
    def wants(self) -> int:
        """Bytes that make a block of what is held; it may be fed others."""
        return self._most - len(self._held) % self._most

    def feed(self, chunk: bytes | memoryview) -> Iterator[Block]:
        """The blocks that are whole with this chunk."""
        self._held += chunk
        return self._cut(len(self._held), final=False)

    def finish(self, fault: Fault | None = None) -> Iterator[Block]:
        """The rest; where the stream broke, a faulty line in place of a torn one."""
        if fault is None:
            yield from self._cut(len(self._held), final=True)
            if self._dropping:
                yield self._drop(too_long(self.max_line))
            return
        if not self._dropping:
            yield from self._cut(self._held.rfind(b"\n") + 1, final=True)
        self._swallow(len(self._held))
        yield self._drop(fault)

    def _cut(self, length: int, *, final: bool) -> Iterator[Block]:
        """Blocks of the first ``length`` bytes held."""
        held, most = self._held, self._most
        while length:
            before = len(held)
            if self._dropping:
                end = held.find(b"\n", 0, min(length, most)) + 1
                if not end and length < most and not final:
                    return
                self._swallow(end or min(length, most))
                if end:
                    yield self._drop(too_long(self.max_line))
            elif length < most:
                if not final:
                    return
                yield from self._take(length)
            elif end := held.rfind(b"\n", 0, most) + 1:
                yield from self._take(end)
            else:
                end = held.find(b"\n", most, length) + 1
                if (end - 1 if end else length) > self.max_line:
                    self._dropping = True
                elif end or final:
                    yield from self._made([(0, end or length, 1, None)])
                else:
                    return
            length -= before - len(held)

    def _take(self, length: int) -> Iterator[Block]:
        """Blocks of whole lines, from the first of ``length`` bytes."""
        return self._made(pieces(self._held, length, self.max_line))

    def _made(self, parts: Iterable[tuple[int, int, int, Fault | None]]) -> Iterator[Block]:
        end = 0
        for start, end, n_lines, fault in parts:
            data = bytes(memoryview(self._held)[start:end]) if self._path is None else None
            if fault is None:
                block = Block(0, 0, 0, n_lines, self.at + start, self.at + end, self._path, data)
            else:
                block = _faulty(self.at + start, self.at + end, fault)
            block.checksum = 0 if data is None else crc32(data)
            yield block
        del self._held[:end]
        self.at += end

    def _swallow(self, length: int) -> None:
        if self._path is None:
            self._dropped_sum = crc32(self._held[:length], self._dropped_sum)
        self._dropped += length
        del self._held[:length]

    def _drop(self, fault: Fault) -> Block:
        block = _faulty(self.at, self.at + self._dropped, fault)
        block.checksum = self._dropped_sum
        self.at += self._dropped
        self._dropping, self._dropped, self._dropped_sum = False, 0, 0
        return block
