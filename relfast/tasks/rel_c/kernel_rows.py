"""What the text kernel's numbers mean in rows of REL-C1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

_LABELS: Final = (None, "No", "Yes")


def details(pred: int, gold: int) -> dict[str, Any]:
    """The texts of a row: labels."""
    return {"pred": _LABELS[pred], "gold": _LABELS[gold]}


def number_of(label: str | None) -> tuple[int, int]:
    """The kernel's number of a label, and its vote."""
    number = _LABELS.index(label)
    return number, number + 1 if number else 0


def value_of(label: int | None, taxa: Sequence[int]) -> str | None:
    """The label that the kernel has numbered."""
    return _LABELS[label or 0]


def gold_key(answer: object) -> str | None:
    """The label, where gold has one."""
    label = answer.get("label") if type(answer) is dict else None
    return label if type(label) is str else None
