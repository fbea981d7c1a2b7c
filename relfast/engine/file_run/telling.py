"""What a run says of itself when it is asked to (``relfast score -v``): inputs, kernels, caches.

What happens meanwhile (workers that start, die, or are long at work on a record) is told where it happens.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing

from relfast.embed import CACHE_VARIABLE
from relfast.engine.io.sources import Source, lines_of
from relfast.engine.job import Job
from relfast.errors import RelfastError
from relfast.formats import detect
from relfast.formats.paths import MISSING, follow
from relfast.json_text import Undecodable, decode_object


def describe_ways(fast: int, exact: int, left: int) -> str:
    """How many lines took the fast path, how many of them it left to the ordinary way, and of how many of the
    others a response to the task's extractor."""
    asked = fast + exact
    if not asked:
        return "text fast path: not taken"
    told = (
        f"text fast path: {asked:,} lines, {exact:,} ({exact / asked:.2%}) of them left to the ordinary way"
    )
    return f"{told}, {left:,} ({left / asked:.2%}) to an extractor" if left else told


def describe_setting(job: Job, sources: Sequence[Source]) -> Iterator[str]:
    """Lines on what a run reads and what it has at hand."""
    for source in sources:
        yield f"input {source.path}: {_size(source)}{source.codec}, {_dialect(source, job)}"
    yield f"kernels: {_kernels(job)}"
    yield f"embedding cache ({CACHE_VARIABLE}): {os.environ.get(CACHE_VARIABLE) or 'off'}"


def _size(source: Source) -> str:
    return f"{os.stat(source.path).st_size:,} bytes, " if source.regular else ""


def _dialect(source: Source, job: Job) -> str:
    if job.dialect != "auto":
        return f"read as {job.dialect} (--input-format)"
    if not source.regular:
        return "dialect seen row by row"
    try:
        row = decode_object(_first_line(source))
    except (Undecodable, RelfastError, OSError):
        return "its first line is no record"
    mapped = {field: follow(row, path) for field, path in job.field_map.items()}
    row = {key: value for key, value in {**row, **mapped}.items() if value is not MISSING}
    return f"first record read as {detect(row)}"


def _first_line(source: Source) -> bytes:
    with closing(lines_of(source)) as lines:
        return next((line for line in lines if line.strip()), b"")


def _kernels(job: Job) -> str:
    from relfast_kernels.compiled import native
    from relfast_kernels.compiled.cache import base_directory

    from relfast.engine.text_table import can_hold

    missing = [unit for unit in native.UNITS if not native.is_built(unit)]
    where = f"in {base_directory() / 'native'}"
    if missing:
        return f"not compiled: {', '.join(missing)} (relfast warmup compiles them {where})"
    if not can_hold(job.field_map):
        return f"compiled {where}; these options score all lines the ordinary way"
    return f"compiled {where}; lines of the text tasks take the fast path"
