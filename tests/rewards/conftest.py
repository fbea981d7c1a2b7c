"""Workers of reward functions end with each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relfast import rewards


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    rewards.close()
