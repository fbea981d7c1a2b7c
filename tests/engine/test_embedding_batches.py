"""Where an embedding model runs, workers take many lines at once, their share of the cores, and their time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_runs import honest
from tiny_bert import make_checkpoint

from relfast.embed.adding import add
from relfast.engine.block_scoring import EMBED_LINES, SEGMENT_LINES, _Pace
from relfast.engine.job import Job
from relfast.engine.pool import Pool, usable_cores
from relfast.engine.scoring import BATCH_SECONDS, NoGuard, Place, Scoring
from relfast.records import Options
from relfast.stats import Tally

SOLUTION = "First 2 + 2 = 4.\n\nThen 4 + 1 = 5.\n\nSo \\boxed{5}."


def aligned(n: int) -> list[dict[str, Any]]:
    return [
        {"id": at, "task": "ReAlign", "answer": {"solution": SOLUTION}, "response": f"{SOLUTION} ({at})"}
        for at in range(n)
    ]


class Watch(NoGuard):
    def __init__(self) -> None:
        self.entered: list[tuple[Place | None, float]] = []

    def enter(self, place: Place | None, extra: float = 0.0) -> None:
        self.entered.append((place, extra))


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path / "cache"))
    add(str(make_checkpoint(tmp_path / "checkpoint", pooling="mean")), "tiny")
    return "tiny"


def test_a_batch_has_the_time_of_its_records(tiny: str) -> None:
    guard = Watch()
    job = Job(options=Options(embedder=tiny), timeout=5.0)
    scoring = Scoring(job, guard=guard)
    rows = aligned(40)
    entries = [entry for index, row in enumerate(rows) for entry in scoring.row(row, index)]
    assert [score.status for score in scoring.entries(entries)] == ["ok"] * 40
    assert guard.entered == [(None, 40 * 5.0 - BATCH_SECONDS)]
    guard.entered.clear()
    assert all(score.status == "ok" for score in scoring.entries(entries[:2]))
    assert all(score.status == "ok" for score in scoring.entries(entries[:2], one_by_one=True))
    assert guard.entered == [(None, 0.0), ((0, 0), BATCH_SECONDS), ((1, 0), BATCH_SECONDS)]


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
