"""Scoring REL-B1: the right label and, for a yes, the right taxa."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.rel_b import extract as reading
from relfast.tasks.rel_b.extract import Homoplasy

UNDEFINED: Final = -1
"""What the published scorer gives for precision, recall and F1 where gold has no taxa."""

_NO_SCORE: Final = {"precision": UNDEFINED, "recall": UNDEFINED, "f1": UNDEFINED}
_FASTA_NAME: Final = re.compile(r"^[ \t]*>[ \t]*(\S+)", re.MULTILINE)


def extract(record: Record, options: Options) -> Extracted:
    return reading.extract(record.response, options)


def score(batch: Batch, options: Options) -> list[Outcome]:
    return [_judge(record, extracted, options) for record, extracted in batch]


def _judge(record: Record, extracted: Extracted, options: Options) -> Outcome:
    answer = record.answer if isinstance(record.answer, Mapping) else {}
    label = answer.get("label")
    taxa = answer.get("taxa", [])
    if label is None:
        return _unusable_gold(label, taxa, "Missing label in answer")
    if not isinstance(label, str):
        return Outcome(False, found=False, error=f"label must be text, got {type(label).__name__}")
    label = label.lower()
    if label not in ("yes", "no"):
        return _unusable_gold(answer["label"], taxa, f"Invalid label in answer: {answer['label']}")
    # a `datasets` column fills absent fields with None; only a yes needs its taxa
    if taxa is None and label == "no":
        taxa = []
    if not hasattr(taxa, "__iter__"):
        return Outcome(False, found=False, error=f"taxa must be a list, got {type(taxa).__name__}")
    if options.strict and label == "yes" and not len(taxa):
        return _unusable_gold(label, taxa, "taxa is empty although label is yes")
    if extracted.error is not None:
        return Outcome(False, found=False, error=extracted.error, error_type="InvalidResponse")
    claim: Homoplasy = extracted.value
    gold = {str(taxon) for taxon in taxa}
    metrics: dict[str, Any]
    if label == "no":
        metrics = dict(_NO_SCORE)
        correct = claim.label == "no" and not claim.taxa
    else:
        metrics = overlap(set(claim.taxa), gold)
        least = options.b1_min_f1 if options.strict else 0.0
        enough = metrics["f1"] >= least if options.strict else metrics["f1"] > least
        correct = claim.label == "yes" and (enough or not gold)
    reason = extracted.reason
    if options.strict:
        if correct and label == "yes" and _lists_everything(claim.taxa, gold, record.question):
            correct, reason = False, "listed_everything"
        metrics["reason"] = reason
    return Outcome(
        correct,
        metrics,
        {
            "pred_label": claim.label,
            "gold_label": label,
            "pred_taxa": claim.taxa,
            "gold_taxa": taxa,
        },
        found=extracted.found,
        vote=reading.vote(claim) if extracted.found else None,
    )


def overlap(pred: set[str], gold: set[str]) -> dict[str, Any]:
    """Precision, recall and F1 of two sets; all -1 where gold is empty, 0 where undefined."""
    if not gold:
        return dict(_NO_SCORE)
    return measures(len(pred & gold), len(pred), len(gold))


def measures(common: int, n_pred: int, n_gold: int) -> dict[str, Any]:
    """Precision, recall and F1 from counts; ``n_gold`` is not 0."""
    precision = common / n_pred if n_pred else 0.0
    recall = common / n_gold
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def _lists_everything(pred: list[str], gold: set[str], question: Any) -> bool:
    """Whether the claim names every taxon of the question although gold does not."""
    if len(pred) <= len(gold) or not isinstance(question, str):
        return False
    names = set(_FASTA_NAME.findall(question))
    return bool(names) and names <= set(pred)


def _unusable_gold(label: Any, taxa: Any, message: str) -> Outcome:
    details = {"pred_label": None, "gold_label": label, "pred_taxa": [], "gold_taxa": taxa}
    return Outcome(False, dict(_NO_SCORE), details, found=False, error=message)
