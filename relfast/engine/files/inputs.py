"""The inputs of a run, found once: which of their lines are read, and what tells whether an earlier run had
the same.

A task of lm-evaluation-harness with several filters writes each document once per filter, with the same raw
responses. To score every row would count every response several times. Unless ``--filter`` says otherwise,
rows of the first filter named in an input's head are scored. The head is a fixed number of bytes, so that the
choice depends on the input alone: not on workers, blocks, shards or resumed runs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from relfast.engine.columns.blocks import Block, Position
from relfast.engine.files.io.codecs import PACKINGS
from relfast.engine.files.io.parquet import count_rows, first_rows
from relfast.engine.files.io.reader import blocks, first_lines
from relfast.engine.files.io.sources import STDIN, Source, find_sources
from relfast.engine.job import Job
from relfast.engine.signature import versions
from relfast.errors import Damaged, UsageError, told_of
from relfast.formats import filter_of
from relfast.json_text import Undecodable, decode_object
from relfast.support.outputs import OF_PROCESS, PATHS


class Inputs:
    """The inputs of a run.

    Parameters
    ----------
    names, own
        As in `find_sources`.
    job
        The run's settings; the attribute ``job`` has those for so many files.
    limit, shard
        Only so many lines are read, and only blocks of part I of N, for a pair (I, N); None: all. Shards are
        contiguous ranges of the input, so that their rows, concatenated, are those of the whole.
    twice
        Whether the files are to be read a second time.

    Attributes
    ----------
    sources, gold
        The files, and those of ``--data``.
    filters
        The filter whose rows are scored, for each source; None if none was found yet.

    Raises
    ------
    InputError, ReadError
        A file does not exist or cannot be read.
    UsageError
        Stdin is named twice, or an input that can be read only once is to be cut or read twice.
    """

    def __init__(
        self,
        names: Sequence[str],
        job: Job,
        own: Sequence[str] = (),
        *,
        limit: int | None = None,
        shard: tuple[int, int] | None = None,
        twice: bool = False,
    ) -> None:
        self._names = list(names)
        self.sources, self.gold = find_sources(names, own), find_sources(job.data, gold=True)
        self.job = job.of_files(len(self.sources))
        self.limit, self.shard = limit, shard
        for source in self.sources:
            if twice and not source.regular:
                raise UsageError(f"{source.path} cannot be read twice, which --lengths does: name a file")
            if shard is not None and not source.regular:
                raise UsageError("stdin and pipes cannot be cut into shards: name a file")
        self.filters = [filter_in(each, job) if each.regular else job.filter for each in self.sources]
        self._firsts: dict[int, Block] = {}
        """The first block of each source that was read; its place is known once it is scored."""

    def default_output(self) -> str:
        """The default output: ``INPUT.scored.jsonl`` beside a single input; stdout for an open file of this
        process, such as stdin. Raises `UsageError` for several inputs, where none is obvious."""
        (name, *more) = self._names
        if not more and (name == STDIN or name.startswith(OF_PROCESS)):
            return STDIN
        if not more and os.path.isdir(name):
            return f"{name.rstrip('/')}.scored.jsonl"
        if len(self.sources) != 1:
            raise UsageError("several inputs: say where the rows go with -o")
        return f"{self.sources[0].path}.scored.jsonl"

    @property
    def filter_names(self) -> list[str]:
        """The filters without repeats, in the order of the sources."""
        return list(dict.fromkeys(name for name in self.filters if name is not None))

    @property
    def total_bytes(self) -> int:
        """The sum of the sizes; 0 if one is not known before it is read, or not all is read."""
        if self.limit is not None or self.shard is not None:
            return 0
        seekable = all(source.seekable for source in self.sources)
        return sum(os.stat(source.path).st_size for source in self.sources) if seekable else 0

    def blocks(self, *, counted: bool = True) -> Iterator[Block]:
        """The blocks that are read, in order. They need not be ``counted`` if all
        are read, and can be read again. Raises as
        `relfast.engine.files.io.reader.blocks`."""
        # what was read of a pipe cannot be cut anew
        once = not all(source.regular for source in self.sources)
        todo = self._all_blocks(counted=counted or once or self.limit is not None or self.shard is not None)
        if self.limit is not None:
            todo = first_lines(todo, self.limit)
        return todo if self.shard is None else self._part(todo, *self.shard)

    def blocks_from(self, block: Block) -> Iterator[Block]:
        """The blocks of a run that reads all, cut and counted anew from the beginning of ``block``."""
        return self._all_blocks(Position(block.seq, block.source, block.start, block.first_index))

    def _all_blocks(self, begin: Position | None = None, *, counted: bool = True) -> Iterator[Block]:
        filters, names = self.filters, self.job.dialect in _NAMED_IN
        looks = [names and not source.regular for source in self.sources]
        for block in blocks(self.sources, self.job.max_line_bytes, begin, counted=counted):
            at = block.source
            if not block.start:
                self._firsts[at] = block
            if looks[at] and filters[at] is None and block.data and block.start < FILTER_BYTES:
                filters[at] = _first(_whole_lines(block.data, FILTER_BYTES - block.start), self.job)
            block.filter = filters[at]
            yield block

    def _part(self, todo: Iterator[Block], number: int, count: int) -> Iterator[Block]:
        *starts, total = accumulate(map(_length, self.sources), initial=0)
        for block in todo:
            # the min: a block may start at the very end, for the row that reports a broken stream
            at = (starts[block.source] + block.start) * count // max(1, total)
            if min(at, count - 1) == number:
                yield block

    def place(self, source: int, index: int) -> str:
        """Where the line of this index is, for messages: its number, behind the file's name if there are
        several."""
        line = index - (self._firsts[source].first_index if source in self._firsts else 0) + 1
        return f"{self.sources[source].path}:{line}" if len(self.sources) > 1 else str(line)

    def fingerprint(self) -> dict[str, Any]:
        """Everything that decides the bytes of the output. Raises `InputError` if a file cannot be read."""
        return fingerprint(
            self.job,
            self.gold,
            self.sources,
            limit=self.limit,
            shard=self.shard,
            filters=list(self.filters),
        )

    def grown_since(
        self, before: Mapping[str, Any], now: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], list[str]]:
        """The fingerprint of an earlier run, brought up to inputs that have only grown since (the digest of
        their old bytes is the same), and a remark on each. Parts of an input are other parts then."""
        remarks: list[str] = []
        old, new = before.get("input"), now.get("input")
        if not isinstance(old, Mapping) or not isinstance(new, Mapping) or self.shard is not None:
            return before, remarks
        inputs = dict(old)
        for number, source in enumerate(self.sources):
            was, present = (run.get(str(number), {}) for run in (old, new))
            if source.codec not in _GROWING or not was.get("size", source.size) < source.size:
                continue
            if _digest(source.path, was["size"]) == was["content"]:
                inputs[str(number)] = present
                sizes = f"from {was['size']:,} to {source.size:,} bytes"
                remarks.append(
                    f"{source.path} has grown {sizes} since it was scored; what was appended is, too, now"
                )
        return {**before, "input": inputs}, remarks

    def growing(self) -> list[str]:
        """A remark on each file that has grown since it was found, as a run reads its length at the start."""
        remarks = []
        for source in self.sources if self.limit is None else ():
            try:
                size = os.stat(source.path).st_size if source.regular else 0
            except OSError:
                continue  # it was moved after it had been read to its end
            if size > source.size:
                sizes = f"from {source.size:,} to {size:,} bytes"
                remarks.append(
                    f"{source.path} grew {sizes} while it was scored; --resume goes on with what was appended"
                )
        return remarks


_GROWING: Final = ("plain", "csv", *PACKINGS)
"""Codecs of files to which lines can be appended."""


WHOLE_BYTES: Final = 16 * 2**20
_SAMPLES: Final = 64
_SAMPLE_BYTES: Final = 1 << 14
"""The digest of a file of up to 16 MB covers all of its bytes (5 ms). That of a larger one covers 64 pieces
of 16 kB, spread evenly and including both ends (1 ms); its size is compared too, and where its lines end,
since a resumed run counts them. Streams are checked by `relfast.engine.columns.blocks.Block.checksum`."""


def fingerprint(job: Job, gold: Sequence[Source], sources: Sequence[Source], **more: Any) -> dict[str, Any]:
    """Everything that decides the bytes of an output, compared before a run is resumed.

    Raises
    ------
    InputError
        A file cannot be read.
    """
    return {
        **versions(),
        "option": job.decides(),
        "gold": [_digest(source.path, whole=True) for source in gold],
        "number of inputs": len(sources),
        "input": {
            str(number): {"size": source.size, "content": _digest(source.path, source.size)}
            if source.regular
            else {"path": source.path}
            for number, source in enumerate(sources)
        },
        PATHS: {
            f"{what} {number}": source.path
            for what, files in (("input", sources), ("gold", gold))
            for number, source in enumerate(files)
        },
        **more,
    }


def _digest(path: str, size: int | None = None, *, whole: bool = False) -> str:
    """CRC-32 of a file's bytes (of the first ``size``), or of samples of a large file (see `WHOLE_BYTES`)."""
    total = 0
    with told_of(path), open(path, "rb") as file:
        size = file.seek(0, 2) if size is None else size
        if whole or size <= WHOLE_BYTES:
            file.seek(0)
            while size > 0 and (piece := file.read(min(size, 1 << 20))):
                total = crc32(piece, total)
                size -= len(piece)
        else:
            step = (size - _SAMPLE_BYTES) // (_SAMPLES - 1)
            for at in range(0, size - _SAMPLE_BYTES + 1, step):
                file.seek(at)
                total = crc32(file.read(_SAMPLE_BYTES), total)
    return f"{total:08x}"


# filters of lm-evaluation-harness

FILTER_BYTES: Final = 1 << 20
"""Size of an input's head in (decompressed) bytes; a filter is looked for in the whole lines within it."""

_FILTER_ROWS: Final = 64
"""Size of the head of a Parquet file, in rows."""

_KEY: Final = b'"filter"'
_NAMED_IN: Final = ("auto", "lm-eval")
"""Dialects whose rows may name a filter."""


def filter_in(source: Source, job: Job) -> str | None:
    """The filter whose rows of a file are scored: that of ``--filter``, or the first one in the file's head;
    None if it names none. Raises `InputError` or `ReadError` if the file cannot be read."""
    if job.filter is not None or job.dialect not in _NAMED_IN:
        return job.filter
    if source.codec == "parquet":
        return _first(first_rows(source.path, _FILTER_ROWS, columns=("doc", "filter")), job)
    # damage is reported by an output row when the source is scored
    with contextlib.suppress(Damaged), source.open() as stream:
        return _first(_whole_lines(stream.read(FILTER_BYTES + 1), FILTER_BYTES), job)
    return None


def _first(lines: Iterable[bytes], job: Job) -> str | None:
    for line in lines:
        if _KEY in line:
            with contextlib.suppress(Undecodable):
                name = filter_of(decode_object(line), job.dialect)
                if name is not None:
                    return name
    return None


def _whole_lines(data: bytes, length: int) -> list[bytes]:
    """The lines that end within the first ``length`` bytes."""
    lines = data[:length].split(b"\n")
    if len(data) > length:
        lines.pop()
    return lines


def _length(source: Source) -> int:
    """The length of a source in the unit of `Block.start`: (decompressed) bytes, or rows of Parquet."""
    if source.codec == "parquet":
        return count_rows(source.path)
    if source.seekable:
        return Path(source.path).stat().st_size
    length = 0
    with contextlib.suppress(Damaged), source.open() as stream:
        for piece in stream.pieces:
            length += len(piece)
    return length
