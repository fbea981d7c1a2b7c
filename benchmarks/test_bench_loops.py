"""Against the scoring loops that people have: lm-evaluation-harness's and verl's, whole commands on the same work.

As many responses as RELFAST_BENCH_RESPONSES says (100,000); `benchmarks.loops` has the work, where the loops are
found, and a command of its own that runs all three on a million.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from .loops import KIND, LOOPS, WORKERS, is_there, is_whole, score, write_work
from .measure import against, size

RESPONSES: Final = int(os.environ.get("RELFAST_BENCH_RESPONSES", "100000"))


@pytest.mark.trainers
@pytest.mark.parametrize("name", LOOPS)
def test_against(name: str, tmp_path: Path, benchmark: Any, relfast_command: Callable[..., None]) -> None:
    if not is_there(name):
        pytest.skip(f"{name}: not installed")
    work = write_work(tmp_path, size(benchmark, smoke=10 * KIND.samples, quick=8_000, full=RESPONSES))
    against(
        benchmark,
        lambda: relfast_command(*score(work)),
        LOOPS[name](work),
        task=f"relfast score --policy strict, 8 samples a prompt, {work.responses:,} responses, against {name}",
        items=work.responses,
        n_bytes=work.n_bytes,
        workers=WORKERS,
        name="vs",
        limit=10.0,
        at_least=True,
        rounds=1 if work.responses > 100_000 else 3,
        check=lambda *_: is_whole(work),
    )
