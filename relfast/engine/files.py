"""Scoring files: inputs found, output opened, blocks scored, shards cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from relfast.engine.job import Job
from relfast.engine.pool import usable_cores
from relfast.engine.reader import Block
from relfast.engine.run import Progress, in_process, on_pool, open_output, run
from relfast.engine.sources import STDIN, Source, find_sources
from relfast.engine.text_lane import compile_in_background, serves
from relfast.errors import UsageError
from relfast.stats import Summary

LARGE_BYTES: Final = 32 * 2**20
"""Input from which workers load the text lane at once, and a first run has its kernels compiled in the
background (10 s of one core)."""


def default_output(inputs: Sequence[str]) -> str:
    """``INPUT.scored.jsonl`` beside the one input; stdout for stdin.

    Raises
    ------
    UsageError
        There are several inputs, so that no name is the obvious one.
    """
    if list(inputs) == [STDIN]:
        return STDIN
    if len(inputs) != 1:
        raise UsageError("several inputs: say where the rows go with -o")
    return f"{inputs[0].rstrip('/')}.scored.jsonl"


def score_files(
    inputs: Sequence[str],
    output: str | None,
    job: Job,
    *,
    workers: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    limit: int | None = None,
    shard: tuple[int, int] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """See `relfast.score_file`."""
    if resume and overwrite:
        raise UsageError("--resume and --overwrite exclude each other")
    output = default_output(inputs) if output is None else output
    sources = find_sources(inputs)
    if output != STDIN and any(_same_file(source.path, output) for source in sources):
        raise UsageError(f"{output} is an input; rows would overwrite it")
    keep = None if shard is None else _shard(sources, *shard)
    writer = open_output(output, job, sources, resume=resume, overwrite=overwrite, limit=limit, shard=shard)
    workers = usable_cores() if workers is None else workers
    large = sum(Path(source.path).stat().st_size for source in sources if source.seekable) >= LARGE_BYTES
    if large and workers and serves(job):
        compile_in_background()
    try:
        with on_pool(job, workers, large=large) if workers else in_process(job) as score:
            summary = run(job, sources, writer, score, limit=limit, keep=keep, progress=progress)
    finally:
        writer.close()
    summary.output = output
    return summary


def _same_file(a: str, b: str) -> bool:
    return a != STDIN and Path(a).exists() and Path(b).exists() and Path(a).samefile(b)


def _shard(sources: Sequence[Source], number: int, count: int) -> Callable[[Block], bool]:
    """Which blocks a shard keeps: contiguous ranges of bytes, so that shards concatenate to the whole.

    Raises
    ------
    UsageError
        The shard does not exist, or the input has no known size.
    """
    if not 0 <= number < count:
        raise UsageError(f"shard {number}/{count} does not exist: I counts from 0 to N-1")
    if any(source.path == STDIN for source in sources):
        raise UsageError("stdin cannot be cut into shards: name a file")
    starts, total = [], 0
    for source in sources:
        starts.append(total)
        total += _length(source)

    def keep(block: Block) -> bool:
        return (starts[block.source] + block.start) * count // max(1, total) == number

    return keep


def _length(source: Source) -> int:
    """Length in the unit of its blocks: bytes, decompressed where compressed, or row groups."""
    if source.codec == "parquet":
        from relfast.engine.parquet import row_groups

        return sum(1 for _ in row_groups(source.path, 0))
    if source.seekable:
        return Path(source.path).stat().st_size
    from relfast.engine.sources import Damaged

    length = 0
    with source.open() as stream:
        try:
            while chunk := stream.read(1 << 20):
                length += len(chunk)
        except Damaged:
            pass
    return length
