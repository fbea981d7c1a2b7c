"""The gate on speed, with a clock that only work moves, and its processes, on a build beside itself; the table of
benchmarks/results.md."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gate
from benchmarks.gate import MARGIN, NoProbeError, second_smallest
from benchmarks.gate_probes import Probe
from benchmarks.render import newest_run, table, within


class Machine:
    """A clock; work on it takes a time, multiplied by what the neighbours do at that moment."""

    def __init__(self) -> None:
        self.now = 0.0
        self.disturbances = itertools.repeat(1.0)

    def work(self, seconds: float) -> Callable[[], None]:
        def run() -> None:
            self.now += seconds * next(self.disturbances)

        return run


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(gate, "cpu_seconds", lambda: machine.now)
    return machine


@pytest.fixture
def builds(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> dict[Path, Probe]:
    """Probes by checkout, measured in this process."""
    probes: dict[Path, Probe] = {}

    class Here:
        def __init__(self, root: Path) -> None:
            self.probe = probes[root]

        def __enter__(self) -> Here:
            return self

        def __exit__(self, *_: object) -> None: ...

        def open(self, name: str) -> tuple[int, int, bool]:
            return gate.calls_of_a_slice(self.probe), self.probe.slices, self.probe.whole

        def time(self, calls: int) -> float:
            return gate.timed(self.probe.ours, calls)

    monkeypatch.setattr(gate, "Build", Here)
    return probes


NOW, BEFORE = Path("now"), Path("before")


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("slowed", "ratio"), [(False, 0.5), (True, 0.6)])
def test_a_ratio(
    machine: Machine, builds: dict[Path, Probe], slowed: bool, ratio: float, whole: bool
) -> None:
    builds[NOW] = Probe(machine.work(1e-4), slices=8, whole=whole)
    builds[BEFORE] = Probe(machine.work(2e-4), slices=8, whole=whole)
    assert gate.ratio_of("kernel", NOW, BEFORE, slowed=slowed) == pytest.approx(ratio)


def test_disturbances_of_half_of_the_slices_change_nothing(
    machine: Machine, builds: dict[Path, Probe]
) -> None:
    machine.disturbances = itertools.cycle([1.0] * 1_000 + [3.0] * 400)
    builds[NOW] = builds[BEFORE] = Probe(machine.work(1e-4))
    assert gate.ratio_of("kernel", NOW, BEFORE) == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize(
    ("ratios", "ratio"),
    [
        ([1.0, 1.05], 1.05),
        ([1.5, 1.0, 0.9], 1.0),
        ([1.5, 1.0, 1.3, 0.9], 1.0),
        ([0.96, 1.2, 1.2, 1.3], 1.2),
        ([1.2, 1.3, 1.2, 1.3], 1.2),
    ],
)
def test_two_attempts_count(ratios: list[float], ratio: float) -> None:
    attempts = iter(ratios)
    assert second_smallest(lambda: next(attempts)) == ratio
    assert [*attempts] == []
    assert (ratio > 1 + MARGIN) is (ratio == 1.2)


@pytest.mark.slow
def test_processes_of_two_builds() -> None:
    """The real ones, on this checkout: a probe is there or is said not to be."""
    assert gate.ratio_of("alignment kernel", gate.ROOT, gate.ROOT) > 0
    with pytest.raises(NoProbeError, match="KeyError"):
        gate.ratio_of("no such kernel", gate.ROOT, gate.ROOT)
    with gate.Build(gate.ROOT) as build:
        assert build.open("alignment kernel")[1:] == (60, False)


def test_the_commit_before(monkeypatch: pytest.MonkeyPatch) -> None:
    said: dict[tuple[str, ...], str | None] = {}
    monkeypatch.setattr(gate, "git", lambda *arguments: said.get(arguments[:2]))
    monkeypatch.delenv("RELFAST_BEFORE", raising=False)
    said |= {("rev-parse", "HEAD"): "here", ("merge-base", "HEAD"): "base", ("diff", "--quiet"): ""}
    assert gate.commit_before() == "base"
    said |= {("merge-base", "HEAD"): "here", ("rev-parse", "--verify"): "parent"}
    assert gate.commit_before() == "parent"
    said["diff", "--quiet"] = None
    assert gate.commit_before() == "here"
    said |= {("diff", "--quiet"): "", ("rev-parse", "--verify"): None}
    assert gate.commit_before() is None


# the table: the newest run, every column of it


MACHINE = {"python_version": "3.11.2", "cpu": {"brand_raw": "a processor", "count": 2}}


def saved(folder: Path, name: str, date: str, *infos: dict[str, Any]) -> None:
    run = {"datetime": date, "machine_info": MACHINE, "benchmarks": [{"extra_info": info} for info in infos]}
    path = folder / "machine" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(run), "utf-8")


def test_the_newest_run_by_date(tmp_path: Path) -> None:
    saved(tmp_path, "0002_a.json", "2026-11-01T10:00:00+00:00")
    saved(tmp_path, "0001_b.json", "2026-11-02T10:00:00+01:00")
    assert newest_run(tmp_path)["datetime"].startswith("2026-11-02")


def test_every_row_says_what_it_measured(tmp_path: Path) -> None:
    call = {
        "task": "a call",
        "items_per_s": 1e4,
        "ratio": 1.5,
        "p50_us": 4.0,
        "p99_us": 20.0,
        "max_us": 900.0,
    }
    memory = {"task": "memory", "value": 120.0, "unit": "MB", "limit": 100}
    saved(tmp_path, "0001_a.json", "2026-11-01T10:00:00+00:00", call, memory)
    lines = table(newest_run(tmp_path)).splitlines()
    assert lines[-2] == "| a call | 10,000 | – | 4, 20, 900 µs | 1.5 × | – |"
    assert lines[-1] == "| memory | – | – | – | 120 MB | ≤ 100 (missed) |"
    assert not within(memory)
