"""Many rows into one file, on several cores: the same bytes for any number of them.

Mazes are made in chunks of fixed size, and each chunk is compressed by itself (members of a gzip file and
frames of a zstandard file may follow each other), so nothing depends on who makes what.
"""

from __future__ import annotations

import gzip
import multiprocessing
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Final, NamedTuple

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

MANY: Final = 20
"""Mazes of one kind from which it is said that they leave a part of their bounds empty."""

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
    depths: set[int] = set()
    with whole_file(output, overwrite=overwrite) as file:
        blocks = _blocks(total, seed, kinds, _codec(output), workers)
        for number, block in enumerate(blocks, 1):
            file.write(block.data)
            depths |= block.depths
            if progress is not None:
                progress(min(number * CHUNK, total) // len(kinds))
    if n >= MANY and len(kinds) == 1:
        _tell_of_gaps(kinds[0][0].L, depths)
    return n * len(chosen)


class _Block(NamedTuple):
    """A chunk of the file, and the depths of its rows."""

    data: bytes
    depths: set[int]


def _tell_of_gaps(bounds: int | tuple[int, int] | None, depths: set[int]) -> None:
    """Say where the mazes leave a tenth or more of the bounds of L empty at an end: a size has its depths."""
    if bounds is None or isinstance(bounds, int) or not depths:
        return
    low, high = bounds
    if 10 * max(min(depths) - low, high - max(depths)) >= high - low + 1:
        warnings.warn(
            f"relfast: L goes from {min(depths)} to {max(depths)}, not {low} to {high}: mazes of one size"
            " have no others; --cover fills the bounds evenly",
            RuntimeWarning,
            stacklevel=3,
        )


def _codec(output: str) -> str:
    if output.endswith(".zst"):
        try:
            import zstandard  # noqa: F401 -- whether it is there
        except ImportError:
            raise MissingExtraError("writing .zst files", "zstd") from None
        return "zst"
    return "gz" if output.endswith(".gz") else ""


def _blocks(n: int, seed: int, kinds: _Kinds, codec: str, workers: int) -> Iterator[_Block]:
    """The file's bytes, chunk by chunk, in order."""
    chunks = [(seed, low, min(low + CHUNK, n), kinds, codec) for low in range(0, n, CHUNK)]
    workers = min(workers, len(chunks))
    if workers <= 1:
        yield from map(_make, chunks)
        return
    # spawned, not forked: the caller may have threads
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        waiting: deque[Future[_Block]] = deque()
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


def _make(chunk: tuple[int, int, int, _Kinds, str]) -> _Block:
    seed, low, high, kinds, codec = chunk
    rows = [
        make_row(maze_seed(seed, index), settings)
        for index in range(low, high)
        for settings in kinds[index % len(kinds)]
    ]
    depths = {row["complexity_parameters"]["logical_depth_L"] for row in rows}
    data = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    if codec == "gz":
        return _Block(gzip.compress(data, GZIP_LEVEL, mtime=0), depths)
    if codec == "zst":
        import zstandard

        return _Block(zstandard.compress(data), depths)
    return _Block(data, depths)
