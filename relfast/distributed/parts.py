"""Cuts inputs for a cluster: into chunks, which are measured, and into parts, which are scored.

A chunk can be cut off without reading the file: a byte range of plain JSONL, or else a whole file.
Measuring a chunk finds where its lines begin and end and counts them, so that every row gets the index that
it has on a single machine. A line belongs to the chunk in which it begins.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from relfast.distributed.storage import head, is_url, local_copy, size_and_version
from relfast.engine.io.blocks import Block
from relfast.engine.io.codecs import Codec
from relfast.engine.io.filters import HEAD_BYTES as FILTER_BYTES
from relfast.engine.io.filters import Filters
from relfast.engine.io.parquet import group_sizes
from relfast.engine.io.reader import cut_file, cut_parquet, cut_stream
from relfast.engine.io.sources import HEAD_BYTES, Source, check_foreign, codec_of
from relfast.engine.job import Job
from relfast.errors import InputError

PART_BYTES: Final = 64 * 2**20
"""Bytes of input of a part: a second's work of a text task, minutes of chemistry. That is large enough to
make the overhead of a part (10 ms of the driver, two small files) negligible; a node that dies loses one
part for each task that it ran."""

_SCAN: Final = 1 << 16

_HEAD_OF_PACKED: Final = 4 * FILTER_BYTES
"""Compressed bytes to read for the filter: decompressed they are at least `FILTER_BYTES`."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input file: absolute path or URL, codec, bytes, and a version text that changes with the file."""

    path: str
    codec: Codec
    size: int
    version: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit of measuring: bytes ``start`` to ``end`` of an input; all of it unless it is plain JSONL."""

    source: int
    input: Input
    start: int
    end: int
    count: bool = True
    """Whether its lines are counted. Not necessary for a compressed file that is the last input."""


@dataclass(frozen=True, slots=True)
class Part:
    """The unit of scoring: lines of one input that become one file of rows.

    Attributes
    ----------
    number
        Its number among the parts, from 0, which is also in its file's name.
    source, input
        Number of its input, and the input.
    start, end
        Its range: bytes of plain JSONL, row groups of Parquet, or the bytes of a compressed file.
    n_lines
        Number of its lines; -1: not counted.
    first_index
        Index of its first line in the run.
    filter
        Filter of lm-evaluation-harness whose samples are scored.
    line
        Number of its first line in the input, from 0.
    take
        How many of its lines are scored; -1: all.
    """

    source: int
    input: Input
    start: int
    end: int
    n_lines: int
    number: int = 0
    first_index: int = 0
    filter: str | None = None
    line: int = 0
    take: int = -1

    @property
    def expected(self) -> int:
        """Number of lines to score; -1: unknown."""
        return self.n_lines if self.take < 0 or self.n_lines < 0 else min(self.n_lines, self.take)

    @property
    def size(self) -> int:
        """Approximate bytes, for progress."""
        return self.input.size if self.input.codec == "parquet" else self.end - self.start

    def __str__(self) -> str:
        unit = "row groups" if self.input.codec == "parquet" else "bytes"
        return f"{self.input.path} {unit} {self.start}-{self.end}"


def find_inputs(names: Sequence[str]) -> list[Input]:
    """The inputs of some paths or URLs, in order. A file that cannot be opened is included; its parts fail
    later.

    Raises
    ------
    InputError
        A file has a format that relfast does not read.
    """
    return [_input(name if is_url(name) else os.path.abspath(name)) for name in names]


def _input(path: str) -> Input:
    size, version = size_and_version(path)
    try:
        start = head(path, HEAD_BYTES)
    except InputError:
        start = b""  # reported when it is measured
    codec = codec_of(path, start)
    if start and not is_url(path):
        check_foreign(path, start, codec)
    return Input(path, codec, size, version)


def chunks_of(inputs: Sequence[Input], part_bytes: int = PART_BYTES) -> list[Chunk]:
    """The chunks of all inputs, in order."""
    chunks = []
    for number, item in enumerate(inputs):
        if item.codec == "plain":
            bounds = [*range(0, item.size, part_bytes), item.size]
            chunks += [Chunk(number, item, a, b) for a, b in pairwise(bounds) if a < b]
        else:
            count = item.codec == "parquet" or number < len(inputs) - 1
            chunks.append(Chunk(number, item, 0, item.size, count))
    return chunks


def measure(chunk: Chunk, job: Job, part_bytes: int = PART_BYTES) -> list[Part]:
    """The parts of a chunk, still without number and first index; none if no line begins in the chunk.

    Raises
    ------
    InputError
        The chunk cannot be read.
    """
    item = chunk.input
    _check_unchanged(item)
    if item.codec == "plain":
        start, end = _line_start(item, chunk.start), _line_start(item, chunk.end)
        if start >= end:
            return []
        # the filter is read from the first bytes of an input
        least = 0 if start else FILTER_BYTES + 1
        with _at_hand(item, start, min(max(end, least), item.size)) as (path, offset):
            chosen = job.filter if start else _filter(path, "plain", job)
            blocks = cut_file(path, job.max_line_bytes, start - offset, end - offset)
            n_lines = sum(block.n_lines for block in blocks)
        return [Part(chunk.source, item, start, end, n_lines, filter=chosen)]
    enough = _HEAD_OF_PACKED if item.codec in ("gz", "zst") and not chunk.count else None
    with _at_hand(item, 0, enough) as (path, _):
        chosen = _filter(path, item.codec, job)
        whole = Part(chunk.source, item, 0, item.size, -1, filter=chosen)
        if item.codec == "parquet":
            return list(_groups(whole, path, part_bytes))
        lines = sum(block.n_lines for block in _blocks(path, whole, job)) if chunk.count else -1
        return [replace(whole, n_lines=lines)]


def _groups(whole: Part, path: str, part_bytes: int) -> Iterator[Part]:
    """Parts of consecutive row groups; a single part for a URL, since every part would download the file."""
    sizes = group_sizes(path)
    start = rows = held = 0
    for group, (n_rows, n_bytes) in enumerate(sizes, 1):
        rows += n_rows
        held += n_bytes
        if group == len(sizes) or (held >= part_bytes and not is_url(whole.input.path)):
            yield replace(whole, start=start, end=group, n_lines=rows)
            start, rows, held = group, 0, 0


def _line_start(item: Input, at: int) -> int:
    """The start of the first line that begins at byte ``at`` or later; the input's size without one."""
    if at == 0:
        return 0
    at -= 1
    while at < item.size:
        piece = head(item.path, _SCAN, at)
        if not piece:
            break
        end = piece.find(b"\n")
        if end >= 0:
            return at + end + 1
        at += len(piece)
    return item.size


def _filter(path: str, codec: Codec, job: Job) -> str | None:
    return Filters([Source(path, codec, seekable=codec == "plain")], job.dialect, job.filter)[0]


@contextmanager
def _at_hand(item: Input, start: int, end: int | None) -> Iterator[tuple[str, int]]:
    """A local file that holds these bytes, and the position of its first byte in the input."""
    if is_url(item.path):
        with local_copy(item.path, start, end) as path:
            yield path, start
    else:
        yield item.path, 0


@contextmanager
def blocks_of(part: Part, job: Job) -> Iterator[Iterator[Block]]:
    """The blocks of a part, with indices of the run; valid within the context.

    Raises
    ------
    InputError
        The input cannot be read, or has changed since it was measured.
    """
    item = part.input
    _check_unchanged(item)
    span = (part.start, part.end) if item.codec == "plain" else (0, None)
    with _at_hand(item, *span) as (path, offset):
        here = replace(part, start=part.start - offset, end=part.end - offset) if offset else part
        yield _placed(_blocks(path, here, job), part)
    if part.n_lines < 0:
        # its lines were not counted, so this is the only check
        _check_unchanged(item)


def _blocks(path: str, part: Part, job: Job) -> Iterator[Block]:
    codec, max_line = part.input.codec, job.max_line_bytes
    if codec == "plain":
        return cut_file(path, max_line, part.start, part.end)
    if codec == "parquet":
        return cut_parquet(path, max_line, slice(part.start, part.end))
    return cut_stream(Source(os.path.abspath(path), codec), max_line)


def _check_unchanged(item: Input) -> None:
    if size_and_version(item.path) != (item.size, item.version):
        raise InputError("it has changed since the run began", file=item.path)


def _placed(blocks: Iterator[Block], part: Part) -> Iterator[Block]:
    """The blocks with their source, filter and indices in the run, up to ``part.take`` lines."""
    index = part.first_index
    for block in blocks:
        if part.take >= 0:
            block.n_lines = min(block.n_lines, part.first_index + part.take - index)
            if block.n_lines <= 0:
                return
        block.source, block.filter = part.source, part.filter
        block.place(index)
        yield block
        index += block.n_lines


@dataclass(frozen=True, slots=True)
class Failed:
    """A part or a chunk that could not be read: its name, and the reason."""

    what: str
    reason: str


class Planning:
    """Numbers the parts of a run, and gives each the index of its first line. Chunks are added in order.

    Parameters
    ----------
    limit
        Number of lines to score, from the first on; None: all.

    Attributes
    ----------
    parts
        The parts, by number.
    failed
        The chunks that could not be measured, in order.
    """

    def __init__(self, limit: int | None) -> None:
        self.parts: list[Part] = []
        self.failed: list[Failed] = []
        self._limit, self._lines = limit, 0
        self._filters: dict[int, str | None] = {}
        self._starts: dict[int, int] = {}

    @property
    def wants_more(self) -> bool:
        """Whether the limit has not been reached yet."""
        return self._limit is None or self._lines < self._limit

    def add(self, chunk: Chunk, answer: list[Part] | InputError) -> None:
        """Append the parts of a chunk, up to the limit, or record the error of a chunk without parts."""
        if isinstance(answer, InputError):
            where = f"{chunk.input.path} bytes {chunk.start}-{chunk.end}"
            self.failed.append(Failed(where, reason_of(answer, chunk.input)))
            return
        for part in answer:
            at, left = self._lines, -1 if self._limit is None else self._limit - self._lines
            if left == 0:
                return
            part = replace(
                part,
                number=len(self.parts),
                first_index=at,
                line=at - self._starts.setdefault(part.source, at),
                filter=self._filters.setdefault(part.source, part.filter),
                take=left if left < part.n_lines or part.n_lines < 0 else -1,
            )
            self.parts.append(part)
            self._lines += max(0, part.expected)


def reason_of(error: InputError, item: Input) -> str:
    """The message of an error without the input's name."""
    return str(error).removeprefix(f"{item.path}: ")
