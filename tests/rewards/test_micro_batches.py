"""Calls that several threads make are scored together; what one of them meets does not become another's row."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from relfast.engine.calls.pending import EVENTS, Counts, MicroBatcher
from relfast.records import STATUSES, Record, Score, unscored

N = 5


def _row(record: Record) -> Score:
    return unscored(record.index, None, None, 0, "invalid_record", "Said", str(record.index))


def _record(index: int) -> Record:
    return Record(index=index, id=index, task="ReAlign", question="", answer="", response="")


def _calls(fails: Callable[[], None]) -> list[Future[list[Score]]]:
    """What `N` calls get that wait for each other, when the first scoring of all of them fails."""
    lock, failed = threading.Lock(), threading.Event()

    def score(records: Sequence[Record]) -> list[Score]:
        if len(records) == N and not failed.is_set():
            failed.set()
            fails()
        return [_row(record) for record in records]

    batcher = MicroBatcher(score, lock)
    with ThreadPoolExecutor(N) as threads, lock:  # until all of them wait
        calls = [threads.submit(batcher, [_record(index)]) for index in range(N)]
        while len(batcher._waiting) < N:
            pass
    assert failed.is_set()
    return calls


def test_an_interrupt_belongs_to_the_caller_in_whose_thread_it_came() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    calls = _calls(interrupt)
    interrupted = [call for call in calls if isinstance(call.exception(), KeyboardInterrupt)]
    assert len(interrupted) == 1
    for index, call in enumerate(calls):
        if call not in interrupted:
            assert [score.error for score in call.result()] == [{"type": "Said", "message": str(index)}]


def test_an_error_of_a_scoring_is_told_to_all_that_were_scored_together() -> None:
    def fail() -> None:
        raise ValueError("no model")

    assert {str(call.exception()) for call in _calls(fail)} == {"no model"}


def test_counting_is_exact_and_asking_counts_nothing() -> None:
    counts = Counts()
    with ThreadPoolExecutor(8) as threads:
        for _ in range(8):
            threads.submit(lambda: [counts["shared"]() for _ in range(1000)])
            counts.told()
    nothing: dict[str, Any] = dict.fromkeys((*STATUSES, *EVENTS), 0)
    assert counts.told() == counts.told() == nothing | {"shared": 8000}
    with pytest.raises(KeyError):
        counts["misspelt"]()
