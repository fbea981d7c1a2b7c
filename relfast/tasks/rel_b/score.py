"""Scoring REL-B1: the right label and, for a yes, the right taxa.

Beside `score` stand the form of gold and what the text kernel's numbers mean in rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from relfast.records import Batch, Extracted, Outcome, Record
from relfast.tasks.facts import Problem, check_label, is_int, kind_of, shown
from relfast.tasks.rel_b import UNDEFINED, RelBOptions
from relfast.tasks.rel_b import extract as reading
from relfast.tasks.rel_b.extract import LABELS, Homoplasy, vote
from relfast.tasks.rel_b.names import gold_names, plain_name

NO_SCORE: Final = {"precision": UNDEFINED, "recall": UNDEFINED, "f1": UNDEFINED}

LEAST_PRECISE: Final = 0.9
"""strict: share of a claim's taxa that must be gold's, so that naming many does not pay; see `proven`."""


def extract(record: Record, options: RelBOptions) -> Extracted[Homoplasy]:
    return reading.extract(record.response, options)


def score(batch: Batch, options: RelBOptions) -> list[Outcome]:
    return [_judge(record, extracted, options, options.strict) for record, extracted in batch]


def _judge(record: Record, extracted: Extracted[Homoplasy], options: RelBOptions, strict: bool) -> Outcome:
    answer = record.answer
    if type(answer) is not dict and not isinstance(answer, Mapping):
        answer = {}
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
    if type(taxa) is not list and not hasattr(taxa, "__iter__") and _needs_taxa(label, taxa, claim, options):
        return Outcome(False, found=False, error=f"taxa must be a list, got {type(taxa).__name__}")
    if strict and label == "yes" and not len(taxa):
        return _unusable_gold(label, taxa, "taxa is empty although label is yes")
    if extracted.error is not None:
        return Outcome(False, found=False, error=extracted.error, error_type="InvalidResponse")
    metrics: dict[str, Any]
    correct, reason = False, extracted.reason
    if label == "no":
        metrics = dict(NO_SCORE)
        correct = claim.label == "no" and not claim.taxa
    else:
        gold = gold_names(taxa or (), record.question, answer.get("taxa_as")) if strict else _names(taxa)
        pred = set(claim.taxa)
        if strict:
            counts = len(pred & gold), len(pred), len(gold)
            metrics, correct, guessed = against(claim.label, *counts, options.b1_min_f1)
            reason = "guessed_taxa" if guessed else reason
        else:
            metrics = measures(len(pred & gold), len(pred), len(gold)) if gold else dict(NO_SCORE)
            correct = claim.label == "yes" and (not gold or metrics["f1"] > 0)
    if strict:
        metrics["reason"] = reason
    return Outcome(
        correct,
        metrics,
        {
            "pred_label": claim.label,
            "gold_label": label,
            # a claim of no taxa may be that of many responses
            "pred_taxa": claim.taxa.copy(),
            "gold_taxa": taxa,
        },
        extracted.found,
        vote=vote(claim) if extracted.found else None,
    )


def against(
    label: str | None, n_common: int, n_pred: int, n_gold: int, least: float
) -> tuple[dict[str, Any], bool, bool]:
    """A claim against gold's taxa under ``strict``: metrics, whether it is right, whether it is guessed."""
    metrics = measures(n_common, n_pred, n_gold) if n_gold else dict(NO_SCORE)
    right = label == "yes" and (not n_gold or metrics["f1"] >= least)
    guessed = right and not proven(n_common, n_pred, n_gold)
    return metrics, right and not guessed, guessed


def proven(common: int, n_pred: int, n_gold: int) -> bool:
    """Whether a claim names gold's taxa rather than many: nothing that needs to know how many there are.

    It names at least two of them (one alone shares nothing) and half of them; nine of ten taxa it names are
    gold's; a claim that has all of them may name one more.

    The best blind subset of N taxa then earns, on a record whose gold has g of them, by the hypergeometric
    distribution: 0.0025 of (N, g) = (50, 2), 0.0002 of (50, 20), 0.0051 of (39, 25), 0.022 of (19, 10),
    0.083 of (9, 2), the smallest published one. Where nine of ten taxa are gold's,
    everything is the right answer.
    """
    wrong = n_pred - common
    return (
        common >= min(2, n_gold)
        and 2 * common >= n_gold
        and (wrong <= (1 - LEAST_PRECISE) * n_pred + 1e-9 or (common == n_gold and wrong == 1))
    )


def measures(common: int, n_pred: int, n_gold: int) -> dict[str, Any]:
    """Precision, recall and F1 from counts, 0 where undefined; ``n_gold`` is not 0."""
    precision = common / n_pred if n_pred else 0.0
    recall = common / n_gold
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def metrics_of_counts(gold_is_yes: bool, n_common: int, n_pred: int, n_gold: int) -> dict[str, Any]:
    """A row's metrics from what the kernel counted; the ``reference`` policy's."""
    return measures(n_common, n_pred, n_gold) if gold_is_yes else dict(NO_SCORE)


def _needs_taxa(label: str, taxa: object, claim: Homoplasy, options: RelBOptions) -> bool:
    """Whether gold taxa that are no list (null, a number, a bool) keep a record from being scored.

    The published scorer never looks at the taxa of a no, iterates over those of a yes that are truthy, and
    asks for the length of the others only where the response says yes.
    """
    if options.strict:
        # a `datasets` column fills absent fields with None
        return label == "yes" or taxa is not None
    return label == "yes" and (bool(taxa) or claim.label == "yes")


def _names(taxa: object) -> set[str]:
    """Gold taxa as the texts that the published scorer compares: lower-cased, as the response is."""
    return {str(taxon).lower() for taxon in taxa} if hasattr(taxa, "__iter__") else set()


def _unusable_gold(label: object, taxa: object, message: str) -> Outcome:
    details = {"pred_label": None, "gold_label": label, "pred_taxa": [], "gold_taxa": taxa}
    return Outcome(False, dict(NO_SCORE), details, found=False, error=message)


def said(details: Mapping[str, Any]) -> str | None:
    """The label and, in alphabetical order, the taxa: ``yes: a, b``."""
    label, taxa = details["pred_label"], details["pred_taxa"]
    if label is None:
        return None
    return f"{label}: {', '.join(sorted(set(taxa)))}" if taxa else str(label)


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


def check(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """A yes has taxa, a no has none."""
    label, taxa = answer.get("label"), answer.get("taxa")
    yield from check_label(answer, ("yes", "no"))
    if "taxa" not in answer:
        yield Problem("answer.taxa", "missing")
    elif not isinstance(taxa, list):
        yield Problem("answer.taxa", f"must be a list of integers, not {kind_of(taxa)}")
    else:
        for i, taxon in enumerate(taxa):
            if not is_int(taxon):
                yield Problem(f"answer.taxa[{i}]", f"must be an integer, not {shown(taxon)}")
        if label == "yes" and not taxa:
            yield Problem("answer.taxa", "must not be empty where the label is yes")
        if label == "no" and taxa:
            yield Problem("answer.taxa", "must be empty where the label is no")
