"""The gate on ratios, with a clock that only work moves: what it lets pass, what it finds, what it writes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks import gate
from benchmarks.gate import FOREIGN_MARGIN, MARGIN, Measured, Probe, Records, measure, ratio_of


class Machine:
    """A clock; work on it takes a time, multiplied by what the neighbours do at that moment."""

    def __init__(self, disturbances: Iterator[float] | None = None) -> None:
        self.now = 0.0
        self.disturbances = disturbances or itertools.repeat(1.0)

    def work(self, seconds: float) -> Callable[[], None]:
        def run() -> None:
            self.now += seconds * next(self.disturbances)

        return run


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(gate, "cpu_seconds", lambda: machine.now)
    return machine


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("slowed", "ratio"), [(False, 0.5), (True, 0.6)])
def test_a_ratio(machine: Machine, slowed: bool, ratio: float, whole: bool) -> None:
    probe = Probe(machine.work(1e-4), machine.work(2e-4), slices=8, whole=whole)
    assert ratio_of(probe, slowed=slowed) == pytest.approx(ratio)


def test_disturbances_of_half_of_the_slices_change_nothing(machine: Machine) -> None:
    machine.disturbances = itertools.cycle([1.0] * 1_000 + [3.0] * 400)
    probe = Probe(machine.work(1e-4), machine.work(1e-4))
    assert ratio_of(probe) == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize(("slowed", "slower"), [(False, False), (True, True)])
def test_a_fifth_is_found_and_nothing_else(machine: Machine, slowed: bool, slower: bool) -> None:
    probe = Probe(machine.work(1e-4), machine.work(2e-4), slices=8)
    found = measure("kernel", probe, 0.5, MARGIN, slowed=slowed)
    assert found.slower is slower
    assert ("SLOWER" in str(found)) is slower


def test_what_seems_slow_once_is_measured_again(machine: Machine) -> None:
    attempts = iter([1.5, 1.0])
    seconds = {"ours": 1e-4}

    def ours() -> None:
        machine.now += seconds["ours"]

    def floor() -> None:
        machine.now += 1e-4

    real = gate.ratio_of

    def disturbed(probe: Probe, *, slowed: bool = False) -> float:
        seconds["ours"] = 1e-4 * next(attempts)
        return real(probe, slowed=slowed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "ratio_of", disturbed)
        found = measure("kernel", Probe(ours, floor, slices=4), 1.0, MARGIN)
    assert not found.slower
    assert next(attempts, None) is None


def test_margins_by_processor(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    Records.read(path).write("here", {"kernel": 0.5}, path)
    Records.read(path).write("there", {"kernel": 0.7, "dump": 2.0}, path)
    records = Records.read(path)
    assert records.expected("kernel", "here") == (0.5, MARGIN)
    assert records.expected("dump", "here") == (2.0, FOREIGN_MARGIN)
    assert records.expected("kernel", "elsewhere") == (0.7, FOREIGN_MARGIN)
    assert records.expected("new", "here") == (None, FOREIGN_MARGIN)
    assert not Measured("new", 9.0, None, MARGIN).slower


def test_every_probe_has_a_record() -> None:
    from benchmarks.gate_probes import PROBES

    for ratios in Records.read().by_processor.values():
        assert ratios.keys() == PROBES.keys()
