"""Waiting for what happens in another thread or process, without a bet on how fast the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

PATIENCE: Final = 120.0
"""Seconds after which something that has not happened is taken for hanging. No test passes or fails by less."""


def until(condition: Callable[[], Any], what: str = "what was waited for") -> None:
    """Wait for a condition to hold."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.01)
