"""Kernels that are there; workers of reward functions end with each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from missing_kernels import built

from relfast import rewards


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    for unit in ("text", "tags", "smiles", "mcs"):
        built(unit)


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    rewards.close()
