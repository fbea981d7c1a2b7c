"""Dumps as other programs write them: the whole command on two workers, against the decode floor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .floors import decode
from .measure import against, size
from .workloads_dumps import DUMPS


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
        check=lambda *_: out.read_bytes().count(b"\n") == n * dump.samples,
    )
