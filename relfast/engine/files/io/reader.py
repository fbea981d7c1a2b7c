"""Cuts sources into blocks of whole lines. Blocks of plain files are byte ranges; streams are read forward.

Where a block ends depends only on the input's bytes, never on the number of workers or on time. Therefore a
resumed run writes the same bytes as an uninterrupted one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final
from zlib import crc32

from relfast_kernels.compiled import native

from relfast.engine.columns.blocks import Block, Fault
from relfast.engine.columns.gold_records import GoldRecords, HeldRecords
from relfast.engine.files.io import parquet
from relfast.engine.files.io.sources import Source, find_sources, pieces_of
from relfast.engine.job import MAX_LINE_BYTES
from relfast.errors import Damaged, InputError, ReadError, told_of

BLOCK_BYTES: Final = 1 << 20
"""Target size of a block: about 500 text records (1 ms of a kernel) or 200 of REL-C3. Large enough that
sending a block costs next to nothing, small enough that two workers finish together."""

LARGE_BLOCK_BYTES: Final = 4 << 20
"""Target size far into a file. 6 MB would be 5 % faster, and take 5 MB more memory for each worker."""

LARGE_FROM: Final = 128 << 20
"""Offset from which on a file is cut into larger blocks: the fixed cost of a block (0.3 ms in the parent, as
much in a worker) becomes negligible, and there still are enough blocks. What is cut before does not depend on
the file's size, so that a file that grows is gone on with."""

GROUP_ROWS: Final = 8_192
GROUP_BYTES: Final = 32 * 2**20
"""Largest row group (rows, uncompressed bytes) that a worker reads as a whole. Several workers cannot share
a larger one (pandas puts a million rows into one group), so the parent reads it forward."""

BLOCK_LINES: Final = 16_384
"""Most lines in a block, so that a block of short lines does not have too many."""

_PROBE_BYTES: Final = 1 << 14
_LONG_LINE: Final = 500


def lines_in(buffer: bytearray, length: int) -> int:
    """Number of line ends in the first ``length`` bytes.

    ``bytearray.count`` looks at each byte (3 GB/s). If lines are long, it is three times as fast to go from
    line end to line end by `find`, which is memchr.
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


def too_long(max_line: int) -> Fault:
    """The fault of a line that is longer than ``max_line`` bytes."""
    return "LineTooLong", f"line is longer than {max_line} bytes (--max-line-bytes)"


def pieces(buffer: bytearray, length: int, max_line: int) -> Iterator[tuple[int, int, int, Fault | None]]:
    """Cut the first `BLOCK_LINES` of the whole lines in ``buffer[:length]`` into pieces (start, end, number
    of lines, fault). A line that is too long is a piece by itself, with a fault."""
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
    """A block of one line that cannot be scored."""
    return Block(0, 0, 0, 1, start, end, data=b"", faults={0: fault})


class Cutter:
    """Cuts bytes into blocks as they come; holds back one line and one block at most.

    Parameters
    ----------
    max_line
        Longest line in bytes; a longer one becomes a block with a fault.
    path
        The file of the bytes, in which workers read the blocks themselves. Without it (a stream), blocks have
        their bytes and a checksum.
    at
        Offset in the file at which the bytes begin.
    """

    def __init__(self, max_line: int, path: str | None = None, at: int = 0) -> None:
        self.max_line, self.at = max_line, at
        self._path = path
        self._held = bytearray()
        self._dropping = False
        self._dropped = self._dropped_sum = 0

    @property
    def _most(self) -> int:
        """Target size of the next block."""
        return LARGE_BLOCK_BYTES if self._path is not None and self.at >= LARGE_FROM else BLOCK_BYTES

    @property
    def wants(self) -> int:
        """How many more bytes complete a block. `feed` takes any other number too."""
        return self._most - len(self._held) % self._most

    def feed(self, chunk: bytes | memoryview) -> Iterator[Block]:
        """The blocks that are complete with this chunk."""
        self._held += chunk
        return self._cut(len(self._held), final=False)

    def finish(self, fault: Fault | None = None) -> Iterator[Block]:
        """The last blocks. If the stream broke, ``fault`` says why, and replaces the incomplete last line."""
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
        """Cut the first ``length`` of the bytes held back into blocks; ``final``: no more bytes follow."""
        held = self._held
        while length:
            before, most = len(held), self._most
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
                yield from self._made(pieces(held, length, self.max_line))
            elif end := held.rfind(b"\n", 0, most) + 1:
                yield from self._made(pieces(held, end, self.max_line))
            else:
                end = held.find(b"\n", most, length) + 1
                if (end - 1 if end else length) > self.max_line:
                    self._dropping = True
                elif end or final:
                    yield from self._made([(0, end or length, 1, None)])
                else:
                    return
            length -= before - len(held)

    def _made(self, parts: Iterable[tuple[int, int, int, Fault | None]]) -> Iterator[Block]:
        """The blocks of pieces of the bytes held back; these bytes are then released."""
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
        """Release bytes of a line that is too long or damaged, and count them."""
        if self._path is None:
            self._dropped_sum = crc32(self._held[:length], self._dropped_sum)
        self._dropped += length
        del self._held[:length]

    def _drop(self, fault: Fault) -> Block:
        """The faulty block that stands for all bytes that were swallowed."""
        block = _faulty(self.at, self.at + self._dropped, fault)
        block.checksum = self._dropped_sum
        self.at += self._dropped
        self._dropping, self._dropped, self._dropped_sum = False, 0, 0
        return block


def blocks(sources: Sequence[Source], max_line: int) -> Iterator[Block]:
    """All blocks of a run, in order.

    Raises
    ------
    InputError
        A source cannot be opened.
    ReadError
        Reading a source fails, or the source shrinks meanwhile.
    """
    seq = index = 0
    for number, source in enumerate(sources):
        if source.codec == "parquet":
            cut = cut_parquet(source.path, max_line)
        elif source.seekable:
            cut = cut_file(source.path, max_line, most=source.size or None)
        else:
            cut = cut_stream(source, max_line)
        for block in cut:
            block.seq, block.source = seq, number
            block.place(index)
            yield block
            seq += 1
            index += block.n_lines
        _check_not_shrunk(source)


def first_lines(todo: Iterator[Block], limit: int) -> Iterator[Block]:
    """The blocks of the first ``limit`` lines."""
    left = limit
    while left > 0 and (block := next(todo, None)) is not None:
        block.n_lines = min(block.n_lines, left)
        left -= block.n_lines
        yield block


def _check_not_shrunk(source: Source) -> None:
    """Raise `ReadError` if a source has shrunk since it was found, so that its last lines were not read."""
    try:
        size = os.stat(source.path).st_size if source.size else 0
    except OSError:
        return  # the file was moved after it had been read to its end
    if size < source.size:
        raise ReadError(f"it shrank from {source.size} to {size} bytes while it was read", file=source.path)


def cut_file(
    path: str,
    max_line: int,
    start: int = 0,
    end: int | None = None,
    *,
    most: int | None = None,
) -> Iterator[Block]:
    """Blocks of a regular file as byte ranges. The bytes are read to find line ends, and not kept.

    ``start`` and ``end`` are offsets at which lines begin; only the lines between are cut. ``end`` is by
    default the present size, but ``most`` at most: what is appended later is not read.
    """
    with told_of(path):
        file = open(path, "rb", buffering=0)  # noqa: SIM115
    with file:
        size = os.fstat(file.fileno()).st_size if end is None else end
        size = size if most is None else min(size, most)
        # the path is absolute: workers open it themselves, and this process may change its directory
        cutter = Cutter(max_line, os.path.abspath(path), start)
        file.seek(start)
        most = LARGE_BLOCK_BYTES if size > LARGE_FROM else BLOCK_BYTES
        buffer = memoryview(bytearray(most))  # reused: each new buffer costs page faults
        while start < size:
            with told_of(path, ReadError):
                got = file.readinto(buffer[: min(cutter.wants, size - start)])
            if not got:
                now = os.fstat(file.fileno()).st_size
                raise ReadError(f"it shrank to {now} bytes while it was read", file=path)
            start += got
            yield from cutter.feed(buffer[:got])
        yield from cutter.finish()


def cut_stream(source: Source, max_line: int) -> Iterator[Block]:
    """Blocks of a source that can only be read forward."""
    cutter = Cutter(max_line)
    try:
        with told_of(source.path, ReadError), source.open() as stream:
            while chunk := stream.read(BLOCK_BYTES):
                yield from cutter.feed(chunk)
        yield from cutter.finish()
    except Damaged as error:
        yield from cutter.finish(("DamagedInput", f"{error}; the lines before it were scored"))


def cut_parquet(path: str, max_line: int, groups: slice = slice(None)) -> Iterator[Block]:
    """The blocks of a Parquet file, or of some of its row groups; their ``start`` and ``end`` count rows."""
    at = 0
    for group, (n_rows, n_bytes) in list(enumerate(parquet.group_sizes(path)))[groups]:
        end = at + n_rows
        if n_rows <= GROUP_ROWS and n_bytes <= GROUP_BYTES:
            whole = os.path.abspath(path)
            yield Block(0, 0, 0, n_rows, at, end, path=whole, parquet=True, group=group)
            at = end
            continue
        try:
            for lines in parquet.batches(path, group):
                cutter = Cutter(max_line)
                for block in chain(cutter.feed(b"\n".join(lines) + b"\n"), cutter.finish()):
                    block.start, block.end = at, at + block.n_lines
                    at = block.end
                    yield block
        except Damaged as error:
            while at < end:
                n = min(end - at, parquet.ROWS)
                faults = parquet.damaged_rows(range(n), error)
                yield Block(0, 0, 0, n, at, at + n, data=b"", faults=faults)
                at += n


def read_gold(paths: Sequence[str], longest: int = MAX_LINE_BYTES, *, in_files: bool = False) -> GoldRecords:
    """The gold records of ``--data``, by id; if several have the same id, the last counts. ``longest`` is the
    most bytes that a line may have. ``in_files``: plain files stay open and must not change, for a run.

    Raises
    ------
    InputError
        A file cannot be read, a line is no record with an id, or there is no record at all.
    """
    functions = native.find("text") if paths else None
    gold = GoldRecords() if functions is None else HeldRecords(functions)
    for path in paths:
        sources = find_sources([path])
        plain = (each.path if in_files and each.seekable else None for each in sources)
        gold.read(path, zip(map(pieces_of, sources), plain, strict=True), longest)
    if paths and not gold:
        raise InputError("no gold record in it", file=" ".join(paths))
    return gold
