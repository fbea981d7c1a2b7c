"""Cuts sources into blocks of whole lines. Blocks of plain files are byte ranges; streams are read forward.

Where a block ends depends only on the input's bytes, never on the number of workers or on time. Therefore a
resumed run writes the same bytes as an uninterrupted one.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from io import FileIO
from itertools import chain
from typing import Final
from zlib import crc32

from relfast_kernels.compiled import native

from relfast.engine.columns.blocks import BLOCK_LINES, UNKNOWN, Block, Fault, Position
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

_READ_BYTES: Final = 1 << 18
"""Bytes of a file that are looked at together: they stay in the processor's cache."""

_TAIL_BYTES: Final = 1 << 16
"""Bytes in which the end of a block's last line is looked for first."""

_PROBE_BYTES: Final = 1 << 14
_LONG_LINE: Final = 500


def lines_in(buffer: bytes | bytearray, start: int, end: int) -> int:
    """Number of line ends in buffer[start:end].

    ``count`` looks at each byte (3 GB/s). If lines are long, it is three times as fast to go from line end to
    line end by `find`, which is memchr.
    """
    if buffer.count(b"\n", start, min(end, start + _PROBE_BYTES)) > _PROBE_BYTES // _LONG_LINE:
        return buffer.count(b"\n", start, end)
    find = buffer.find
    n = 0
    at = find(b"\n", start, end)
    while at >= 0:
        n += 1
        at = find(b"\n", at + 1, end)
    return n


def too_long(max_line: int) -> Fault:
    """The fault of a line that is longer than ``max_line`` bytes."""
    return "LineTooLong", f"line is longer than {max_line} bytes (--max-line-bytes)"


def _nth_line_end(buffer: bytes | bytearray, start: int, n: int) -> int:
    """The place behind the n-th line end from ``start`` on, which is there. Counting line ends takes a
    fiftieth of the time of finding each, so that all but a few are counted, by halves."""
    end = len(buffer)
    while n > _FEW_LINES:
        middle = (start + end) // 2
        found = buffer.count(b"\n", start, middle)
        if found < n:
            start, n = middle, n - found
        else:
            end = middle
    for _ in range(n):
        start = buffer.index(b"\n", start) + 1
    return start


_FEW_LINES: Final = 16


class Cutter:
    """Cuts bytes into blocks as they come, each of which is looked at once.

    Parameters
    ----------
    max_line
        Longest line in bytes; a longer one becomes a block with a fault.
    path
        The file of the bytes, in which workers read the blocks themselves; nothing is kept of it. Without it
        (a stream), blocks have their bytes and a checksum; one block is held back at most.
    at
        Offset in the file at which the bytes begin.
    """

    def __init__(self, max_line: int, path: str | None = None, at: int = 0) -> None:
        self._max_line, self._path = max_line, path
        self._begin = self._end = self._seen = at
        """Offsets at which the open block begins, at which its last whole line ends, and up to which bytes
        have come."""
        self._n_lines = 0
        self._held = bytearray()
        self._dropping = False
        self._dropped_sum = 0

    def feed(self, chunk: bytes | bytearray, size: int | None = None) -> Iterator[Block]:
        """The blocks that are complete with these bytes, the first ``size`` of a chunk (None: all)."""
        at, size = 0, len(chunk) if size is None else size
        while at < size:
            most = LARGE_BLOCK_BYTES if self._path is not None and self._begin >= LARGE_FROM else BLOCK_BYTES
            room = self._begin + most - self._seen
            if self._dropping or room <= 0:
                at = yield from self._one_line(chunk, at, size)
            else:
                at = yield from self._lines(chunk, at, min(size, at + room), most)

    def finish(self, fault: Fault | None = None) -> Iterator[Block]:
        """The last blocks. If the stream broke, ``fault`` says why, and replaces the incomplete last line."""
        if self._dropping:
            yield self._faulty(fault or too_long(self._max_line))
        elif fault is not None:
            yield from self._close()
            self._drop()
            yield self._faulty(fault)
        else:
            if self._seen > self._end:
                self._end, self._n_lines = self._seen, self._n_lines + 1
            yield from self._close()

    def _lines(self, chunk: bytes | bytearray, at: int, stop: int, most: int) -> Generator[Block, None, int]:
        """Take chunk[at:stop], for which the open block has room, or less; returns the place after it."""
        if self._seen + stop - at - self._end > self._max_line:
            # a line in there may be too long: the first one is looked at alone
            end = chunk.find(b"\n", at, stop)
            if self._seen + (stop if end < 0 else end) - at - self._end > self._max_line:
                yield from self._close()
                self._drop()
                return at
            stop = end + 1 or stop
        whole = chunk.rfind(b"\n", at, stop) + 1
        n_lines = self._n_lines + (lines_in(chunk, at, whole) if whole else 0)
        if n_lines > BLOCK_LINES:
            whole = stop = _nth_line_end(chunk, at, BLOCK_LINES - self._n_lines)
            n_lines = BLOCK_LINES
        if whole:
            self._end, self._n_lines = self._seen + whole - at, n_lines
        self._take(chunk, at, stop)
        if self._n_lines == BLOCK_LINES or (self._seen - self._begin >= most and self._n_lines):
            yield from self._close()
        return stop

    def _one_line(self, chunk: bytes | bytearray, at: int, size: int) -> Generator[Block, None, int]:
        """Take bytes of a line that is longer than a block, or too long; returns the place after them."""
        end = chunk.find(b"\n", at, size)
        if not self._dropping and self._seen + (size if end < 0 else end) - at - self._end > self._max_line:
            self._drop()
        stop = end + 1 or size
        self._take(chunk, at, stop)
        if end >= 0 and self._dropping:
            yield self._faulty(too_long(self._max_line))
        elif end >= 0:
            self._end, self._n_lines = self._seen, 1
            yield from self._close()
        return stop

    def _take(self, chunk: bytes | bytearray, at: int, stop: int) -> None:
        self._seen += stop - at
        if self._path is None:
            piece = memoryview(chunk)[at:stop]
            if self._dropping:
                self._dropped_sum = crc32(piece, self._dropped_sum)
            else:
                self._held += piece

    def _close(self) -> Iterator[Block]:
        """The block of the whole lines, if there are any; what comes after them begins the next one."""
        if self._n_lines:
            size, data = self._end - self._begin, None
            if self._path is None:
                data = bytes(memoryview(self._held)[:size])
                del self._held[:size]
            block = Block(0, 0, 0, self._n_lines, self._begin, self._end, self._path, data)
            block.checksum = 0 if data is None else crc32(data)
            self._begin, self._n_lines = self._end, 0
            yield block

    def _drop(self) -> None:
        """Release the bytes of a line that is too long or damaged; those that follow are only counted."""
        self._dropping = True
        if self._path is None:
            self._dropped_sum = crc32(self._held)
            self._held.clear()

    def _faulty(self, fault: Fault) -> Block:
        """The block of one line that stands for all bytes that were dropped."""
        block = Block(0, 0, 0, 1, self._begin, self._seen, data=b"", faults={0: fault})
        block.checksum = self._dropped_sum
        self._begin = self._end = self._seen
        self._dropping, self._dropped_sum = False, 0
        return block


def blocks(
    sources: Sequence[Source], max_line: int, begin: Position | None = None, *, counted: bool = True
) -> Iterator[Block]:
    """All blocks of a run, in order, or those from ``begin`` on, where a block of a plain file begins.
    ``counted`` is that of `cut_file`; the index of what follows a block that is not counted is `UNKNOWN`.

    Raises
    ------
    InputError
        A source cannot be opened.
    ReadError
        Reading a source fails, or the source shrinks meanwhile.
    """
    begin = begin or Position()
    seq, start, index = begin.seq, begin.offset, begin.index
    for number, source in enumerate(sources[begin.source :], begin.source):
        if source.codec == "parquet":
            cut = cut_parquet(source.path, max_line)
        elif source.seekable:
            cut = cut_file(source.path, max_line, start, most=source.size or None, counted=counted)
        else:
            cut = cut_stream(source, max_line)
        for block in cut:
            block.seq, block.source = seq, number
            if index == UNKNOWN:
                block.first_index = UNKNOWN
            else:
                block.place(index)
                index = UNKNOWN if block.n_lines == UNKNOWN else index + block.n_lines
            yield block
            seq += 1
        start = 0
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
    counted: bool = True,
) -> Iterator[Block]:
    """Blocks of a regular file as byte ranges. The bytes are read to find line ends, and not kept.

    ``start`` and ``end`` are offsets at which lines begin; only the lines between are cut. ``end`` is by
    default the present size, but ``most`` at most: what is appended later is not read.

    If the blocks need not be ``counted``, only bytes around their ends are read, and who reads them counts
    their lines. They are the same blocks unless one has more than `BLOCK_LINES`.
    """
    with told_of(path):
        file = open(path, "rb", buffering=0)  # noqa: SIM115
    with file:
        size = os.fstat(file.fileno()).st_size if end is None else end
        size = size if most is None else min(size, most)
        # the path is absolute: workers open it themselves, and this process may change its directory
        whole = os.path.abspath(path)
        if counted or max_line < LARGE_BLOCK_BYTES:  # in blocks of long lines, some may be too long
            yield from _cut_counted(file, whole, max_line, start, size)
            return
        while start < size:
            least = LARGE_BLOCK_BYTES if start >= LARGE_FROM else BLOCK_BYTES
            end = size if size - start < least else _last_line_end(file, start, start + least)
            if end > start:
                block = Block(0, 0, 0, UNKNOWN, start, end, whole)
            else:  # the line is longer than a block
                block = next(_cut_counted(file, whole, max_line, start, size))
            yield block
            start = block.end


def _cut_counted(file: FileIO, path: str, max_line: int, start: int, size: int) -> Iterator[Block]:
    """The blocks between two offsets of a file, all of whose bytes are read."""
    cutter = Cutter(max_line, path, start)
    buffer = bytearray(_READ_BYTES)
    while start < size:
        with told_of(file.name, ReadError):
            got = os.preadv(file.fileno(), [memoryview(buffer)[: size - start]], start)
        if not got:
            raise _shrank(file)
        start += got
        yield from cutter.feed(buffer, got)
    yield from cutter.finish()


def _last_line_end(file: FileIO, start: int, end: int) -> int:
    """The offset behind the last line that ends between two offsets of a file; ``start`` if none does."""
    size = _TAIL_BYTES
    while end > start:
        at = max(start, end - size)
        with told_of(file.name, ReadError):
            piece = os.pread(file.fileno(), end - at, at)
        if len(piece) < end - at:
            raise _shrank(file)
        if (found := piece.rfind(b"\n")) >= 0:
            return at + found + 1
        end, size = at, _READ_BYTES
    return start


def _shrank(file: FileIO) -> ReadError:
    now = os.fstat(file.fileno()).st_size
    return ReadError(f"it shrank to {now} bytes while it was read", file=file.name)


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


def read_gold(
    paths: Sequence[str], longest: int = MAX_LINE_BYTES, *, strict: bool = False, in_files: bool = False
) -> GoldRecords:
    """The gold records of ``--data``, by id; if several have the same id, the last counts.

    Parameters
    ----------
    longest
        The most bytes that a line may have.
    strict
        Prepare also what only the policy ``strict`` compares, which is quicker than to do it for each row.
    in_files
        Plain files stay open and must not change, for a run.

    Raises
    ------
    InputError
        A file cannot be read, a line is no record with an id, or there is no record at all.
    """
    functions = native.find("text") if paths else None
    gold = GoldRecords() if functions is None else HeldRecords(functions, strict=strict)
    for path in paths:
        sources = find_sources([path], gold=True)
        plain = (each.path if in_files and each.seekable else None for each in sources)
        gold.read(path, zip(map(pieces_of, sources), plain, strict=True), longest)
    if paths and not gold:
        raise InputError("no gold record in it", file=" ".join(paths))
    return gold
