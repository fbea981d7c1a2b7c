"""Many rows into one file, on several cores: the same bytes for any number of them.

Mazes are made in chunks of fixed size, and each chunk is compressed by itself (members of a gzip file and
frames of a zstandard file may follow each other), so nothing depends on who makes what.
"""

from __future__ import annotations

import gzip
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Final

import orjson

from relfast.errors import MissingExtraError, WorkerError
from relfast.outputs import whole_file
from relfast.tasks.seqbench.cover import covering, mazes_of
from relfast.tasks.seqbench.generate import check_run, make_row, maze_seed
from relfast.tasks.seqbench.parameters import Parameters

CHUNK: Final = 32
"""Mazes made at once: 8 MB of text at 40 × 40. Changing it changes the bytes of compressed files."""

WAITING_PER_WORKER: Final = 2
"""Chunks made ahead of the one being written: bounds memory."""

GZIP_LEVEL: Final = 6

_Kinds = tuple[tuple[Parameters, ...], ...]
"""The variants of a maze, for each kind of maze."""


def write_rows(
    output: str,
    n: int,
    seed: int,
    variants: Sequence[Parameters],
    workers: int = 1,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write ``n`` mazes of each kind, each in all variants, as JSON lines; returns the number of rows.

    Variants that differ in noise and removed keys only are variants of one maze; others are of other kinds,
    and their mazes take turns. Variants that say ``cover`` become one of each bin (`covering`).

    ``output`` may end in ``.gz`` or ``.zst``; ``-`` is stdout. A file appears when it is whole.
    ``progress`` is told how many mazes of each kind are written.

    Raises
    ------
    UsageError
        A parameter is out of range, or no maze can carry B and L.
    OutputExistsError
        The file exists, and not ``overwrite``.
    OutputError
        It cannot be written.
    """
    chosen = covering(variants)
    kinds = tuple(map(tuple, mazes_of(chosen)))
    total = n * len(kinds)
    check_run(total, seed)
    blocks = _told(_blocks(total, seed, kinds, _codec(output), workers), total, len(kinds), progress)
    with whole_file(output, overwrite=overwrite) as file:
        for block in blocks:
            file.write(block)
    return n * len(chosen)


def _told(
    blocks: Iterator[bytes], n: int, n_kinds: int, progress: Callable[[int], None] | None
) -> Iterator[bytes]:
    for number, block in enumerate(blocks, 1):
        yield block
        if progress is not None:
            progress(min(number * CHUNK, n) // n_kinds)


def _codec(output: str) -> str:
    if output.endswith(".zst"):
        try:
            import zstandard  # noqa: F401
        except ImportError:
            raise MissingExtraError("writing .zst files", "zstd") from None
        return "zst"
    return "gz" if output.endswith(".gz") else ""


def _blocks(n: int, seed: int, kinds: _Kinds, codec: str, workers: int) -> Iterator[bytes]:
    """The file's bytes, chunk by chunk, in order."""
    chunks = [(seed, low, min(low + CHUNK, n), kinds, codec) for low in range(0, n, CHUNK)]
    workers = min(workers, len(chunks))
    if workers <= 1:
        yield from map(_make, chunks)
        return
    # spawned, not forked: the caller may have threads
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        waiting: deque[Future[bytes]] = deque()
        try:
            for chunk in chunks:
                waiting.append(pool.submit(_make, chunk))
                if len(waiting) > WAITING_PER_WORKER * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise WorkerError(f"a generating process died: {error}") from None
        finally:
            pool.shutdown(cancel_futures=True)


def _make(chunk: tuple[int, int, int, _Kinds, str]) -> bytes:
    seed, low, high, kinds, codec = chunk
    rows = [
        make_row(maze_seed(seed, index), settings)
        for index in range(low, high)
        for settings in kinds[index % len(kinds)]
    ]
    data = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    if codec == "gz":
        return gzip.compress(data, GZIP_LEVEL, mtime=0)
    if codec == "zst":
        import zstandard

        compressed: bytes = zstandard.compress(data)
        return compressed
    return data
