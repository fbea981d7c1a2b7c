"""What the text kernel's numbers mean in rows of REL-A."""

from __future__ import annotations

from typing import Any


def details(pred: int, gold: int) -> dict[str, Any]:
    """The texts of a row: panels, which the kernel numbers as the task does."""
    return {"pred": pred, "gold": gold}
