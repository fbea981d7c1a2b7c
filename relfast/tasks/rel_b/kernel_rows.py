"""What the text kernel's numbers mean in rows of REL-B1."""

from __future__ import annotations

from typing import Any, Final

_LABELS: Final = (None, "no", "yes")


def details(pred: int, gold: int) -> dict[str, Any]:
    """The texts of a row: labels, and lists of taxa that the kernel writes."""
    return {"pred_label": _LABELS[pred], "gold_label": _LABELS[gold], "pred_taxa": [], "gold_taxa": []}
