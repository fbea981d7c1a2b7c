"""Build units in processes of their own, several at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_LOWERING: Final = 0.8
"""The share of a unit's build time that numba's lowering takes; the rest is LLVM's."""

_SECONDS: Final = {"text": 75.0, "maze": 20.0, "smiles": 15.0, "mcs": 15.0}

_ITS_OWN: Final = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT)
"""Signals by which a process ends through its own fault, not another's."""


class Progress(NamedTuple):
    """How far a build is: the unit last heard of, its functions lowered and in all (equal: LLVM optimises it,
    0 and 0: it is built), the share of the work that is done, and the seconds left (-1: unknown)."""

    unit: str
    done: int
    functions: int
    share: float
    left: float


def make(
    units: Sequence[str],
    processes: int | None = None,
    *,
    processors: Sequence[str] = ("",),
    crashed: Callable[[str, str], None],
    tell: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Build units, each in a process that ends with this one, ``processes`` at a time (None: cores).

    ``processors`` are the targets, as `builder.emitted` takes them. ``crashed`` is called with a unit and the
    signal if the unit's process crashed by itself, not if somebody killed it.

    Raises
    ------
    OSError
        A unit cannot be built or stored; the others are built all the same.
    """
    done = dict.fromkeys(units, 0.0)
    whole = sum(map(seconds_of, units))
    started, telling = time.monotonic(), threading.Lock()

    def note(unit: str, n: int, functions: int) -> None:
        with telling:
            done[unit] = _LOWERING * n / functions if functions else 1.0
            share = sum(part * seconds_of(one) for one, part in done.items()) / whole
            passed = time.monotonic() - started
            left = passed * (1 - share) / share if share > 0.02 else -1.0
            tell(Progress(unit, n, functions, share, left))

    def one(unit: str) -> None:
        process = subprocess.Popen(
            _command(os.getpid(), unit, ",".join(processors)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            text=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        with process:
            for line in process.stdout:
                n, _, functions = line.partition(" ")
                note(unit, int(n), int(functions))
            reason = process.stderr.read().strip().rpartition("\n")[2]
        if process.returncode < 0:
            reason = f"killed by {signal.Signals(-process.returncode).name}"
            if -process.returncode in _ITS_OWN and "" in processors:
                crashed(unit, reason)
        if process.returncode:
            raise OSError(f"kernels {unit} cannot be built: {reason}")
        note(unit, 0, 0)

    with ThreadPoolExecutor(processes or len(os.sched_getaffinity(0))) as threads:
        for made in [threads.submit(one, unit) for unit in sorted(units, key=seconds_of, reverse=True)]:
            made.result()


def start_all(*, outlives: bool) -> None:
    """Begin to build all missing units, in a process that ends with this one or ``outlives`` it."""

    def run() -> None:
        nowhere, command = subprocess.DEVNULL, _command(0 if outlives else os.getpid(), "all")
        with suppress(OSError):  # no room for a process: the next run tries again
            process = subprocess.Popen(
                command,
                stdin=nowhere,
                stdout=nowhere,
                stderr=nowhere,
                start_new_session=True,
                env=_environment(),
            )
            process.returncode = 0 if outlives else process.wait()

    if outlives:
        run()
    else:  # a child ends with the thread that started it (PR_SET_PDEATHSIG), so a thread waits for it
        threading.Thread(target=run, daemon=True).start()


def _command(parent: int, *arguments: str) -> list[str]:
    return [sys.executable or "", "-P", "-m", "relfast_kernels.compiled", str(parent), *arguments]


def _environment() -> dict[str, str]:
    """This process's environment, in which the child finds every package where this process finds it."""
    path, here = [entry for entry in sys.path if entry], str(Path(__file__).parents[2])
    if here not in path:
        path.insert(0, here)
    # NUMBA_DISABLE_JIT, set to run kernels as plain Python, must not keep them from being built
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "NUMBA_DISABLE_JIT": "0"}


def seconds_of(unit: str) -> float:
    """The approximate seconds that building a unit takes on one core."""
    return _SECONDS.get(unit, 8.0)
