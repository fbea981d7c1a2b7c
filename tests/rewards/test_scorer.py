"""`relfast.Scorer`: what it gives, from whichever side it is called, and among hangs and deaths; memory of the host and of
the workers."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import pickle
import signal
import sys
import threading
from typing import Any

import psutil
import pytest
from processes import PATIENCE, busy, until
from reward_cases import HANG, MIXED, distinct_c2, forget, wait_for_no_workers, workers_of

import relfast
from relfast.engine.calls.isolated_scoring import IsolatedScoring
from relfast.engine.isolated import pool
from relfast.records import STATUSES

TASK_COLUMN, ANSWERS, RESPONSES, REWARDS = map(list, zip(*MIXED, strict=True))


@pytest.fixture(scope="module")
def scorer() -> Any:
    with relfast.Scorer(policy="strict", workers=2) as scorer:
        yield scorer


def test_one_by_one_gives_the_same_rows_as_a_batch_and_each_is_counted() -> None:
    with relfast.Scorer(policy="strict", workers=1) as scorer:
        batch = scorer.score_batch(TASK_COLUMN, ANSWERS, RESPONSES)
        for at, (task, answer, response, _) in enumerate(MIXED):
            one = scorer.score_one(task, answer, response).to_row()
            assert {**one, "index": at} == batch[at].to_row()
            assert scorer.submit(task, answer, response).result(PATIENCE).to_row() == one
        stats = scorer.stats()
    assert sum(stats[status] for status in STATUSES) == 3 * len(MIXED)
    assert stats["invalid_record"] == 3 * sum(reward is None for reward in REWARDS)
    assert stats["no_answer"] == 3
    assert stats["timeout"] == stats["crashed"] == stats["workers_replaced"] == 0
    assert stats["scored_before"] > 0


def test_at_once_is_what_needs_no_worker(scorer: relfast.Scorer) -> None:
    for task, answer, response, _ in MIXED:
        row = scorer.kept_score(task, answer, response, None, False)
        assert row in (None, scorer.score_one(task, answer, response))
    # tellurium is left to RDKit
    assert (
        scorer.kept_score("REL-C2", {"smiles": "CC[Te]CN"}, "<smiles>CC[Te]C</smiles>", None, False) is None
    )


def test_equal_answers_are_scored_once(scorer: relfast.Scorer) -> None:
    before = scorer.stats()
    reasonings = [f"I thought about {n}. <smiles>CCSCCN</smiles>" for n in range(200)]
    batch = scorer.score_batch("REL-C2", [{"smiles": "CCSCC"}] * 200, reasonings)
    after = scorer.stats()
    again = after["scored_before"] + after["shared"] - before["scored_before"] - before["shared"]
    assert again == 199
    assert len(set(batch.reward)) == 1
    # rows do not share what a caller may change
    assert batch[0].metrics is not batch[1].metrics


def test_a_pickled_scorer_starts_afresh_with_its_options() -> None:
    with relfast.Scorer(policy="strict", timeout=3, on_error=-1.0, workers=1) as scorer:
        scorer.reward("REL-C2", {"smiles": "CCO"}, "<smiles>CCO</smiles>")
        with pickle.loads(pickle.dumps(scorer)) as copy:
            assert copy.job == scorer.job
            assert (copy.on_error, copy.workers) == (-1.0, 1)
            assert copy.stats()["ok"] == copy.stats()["workers"] == 0
            assert copy.reward("REL-C2", {"smiles": "CCO"}, "<smiles>CCO</smiles>") == 1.0


def test_workers_end_with_close_and_start_again() -> None:
    before = {worker.pid for worker in workers_of()}
    scorer = relfast.Scorer(workers=2)
    assert {worker.pid for worker in workers_of()} <= before  # none before they are needed
    assert scorer.reward("REL-C1", {"label": "Yes"}, "<Yes>") == 1.0
    assert {worker.pid for worker in workers_of()} <= before  # nor for text
    for _ in range(2):
        assert scorer.reward("REL-C2", {"smiles": "CCO"}, "<smiles>CCO</smiles>") == 1.0
        scorer.start()
        until(lambda: {worker.pid for worker in workers_of()} - before, "a worker")
        scorer.close()
        scorer.close()
        wait_for_no_workers(before)
    # nor do they outlive the object
    scorer.start()
    until(lambda: {worker.pid for worker in workers_of()} - before, "a worker")
    del scorer
    gc.collect()
    wait_for_no_workers(before)


def test_closing_under_callers_leaves_nobody_waiting() -> None:
    scorer = relfast.Scorer(policy="strict", workers=2)
    rows = distinct_c2(400)
    rewards: list[Any] = []

    def call(part: list[Any]) -> None:
        rewards.extend(scorer.score_one("REL-C2", *row).status for row in part)

    threads = [threading.Thread(target=call, args=(rows[at::8],)) for at in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        scorer.close()
    for thread in threads:
        thread.join(60)
    scorer.close()
    assert len(rewards) == len(rows)
    assert set(rewards) <= {"ok", "crashed"}


# memory over 200,000 calls


CALLS = 200_000
WARM = 100_000
"""By then every cache is full: 10,000 answers are remembered, and each worker has met the 3,000 molecules."""

BATCH = 400
GROWTH = 12 * 2**20
"""Noise of the allocators; what is kept of a call would be a hundred bytes at least, so 12 MB."""


@pytest.mark.slow
def test_memory_is_flat_over_200_000_calls() -> None:
    molecules = [response for _, response in distinct_c2(3_000)]
    golds = [{"smiles": "CCCCO"}, {"smiles": "CCN"}, {"smiles": "OCC(=O)O"}, {"smiles": "CCCl"}]
    # 12,000 different pairs come round and round, with reasoning that is new every time: more than are
    # remembered, so that each is scored again
    pairs = itertools.cycle((text, gold) for gold in golds for text in molecules)
    before = {worker.pid for worker in workers_of()}
    sizes: dict[int, dict[int, int]] = {}
    with relfast.Scorer(policy="strict", workers=2) as scorer:
        for call in range(0, CALLS, BATCH):
            chemistry = list(itertools.islice(pairs, BATCH // 4))
            n_text = BATCH - len(chemistry)
            batch = scorer.score_batch(
                ["REL-C2"] * len(chemistry) + ["REL-C1"] * n_text,
                [gold for _, gold in chemistry] + [{"label": "Yes"}] * n_text,
                [f"{call} so {text}" for text, _ in chemistry] + [f"{call} {n} <Yes>" for n in range(n_text)],
            )
            assert set(batch.status) == {"ok"}
            if call + BATCH in (WARM, CALLS):
                gc.collect()
                mine = [psutil.Process(), *(w for w in workers_of() if w.pid not in before)]
                sizes[call + BATCH] = {process.pid: process.memory_info().rss for process in mine}
        stats = scorer.stats()
    assert stats["ok"] == CALLS
    assert stats["workers_replaced"] == 0
    assert stats["scored_before"] + stats["shared"] < CALLS // 20
    assert sizes[WARM].keys() == sizes[CALLS].keys()
    grown = {pid: sizes[CALLS][pid] - sizes[WARM][pid] for pid in sizes[WARM]}
    assert max(grown.values()) < GROWTH, grown


# among hangs and deaths: only the record that did it suffers


TIMEOUT = 0.5


@pytest.fixture
def fast_scorer() -> Any:
    with relfast.Scorer(policy="reference", timeout=TIMEOUT, workers=2) as scorer:
        scorer.score_batch("REL-C2", *zip(*distinct_c2(64), strict=True))
        yield scorer


@pytest.mark.slow
def test_a_hang_costs_its_timeout_and_its_record_only(fast_scorer: relfast.Scorer) -> None:
    plain_rows = distinct_c2(576)[64:]
    expected = relfast.score_batch("REL-C2", *zip(*plain_rows, strict=True), workers=0)
    for at in (5, 250, 511):
        forget(fast_scorer)
        rows = list(plain_rows)
        rows[at] = HANG
        batch = fast_scorer.score_batch("REL-C2", *zip(*rows, strict=True))
        assert batch.status[at] == "timeout"
        assert "longer than 0.5 s" in (batch[at].error or {})["message"]
        assert batch[at].reward is None
        others = [n for n in range(512) if n != at]
        assert [batch[n].to_row() for n in others] == [expected[n].to_row() for n in others]
        # the replacement is a worker like any other before the next round
        fast_scorer.score_batch("REL-C2", *zip(*distinct_c2(64), strict=True))
    # a timeout is not remembered
    assert fast_scorer.score_one("REL-C2", *HANG).status == "timeout"
    # that each hang is met once keeps the delay to one deadline; the benchmark measures it
    stats = fast_scorer.stats()
    assert stats["timeout"] == 4
    # on a slow machine the record may be offered to the other worker before the first one comes to it
    assert 4 <= stats["workers_replaced"] <= 8


def test_one_call_is_not_held_up_by_a_neighbour_that_hangs() -> None:
    with relfast.Scorer(policy="reference", timeout=2 * PATIENCE, workers=2) as scorer:
        rows = distinct_c2(140)
        scorer.score_batch("REL-C2", *zip(*rows[:100], strict=True))
        hang = scorer.submit("REL-C2", *HANG)
        together = [scorer.submit("REL-C2", *row) for row in rows[100:120]]
        for row in rows[120:]:
            assert scorer.reward("REL-C2", *row) is not None
        assert {future.result(PATIENCE).status for future in together} == {"ok"}
        assert not hang.done()


@pytest.mark.slow
def test_more_hangs_than_workers_end_too(fast_scorer: relfast.Scorer) -> None:
    answers, responses = map(list, zip(HANG, *distinct_c2(30), strict=True))
    # distinct answers: a name after the molecule is no part of it under the reference policy
    hangs = [HANG[1].replace("</smiles>", f" no {n}</smiles>") for n in range(4)]
    batch = fast_scorer.score_batch("REL-C2", [HANG[0]] * 4 + answers[1:], hangs + responses[1:])
    assert list(batch.status) == ["timeout"] * 4 + ["ok"] * 30
    assert fast_scorer.stats()["workers"] <= 2


def _kill_the_busy_worker(scorer: relfast.Scorer) -> None:
    """Kill the worker that has a record in flight, as soon as there is one."""
    until(lambda: scorer._isolated._pool and busy(scorer._isolated._pool), "a record in flight")
    for worker in busy(scorer._isolated._pool):
        os.kill(worker.pid, signal.SIGKILL)


def test_a_record_that_kills_two_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # a kill from outside is the record's doing, however early
    monkeypatch.setattr(pool, "BLAME_SECONDS", 0.0)
    # collecting the garbage of a whole suite can stop this process for a second, which would excuse a death
    never_frozen = property(lambda self: False, lambda self, value: None)
    monkeypatch.setattr(pool.Worker, "frozen", never_frozen, raising=False)
    with relfast.Scorer(timeout=0, workers=2) as scorer:
        future = scorer.submit("REL-C2", *HANG)
        _kill_the_busy_worker(scorer)
        until(lambda: scorer.stats()["workers_replaced"] == 1)
        assert not future.done()  # it has a second try
        _kill_the_busy_worker(scorer)
        score = future.result(PATIENCE)
        assert score.status == "crashed"
        assert "SIGKILL" in (score.error or {})["message"]
        others = [scorer.submit("REL-C2", *row) for row in distinct_c2(40)]
        assert {other.result(PATIENCE).status for other in others} == {"ok"}


def _kill_one(scorer: relfast.Scorer) -> None:
    queue = scorer._isolated._pool
    for pid in queue.pids()[:1] if queue is not None else ():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_idle_workers_may_be_killed_at_any_time() -> None:
    rows = distinct_c2(300)
    with relfast.Scorer(workers=2) as scorer, relfast.Scorer(workers=0) as here:
        expected = here.score_batch("REL-C2", *zip(*rows, strict=True)).to_dicts()
        for delay in (0.0, 0.001, 0.01, 0.02, 0.05, 0.1):
            # one a batch: a record must lose two workers to be given up
            killer = threading.Timer(delay, _kill_one, (scorer,))
            forget(scorer)
            killer.start()
            got = scorer.score_batch("REL-C2", *zip(*rows, strict=True)).to_dicts()
            killer.join()
            assert got == expected
        assert scorer.stats()["workers_replaced"] >= 1


def test_workers_that_cannot_start_are_said_on_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    before = {worker.pid for worker in workers_of()}
    with relfast.Scorer(workers=2) as scorer:
        forget(scorer)
        batch = scorer.score_batch("REL-C2", *zip(*distinct_c2(50), strict=True))
    assert set(batch.status) == {"crashed"}
    error = batch[0].error or {}
    assert error["type"] == "WorkerError"
    assert "before it was ready" in error["message"]
    assert scorer.value_of(batch[0]) is None
    wait_for_no_workers(before)


@pytest.mark.parametrize(("when", "call"), [("begin_all", 1), ("_begin", 20), ("submit", 0)])
def test_an_interrupted_batch_leaves_nobody_waiting(
    when: str, call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in a notebook, and the same cell again."""
    rows = distinct_c2(40)
    with relfast.Scorer(workers=1) as scorer:
        forget(scorer)
        whole = getattr(IsolatedScoring, when)
        calls = iter(range(1_000))

        def interrupted(*arguments: object) -> object:
            if next(calls) == call:
                raise KeyboardInterrupt
            return whole(*arguments)

        monkeypatch.setattr(IsolatedScoring, when, interrupted)
        with pytest.raises(KeyboardInterrupt):
            scorer.score_batch("REL-C2", *zip(*rows, strict=True))
        monkeypatch.undo()
        done: list[object] = []
        again = threading.Thread(
            target=lambda: done.append(scorer.score_batch("REL-C2", *zip(*rows, strict=True)).status)
        )
        again.daemon = True
        again.start()
        again.join(PATIENCE)
        assert done, "it waits for what is never scored"
        assert set(done[0]) == {"ok"}
