"""Inputs cut for a cluster: chunks that are measured, parts that are scored.

A chunk is what can be cut off without reading: a byte range of plain JSONL, else a whole file. To measure it
is to find where its lines begin and end and how many they are, so that a row's index is the one that a single
machine gives it. A line belongs to the chunk in which it begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice, pairwise
from typing import Any, Final

from relfast.distributed.storage import head, is_url, local_copy, size_and_version
from relfast.engine.io.blocks import Block
from relfast.engine.io.cutting import count_lines
from relfast.engine.io.filters import HEAD_BYTES as FILTER_BYTES
from relfast.engine.io.filters import Filters
from relfast.engine.io.foreign import refuse_foreign
from relfast.engine.io.parquet import cut_parquet, group_sizes
from relfast.engine.io.reader import cut_file, cut_stream
from relfast.engine.io.sources import HEAD_BYTES, Codec, Source, codec_of, lines_of
from relfast.engine.job import Job
from relfast.errors import InputError
from relfast.json_text import decode_object

PART_BYTES: Final = 64 * 2**20
"""Input of a part: a second of a text task, minutes of chemistry. What a part costs by itself (10 ms of the
driver, two small files) no longer counts; what is lost with a node is one of these a worker."""

_SCAN: Final = 1 << 16

_OF_ONE: Final = 0.9
"""Of an actor's share of a run, what is left to be counted on the way: it begins when the rest is counted."""

_HEAD_OF_PACKED: Final = 4 * FILTER_BYTES
"""Compressed bytes in which are as many decompressed ones as a filter is looked for in."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file to be scored: absolute path or URL, codec, bytes, and a text that changes when it does."""

    path: str
    codec: Codec
    size: int
    version: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is measured at a time: bytes ``start`` to ``end`` of an input, all of it unless it is plain."""

    source: int
    input: Input
    start: int
    end: int
    count: bool = True
    """Whether its lines are counted. Those of Parquet always are; what is not is known when it is scored."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is scored at a time, and becomes one file of rows.

    Attributes
    ----------
    number
        Its place among the parts, and in its file's name.
    source, input
        The input it is of, by number.
    start, end
        Bytes of plain JSONL, row groups of Parquet; of what is compressed, bytes of the compressed file.
    n_lines
        Its lines; -1 = not counted.
    first_index
        Index of its first line in the run, once all before it are counted (`Planning`).
    filter
        Filter of lm-evaluation-harness that is scored.
    line
        Its first line's number in the input, from 0.
    take
        How many of its lines are scored; -1 = all.
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
        """Lines that are to be scored; -1 = not known."""
        return self.n_lines if self.take < 0 or self.n_lines < 0 else min(self.n_lines, self.take)

    @property
    def size(self) -> int:
        """Bytes, about, for progress."""
        return self.input.size if self.input.codec == "parquet" else self.end - self.start

    def __str__(self) -> str:
        unit = "row groups" if self.input.codec == "parquet" else "bytes"
        return f"{self.input.path} {unit} {self.start}-{self.end}"

    def key(self) -> dict[str, Any]:
        """What must be equal for its rows to be what they are: not whether its lines are counted."""
        return {name: value for name, value in asdict(self).items() if name != "n_lines"}


def find_inputs(names: Sequence[str]) -> list[Input]:
    """Files by path or URL, in order. One that cannot be opened is among them: its parts fail.

    Raises
    ------
    InputError
        One is of a format that is not read.
    """
    return [_input(name if is_url(name) else os.path.abspath(name)) for name in names]


def _input(path: str) -> Input:
    size, version = size_and_version(path)
    try:
        start = head(path, HEAD_BYTES)
    except InputError:
        start = b""  # told when it is measured
    codec = codec_of(path, start)
    if start and codec in ("plain", "zip") and not is_url(path):
        refuse_foreign(path)
    return Input(path, codec, size, version)


def chunks_of(
    inputs: Sequence[Input], part_bytes: int = PART_BYTES, actors: int | None = None
) -> list[Chunk]:
    """The inputs as chunks, in order.

    To count lines is to read what is read again to be scored. So the end of a run, as much as one of the
    ``actors`` will score of it, is left to be counted on the way, a part after the other: of a single actor
    that is all. None: only what nothing follows, and is compressed, is not counted.
    """
    chunks = []
    at, total = 0.0, sum(item.size for item in inputs)
    counted = total if actors is None else total * (1 - _OF_ONE / actors) if actors > 1 else 0
    for number, item in enumerate(inputs):
        last = number == len(inputs) - 1
        if item.codec == "plain":
            bounds = [*range(0, item.size, part_bytes), item.size]
            chunks += [Chunk(number, item, a, b, at + a < counted) for a, b in pairwise(bounds) if a < b]
        else:
            count = item.codec == "parquet" or (at < counted and not last)
            chunks.append(Chunk(number, item, 0, item.size, count))
        at += item.size
    return chunks


def measure(chunk: Chunk, job: Job, part_bytes: int = PART_BYTES) -> list[Part]:
    """A chunk's parts, all but their numbers and first indices; none of a chunk in which no line begins.

    Raises
    ------
    InputError
        It cannot be read.
    """
    item = chunk.input
    _check_unchanged(item)
    if item.codec == "plain":
        start, end = _line_start(item, chunk.start), _line_start(item, chunk.end)
        if start >= end:
            return []
        part = Part(chunk.source, item, start, end, -1)
        # the filter is seen in an input's head
        head_end = FILTER_BYTES + 1 if start == 0 else 0
        if not (chunk.count or head_end):
            return [part]
        most = max(end, head_end) if chunk.count else head_end
        with _at_hand(item, start, min(most, item.size)) as (path, offset):
            if head_end:
                part = replace(part, filter=_filter(path, "plain", job))
            if chunk.count:
                part = replace(part, n_lines=count_lines(path, start - offset, end - offset))
        return [part]
    enough = _HEAD_OF_PACKED if item.codec in ("gz", "zst") and not chunk.count else None
    with _at_hand(item, 0, enough) as (path, _):
        chosen = _filter(path, item.codec, job)
        whole = Part(chunk.source, item, 0, item.size, -1, filter=chosen)
        if item.codec == "parquet":
            return list(_groups(whole, path, part_bytes))
        lines = sum(block.n_lines for block in _blocks(path, whole, job)) if chunk.count else -1
        return [replace(whole, n_lines=lines)]


def _groups(whole: Part, path: str, part_bytes: int) -> Iterator[Part]:
    """Runs of row groups; of a file that has to be fetched first, one with all."""
    sizes = group_sizes(path)
    start = rows = held = 0
    for group, (n_rows, n_bytes) in enumerate(sizes, 1):
        rows += n_rows
        held += n_bytes
        if group == len(sizes) or (held >= part_bytes and not is_url(whole.input.path)):
            yield replace(whole, start=start, end=group, n_lines=rows)
            start, rows, held = group, 0, 0


def _line_start(item: Input, at: int) -> int:
    """Where the first line begins that begins at byte ``at`` or later."""
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
    """A local file with these bytes, and which byte of the input its first one is."""
    if is_url(item.path):
        with local_copy(item.path, start, end) as path:
            yield path, start
    else:
        yield item.path, 0


RowAt = Callable[[int], Mapping[str, Any]]
"""The decoded row at a line of a part."""


@contextmanager
def blocks_of(part: Part, job: Job) -> Iterator[tuple[Iterator[Block], RowAt]]:
    """The blocks of a part, their indices those of the run, and a look at its rows; good within the context.

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
        yield _placed(_blocks(path, here, job), part), lambda line: _row(path, here, line)
    if part.n_lines < 0:
        # how many lines it should have had is unknown
        _check_unchanged(item)


def _blocks(path: str, part: Part, job: Job) -> Iterator[Block]:
    codec, max_line = part.input.codec, job.max_line_bytes
    if codec == "plain":
        return cut_file(path, max_line, part.start, part.end, whole=part.input.size)
    if codec == "parquet":
        end = part.end if part.n_lines >= 0 else None
        return cut_parquet(path, max_line, slice(part.start, end))
    return cut_stream(Source(os.path.abspath(path), codec), max_line)


def _check_unchanged(item: Input) -> None:
    if size_and_version(item.path) != (item.size, item.version):
        raise InputError("it has changed since the run began", file=item.path)


def _row(path: str, part: Part, line: int) -> Mapping[str, Any]:
    if part.input.codec == "plain":
        with open(path, "rb") as file:
            file.seek(part.start)
            return decode_object(next(islice(file, line, None), b"{}").removesuffix(b"\n"))
    with closing(lines_of(Source(os.path.abspath(path), part.input.codec))) as lines:
        return decode_object(next(islice(lines, part.line + line, None), b"{}"))


def _placed(blocks: Iterator[Block], part: Part) -> Iterator[Block]:
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
    """A part, or a chunk, that could not be read: where, and why."""

    what: str
    reason: str


_CHUNKS_OF_LIMIT: Final = 16
"""Chunks that are measured at a time where only the first lines are wanted."""


class Planning:
    """Grows the list of parts as chunks are measured, and gives parts their first indices as the lines before
    them are counted, by measuring or by scoring.

    Parameters
    ----------
    chunks
        All of the run, in order.
    limit
        Only the first lines, so many; None = all.
    parts
        Those that are known already.
    """

    def __init__(self, chunks: Sequence[Chunk], limit: int | None, parts: Iterable[Part] = ()) -> None:
        self.parts = list(parts)
        """Those of the run, by number."""
        self._chunks, self._limit = list(chunks), limit
        self._numbers = {chunk: number for number, chunk in enumerate(chunks)}
        self.failed: list[Failed] = []
        """The chunks that could not be measured, in order."""
        self._answers: dict[int, list[Part] | Failed] = {}
        self._asked = self._taken = 0
        self._counts: dict[int, int] = {}
        self._ahead: dict[Chunk, int] = {}
        self._filters: dict[int, str | None] = {}
        self._starts: dict[int, int] = {}
        self._placed = 0

    @property
    def finished(self) -> bool:
        """Whether all chunks are measured that had to be."""
        return self._taken == self._asked and not self._wants_more()

    def more(self) -> list[Chunk]:
        """The chunks that are to be measured now."""
        if not self._wants_more():
            return []
        end = len(self._chunks) if self._limit is None else self._asked + _CHUNKS_OF_LIMIT
        some = self._chunks[self._asked : end]
        self._asked += len(some)
        return some

    def _wants_more(self) -> bool:
        if self._asked == len(self._chunks):
            return False
        # with a limit only as many are looked at as it takes
        return self._limit is None or (self._taken == self._asked and (self._index() or 0) < self._limit)

    def take(self, chunk: Chunk, answer: list[Part] | InputError) -> list[Part]:
        """A chunk's parts, or why there are none; the parts that can be scored with it."""
        if chunk in self._ahead:
            if isinstance(answer, InputError):
                return []  # scoring it will say so
            return self.counted(self._ahead[chunk], sum(part.n_lines for part in answer))
        found: list[Part] | Failed
        if isinstance(answer, InputError):
            where = f"{chunk.input.path} bytes {chunk.start}-{chunk.end}"
            found = Failed(where, reason_of(answer, chunk.input))
        else:
            found = answer
        self._answers[self._numbers[chunk]] = found
        while self._taken in self._answers:
            measured = self._answers.pop(self._taken)
            if isinstance(measured, Failed):
                self.failed.append(measured)
                measured = []
            for part in measured:
                chosen = self._filters.setdefault(part.source, part.filter)
                self.parts.append(replace(part, number=len(self.parts), filter=chosen))
            self._taken += 1
        return self.ready()

    def counted(self, number: int, n_lines: int) -> list[Part]:
        """A part turns out to have so many lines; the parts that can be scored now."""
        self._counts.setdefault(number, n_lines)
        return self.ready()

    def ready(self) -> list[Part]:
        """The parts that can be scored, each once."""
        found: list[Part] = []
        while self._placed < len(self.parts) and (index := self._index()) is not None:
            part = self.parts[self._placed]
            line = index - self._starts.setdefault(part.source, index)
            part = replace(part, first_index=index, line=line)
            if self._limit is not None:
                left = self._limit - index
                if left <= 0:
                    del self.parts[self._placed :]
                    break
                part = part if 0 <= part.n_lines <= left else replace(part, take=left)
            self.parts[self._placed] = part
            self._placed += 1
            found.append(part)
        return found

    def ahead(self, n: int) -> list[Chunk]:
        """Chunks to be counted now, since parts run short that can be scored: ``n`` at most, each once."""
        if not self.finished:
            return []
        found: list[Chunk] = []
        asked = set(self._ahead.values())
        for part in self.parts[max(0, self._placed - 1) :]:
            if len(found) == n:
                break
            chunk = Chunk(part.source, part.input, part.start, part.end)
            if self._lines(part) < 0 and part.number not in asked:
                self._ahead[chunk] = part.number
                found.append(chunk)
        return found

    def _lines(self, part: Part) -> int:
        return self._counts.get(part.number, part.n_lines)

    def _index(self) -> int | None:
        """Index of the first line behind the parts that have theirs; None where it is not known."""
        if not self._placed:
            return 0
        before = self.parts[self._placed - 1]
        n_lines = self._lines(before)
        return None if n_lines < 0 else before.first_index + n_lines


def reason_of(error: InputError, item: Input) -> str:
    """What an error says of an input, without its name."""
    return str(error).removeprefix(f"{item.path}: ")
