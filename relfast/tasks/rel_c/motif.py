"""Scoring REL-C2: is the molecule the motif, and how much of it do they share?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.rel_c.extract import extract_molecule


def extract(record: Record, options: Options) -> Extracted:
    return extract_molecule(record.response, options)


def score(batch: Batch, options: Options) -> list[Outcome]:
    return [_judge(record.answer, extracted, options) for record, extracted in batch]


def _metrics(in_gold: bool, in_response: bool, overlap: float) -> dict[str, Any]:
    return {
        "response_is_substructure_of_correct": in_gold,
        "correct_is_substructure_of_response": in_response,
        "overlap_metric": overlap,
    }


def _judge(answer: Any, extracted: Extracted, options: Options) -> Outcome:
    gold = answer.get("smiles") if isinstance(answer, Mapping) else None
    pred = extracted.value
    details = {"pred": pred, "gold": gold}
    if gold is None:
        return Outcome(
            False, _metrics(False, False, 0.0), details, found=False, error="Missing smiles in answer"
        )
    judge = _judge_strict if options.strict else _judge_reference
    outcome = judge(gold, extracted, options)
    outcome.details = details
    outcome.found = extracted.found
    return outcome


def _judge_reference(gold: Any, extracted: Extracted, options: Options) -> Outcome:
    from relfast.chem.matching import contains, same_molecule
    from relfast.chem.mcs import common_substructure
    from relfast.chem.molecule import parse

    ours, theirs = parse(extracted.value), parse(gold)
    if ours is None or theirs is None:
        return Outcome(False, _metrics(False, False, 0.0), vote=extracted.value)
    correct = same_molecule(ours, theirs)
    in_gold, in_response = contains(theirs, ours), contains(ours, theirs)
    heavy = (ours.heavy_atoms, theirs.heavy_atoms)
    canceled = False
    if in_gold or in_response:
        common = min(heavy)
    else:
        common, canceled = common_substructure(ours, theirs, options.mcs_timeout)
    metrics = _metrics(in_gold, in_response, common / max(heavy) if max(heavy) else 0.0)
    if canceled:
        metrics["mcs_canceled"] = True
    return Outcome(correct, metrics, vote=ours.key)


def _judge_strict(gold: Any, extracted: Extracted, options: Options) -> Outcome:
    from relfast.chem.clean import parse_clean, same_clean_molecule
    from relfast.chem.matching import contains
    from relfast.chem.mcs import strict_common_substructure

    theirs, flaw = parse_clean(gold)
    if theirs is None:
        return Outcome(False, error=f"gold smiles is no clean molecule: {flaw}")
    metrics = _metrics(False, False, 0.0)
    ours = None
    if extracted.found:
        ours, flaw = parse_clean(extracted.value)
    metrics["reason"] = extracted.reason or (flaw if ours is None else None)
    if ours is None:
        return Outcome(False, metrics, vote=extracted.value)
    correct = same_clean_molecule(ours, theirs, options.tautomers)
    metrics.update(_metrics(contains(theirs, ours), contains(ours, theirs), 1.0))
    canceled = False
    if not correct:
        most = max(ours.heavy_atoms, theirs.heavy_atoms)
        common, canceled = strict_common_substructure(ours, theirs, options.mcs_timeout)
        # tautomers share every atom and bond and are still two molecules: 1.0 is for the same one only
        metrics["overlap_metric"] = min(common, most - 1) / most
    if canceled:
        metrics["mcs_canceled"] = True
    return Outcome(correct, metrics, vote=ours.key)
