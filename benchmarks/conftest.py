"""Shared fixtures of the benchmarks."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    """Compile time is a benchmark of its own; here the kernels are compiled already."""
    from relfast.cli.machine import compile_kernels

    compile_kernels()
