"""What the text kernel's numbers mean in rows of REL-A."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

_NONE: Final = 15
"""No panel was chosen, under ``strict``."""


def details(pred: int, gold: int) -> dict[str, Any]:
    """The texts of a row: panels, which the kernel numbers as the task does."""
    return {"pred": None if pred == _NONE else pred, "gold": gold}


def number_of(panel: int | None) -> tuple[int, int]:
    """The kernel's number of a panel, and its vote."""
    return (_NONE, 0) if panel is None else (panel, 2 + panel)


def value_of(panel: int | None, taxa: Sequence[int]) -> int | None:
    """The panel that the kernel has read."""
    return panel


def gold_key(answer: object) -> int | None:
    """The target, where gold is as it should be."""
    target = answer.get("target") if type(answer) is dict else None
    return target if type(target) is int else None
