"""Building units in processes of their own, side by side: whoever wants them made calls `make`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Final, NamedTuple

_LOWERING: Final = 0.8
"""The share of a unit's time that numba takes; the rest is LLVM's."""

_SECONDS: Final = {"text": 75.0, "maze": 20.0, "smiles": 15.0, "mcs": 15.0}
"""What units take on one core, about."""


class Progress(NamedTuple):
    """How far the making of units is: the one last heard of, its functions done and in all (equal: LLVM is at
    it, 0 and 0: it is made), the share of all that is done, and the seconds that are left (-1: who knows)."""

    unit: str
    done: int
    functions: int
    share: float
    left: float


def make(
    units: Sequence[str],
    processes: int,
    *,
    processors: Sequence[str] = ("",),
    environment: Mapping[str, str] | None = None,
    tell: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Build units, each in a process that ends with this one.

    ``processors`` are those that `builder.emitted` is told, ``environment`` is the processes'. Raises
    `OSError` where one cannot be built or kept, with the reason.
    """
    done = dict.fromkeys(units, 0.0)
    whole = sum(map(_weight, units))
    started, telling = time.monotonic(), Lock()

    command = [sys.executable, "-P", "-m", "relfast_kernels.compiled", str(os.getpid())]

    def note(unit: str, n: int, functions: int) -> None:
        with telling:
            done[unit] = _LOWERING * n / functions if functions else 1.0
            share = sum(part * _weight(one) for one, part in done.items()) / whole
            passed = time.monotonic() - started
            left = passed * (1 - share) / share if share > 0.02 else -1.0
            tell(Progress(unit, n, functions, share, left))

    def one(unit: str) -> None:
        process = subprocess.Popen(
            [*command, unit, ",".join(processors)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # who runs kernels as plain Python may want them built all the same
            env={**(os.environ if environment is None else environment), "NUMBA_DISABLE_JIT": "0"},
            text=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        with process:
            for line in process.stdout:
                n, _, functions = line.partition(" ")
                note(unit, int(n), int(functions))
            said = process.stderr.read().strip()
        if process.returncode:
            raise OSError(f"kernels {unit} cannot be built: {said.splitlines()[-1] if said else 'killed'}")
        note(unit, 0, 0)

    with ThreadPoolExecutor(max(1, min(processes, len(units)))) as threads:
        for made in [threads.submit(one, unit) for unit in sorted(units, key=_weight, reverse=True)]:
            made.result()


def _weight(unit: str) -> float:
    return _SECONDS.get(unit, 8.0)
