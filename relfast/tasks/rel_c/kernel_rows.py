"""What the text kernel's numbers mean in rows of REL-C1."""

from __future__ import annotations

from typing import Any, Final

_LABELS: Final = (None, "No", "Yes")


def details(pred: int, gold: int) -> dict[str, Any]:
    """The texts of a row: labels."""
    return {"pred": _LABELS[pred], "gold": _LABELS[gold]}
