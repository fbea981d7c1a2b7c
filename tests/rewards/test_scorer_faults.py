"""A scorer among hangs and deaths: only the record that did it suffers."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

import pytest
from reward_cases import HANG, distinct_c2, forget, no_workers_within, workers_of

import relfast
from relfast.engine.guarded_lane import GuardedLane
from relfast.errors import UnscoredError

TIMEOUT = 0.5
LATE = 1.0
"""On a machine that others use too. The benchmark measures 0.1 to 0.2; that a hang is met once only, which
is what makes it so, is checked exactly."""


@pytest.fixture
def scorer() -> Any:
    with relfast.Scorer(policy="reference", timeout=TIMEOUT, workers=2) as scorer:
        scorer.score_batch("REL-C2", *zip(*distinct_c2(64), strict=True))
        yield scorer


def _answers(rows: list[tuple[Any, str]]) -> tuple[list[Any], list[str]]:
    answers, responses = zip(*rows, strict=True)
    return list(answers), list(responses)


def test_a_hang_costs_its_timeout_and_its_record_only(scorer: relfast.Scorer) -> None:
    plain_rows = distinct_c2(576)[64:]
    expected = relfast.score_batch("REL-C2", *_answers(plain_rows), workers=0)
    delays = []
    for at in (5, 250, 511):
        forget(scorer)
        rows = list(plain_rows)
        rows[at] = HANG
        started = time.perf_counter()
        batch = scorer.score_batch("REL-C2", *_answers(rows))
        delays.append(time.perf_counter() - started)
        assert batch.status[at] == "timeout"
        assert "longer than 0.5 s" in (batch[at].error or {})["message"]
        assert batch[at].reward is None
        others = [n for n in range(512) if n != at]
        assert [batch[n].to_row() for n in others] == [expected[n].to_row() for n in others]
        # the replacement is a worker like any other before the next round
        scorer.score_batch("REL-C2", *_answers(distinct_c2(64)))
    forget(scorer)
    started = time.perf_counter()
    scorer.score_batch("REL-C2", *_answers(plain_rows))
    plain_seconds = time.perf_counter() - started
    # the best of three: what the machine adds is not ours
    assert min(delays) <= plain_seconds + TIMEOUT + LATE, (delays, plain_seconds)
    stats = scorer.stats()
    assert stats["timeout"] == 3
    # on a slow machine the record may be offered to the other worker before the first one comes to it
    assert 3 <= stats["workers_replaced"] <= 6


def test_one_call_is_not_held_up_by_a_neighbour_that_hangs() -> None:
    with relfast.Scorer(policy="reference", timeout=3, workers=2) as scorer:
        rows = distinct_c2(140)
        scorer.score_batch("REL-C2", *_answers(rows[:100]))
        hang = scorer.submit("REL-C2", *HANG)
        together = [scorer.submit("REL-C2", *row) for row in rows[100:120]]
        for row in rows[120:]:
            assert scorer.reward("REL-C2", *row) is not None
        assert {future.result(10).status for future in together} == {"ok"}
        assert not hang.done()
        assert hang.result(10).status == "timeout"


def test_more_hangs_than_workers_end_too(scorer: relfast.Scorer) -> None:
    answers, responses = _answers([HANG, *distinct_c2(30)])
    # distinct answers: a name after the molecule is no part of it under the reference policy
    hangs = [HANG[1].replace("</smiles>", f" no {n}</smiles>") for n in range(4)]
    started = time.perf_counter()
    batch = scorer.score_batch("REL-C2", [HANG[0]] * 4 + answers[1:], hangs + responses[1:])
    assert list(batch.status) == ["timeout"] * 4 + ["ok"] * 30
    # four deadlines on two workers, each worker starting anew between them
    assert time.perf_counter() - started < 4 * TIMEOUT + 20  # that it ends; others use the machine too
    assert len(workers_of()) <= 2


def test_a_timeout_is_the_callers_on_error() -> None:
    with relfast.Scorer(timeout=TIMEOUT, workers=1, on_error="raise") as scorer:
        with pytest.raises(UnscoredError, match="timeout"):
            scorer.reward("REL-C2", *HANG)
        assert scorer.reward("REL-C2", {"smiles": "CO"}, "<smiles>CO</smiles>") == 1.0


def _kill_while_in_flight(scorer: relfast.Scorer, seconds: float = 20) -> None:
    """Kill the worker that is at a record, when it has been at it for long enough to be blamed."""
    queue = scorer._lane._queue
    assert queue is not None
    end = time.monotonic() + seconds
    while not queue.pool.in_flight():
        assert time.monotonic() < end
        time.sleep(0.01)
    time.sleep(0.3)
    for worker in list(queue.pool._live.values()):
        if worker.in_flight.read() is not None:
            os.kill(worker.pid, signal.SIGKILL)


def test_a_record_that_kills_two_workers_is_given_up() -> None:
    with relfast.Scorer(timeout=0, workers=2) as scorer:
        future = scorer.submit("REL-C2", *HANG)
        others = [scorer.submit("REL-C2", *row) for row in distinct_c2(40)]
        _kill_while_in_flight(scorer)
        deadline = time.monotonic() + 20
        while scorer.stats()["workers_replaced"] < 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.3)
        assert not future.done()  # it has a second try
        while not future.done() and time.monotonic() < deadline:
            _kill_while_in_flight(scorer)
            time.sleep(0.05)
        score = future.result(5)
        assert score.status == "crashed"
        assert "SIGKILL" in (score.error or {})["message"]
        assert {other.result(30).status for other in others} == {"ok"}


def test_idle_workers_may_be_killed_at_any_time() -> None:
    rows = distinct_c2(300)
    with relfast.Scorer(workers=2) as scorer, relfast.Scorer(workers=0) as here:
        expected = here.score_batch("REL-C2", *_answers(rows)).to_dicts()
        stop = threading.Event()

        def kill() -> None:
            # a worker that is killed five times before it is ready counts as one that cannot start
            while not stop.wait(1.0):
                for worker in workers_of()[:1]:
                    worker.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            end = time.monotonic() + 5
            while time.monotonic() < end:
                forget(scorer)
                got = scorer.score_batch("REL-C2", *_answers(rows)).to_dicts()
                lost = [row for row in got if row["status"] == "crashed"]
                assert len(lost) <= 1  # a record killed twice by chance
                assert [row for row in got if row not in lost] == [
                    row for row in expected if row["index"] not in {bad["index"] for bad in lost}
                ]
        finally:
            stop.set()
            killer.join()
        assert scorer.stats()["workers_replaced"] >= 1


def test_workers_that_cannot_start_are_said_on_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with relfast.Scorer(workers=2) as scorer:
        forget(scorer)
        started = time.monotonic()
        batch = scorer.score_batch("REL-C2", *_answers(distinct_c2(50)))
        assert time.monotonic() - started < 30
    assert set(batch.status) == {"crashed"}
    error = batch[0].error or {}
    assert error["type"] == "WorkerError"
    assert "before it was ready" in error["message"]
    assert scorer.value_of(batch[0]) is None
    assert no_workers_within(5)


def test_a_timeout_is_not_remembered(scorer: relfast.Scorer) -> None:
    for _ in range(2):
        assert scorer.score_one("REL-C2", *HANG).status == "timeout"
    assert scorer.stats()["workers_replaced"] == 2


@pytest.mark.parametrize("when", ["begin", "submit", "_without_worker"])
def test_an_interrupted_batch_leaves_nobody_waiting(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in a notebook, and the same cell again."""
    rows = distinct_c2(40)
    with relfast.Scorer(workers=1) as scorer:
        forget(scorer)
        whole = getattr(GuardedLane, when)
        calls = iter(range(1_000))

        def interrupted(*arguments: object) -> object:
            if next(calls) == (0 if when == "submit" else 20):
                raise KeyboardInterrupt
            return whole(*arguments)

        monkeypatch.setattr(GuardedLane, when, interrupted)
        with pytest.raises(KeyboardInterrupt):
            scorer.score_batch("REL-C2", *_answers(rows))
        monkeypatch.undo()
        done: list[object] = []
        again = threading.Thread(
            target=lambda: done.append(scorer.score_batch("REL-C2", *_answers(rows)).status)
        )
        again.daemon = True
        again.start()
        again.join(20)
        assert done, "it waits for what nobody scores"
        assert set(done[0]) == {"ok"}
