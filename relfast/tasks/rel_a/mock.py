"""A stand-in for a model, without a server."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

_CHOICES: Final = 8
_SKILL: Final = 0.6


def answer(row: Mapping[str, Any], luck: random.Random) -> str:
    """The right choice, or any."""
    target = row["answer"]["target"] if luck.random() < _SKILL else luck.randrange(_CHOICES)
    return f"The panels follow one rule. Answer {target + 1}"
