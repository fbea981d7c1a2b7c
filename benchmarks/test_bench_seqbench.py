"""SeqBench: text to metrics, and a whole dump."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .floors import decode
from .measure import against, size
from .workloads_seqbench import write_seqbench_dump


def test_dump_against_decode_floor(
    tmp_path: Path, benchmark: Any, relfast_command: Callable[..., None]
) -> None:
    """Responses over 500 instances with structural_details in full (100,000 make 2.4 GB)."""
    n = size(benchmark, smoke=40, quick=4_000, full=100_000)
    path, out = tmp_path / "dump.jsonl", tmp_path / "out.jsonl"
    n_bytes = write_seqbench_dump(path, n, n_instances=min(n, 500))
    against(
        benchmark,
        lambda: relfast_command("score", path, "-o", out, "--overwrite", "-q", "--workers", 2),
        lambda: decode(path),
        task=f"relfast score, SeqBench rows with structural_details, {n:,} responses, {min(n, 500)} mazes",
        items=n,
        n_bytes=n_bytes,
        workers=2,
        check=lambda *_: out.read_bytes().count(b'"status":"ok"') > n // 2,
    )
    path.unlink()
