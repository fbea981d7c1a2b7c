"""What the text kernel's numbers mean in rows of REL-B1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from relfast.records import Extracted
from relfast.tasks.rel_b.claim import Homoplasy
from relfast.tasks.rel_b.names import NAMES, gold_names, plain_name

_LABELS: Final = (None, "no", "yes")


def details(pred: int, gold: int) -> dict[str, Any]:
    """The texts of a row: labels, and lists of taxa that the kernel writes."""
    return {"pred_label": _LABELS[pred], "gold_label": _LABELS[gold], "pred_taxa": [], "gold_taxa": []}


def strict_gold(answer: Mapping[str, Any], question: object) -> Mapping[str, Any]:
    """Gold with its taxa as names, where ``strict`` reads them so."""
    label, taxa = answer.get("label"), answer.get("taxa")
    if not isinstance(label, str) or label.lower() != "yes" or not isinstance(taxa, list):
        return answer
    names = gold_names(taxa, question, answer.get("taxa_as"))
    return answer if names == frozenset(map(plain_name, taxa)) else {**answer, "taxa": sorted(names)}


def value_of(label: int | None, taxa: Sequence[int]) -> Homoplasy:
    """The claim of a label and taxa that the kernel has numbered."""
    return Homoplasy(_LABELS[label or 0], [*map(str, taxa)])


def row_key(answer: object, said: Extracted[Homoplasy]) -> tuple[str, str | None] | None:
    """Both labels of a claim without taxa: whichever taxa are gold's, it has none of them."""
    label, claimed = said.value
    if claimed or type(answer) is not dict:
        return None
    gold, taxa = answer.get("label"), answer.get("taxa")
    if type(gold) is not str or type(taxa) is not list or not NAMES.issuperset(map(type, taxa)):
        return None
    gold = gold.lower()
    return (gold, label) if gold == "no" or (gold == "yes" and taxa) else None
