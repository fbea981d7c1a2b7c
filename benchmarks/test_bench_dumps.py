"""Dumps as other programs write them: the whole command on two workers, against the decode floor and against
one worker."""

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


def test_two_workers_against_one_on_text(
    tmp_path: Path, benchmark: Any, relfast_command: Callable[..., None]
) -> None:
    """A dump so large that it is throughput that counts: start and end are the same for any number of workers."""
    dump = DUMPS["native"]
    n = size(benchmark, smoke=80, quick=100_000, full=1_000_000) // dump.samples
    path = tmp_path / "dump.jsonl"
    n_bytes = dump.write(path, n)
    outs = {workers: tmp_path / f"{workers}.jsonl" for workers in (1, 2)}

    def run(workers: int) -> None:
        relfast_command("score", path, "-o", outs[workers], "--overwrite", "-q", "--workers", workers)

    against(
        benchmark,
        lambda: run(2),
        lambda: run(1),
        task=f"2 workers against 1, native, {n * dump.samples:,} responses",
        items=n * dump.samples,
        n_bytes=n_bytes,
        workers=2,
        name="vs",
        limit=1.8,
        at_least=True,
        rounds=3,
        check=lambda *_: outs[1].read_bytes() == outs[2].read_bytes(),
    )
