"""Shards of inputs: cut by the driver, counted and scored on nodes.

A shard is a byte range of plain JSONL, or else a whole file. A line belongs to the range in which it begins.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal

from relfast import __version__
from relfast.distributed.storage import Folder, at_hand, first_bytes, head, is_url, size_and_version
from relfast.embed import THREADS_VARIABLE
from relfast.engine.columns.blocks import Block, Blocks
from relfast.engine.columns.scoring import EMBEDDED
from relfast.engine.files.block_scoring import expand
from relfast.engine.files.first_causes import FirstCauses
from relfast.engine.files.inputs import FILTER_BYTES, filter_in
from relfast.engine.files.io.codecs import LINES, Codec
from relfast.engine.files.io.reader import cut_file, cut_parquet, cut_stream, first_lines
from relfast.engine.files.io.recognise import check_foreign, codec_of
from relfast.engine.files.io.sources import Source
from relfast.engine.files.io.writer import Commit, FileWriter
from relfast.engine.files.score_files import in_process, on_pool
from relfast.engine.job import Job
from relfast.engine.signature import embedder_of, packages_of, version
from relfast.errors import InputError, ReadError, UsageError
from relfast.json_text import encode_json
from relfast.stats.tally import Tally, TaskTally
from relfast.stats.unusable import Cause, Unusable
from relfast.tasks import TASKS

NOTES: Final = "_parts"
"""Folder of the notes of complete shards, one file each."""

MOST: Final = 10_000
"""Most causes of unusable records kept for a shard; a run reports only the most frequent of all."""

_SCAN: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Shard:
    """Lines of one input that become one file of rows.

    ``path`` is absolute or a URL, ``version`` a text that changes with the file, ``size`` its bytes;
    ``start`` and ``end`` are bytes. What counting finds: ``number`` of the shard, ``n_lines``, how many lines
    of the run (``first_index``) and of its input (``line``) come before it, and how many of its lines are
    scored (``take``; -1: all). ``filter`` is that of lm-evaluation-harness.
    """

    source: int
    path: str
    codec: Codec
    size: int
    version: str
    start: int
    end: int
    filter: str | None = None
    number: int = 0
    n_lines: int = 0
    first_index: int = 0
    line: int = 0
    take: int = -1

    def __str__(self) -> str:
        return f"{self.path} bytes {self.start}-{self.end}"


def cut(paths: Sequence[str], job: Job, shard_bytes: int) -> list[Shard]:
    """The shards of some paths or URLs, in order, of about so many bytes of plain JSONL. A file that cannot
    be opened is included; its shards fail later. Raises `InputError` if relfast does not read a format."""
    shards: list[Shard] = []
    for source, name in enumerate(paths):
        path = name if is_url(name) else os.path.abspath(name)
        size, file_version = size_and_version(path)
        try:
            start = first_bytes(path)
        except InputError:
            start = b""  # reported when it is counted
        codec = codec_of(path, start)
        if start and not is_url(path):
            check_foreign(path, start, codec)
        step = shard_bytes if codec == "plain" else max(1, size)
        whole = Shard(source, path, codec, size, file_version, 0, size)
        shards += [replace(whole, start=at, end=min(at + step, size)) for at in range(0, size, step)]
        if not size and codec != "plain":
            shards.append(whole)
    return shards


def place(counted: Iterable[Shard], limit: int | None) -> Iterator[Shard]:
    """Number the shards that have lines, up to ``limit`` of these, and give each the index of its first."""
    number = at = 0
    starts: dict[int, int] = {}
    filters: dict[int, str | None] = {}
    for shard in counted:
        left = -1 if limit is None else limit - at
        chosen = filters.setdefault(shard.source, shard.filter)  # that of the beginning of the input
        if shard.n_lines and left:
            line = at - starts.setdefault(shard.source, at)
            take = -1 if limit is None else min(left, shard.n_lines)
            yield replace(shard, number=number, first_index=at, line=line, take=take, filter=chosen)
            number += 1
            at += shard.n_lines if take < 0 else take


# on a node


@dataclass(frozen=True, slots=True)
class Assignment:
    """What every node is told of a run. ``workers`` are the processes that score a shard (0: none but the
    task's own)."""

    job: Job
    workers: int
    folder: Folder


Method = Literal["count", "score"]


def versions() -> dict[str, str]:
    """Versions of all packages that can change rows, so they must be equal on all nodes."""
    return {"relfast": __version__, **{name: version(name) for name in packages_of(TASKS.values())}}


def answer(wanted: dict[str, str], pickled: bytes, method: Method, shard: Shard) -> Any:
    """What a Ray task does: returns the shard, counted, or its `Done` once it is scored. ``pickled`` is an
    `Assignment`, which is unpickled only if the node's `versions` are the ``wanted`` ones.

    Raises
    ------
    UsageError
        The node has other versions, or does not see the output folder.
    InputError, OutputError
        The shard cannot be read, or has changed since it was cut; its rows cannot be written.
    """
    host = socket.gethostname()
    for name, here in versions().items():
        if here != wanted.get(name):
            raise UsageError(
                f"node {host} has {name} {here}, the driver {wanted.get(name)}: install the same"
            )
    run: Assignment = pickle.loads(pickled)
    if not is_url(run.folder.path) and not os.path.isdir(run.folder.path):
        raise UsageError(f"node {host} does not see the output: name a folder that all nodes share, or a URL")
    if method == "count":
        return count(shard, run.job)
    return score(shard, run.job, kept_pool(pickled)[1], run.folder)


@lru_cache(maxsize=1)
def kept_pool(pickled: bytes) -> tuple[object, Blocks]:
    """The pool of an assignment, and its function that scores blocks. It serves all shards that this process
    gets, and ends with the process, or when the process gets a shard of another run."""
    run: Assignment = pickle.loads(pickled)
    be_modest()
    pool = on_pool(run.job, run.workers) if run.workers else in_process(run.job)
    return pool, pool.__enter__()


def be_modest() -> None:
    """Limit the threads of embedding models in this process and its workers."""
    # by default a model uses a thread for every core of the node, and every worker loads a copy of its own
    os.environ.setdefault(THREADS_VARIABLE, "1")


def count(shard: Shard, job: Job) -> Shard:
    """The shard from the first line to the last that begin in it, with their number, and with the filter if
    it is the first of its input. Raises `InputError` if it cannot be read."""
    _check_unchanged(shard)
    if shard.codec == "plain":
        shard = replace(shard, start=_line_start(shard, shard.start), end=_line_start(shard, shard.end))
    # the filter is read from the first bytes of an input
    least = FILTER_BYTES + 1 if shard.start == 0 else 0
    with at_hand(shard.path, shard.start, min(max(shard.end, least), shard.size)) as (path, offset):
        if shard.start == 0:
            source = Source(path, shard.codec, seekable=shard.codec == "plain")
            shard = replace(shard, filter=filter_in(source, job))
        elif job.filter is not None:
            shard = replace(shard, filter=job.filter)
        return replace(shard, n_lines=sum(block.n_lines for block in _blocks(shard, path, offset, job)))


def _line_start(shard: Shard, at: int) -> int:
    """The start of the first line that begins at byte ``at`` or later; the input's size without one."""
    if at == 0:
        return 0
    at -= 1
    while piece := head(shard.path, _SCAN, at):
        end = piece.find(b"\n")
        if end >= 0:
            return at + end + 1
        at += len(piece)
    return shard.size


def _blocks(shard: Shard, path: str, offset: int, job: Job) -> Iterator[Block]:
    """The blocks of a shard's lines, which the file ``path`` holds from byte ``offset`` of the input on."""
    if shard.codec == "plain":
        return cut_file(path, job.max_line_bytes, shard.start - offset, shard.end - offset)
    if shard.codec == "parquet":
        return cut_parquet(path, job.max_line_bytes)
    return cut_stream(Source(os.path.abspath(path), shard.codec), job.max_line_bytes)


def _check_unchanged(shard: Shard) -> None:
    if size_and_version(shard.path) != (shard.size, shard.version):
        raise InputError("it has changed since the run began", file=shard.path)


def _to_score(shard: Shard, blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks with their source, filter and indices in the run, up to ``shard.take`` lines."""
    at = shard.first_index
    for block in blocks if shard.take < 0 else first_lines(blocks, shard.take):
        block.source, block.filter = shard.source, shard.filter
        block.place(at)
        yield block
        at += block.n_lines
    if shard.take < 0 and at != shard.first_index + shard.n_lines:
        raise ReadError("it changed while it was read", file=shard.path)


def score(shard: Shard, job: Job, score_blocks: Blocks, folder: Folder) -> Done:
    """Score a shard. When this returns, its rows and its note are in the folder. Raises as `answer`."""
    _check_unchanged(shard)
    tally = Tally()
    before = shard.first_index - shard.line
    causes = FirstCauses(job, lambda _, index: str(index - before + 1), Unusable(MOST))
    done = Done(shard, f"part-{shard.number:06}{suffix_of(folder)}", tally, causes.unusable)
    with (
        folder.draft(done.file) as path,
        closing(FileWriter(path, {}, resume=False, overwrite=False)) as writer,
        at_hand(shard.path, shard.start, shard.end) as (copy, offset),
    ):
        for block, segments in score_blocks(_to_score(shard, _blocks(shard, copy, offset, job))):
            writer.write(b"".join([segment.rows for segment in segments]), Commit(0, block.then))
            for segment in segments:
                tally.merge(segment.tally)
                if segment.tally.count("invalid_record"):
                    causes.rows(segment.rows, block)
        writer.finish(tally.rows)
        expand(tally, job)
        done.size = os.path.getsize(path)
    done.embedder = embedder_of(job) if EMBEDDED & tally.tasks.keys() else ""
    folder.write(done.note, done.to_json())
    return done


def suffix_of(folder: Folder) -> str:
    """How the names of files of rows end in a folder."""
    return next((suffix for suffix in (*LINES, ".parquet") if folder.path.endswith(suffix)), ".jsonl")


@dataclass(slots=True)
class Done:
    """A shard whose ``file`` of rows, of ``size`` bytes, is complete: the content of its note.

    ``embedder`` is the embedding model that its scores depend on ("" without one). Places in ``unusable`` are
    line numbers in the input.
    """

    shard: Shard
    file: str
    tally: Tally
    unusable: Unusable
    size: int = 0
    embedder: str = ""

    @property
    def note(self) -> str:
        return f"{NOTES}/{self.shard.number:06}.json"

    def to_json(self) -> bytes:
        return encode_json(
            {
                "file": self.file,
                "size": self.size,
                "embedder": self.embedder,
                "shard": asdict(self.shard),
                "tasks": {name: asdict(task) for name, task in self.tally.tasks.items()},
                "unusable": [[*key, asdict(cause)] for key, cause in self.unusable.causes.items()],
                "samples": base64.b64encode(self.tally.samples).decode("ascii"),
            }
        )

    @classmethod
    def before(cls, folder: Folder, shard: Shard) -> Done | None:
        """What an earlier run has done of a shard; None if its note is of another one or torn, or its rows
        are not as many bytes as that says."""
        try:
            # sums are integers longer than orjson reads
            note: Any = json.loads(folder.read(f"{NOTES}/{shard.number:06}.json") or b"")
            tasks = {name: TaskTally(**task) for name, task in note["tasks"].items()}
            tally = Tally(tasks, bytearray(base64.b64decode(note["samples"])))
            unusable = Unusable.of({(a, b): Cause(**cause) for a, b, cause in note["unusable"]})
            done = cls(shard, note["file"], tally, unusable, note["size"], note["embedder"])
            size, _ = size_and_version(folder.join(done.file))
        except (ValueError, KeyError, TypeError, ReadError):
            return None
        return done if (note["shard"], size) == (asdict(shard), done.size) else None
