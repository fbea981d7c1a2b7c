"""Where an embedding model runs, workers take many lines at once, and their share of the cores."""

from __future__ import annotations

from typing import Any

import pytest
from engine_runs import honest

from relfast.cores import usable_cores
from relfast.engine.file_run.block_scoring import EMBED_LINES, SEGMENT_LINES, _Pace
from relfast.engine.job import Job
from relfast.engine.pool.pool import Pool
from relfast.engine.scoring import Scoring
from relfast.stats.summary import Tally

SOLUTION = "First 2 + 2 = 4.\n\nThen 4 + 1 = 5.\n\nSo \\boxed{5}."


def aligned(n: int) -> list[dict[str, Any]]:
    return [
        {"id": at, "task": "ReAlign", "answer": {"solution": SOLUTION}, "response": f"{SOLUTION} ({at})"}
        for at in range(n)
    ]


def test_steps_grow_for_embedding_only() -> None:
    pace = _Pace(SEGMENT_LINES)
    tally, other = Tally(), Tally()
    scoring = Scoring(Job())
    for row, into in ((aligned(1)[0] | {"response": 3}, tally), (honest(1)[0], other)):
        for score in scoring.entries(scoring.row(row, 0)):
            into.add(score)
    pace.next(other)
    assert pace.step <= SEGMENT_LINES
    pace.next(tally)
    assert pace.step == EMBED_LINES
    tally.merge(other)
    pace.next(tally)
    assert pace.step == SEGMENT_LINES


@pytest.mark.parametrize("workers", [1, 2, 64])
def test_workers_share_the_cores(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pool, "_serve", lambda pool, slot: None)  # no worker needs to start for this
    pool = Pool(Job(), workers)
    pool.close()
    assert pool._setup.cores == max(1, usable_cores() // workers)
