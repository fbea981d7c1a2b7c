"""Waiting for what happens in another thread or process, without a bet on how fast the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

PATIENCE: Final = 120.0
"""Seconds after which something that has not happened is taken for hanging. No test passes or fails by less."""


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
