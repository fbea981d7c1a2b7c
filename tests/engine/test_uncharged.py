"""A deadline runs over what can hang and over nothing else: not over kernels as plain Python, nor over tasks that end by
themselves. What is looked at is the operating system's timer, not how long anything takes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from contract_records import SEQBENCH
from relfast_kernels.compiled import native

from relfast.engine.columns.scoring import Scoring
from relfast.engine.isolated.protocol import PAGE, InFlight
from relfast.engine.isolated.worker import KernelGuard
from relfast.engine.job import make_job
from relfast.support import deadlines
from relfast.tasks import TASKS
from relfast.tasks.seqbench import machine

SECONDS = 10_000.0

GOLD = "CC(C)CC(N)C(=O)NC(Cc1ccccc1)C(=O)NC(CO)C(=O)NC(CC(N)=O)C(=O)O"
RECORDS: dict[str, dict[str, Any]] = {
    "maze": SEQBENCH | {"response": json.dumps(SEQBENCH["answer"]["actions"])},
    "motif": {"task": "REL-C2", "answer": {"smiles": GOLD}, "response": f"<think>a</think><smiles>{GOLD[:38]}O</smiles>"},
    "isomers": {"task": "REL-C3", "answer": {"missing_smiles": ["CCO", "COC"]}, "response": "<think>a</think><smiles>OCC</smiles>"},
    "verdict": {"task": "REL-C1", "answer": {"label": "Yes"}, "response": "<think>No.</think><Yes>"},
    "choice": {"task": "REL-A1", "answer": {"target": 3}, "response": "<think>No.</think>Answer 4"},
}  # fmt: skip


@pytest.fixture
def guard() -> Iterator[KernelGuard]:
    descriptor = os.memfd_create("in flight")
    os.ftruncate(descriptor, PAGE)
    in_flight = InFlight(descriptor)
    with pytest.MonkeyPatch.context() as patch:
        guard = KernelGuard(in_flight, 2**40)
        patch.setattr(deadlines, "timer_stopped", guard.stopped)
        yield guard
    signal.setitimer(signal.ITIMER_REAL, 0)
    in_flight.close()


def timer() -> float:
    return signal.getitimer(signal.ITIMER_REAL)[0]


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("kind", RECORDS)
def test_no_timer_runs_over_a_kernel_in_plain_python(
    kind: str, policy: str, guard: KernelGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = RECORDS[kind]
    task = TASKS[record["task"]]
    expected = [score.to_row() for score in _scored(record, policy)]
    seen: dict[str, list[float]] = {"in kernels": [], "in the scorer": []}

    def spied(function: Callable[..., Any], where: str) -> Callable[..., Any]:
        def spy(*values: Any) -> Any:
            seen[where].append(timer())
            return function(*values)

        return spy

    as_plain = native._as_plain
    for name in ("_built", "_plain"):
        monkeypatch.setattr(native, name, {})
    monkeypatch.setattr(native, "load", lambda unit: None)
    monkeypatch.setattr(native, "_looked", {})
    monkeypatch.setattr(machine._THREADS, "machine", None)
    monkeypatch.setattr(
        native, "_as_plain", lambda function, given: as_plain(spied(function, "in kernels"), given)
    )
    scoring = Scoring(make_job(policy=policy, timeout=SECONDS), guard=guard)
    monkeypatch.setattr(scoring, "outcomes", spied(scoring.outcomes, "in the scorer"))
    found = [score.to_row() for score in scoring.scores(scoring.records_of_row(record, 0))]
    assert found == expected
    assert not any(seen["in kernels"])
    assert all(bool(left) == task.can_hang for left in seen["in the scorer"])
    assert seen["in the scorer"]
    assert seen["in kernels"] or kind not in ("maze", "motif")
    assert timer() == 0


def _scored(record: dict[str, Any], policy: str) -> list[Any]:
    scoring = Scoring(make_job(policy=policy))
    return [*scoring.scores(scoring.records_of_row(record, 0))]


def test_what_is_in_flight_goes_on_after_a_pause(guard: KernelGuard) -> None:
    in_flight = guard._in_flight
    guard.enter((7, 1), SECONDS)
    due = in_flight.overdue()
    with deadlines.uncharged(), deadlines.uncharged():
        assert (in_flight.read(), in_flight.overdue(), timer()) == (None, None, 0)
    assert in_flight.read() == (7, 1)
    assert (in_flight.overdue() or 0) == pytest.approx(due, abs=SECONDS / 10)
    assert timer() > 0
    guard.enter(None, 0.0)
    with pytest.raises(ZeroDivisionError), deadlines.uncharged():
        raise ZeroDivisionError
    assert (in_flight.overdue(), timer()) == (None, 0)
    assert in_flight.seconds() is not None


def test_a_step_is_charged_without_its_plain_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(deadlines.time, "monotonic", lambda: now)
    due = deadlines.Deadlines(2, 10.0, clock=lambda: now)
    with due.step(1):
        now += 3
        with deadlines.uncharged():
            now += 1_000
            with deadlines.uncharged():
                now += 1_000
    assert (due.left(0), due.left(1)) == (10, 7)
