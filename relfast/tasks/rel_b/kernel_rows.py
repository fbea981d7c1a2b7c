"""What the text kernel's numbers mean in rows of REL-B1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from relfast.tasks.rel_b.claim import Homoplasy
from relfast.tasks.rel_b.names import NAMES, gold_names, plain_name

LABELS: Final = (None, "no", "yes")
"""As the kernel numbers them."""


def details(pred: int, gold: int) -> dict[str, Any]:
    """The texts of a row: labels, and lists of taxa that the kernel writes."""
    return {"pred_label": LABELS[pred], "gold_label": LABELS[gold], "pred_taxa": [], "gold_taxa": []}


def strict_gold(answer: Mapping[str, Any], question: object) -> Mapping[str, Any]:
    """Gold with its taxa as names, where ``strict`` reads them so."""
    label, taxa = answer.get("label"), answer.get("taxa")
    if not isinstance(label, str) or label.lower() != "yes" or not isinstance(taxa, list):
        return answer
    names = gold_names(taxa, question, answer.get("taxa_as"))
    return answer if names == frozenset(map(plain_name, taxa)) else {**answer, "taxa": sorted(names)}


def value_of(label: int | None, taxa: Sequence[int]) -> Homoplasy:
    """The claim of a label and taxa that the kernel has numbered."""
    return Homoplasy(LABELS[label or 0], [*map(str, taxa)])


def gold_key(answer: object) -> str | None:
    """The label: whichever taxa are gold's, a claim without taxa has none of them."""
    if type(answer) is not dict:
        return None
    label, taxa = answer.get("label"), answer.get("taxa")
    if type(label) is not str or type(taxa) is not list or not NAMES.issuperset(map(type, taxa)):
        return None
    label = label.lower()
    return label if label == "no" or (label == "yes" and taxa) else None
