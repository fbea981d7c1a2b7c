"""Shared fixtures of the benchmarks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def environment() -> dict[str, str]:
    """Ours, with bytecode kept: an installed package has it, and to compile 200 modules anew takes 0.05 s a
    process."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@pytest.fixture(scope="session")
def relfast_command() -> Callable[..., None]:
    """Run the ``relfast`` command as a user does, quietly; an exit code other than 0 fails."""

    def run(*arguments: object) -> None:
        command = [sys.executable, "-m", "relfast", *map(str, arguments)]
        subprocess.run(
            command, check=True, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    return run


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    """Compile time is a benchmark of its own; here the kernels are compiled already."""
    from relfast.cli.machine import compile_kernels

    compile_kernels()
