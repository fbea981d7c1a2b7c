"""Scoring REL-A1…A7: read the panel that a response chooses, under either policy, and compare it with the
target. Also checks of gold, and what the text kernel's codes mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from relfast_kernels.compiled import native
from relfast_kernels.layouts import N_CHOICES, NO_PANEL

from relfast.records import Batch, Extracted, Options, Outcome
from relfast.tasks.base import Problem, is_int, shown
from relfast.tasks.reasoning import read_final, strip_reasoning, utf8


def extract(response: object, options: Options) -> Extracted[int | None]:
    """The panel that a response chooses, 0-based, by the options' policy; ``reason`` is `read_final`'s."""
    if options.strict:
        value, _, reason = read_final("CHOICE", response, options.reasoning)
        return Extracted(None if value is None else value - 1, found=value is not None, reason=reason)
    if options.strip_reasoning and isinstance(response, str):
        response = strip_reasoning(response, options.reasoning)
    if not response:
        return Extracted(0, found=False)
    if not isinstance(response, str):
        return Extracted(None, found=False, error=f"response is {type(response).__name__}, not text")
    with native.uncharged():
        from relfast_kernels.text import responses as published

    data = utf8(response)
    panel = int(published.find_choice(data, 0, len(data)))
    if panel == published.TOO_LONG:
        message = f"answer number has more than {published.MAX_DIGITS} digits"
        return Extracted(None, found=False, error=message)
    return Extracted(max(panel, 0), found=panel != published.NO_CHOICE)


def score(batch: Batch, options: Options) -> list[Outcome]:
    """See `relfast.tasks.base.TaskScorer`."""
    return [_score_one(record.answer, extracted, options) for record, extracted in batch]


def _score_one(answer: object, extracted: Extracted[int | None], options: Options) -> Outcome:
    target = answer.get("target") if type(answer) is dict or isinstance(answer, Mapping) else None
    # the published scorer accepts a bool as an integer; strict rejects it
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
    """The chosen panel as text, counted from 1 as in the question."""
    return None if details["pred"] is None else str(details["pred"] + 1)


def details(pred: int, gold: int) -> dict[str, Any]:
    """A row's ``pred`` and ``gold`` from the kernel's codes, which are 0-based panels (or `NO_PANEL`)."""
    return {"pred": None if pred == NO_PANEL else pred, "gold": gold}


def check(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """Check the target of gold, a 0-based panel."""
    target = answer.get("target")
    if "target" not in answer:
        yield Problem("answer.target", "missing")
    elif not (is_int(target) and 0 <= target < N_CHOICES):
        yield Problem("answer.target", f"must be an integer from 0 to {N_CHOICES - 1}, not {shown(target)}")


def check_matrices(metadata: Mapping[str, Any]) -> Iterator[Problem]:
    """A1…A4: check that panels and choices are matrices of numbers. (A5…A7 reportedly hold tensors, whose
    form is not documented.)"""
    shapes = set()
    for name in ("panels", "choices"):
        value = metadata.get(name)
        if name not in metadata:
            continue
        if not isinstance(value, list) or len(value) != N_CHOICES:
            yield Problem(f"metadata.{name}", f"must be a list of {N_CHOICES} matrices")
            continue
        for i, matrix in enumerate(value):
            shape = _shape(matrix)
            if shape is None:
                yield Problem(f"metadata.{name}[{i}]", "must be a matrix of numbers, rows of one length")
            shapes.add(shape)
    if len(shapes - {None}) > 1:
        yield Problem("metadata", "panels and choices must all have one shape")


def _shape(matrix: Any) -> tuple[int, int] | None:
    if not isinstance(matrix, list) or not matrix or not all(isinstance(row, list) for row in matrix):
        return None
    if len({len(row) for row in matrix}) != 1 or not matrix[0]:
        return None
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for row in matrix for v in row)
    return (len(matrix), len(matrix[0])) if numbers else None
