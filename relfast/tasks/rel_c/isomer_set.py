"""Scoring REL-C1: does the response's verdict equal gold's label?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relfast.records import Batch, Extracted, Options, Outcome
from relfast.tasks.rel_c.extract import extract_label

_VOTES: Final[dict[str | None, int]] = {"No": 2, "Yes": 3}
"""Votes of the labels, equal to those of the kernel."""


extract = extract_label


def score(batch: Batch, options: Options) -> list[Outcome]:
    """See `relfast.tasks.base.TaskScorer`."""
    return [_score_one(record.answer, extracted, options) for record, extracted in batch]


def _score_one(answer: object, extracted: Extracted[str | None], options: Options) -> Outcome:
    gold = answer.get("label") if type(answer) is dict or isinstance(answer, Mapping) else None
    pred = extracted.value
    details = {"pred": pred, "gold": gold}
    if gold is None:
        return Outcome(False, {}, details, found=False, error="Missing label in answer")
    metrics: dict[str, Any] = {}
    label = gold
    if options.strict:
        label = gold.strip().capitalize() if isinstance(gold, str) else None
        if label not in ("Yes", "No"):
            return Outcome(False, {}, details, found=False, error=f"Invalid label in answer: {gold!r:.40}")
        metrics["reason"] = extracted.reason
    return Outcome(bool(pred == label), metrics, details, found=extracted.found, vote=_VOTES.get(pred, pred))


# What the text kernel's codes mean in rows of REL-C1.


_LABELS: Final = (None, "No", "Yes")


def details(pred: int, gold: int) -> dict[str, Any]:
    """A row's ``pred`` and ``gold`` from the kernel's codes of labels."""
    return {"pred": _LABELS[pred], "gold": _LABELS[gold]}
