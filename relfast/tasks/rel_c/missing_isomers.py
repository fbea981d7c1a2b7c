"""Scoring REL-C3: which of the missing isomers did the response name?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.rel_c.extract import extract_molecules

if TYPE_CHECKING:
    from relfast.chem.molecule import Molecule


def extract(record: Record, options: Options) -> Extracted:
    return extract_molecules(record.response, options)


def score(batch: Batch, options: Options) -> list[Outcome]:
    return [_judge(record.answer, extracted, options) for record, extracted in batch]


def measures(tp: int, n_pred: int, n_gold: int) -> dict[str, Any]:
    """Counts, precision, recall and F1 (0 where undefined)."""
    fp, fn = n_pred - tp, n_gold - tp
    precision = tp / n_pred if n_pred else 0.0
    recall = tp / n_gold if n_gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if tp else 0.0
    return {"tp": tp, "fp": fp, "fn": fn, "precision": precision, "recall": recall, "f1": f1}


def _judge(answer: Any, extracted: Extracted, options: Options) -> Outcome:
    gold = answer.get("missing_smiles", []) if isinstance(answer, Mapping) else None
    pred: list[str] = extracted.value
    if not isinstance(gold, list):
        return Outcome(
            False,
            measures(0, len(pred), 0),
            {"pred": pred, "gold": []},
            found=False,
            error="Missing or invalid missing_smiles in answer",
        )
    details = {"pred": pred, "gold": gold}
    if options.strict:
        return _judge_strict(gold, extracted, details, options)
    tp, vote = _match_reference(pred, gold)
    return Outcome(
        tp == len(gold) and tp == len(pred),
        measures(tp, len(pred), len(gold)),
        details,
        found=extracted.found,
        vote=vote if extracted.found else None,
    )


def _match_reference(pred: Sequence[str], gold: Sequence[Any]) -> tuple[int, str]:
    """True positives of the published greedy matching, and a text for the set of predictions.

    Each prediction takes the first gold not taken yet that is the same molecule. Identity is not
    transitive where ``~`` or ``*`` occur, so the order matters and is kept.
    """
    from relfast.chem.matching import same_molecule
    from relfast.chem.molecule import parse

    left = [parse(smiles) for smiles in gold]
    tp = 0
    keys: set[str] = set()
    for smiles in pred:
        molecule = parse(smiles)
        if molecule is None:
            continue
        keys.add(_vote_of(smiles, molecule))
        for at, candidate in enumerate(left):
            if candidate is not None and same_molecule(molecule, candidate):
                left[at] = None
                tp += 1
                break
    return tp, ".".join(sorted(keys))


def _vote_of(smiles: str, molecule: Molecule) -> str:
    """The molecule's key; its text where the toolkit cannot write the key (only a comparison may fail)."""
    try:
        return molecule.key
    except RuntimeError:
        return smiles


def _judge_strict(
    gold: Sequence[Any], extracted: Extracted, details: dict[str, Any], options: Options
) -> Outcome:
    from relfast.chem.clean import clean_key, parse_clean

    # a molecule's own key → the key it is compared by, which tautomers share where they are joined
    wanted: dict[str, str] = {}
    for smiles in gold:
        molecule, flaw = parse_clean(smiles)
        if molecule is None:
            return Outcome(False, details=details, error=f"missing_smiles has an unclean molecule: {flaw}")
        wanted[clean_key(molecule, "apart")] = clean_key(molecule, options.tautomers)
    if not wanted:
        return Outcome(False, details=details, error="missing_smiles is empty")
    reason = extracted.reason
    named: dict[str, str] = {}
    pred: list[str] = extracted.value
    for smiles in pred:
        molecule, flaw = parse_clean(smiles)
        if molecule is None:
            reason = reason or flaw
            continue
        key = clean_key(molecule, "apart")
        if key in named:
            reason = reason or "duplicate"
        named[key] = clean_key(molecule, options.tautomers)
    # what is not a new right molecule (duplicates and unreadable ones too) is a false positive
    tp = (Counter(named.values()) & Counter(wanted.values())).total()
    metrics = measures(tp, len(pred), len(wanted))
    metrics["reason"] = reason
    return Outcome(
        tp == len(wanted) and tp == len(pred),
        metrics,
        details,
        found=extracted.found,
        vote=".".join(sorted(named)) if extracted.found else None,
    )
