"""Scoring REL-B1: the right label and, for a yes, the right taxa."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from relfast.records import Batch, Extracted, Outcome, Record
from relfast.tasks.rel_b import UNDEFINED
from relfast.tasks.rel_b import extract as reading
from relfast.tasks.rel_b.claim import Homoplasy, vote
from relfast.tasks.rel_b.options import RelBOptions

_NO_SCORE: Final = {"precision": UNDEFINED, "recall": UNDEFINED, "f1": UNDEFINED}
_FASTA_NAME: Final = re.compile(r"^[ \t]*>[ \t]*(\S+)", re.MULTILINE)
_TAXON_PREFIX: Final = re.compile(r"^tax(?:on|a)[\s_#:-]*", re.IGNORECASE)

MOST_NAMED: Final = 0.75
"""strict: share of all taxa from which on a claim lists everything, unless nearly all of it is right."""

LEAST_PRECISE: Final = 0.9
"""strict: precision that a claim of so many taxa must have."""


def extract(record: Record, options: RelBOptions) -> Extracted[Homoplasy]:
    return reading.extract(record.response, options)


def score(batch: Batch, options: RelBOptions) -> list[Outcome]:
    return [_judge(record, extracted, options) for record, extracted in batch]


def _judge(record: Record, extracted: Extracted[Homoplasy], options: RelBOptions) -> Outcome:
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
    claim: Homoplasy = extracted.value
    if not hasattr(taxa, "__iter__") and _needs_taxa(label, taxa, claim, options):
        return Outcome(False, found=False, error=f"taxa must be a list, got {type(taxa).__name__}")
    if options.strict and label == "yes" and not len(taxa):
        return _unusable_gold(label, taxa, "taxa is empty although label is yes")
    if extracted.error is not None:
        return Outcome(False, found=False, error=extracted.error, error_type="InvalidResponse")
    gold = _names(taxa, options)
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
        if correct and label == "yes" and _lists_everything(claim.taxa, metrics, record.question):
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
        vote=vote(claim) if extracted.found else None,
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


def metrics_of_counts(gold_is_yes: bool, n_common: int, n_pred: int, n_gold: int) -> dict[str, Any]:
    """A row's metrics from what the kernel counted; the ``reference`` policy's."""
    return measures(n_common, n_pred, n_gold) if gold_is_yes else dict(_NO_SCORE)


def _needs_taxa(label: str, taxa: object, claim: Homoplasy, options: RelBOptions) -> bool:
    """Whether gold taxa that are no list (null, a number, a bool) keep a record from being scored.

    The published scorer never looks at the taxa of a no, iterates over those of a yes that are truthy, and
    asks for the length of the others only where the response says yes.
    """
    if options.strict:
        # a `datasets` column fills absent fields with None
        return label == "yes" or taxa is not None
    return label == "yes" and (bool(taxa) or claim.label == "yes")


def _names(taxa: object, options: RelBOptions) -> set[str]:
    """Gold taxa as the texts that are compared: lower-cased, as the response is."""
    if not hasattr(taxa, "__iter__"):
        return set()
    return {_plain_name(taxon) if options.strict else str(taxon).lower() for taxon in taxa}


def _plain_name(taxon: object) -> str:
    """``taxon_015``, ``15`` and 15 are one taxon under strict; the published scorer compares texts."""
    name = _TAXON_PREFIX.sub("", str(taxon)).lower()
    return (name.lstrip("0") or "0") if name.isascii() and name.isdigit() else name


def _lists_everything(pred: list[str], metrics: Mapping[str, Any], question: object) -> bool:
    """Whether the claim names most of the question's taxa, right or wrong, to be right about some."""
    if metrics["precision"] >= LEAST_PRECISE or not isinstance(question, str):
        return False
    names = {_plain_name(name) for name in _FASTA_NAME.findall(question)}
    return bool(names) and len(names & set(pred)) >= MOST_NAMED * len(names)


def _unusable_gold(label: object, taxa: object, message: str) -> Outcome:
    details = {"pred_label": None, "gold_label": label, "pred_taxa": [], "gold_taxa": taxa}
    return Outcome(False, dict(_NO_SCORE), details, found=False, error=message)
