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
    """The outcomes of pairs met before, and of simple molecules that are the same; None for the others."""
    outcomes: list[Outcome | None] = [None] * len(batch)
    if options.strict:
        return [_recognise(record.answer, extracted) for record, extracted in batch]
    for at, (record, extracted) in enumerate(batch):
        gold = _gold(record.answer)
        outcome = motif_reference.recall(gold, extracted, options)
        if outcome is not None:
            outcomes[at] = _complete(outcome, gold, extracted)
    return outcomes


def _recognise(answer: object, extracted: Extracted[str | None]) -> Outcome | None:
    """Strict: the outcome of a right answer that a kernel can tell; None for any other."""
    from relfast.chem.simple import same_clean_molecule

    gold, response = _gold(answer), extracted.value
    if not (extracted.found and isinstance(gold, str) and isinstance(response, str)):
        return None
    if not same_clean_molecule(gold, response):
        return None
    return _complete(motif_strict.right(extracted.reason), gold, extracted)


def score(batch: Batch, options: RelCOptions) -> list[Outcome]:
    with uninterrupted():
        return [_judge(record.answer, extracted, options) for record, extracted in batch]


def _gold(answer: object) -> Any:
    return answer.get("smiles") if isinstance(answer, Mapping) else None


def _judge(answer: object, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    gold = _gold(answer)
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
