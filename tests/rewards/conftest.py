"""Kernels that are there; workers of reward functions end with each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from relfast_kernels.compiled import native

from relfast import rewards


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    for unit in ("text", "tags", "smiles", "mcs"):
        if native.load(unit) is None:
            native.build(unit)


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    rewards.close()
