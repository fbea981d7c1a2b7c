"""Python in a process of its own, with the sources of this checkout and nothing that pytest adds to the path; and waiting
for what happens in another thread or process, without a bet on how fast the machine is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from corpora import ROOT

PYTHONPATH: Final = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
PATIENCE: Final = 120.0
"""Seconds after which something that has not happened is taken for hanging. No test passes or fails by less."""


def started(
    *arguments: object, environment: dict[str, str] | None = None, **more: Any
) -> subprocess.Popen[Any]:
    """A process that goes on; its environment is this one's with what is given."""
    env = {**os.environ, "PYTHONPATH": PYTHONPATH, **(environment or {})}
    return subprocess.Popen([sys.executable, *map(str, arguments)], env=env, **more)


def python(
    *arguments: object, environment: dict[str, str] | None = None, **more: Any
) -> subprocess.CompletedProcess[Any]:
    """What such a process says, and its exit status."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": PYTHONPATH, **(environment or {})},
        **{"capture_output": True, "text": True, "check": False, "timeout": PATIENCE, **more},
    )


def comes_true(condition: Callable[[], Any]) -> bool:
    """Wait for a condition to hold; whether it did."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def until(condition: Callable[[], Any], what: str = "what was waited for") -> None:
    """Wait for a condition to hold. Fails where it does not."""
    assert comes_true(condition), f"{what} did not happen"


def busy(pool: Any) -> list[Any]:
    """The workers of a pool that have a record in flight."""
    return [worker for worker in list(pool._live.values()) if worker.in_flight.read() is not None]
