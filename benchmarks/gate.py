"""The gate: is anything slower than in the build before?

``python -m benchmarks.gate`` measures the probes of `benchmarks.gate_probes` in this checkout and in one of the commit
before, in turn; exit 1 names what is slower. ``--prove`` does a fifth more work here and expects the gate to say so.

The commit before is RELFAST_BEFORE, else where the branch left origin/main, else HEAD's parent. Each
build runs its own probes, so that those of the other may be of other names inside. Both are on one machine, so no
figure depends on its processor, and nothing is recorded.

Why it holds on a busy machine: CPU time instead of the clock, so that a neighbour who takes the core costs nothing;
short slices of both in turn, so that a slower clock or a crowded cache hits both; the lower quartile of each, since a
disturbance only ever adds; and fresh processes measure again, up to `ATTEMPTS` times, until two have found the same
speed: where a process's memory lies can cost or save a fifth, and chance does not repeat itself as a slower kernel does.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from benchmarks.gate_probes import Probe  # the build before brings its own

ROOT: Final = Path(__file__).resolve().parents[1]
MEASURED: Final = ("relfast", "kernels", "pyproject.toml")
"""Where a change can make something slower."""

MARGIN: Final = 0.10
"""Between what two processes of one build differ by and the fifth that must be found."""
ATTEMPTS: Final = 4
SLICE_SECONDS: Final = 0.004
"""CPU time of a slice: below the time that a scheduler gives a process at once."""
EXTRA: Final = (5, 6)
"""Calls of a slice, and those of one that is slowed by a fifth."""

Seconds = float


class NoProbeError(Exception):
    """A build has no such probe, or cannot run it."""


def cpu_seconds() -> Seconds:
    """CPU time of this process and of those it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def timed(work: Callable[[], object], calls: int) -> Seconds:
    """CPU time of so many calls."""
    started = cpu_seconds()
    for _ in range(calls):
        work()
    return cpu_seconds() - started


def calls_of_a_slice(probe: Probe) -> int:
    """How many calls make a slice; the first call is not counted, since it may load or compile."""
    probe.ours()
    if probe.whole:
        return 1
    calls = 1
    while (seconds := timed(probe.ours, calls)) < SLICE_SECONDS / 2:
        calls *= 2
    return max(1, round(calls * SLICE_SECONDS / seconds))


def serve() -> None:
    """Answers a line of JSON with a line: ``["open", NAME]`` with calls a slice, slices, and whether it is a whole
    command; ``["time", CALLS]`` with seconds."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    probe: Probe | None = None
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            asked, value = json.loads(line)
            answer: object
            try:
                if asked == "open":
                    from benchmarks.gate_probes import PROBES

                    probe = PROBES[value](Path(folder))
                    answer = [calls_of_a_slice(probe), probe.slices, probe.whole]
                else:
                    assert probe is not None
                    answer = timed(probe.ours, value)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
            print(json.dumps(answer), file=answers, flush=True)


class Build:
    """A process in a checkout, which measures that checkout's probes."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=root,
            env=environment(root),
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def _asked(self, *question: object) -> object:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: object = json.loads(self._process.stdout.readline() or '"the process ended"')
        if isinstance(answer, str):
            raise NoProbeError(answer)
        return answer

    def open(self, name: str) -> tuple[int, int, bool]:
        """Calls that make a slice, slices, and whether a slice is a whole command. Raises `NoProbeError`."""
        calls, slices, whole = self._asked("open", name)  # type: ignore[misc]
        return calls, slices, whole

    def time(self, calls: int) -> Seconds:
        """CPU time of so many calls. Raises `NoProbeError`."""
        return float(self._asked("time", calls))  # type: ignore[arg-type]


def environment(root: Path) -> dict[str, str]:
    """That of a process which runs a checkout's code and no other, compiled at its first import as the other's:
    a new checkout has no bytecode, which takes a command a third of its time."""
    path = os.pathsep.join(str(root / part) for part in (".", "kernels", "tests"))
    return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}


def lower_quartile(values: Sequence[float]) -> float:
    """A quarter of the values are smaller; of fewer than four the smallest."""
    return min(values) if len(values) < 4 else statistics.quantiles(values, n=4)[0]


def ratio_of(name: str, now: Path, before: Path, *, slowed: bool = False) -> float:
    """CPU time of a probe now / before, by the lower quartiles of slices taken in turn by two fresh processes. Raises
    `NoProbeError`."""
    plain, more = EXTRA
    with Build(now) as new, Build(before) as old:
        _, slices, whole = new.open(name)
        calls, _, _ = old.open(name)
        calls = 1 if whole else plain * -(-calls // plain)
        # a fifth of a command cannot be run: its time is scaled instead
        done = calls * more // plain if slowed and not whole else calls
        scale = more / plain if slowed and whole else 1.0
        ours, theirs = [], []
        for _ in range(slices):
            theirs.append(old.time(calls))
            ours.append(new.time(done) * scale)
    return lower_quartile(ours) / lower_quartile(theirs)


def second_smallest(ratio: Callable[[], float]) -> float:
    """The second smallest of as many attempts as it takes until two are within the margin, at most `ATTEMPTS`."""
    ratios: list[float] = []
    while len(ratios) < ATTEMPTS and sum(each <= 1 + MARGIN for each in ratios) < 2:
        ratios.append(ratio())
    return sorted(ratios)[1]


def git(*arguments: str) -> str | None:
    """What git says; None where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def commit_before() -> str | None:
    """The commit to compare with, or None: there is none here."""
    if given := os.environ.get("RELFAST_BEFORE"):
        return git("rev-parse", "--verify", "--quiet", f"{given}^{{commit}}")
    here, base = git("rev-parse", "HEAD"), git("merge-base", "HEAD", "origin/main")
    if base and base != here:
        return base
    changed = git("diff", "--quiet", "HEAD", "--", *MEASURED) is None
    return here if changed else git("rev-parse", "--verify", "--quiet", "HEAD~1")


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A commit's files in a folder of their own, its kernels built."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


def warm(root: Path) -> None:
    """Build a checkout's kernels where they are not there."""
    subprocess.run(
        [sys.executable, "-m", "relfast", "warmup"],
        cwd=root,
        env=environment(root),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gate", description="Is anything slower than in the build before?"
    )
    parser.add_argument("--only", default="", help="probes whose name contains this text")
    parser.add_argument(
        "--prove", action="store_true", help="do a fifth more here, and expect it to be found"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve()
        return 0
    before = commit_before()
    if before is None:
        print("no build before is here to compare with (a clone of one commit): nothing measured")
        return 0
    if not options.prove and git("diff", "--quiet", before, "--", *MEASURED) is not None:
        print(f"nothing in {', '.join(MEASURED)} differs from {before[:12]}: nothing measured")
        return 0
    from benchmarks.gate_probes import PROBES

    missed = []
    with checked_out(before) as old:
        for root in (old, ROOT):
            warm(root)
        for name in PROBES:
            if options.only not in name:
                continue
            try:
                ratio = second_smallest(lambda name=name: ratio_of(name, ROOT, old, slowed=options.prove))  # type: ignore[misc]
            except NoProbeError as error:
                print(f"{name:<28} cannot be compared: {error}", flush=True)
                continue
            slower = ratio > 1 + MARGIN
            print(
                f"{name:<28} {ratio - 1:+6.1%} beside {before[:12]}   {'SLOWER' if slower else 'ok'}",
                flush=True,
            )
            if slower != options.prove:
                missed.append(name)
    if missed:
        what = "slowed by a fifth and not found" if options.prove else f"slower than in {before[:12]}"
        print(f"{what}: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
