"""Dumps as other programs write them: the whole command on two workers, against the decode floor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from .floors import decode
from .measure import against, size
from .workloads_dumps import DUMPS, Dump


@pytest.mark.parametrize("kind", DUMPS)
def test_dump_against_decode_floor(
    kind: str, tmp_path: Path, benchmark: Any, relfast_command: Callable[..., None]
) -> None:
    dump = DUMPS[kind]
    n = size(benchmark, smoke=80, quick=20_000, full=100_000) // dump.samples
    path, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    n_bytes = dump.write(path, n)
    against(
        benchmark,
        lambda: relfast_command(
            "score", path, "-o", out, "--overwrite", "-q", "--workers", 2, *dump.arguments(path)
        ),
        lambda: decode(path),
        task=f"relfast score, {kind}, {n * dump.samples:,} responses",
        items=n * dump.samples,
        n_bytes=n_bytes,
        workers=2,
        limit=1.0,
        rounds=3,
        check=lambda *_: _is_whole(out.read_bytes(), n, dump),
    )


def _is_whole(rows: bytes, n_lines: int, dump: Dump) -> bool:
    """Whether there are rows of all lines."""
    n_rows, last = rows.count(b"\n"), orjson.loads(rows[rows.rfind(b"\n", 0, -1) + 1 :])
    # a request that failed as a whole has one row, whatever number of samples was asked for
    least = n_lines * dump.samples if dump.failed is None else n_lines
    return last["index"] == n_lines - 1 and least <= n_rows <= n_lines * dump.samples
