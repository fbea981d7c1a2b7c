"""The gate: is anything slower than it was when its ratio was recorded?

``python -m benchmarks.gate`` measures the probes of `benchmarks.gate_probes`, each in turn with a floor that our
code has no part in, and holds the ratios against ``benchmarks/recorded.json``; exit 1 names what is slower.
``--record`` writes the file anew, ``--prove`` does a fifth more work in each probe and expects the gate to say so.

What is compared, and why it holds on a busy machine: CPU time instead of the clock, so that a neighbour who takes
the core costs nothing; short slices of ours and of the floor in turn, so that a slower clock or a crowded cache
hits both; the lower quartile of each, since a disturbance only ever adds; and a probe that seems slow is measured
again, up to `ATTEMPTS` times, since chance does not repeat itself and a slower kernel does.

`MARGIN` lies between what repeated runs differ by and the fifth that must be caught: docs/benchmarks.md has the runs.
Ratios depend on the processor (our kernels vectorise as wide as it allows, the floors' libraries do not; how much of the
yardstick's branches it foresees is its own affair), so those of another model than the recorded ones only have
`FOREIGN_MARGIN`.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

RECORDED: Final = Path(__file__).parent / "recorded.json"

MARGIN: Final = 0.10
FOREIGN_MARGIN: Final = 9.0
"""An AMD EPYC has four times the ratios of the Intel Xeon that is recorded, from the same code on the same day: what
is found without a record is a kernel that is not compiled."""
ATTEMPTS: Final = 4

SLICE_SECONDS: Final = 0.004
"""CPU time of a slice: below the time that a scheduler gives a process at once."""

EXTRA: Final = (5, 6)
"""Calls of a slice, and those of one that is slowed by a fifth."""

Seconds = float
Work = Callable[[], object]


class Probe(NamedTuple):
    """Work of ours, what it is held against, and how many slices of each are measured.

    ``whole``: the work is a command of its own, which is run once a slice.
    """

    ours: Work
    floor: Work
    slices: int = 60
    whole: bool = False


class Measured(NamedTuple):
    """A probe's ratio, ours / floor, against the recorded one."""

    name: str
    ratio: float
    recorded: float | None
    margin: float

    @property
    def slower(self) -> bool:
        return self.recorded is not None and self.ratio > self.recorded * (1 + self.margin)

    def __str__(self) -> str:
        if self.recorded is None:
            return f"{self.name:<28} {self.ratio:8.4f}   not recorded"
        change = self.ratio / self.recorded - 1
        verdict = "SLOWER" if self.slower else "ok"
        return (
            f"{self.name:<28} {self.ratio:8.4f}   recorded {self.recorded:8.4f}   {change:+6.1%}"
            f"   (allowed {self.margin:+.0%})   {verdict}"
        )


def cpu_seconds() -> Seconds:
    """CPU time of this process and of those it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _timed(work: Work, calls: int) -> Seconds:
    started = cpu_seconds()
    for _ in range(calls):
        work()
    return cpu_seconds() - started


def _calls(work: Work) -> int:
    """How many calls make a slice; the first call is not counted, since it may load or compile."""
    work()
    calls = 1
    while (seconds := _timed(work, calls)) < SLICE_SECONDS / 2:
        calls *= 2
    return max(1, round(calls * SLICE_SECONDS / seconds))


def lower_quartile(values: Sequence[float]) -> float:
    """A quarter of the values are smaller; of fewer than four the smallest."""
    return min(values) if len(values) < 4 else statistics.quantiles(values, n=4)[0]


def ratio_of(probe: Probe, *, slowed: bool = False) -> float:
    """Ours / floor for the same number of calls, by the lower quartiles of slices taken in turn."""
    plain, more = EXTRA
    our_calls = 1 if probe.whole else plain * -(-_calls(probe.ours) // plain)
    floor_calls = 1 if probe.whole else _calls(probe.floor)
    # a fifth of a command cannot be run: its time is scaled instead
    done = our_calls * more // plain if slowed and not probe.whole else our_calls
    scale = more / plain if slowed and probe.whole else 1.0
    ours, floors = [], []
    for _ in range(probe.slices):
        floors.append(_timed(probe.floor, floor_calls))
        ours.append(_timed(probe.ours, done) * scale)
    return (lower_quartile(ours) / our_calls) / (lower_quartile(floors) / floor_calls)


def measure(
    name: str, probe: Probe, recorded: float | None, margin: float, *, slowed: bool = False
) -> Measured:
    """The smallest ratio of as many attempts as it takes to be within the margin, at most `ATTEMPTS`."""
    best = Measured(name, ratio_of(probe, slowed=slowed), recorded, margin)
    for _ in range(ATTEMPTS - 1):
        if not best.slower:
            break
        best = min(best, Measured(name, ratio_of(probe, slowed=slowed), recorded, margin))
    return best


def processor() -> str:
    """The processor as ratios depend on it: its name and model."""
    fields = {}
    for line in Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        fields[key.strip()] = value.strip()
    return f"{fields.get('model name', 'unknown')}, family {fields.get('cpu family')}, model {fields.get('model')}"


class Records(NamedTuple):
    """What was recorded: processor → probe → ratio."""

    by_processor: dict[str, dict[str, float]]

    @classmethod
    def read(cls, path: Path = RECORDED) -> Records:
        return cls(json.loads(path.read_text()) if path.exists() else {})

    def expected(self, name: str, here: str) -> tuple[float | None, float]:
        """A probe's recorded ratio and the margin it is held to on this processor."""
        if name in self.by_processor.get(here, {}):
            return self.by_processor[here][name], MARGIN
        others = [ratios[name] for ratios in self.by_processor.values() if name in ratios]
        return max(others, default=None), FOREIGN_MARGIN

    def write(self, here: str, ratios: dict[str, float], path: Path = RECORDED) -> None:
        kept = {**self.by_processor, here: {**self.by_processor.get(here, {}), **ratios}}
        path.write_text(json.dumps(kept, indent=2) + "\n")


def record(probes: dict[str, Probe], runs: int) -> None:
    """Write each probe's median ratio of several runs, and say what they differed by."""
    found: dict[str, list[float]] = {name: [] for name in probes}
    for _ in range(runs):
        for name, probe in probes.items():
            found[name].append(ratio_of(probe))
    for name, ratios in found.items():
        middle = statistics.median(ratios)
        print(
            f"{name:<28} {middle:8.4f}   {min(ratios) / middle - 1:+6.1%} to {max(ratios) / middle - 1:+6.1%}"
        )
    Records.read().write(processor(), {name: round(statistics.median(r), 5) for name, r in found.items()})


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gate", description="Is anything slower than recorded?"
    )
    parser.add_argument("--only", help="probes whose name contains this text")
    parser.add_argument(
        "--prove", action="store_true", help="slow each probe by a fifth, and expect it to be found"
    )
    parser.add_argument("--record", action="store_true", help="write the ratios of this machine")
    parser.add_argument("--runs", type=int, default=5, help="runs that --record takes the median of (5)")
    options = parser.parse_args(arguments)
    from benchmarks.gate_probes import opened

    with opened(options.only or "") as probes:
        if options.record:
            record(probes, options.runs)
            return 0
        records, here = Records.read(), processor()
        if here not in records.by_processor:
            print(
                f"{here}: nothing recorded (--record); only what takes {1 + FOREIGN_MARGIN:.0f} times as long is found"
            )
        missed = []
        for name, probe in probes.items():
            found = measure(name, probe, *records.expected(name, here), slowed=options.prove)
            print(found, flush=True)
            if found.slower != options.prove:
                missed.append(name)
    if missed:
        what = "slowed by a fifth and not found" if options.prove else "slower than recorded"
        print(f"{what}: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
