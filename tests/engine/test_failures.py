"""The rule on dead workers by itself; with real workers: `test_pool_faults`, `test_score_faults`."""

from __future__ import annotations

import signal

import pytest

from relfast.engine.pool.failures import (
    ATTEMPTS,
    IDLE_DEATHS,
    LOST,
    OUT_OF_MEMORY,
    STOPPED,
    Death,
    Failures,
    blamed,
    fault_of,
)
from relfast.records import Score, unscored

PLACE = (7, 0)
SEGFAULT = Death(-signal.SIGSEGV, PLACE)
DEADLINE = Death(-signal.SIGALRM, PLACE)


def find(place: tuple[int, int]) -> str | None:
    return "in flight" if place == PLACE else None


@pytest.mark.parametrize(
    ("death", "alone", "expected"),
    [
        (SEGFAULT, None, "in flight"),
        (SEGFAULT, "alone", "in flight"),
        # what is in flight but no longer the task's own: a record that another task has reported
        (Death(-signal.SIGSEGV, (8, 0)), "alone", None),
        (Death(-signal.SIGSEGV, None), "alone", "alone"),
        (Death(1, None), "alone", "alone"),
        (Death(OUT_OF_MEMORY, None), "alone", "alone"),
        (Death(-signal.SIGSEGV, None), None, None),
        # ended by others, before any clock ran
        (Death(-signal.SIGKILL, None), "alone", None),
        (Death(-signal.SIGTERM, None), "alone", None),
        (Death(LOST, None), "alone", None),
        # but a record in flight that was at work for long is: the kernel kills for memory
        (Death(-signal.SIGKILL, PLACE), None, "in flight"),
    ],
)
def test_who_is_blamed(death: Death, alone: str | None, expected: str | None) -> None:
    assert blamed(death, find, alone) == expected


def test_a_crash_is_tried_again() -> None:
    failures = Failures()
    for _ in range(ATTEMPTS - 1):
        assert failures.blame(SEGFAULT, 5.0) is None
    message = f"it ended its worker {ATTEMPTS} times (killed by SIGSEGV)"
    assert failures.blame(SEGFAULT, 5.0) == ("crashed", "WorkerDied", message)


def test_a_deadline_counts_at_once() -> None:
    expected = ("timeout", "Timeout", "scoring it took longer than 2.5 s and was stopped")
    assert Failures().blame(DEADLINE, 2.5) == expected


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (-signal.SIGALRM, {"frozen": True}),
        (-signal.SIGSEGV, {"frozen": True}),
        (-signal.SIGKILL, {"silent": True}),
        (-signal.SIGALRM, {"idle": True}),
    ],
)
def test_what_others_did_excuses_once(status: int, why: dict[str, bool]) -> None:
    """A stop of this process or of the worker, a machine that is overloaded."""
    failures = Failures()
    frozen = Death(status, PLACE, **why)
    assert failures.blame(frozen, 5.0) is None
    assert failures.attempts == 0
    if frozen.timed_out:
        verdict = failures.blame(frozen, 5.0)
        assert verdict is not None
        assert verdict[:2] == ("timeout", STOPPED)
        assert fault_of(unscored(0, None, "x", 0, *verdict)) == "machinery"
    else:
        assert failures.blame(frozen, 5.0) is None
        assert failures.attempts == 1


def test_whose_fault_it_is() -> None:
    def judged(*deaths: Death) -> str | None:
        failures = Failures()
        verdicts = [failures.blame(death, 5.0) for death in deaths]
        assert verdicts[-1] is not None
        return fault_of(unscored(0, None, "x", 0, *verdicts[-1]))

    assert judged(DEADLINE) == "response"
    assert judged(Death(-signal.SIGALRM, PLACE, idle=True), DEADLINE) == "response"
    assert judged(SEGFAULT, SEGFAULT) == judged(SEGFAULT, Death(OUT_OF_MEMORY, PLACE)) == "response"
    assert judged(Death(-signal.SIGKILL, PLACE), Death(-signal.SIGKILL, PLACE)) == "response"
    assert judged(Death(-signal.SIGTERM, PLACE), SEGFAULT) == "machinery"
    # a crash is one on any machine: only a deadline says less on one that is overloaded
    assert judged(Death(-signal.SIGSEGV, PLACE, idle=True), SEGFAULT) == "response"
    for status, kind in (
        ("crashed", "WorkerError"),
        ("crashed", "Interrupted"),
        ("crashed", "MemoryError"),
        ("invalid_record", "InvalidGold"),
        ("invalid_record", "Timeout"),
    ):
        assert fault_of(unscored(0, None, "x", 0, status, kind, "")) == "machinery"  # type: ignore[arg-type]
    assert fault_of(Score(0, None, "x", 0, "no_answer", False, 0.0, {})) is None


def test_a_line_that_is_no_record_has_no_deadline() -> None:
    failures = Failures()
    late = Death(-signal.SIGALRM, None, frozen=True)
    assert failures.blame(late, None) is None
    verdict = failures.blame(late, None)
    assert verdict is not None
    assert verdict[:2] == ("crashed", "WorkerDied")


def test_deaths_on_nothing_end_in_giving_up() -> None:
    failures = Failures()
    killed = Death(-signal.SIGKILL, None)
    assert [failures.idle(killed) for _ in range(IDLE_DEATHS)] == [None] * IDLE_DEATHS
    assert failures.idle(killed) == "workers keep dying (killed by SIGKILL) on no record at all"
    failures.progress()
    assert failures.idle(killed) is None
    assert failures.attempts == 0


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (-signal.SIGSEGV, "killed by SIGSEGV"),
        (-200, "ended with status -200"),
        (1, "ended with status 1"),
        (OUT_OF_MEMORY, "ran out of memory"),
        (LOST, "ended with its fork server"),
    ],
)
def test_what_is_said_of_an_end(status: int, said: str) -> None:
    assert Death(status, None).describe() == said
