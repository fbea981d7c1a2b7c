"""Random inputs: the same in every run of the tests, fresh ones under ``make fuzz``."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

SEED: Final = os.environ.get("RELFAST_FUZZ_SEED")
"""What ``make fuzz`` sets, another for each round; None: the tests' own seeds."""


def fresh(number: int) -> random.Random:
    """A source of random inputs for the test that has this number."""
    return random.Random(number if SEED is None else f"{SEED}-{number}")


def rounds(number: int) -> int:
    """How many random inputs to try: all of them under ``make fuzz``, a sixteenth in the tests of every day."""
    return number if SEED is not None else max(1, number // 16)


def share(inputs: Sequence[T], every: int = 20) -> Sequence[T]:
    """Of real inputs that are many: all of them under ``make fuzz``, one of ``every`` in the tests of every day."""
    return inputs if SEED is not None else inputs[::every]
