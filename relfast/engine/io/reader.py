"""Sources cut into blocks: files looked at in place, streams and Parquet read forward."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final

from relfast.engine.io import cutting
from relfast.engine.io.blocks import Block
from relfast.engine.io.codecs import Damaged
from relfast.engine.io.cutting import Cutter
from relfast.engine.io.filters import Filters
from relfast.engine.io.parquet import cut_parquet
from relfast.engine.io.sources import Source
from relfast.errors import InputError, ReadError

LARGE_BLOCK_BYTES: Final = 4 << 20
"""6 MB would be quicker by a twentieth, and take 5 MB more memory for each worker."""

LARGE_FILE_BYTES: Final = 128 << 20
"""Files from this size on are cut into larger blocks: what a block costs by itself (0.3 ms in the parent, as
much in a worker) then no longer counts, and there are still enough of them."""


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
            cut = cut_parquet(source.path, max_line)
        elif source.seekable:
            cut = cut_file(source.path, max_line)
        else:
            cut = cut_stream(source, max_line)
        streamed = not source.regular
        for block in cut:
            block.seq, block.source = seq, number
            block.place(index)
            if filters is not None:
                if streamed and block.data:
                    filters.look(number, block.start, block.data)
                block.filter = filters[number]
            yield block
            seq += 1
            index += block.n_lines
        _see_that_it_is_whole(source)


def first_lines(todo: Iterator[Block], limit: int) -> Iterator[Block]:
    """The blocks of the first lines, so many."""
    left = limit
    while left > 0 and (block := next(todo, None)) is not None:
        block.n_lines = min(block.n_lines, left)
        left -= block.n_lines
        yield block


def _see_that_it_is_whole(source: Source) -> None:
    """Raise `ReadError` where a source was larger when it was found: its last lines were not seen."""
    try:
        size = os.stat(source.path).st_size if source.size else 0
    except OSError:
        return  # it was read to its end, and then moved
    if size < source.size:
        raise ReadError(f"it shrank from {source.size} to {size} bytes while it was read", file=source.path)


def cut_file(
    path: str,
    max_line: int,
    start: int = 0,
    end: int | None = None,
    *,
    whole: int | None = None,
) -> Iterator[Block]:
    """Byte ranges of a regular file, as large as it is now. The bytes are looked at, not kept.

    ``start`` and ``end`` are where lines begin: only what lies between is cut, into blocks as of a file of
    ``whole`` bytes.
    """
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise InputError(error.strerror or str(error), file=path) from error
    with file:
        size = os.fstat(file.fileno()).st_size if end is None else end
        large = (size if whole is None else whole) >= LARGE_FILE_BYTES
        # workers open it themselves, and this process may change its directory meanwhile
        most = LARGE_BLOCK_BYTES if large else cutting.BLOCK_BYTES
        cutter = Cutter(max_line, os.path.abspath(path), start, most)
        file.seek(start)
        buffer = memoryview(bytearray(most))  # one for all: a new one each time is fetched page by page
        while start < size:
            try:
                got = file.readinto(buffer[: min(cutter.wants, size - start)])
            except OSError as error:
                raise ReadError(error.strerror or str(error), file=path) from error
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
        with source.open() as stream:
            while chunk := stream.read(cutting.BLOCK_BYTES):
                yield from cutter.feed(chunk)
        yield from cutter.finish()
    except Damaged as error:
        yield from cutter.finish(("DamagedInput", f"{error}; the lines before it were scored"))
    except OSError as error:
        raise ReadError(error.strerror or str(error), file=source.path) from error
