"""Scoring REL-A1…A7: is the chosen panel the target?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.rel_a import extract as reading
from relfast.tasks.rel_a.gold import N_CHOICES


def extract(record: Record, options: Options) -> Extracted[int | None]:
    return reading.extract(record.response, options)


def score(batch: Batch, options: Options) -> list[Outcome]:
    return [_judge(record.answer, extracted, options) for record, extracted in batch]


def _judge(answer: object, extracted: Extracted[int | None], options: Options) -> Outcome:
    target = answer.get("target") if type(answer) is dict or isinstance(answer, Mapping) else None
    # a bool passes as an integer in the published scorer; strict takes it for the mistake it is
    good = isinstance(target, int)
    if options.strict:
        good = isinstance(target, int) and target is not True and 0 <= target < N_CHOICES
    if not good:
        message = (
            "Missing target in answer"
            if target is None
            else f"Target must be an integer from 0 to 7, got {target!r:.40}"
            if options.strict
            else f"Target must be an integer, got {type(target)}"
        )
        return Outcome(False, {}, {"pred": None, "gold": target}, found=False, error=message)
    if extracted.error is not None:
        return Outcome(False, found=False, error=extracted.error, error_type="InvalidResponse")
    pred = extracted.value
    metrics: dict[str, Any] = {}
    if options.strict:
        metrics["reason"] = extracted.reason
    return Outcome(
        pred == target,
        metrics,
        {"pred": pred, "gold": target},
        found=extracted.found,
        vote=2 + pred if extracted.found and pred is not None else None,
    )


def said(details: Mapping[str, Any]) -> str | None:
    """The panel that was chosen, counted from 1 as in the question."""
    return None if details["pred"] is None else str(details["pred"] + 1)
