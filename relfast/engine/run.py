"""A whole run: sources → blocks → scores → rows, in order, resumable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Protocol

import orjson

from relfast import __version__
from relfast.engine.block_scoring import BlockScoring, Segment
from relfast.engine.block_tasks import score_on_pool
from relfast.engine.job import Job
from relfast.engine.pool import Pool
from relfast.engine.reader import Block, Position, blocks
from relfast.engine.rows import read_gold
from relfast.engine.scoring import Scoring
from relfast.engine.sources import STDIN, Source
from relfast.engine.writer import FileWriter, StdoutWriter, Writer
from relfast.records import Score
from relfast.signature import signature, version
from relfast.stats import Summary, Tally, summarize, votes_of, with_votes
from relfast.tasks import TASKS

_DIGEST_BYTES: Final = 1 << 16


@dataclass(slots=True)
class Progress:
    """How far a run is; given to the progress callback after each block.

    ``total_bytes`` is 0 where the input's size is not known.
    """

    done_bytes: int = 0
    total_bytes: int = 0
    rows: int = 0
    invalid: int = 0
    timeouts: int = 0
    crashes: int = 0
    resumed_bytes: int = 0
    started: float = 0.0


class Blocks(Protocol):
    """Scores blocks: in-process, or on a pool. Yields each block with its segments, in order."""

    def __call__(self, todo: Iterator[Block]) -> Iterator[tuple[Block, list[Segment]]]: ...


@contextmanager
def in_process(job: Job) -> Iterator[Blocks]:
    """Score in this process (``--workers 0``): nothing can be killed, so a hang stays a hang."""
    scoring = BlockScoring(Scoring(job, read_gold(job.data)))

    def score(todo: Iterator[Block]) -> Iterator[tuple[Block, list[Segment]]]:
        for block in todo:
            yield block, list(scoring.segments(block))

    yield score


@contextmanager
def on_pool(job: Job, workers: int, *, large: bool) -> Iterator[Blocks]:
    """Score on worker processes, which are gone when the context is left."""
    pool = Pool(job, workers, large=large)
    try:
        yield partial(score_on_pool, pool)
    finally:
        pool.close()


def fingerprint(job: Job, sources: Sequence[Source], **more: Any) -> dict[str, Any]:
    """All that decides the bytes of the output."""
    return {
        "relfast": __version__,
        "scorers": {name: task.revision for name, task in TASKS.items()},
        "rdkit": version("rdkit"),
        "options": job.decides(),
        "input": [{"path": source.path, **_content(source.path)} for source in sources],
        **more,
    }


def _content(path: str) -> dict[str, Any]:
    """Size and a digest of both ends: enough to notice another file, cheap for any size."""
    if path == STDIN or not Path(path).is_file():
        return {}
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        digest = blake2b(file.read(_DIGEST_BYTES), digest_size=12)
        file.seek(max(0, size - _DIGEST_BYTES))
        digest.update(file.read(_DIGEST_BYTES))
    return {"size": size, "digest": digest.hexdigest()}


def open_output(
    path: str, job: Job, sources: Sequence[Source], *, resume: bool, overwrite: bool, **more: Any
) -> Writer:
    """The writer of an output path; ``-`` is stdout."""
    if path == STDIN:
        return StdoutWriter()
    return FileWriter(path, fingerprint(job, sources, **more), resume=resume, overwrite=overwrite)


def run(
    job: Job,
    sources: Sequence[Source],
    writer: Writer,
    score: Blocks,
    *,
    limit: int | None = None,
    keep: Callable[[Block], bool] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Score everything from the writer's position on; returns the summary of the whole output.

    ``limit`` is a number of input lines, ``keep`` chooses the blocks of a shard. Raises what reading and
    writing raise; rows written before are whole and committed.
    """
    tally = _tally_of(writer)
    state = Progress(started=time.monotonic(), total_bytes=sum(map(_size, sources)))
    state.rows = tally.rows
    state.resumed_bytes = state.done_bytes = _done(sources, writer.start)
    todo = blocks(sources, writer.start, job.max_line_bytes)
    if limit is not None:
        todo = _first_lines(todo, limit)
    if keep is not None:
        todo = filter(keep, todo)
    for block, segments in score(todo):
        rows = b"".join([segment.rows for segment in segments])
        samples = b"".join([part for segment in segments for part in segment.tally.samples])
        for segment in segments:
            tally.merge(segment.tally)
        then = Position(block.seq + 1, block.source, block.end, block.first_index + block.n_lines)
        writer.write(rows, then, votes_of(samples))
        state.rows += sum(segment.n_rows for segment in segments)
        state.done_bytes += block.size
        state.invalid = tally.count("invalid_record")
        state.timeouts, state.crashes = tally.count("timeout"), tally.count("crashed")
        if progress is not None:
            progress(state)
    writer.finish()
    summary = summarize(tally, signature(job, [name for name in TASKS if name in tally.tasks]))
    summary.seconds = round(time.monotonic() - state.started, 3)
    return summary


def _size(source: Source) -> int:
    return Path(source.path).stat().st_size if source.seekable else 0


def _done(sources: Sequence[Source], start: Position) -> int:
    return sum(map(_size, sources[: start.source])) + (start.offset if start.offset else 0)


def _first_lines(todo: Iterator[Block], limit: int) -> Iterator[Block]:
    for block in todo:
        left = limit - block.first_index
        if left <= 0:
            return
        block.n_lines = min(block.n_lines, left)
        yield block


def _tally_of(writer: Writer) -> Tally:
    """What the rows written before a resume come to: counted again from the rows, votes from the journal."""
    tally = Tally()
    if not isinstance(writer, FileWriter) or not writer.commits:
        return tally
    commits = iter(writer.commits)
    commit = next(commits)
    index_limit = commit.position.index
    pending: list[Score] = []

    def flush() -> None:
        part = Tally.of(pending)
        part.samples = [with_votes(b"".join(part.samples), commit.votes)]
        tally.merge(part)
        pending.clear()

    for line in writer.written_rows():
        row = orjson.loads(line)
        while row["index"] >= index_limit:
            flush()
            commit = next(commits)
            index_limit = commit.position.index
        pending.append(Score(**row))
    flush()
    return tally
