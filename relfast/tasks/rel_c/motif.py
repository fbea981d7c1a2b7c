"""Scoring REL-C2: is the molecule the motif, and how much of it do they share?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.interrupts import uninterrupted
from relfast.records import Batch, Extracted, Outcome, Record
from relfast.tasks.rel_c import motif_reference, motif_strict
from relfast.tasks.rel_c.extract import extract_molecule
from relfast.tasks.rel_c.motif_reference import metrics_of
from relfast.tasks.rel_c.options import RelCOptions


def extract(record: Record, options: RelCOptions) -> Extracted[str | None]:
    return extract_molecule(record.response, options)


def score_without_rdkit(batch: Batch, options: RelCOptions) -> list[Outcome | None]:
    """The outcomes of molecules that the kernels read, and of responses without one; None for the others."""
    recall = motif_strict.recall if options.strict else motif_reference.recall
    outcomes: list[Outcome | None] = []
    for record, extracted in batch:
        gold = gold_of(record.answer)
        outcome = recall(gold, extracted, options)
        outcomes.append(None if outcome is None else _complete(outcome, gold, extracted))
    return outcomes


def score(batch: Batch, options: RelCOptions) -> list[Outcome]:
    with uninterrupted():
        return [_judge(record.answer, extracted, options) for record, extracted in batch]


def gold_of(answer: object) -> Any:
    return answer.get("smiles") if type(answer) is dict or isinstance(answer, Mapping) else None


def _judge(answer: object, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    gold = gold_of(answer)
    if gold is None:
        details = {"pred": extracted.value, "gold": gold}
        return Outcome(
            False, metrics_of(False, False, 0.0), details, found=False, error="Missing smiles in answer"
        )
    judge = motif_strict.judge if options.strict else motif_reference.judge
    return _complete(judge(gold, extracted, options), gold, extracted)


def _complete(outcome: Outcome, gold: object, extracted: Extracted[str | None]) -> Outcome:
    outcome.details = {"pred": extracted.value, "gold": gold}
    outcome.found = extracted.found
    return outcome
