"""Scoring REL-C3: which of the missing isomers did the response name?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zlib import crc32

from relfast.interrupts import uninterrupted
from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.rel_c.extract import extract_molecules

if TYPE_CHECKING:
    from relfast.chem.simple import SmilesTable

_VOTE_MASK: Final = 0xFFFF_FFFF


def extract(record: Record, options: Options) -> Extracted:
    return extract_molecules(record.response, options)


def score_without_toolkit(batch: Batch, options: Options) -> list[Outcome | None]:
    """The outcomes of records whose molecules are all simple, at once; None for the others."""
    outcomes: list[Outcome | None] = [None] * len(batch)
    from relfast.chem.simple import simple_table

    table = simple_table()
    if table is None:
        return outcomes
    if options.strict:
        return _strict_without_toolkit(table, batch, options)
    golds = [_gold(record.answer) for record, _ in batch]
    places = [at for at, gold in enumerate(golds) if isinstance(gold, list)]
    matches = table.match([(golds[at], batch[at][1].value) for at in places])
    for at, match in zip(places, matches, strict=True):
        if not match.unknown:
            outcomes[at] = _outcome(golds[at], batch[at][1], match.true_positives, match.vote)
    return outcomes


def _strict_without_toolkit(table: SmilesTable, batch: Batch, options: Options) -> list[Outcome | None]:
    from relfast.chem.simple import certainly_clean

    outcomes: list[Outcome | None] = [None] * len(batch)
    if options.tautomers != "apart":
        return outcomes
    golds = [_gold(record.answer) for record, _ in batch]
    places = [
        at
        for at, ((_, extracted), gold) in enumerate(zip(batch, golds, strict=True))
        if isinstance(gold, list) and gold and all(map(certainly_clean, [*gold, *extracted.value]))
    ]
    found = table.molecules([(golds[at], batch[at][1].value) for at in places])
    for at, molecules in zip(places, found, strict=True):
        if molecules is not None:
            votes = molecules.fingerprints
            predictions: list[_Named | str] = [
                _Named(kind, kind, votes[kind]) if kind in votes else "invalid_smiles"
                for kind in molecules.predictions
            ]
            wanted: dict[object, object] = {kind: kind for kind in molecules.gold}
            outcomes[at] = _strict_outcome(golds[at], batch[at][1], wanted, predictions)
    return outcomes


def score(batch: Batch, options: Options) -> list[Outcome]:
    with uninterrupted():
        return [_judge(record.answer, extracted, options) for record, extracted in batch]


def _gold(answer: Any) -> Any:
    return answer.get("missing_smiles", []) if isinstance(answer, Mapping) else None


def measures(tp: int, n_pred: int, n_gold: int) -> dict[str, Any]:
    """Counts, precision, recall and F1 (0 where undefined)."""
    fp, fn = n_pred - tp, n_gold - tp
    precision = tp / n_pred if n_pred else 0.0
    recall = tp / n_gold if n_gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if tp else 0.0
    return {"tp": tp, "fp": fp, "fn": fn, "precision": precision, "recall": recall, "f1": f1}


def _judge(answer: Any, extracted: Extracted, options: Options) -> Outcome:
    gold = _gold(answer)
    pred: list[str] = extracted.value
    if not isinstance(gold, list):
        return Outcome(
            False,
            measures(0, len(pred), 0),
            {"pred": pred, "gold": []},
            found=False,
            error="Missing or invalid missing_smiles in answer",
        )
    if options.strict:
        return _judge_strict(gold, extracted, options)
    return _outcome(gold, extracted, *_match_reference(pred, gold))


def _outcome(gold: Sequence[Any], extracted: Extracted, tp: int, vote: int) -> Outcome:
    pred: list[str] = extracted.value
    return Outcome(
        tp == len(gold) and tp == len(pred),
        measures(tp, len(pred), len(gold)),
        {"pred": pred, "gold": gold},
        found=extracted.found,
        vote=vote or 1 if extracted.found else None,
    )


def _match_reference(pred: Sequence[str], gold: Sequence[Any]) -> tuple[int, int]:
    """True positives of the published greedy matching, and the vote.

    Each prediction takes the first gold not taken yet that is the same molecule. Identity is not
    transitive where ``~`` or ``*`` occur, so the order matters and is kept.
    """
    from relfast.chem.identity import flat_molecule, same, teach
    from relfast.chem.simple import FINGERPRINT_MASK, INVALID_VOTE, simple_table, vote_of_place

    table = simple_table()
    if table is not None:
        # most often what it does not know is no molecule, or one that it can take from the toolkit
        for smiles in table.match([(gold, pred)])[0].unknown:
            teach(table, smiles)
        match = table.match([(gold, pred)])[0]
        if not match.unknown:
            return match.true_positives, match.vote
    left = list(gold)
    tp = vote = 0
    for smiles in pred:
        for at, candidate in enumerate(left):
            if candidate is not None and same(smiles, candidate):
                left[at] = None
                tp += 1
                vote += vote_of_place(at)
                break
        else:
            try:
                molecule = flat_molecule(smiles)
            except RuntimeError:
                # the toolkit reads it but cannot write it: only a comparison may fail for that
                vote += crc32(smiles.encode("utf-8", "surrogatepass"))
            else:
                vote += INVALID_VOTE if molecule is None else molecule.fingerprint
    return tp, vote & FINGERPRINT_MASK


class _Named(NamedTuple):
    """A clean molecule of a response: its key, the key it is compared by (which tautomers share where they
    are joined), and 32 bits for the vote."""

    key: object
    compared: object
    vote: int


def _judge_strict(gold: Sequence[Any], extracted: Extracted, options: Options) -> Outcome:
    from relfast.chem.clean import clean_key, parse_clean, vote_of

    details = {"pred": extracted.value, "gold": gold}
    wanted: dict[object, object] = {}
    for smiles in gold:
        molecule, flaw = parse_clean(smiles)
        if molecule is None:
            return Outcome(False, details=details, error=f"missing_smiles has an unclean molecule: {flaw}")
        wanted[clean_key(molecule, "apart")] = clean_key(molecule, options.tautomers)
    if not wanted:
        return Outcome(False, details=details, error="missing_smiles is empty")
    predictions: list[_Named | str] = []
    for smiles in extracted.value:
        molecule, flaw = parse_clean(smiles)
        if molecule is None:
            predictions.append(flaw or "")
        else:
            keys = clean_key(molecule, "apart"), clean_key(molecule, options.tautomers)
            predictions.append(_Named(*keys, vote_of(molecule)))
    return _strict_outcome(gold, extracted, wanted, predictions)


def _strict_outcome(
    gold: Sequence[Any],
    extracted: Extracted,
    wanted: Mapping[object, object],
    predictions: Sequence[_Named | str],
) -> Outcome:
    """What predictions (molecules, or what is wrong with them) are worth; ``wanted`` maps keys to those they
    are compared by."""
    reason = extracted.reason
    named: dict[object, object] = {}
    vote = 0
    for found in predictions:
        if isinstance(found, str):
            reason = reason or found
        elif found.key in named:
            reason = reason or "duplicate"
        else:
            named[found.key] = found.compared
            vote += found.vote
    # what is not a new right molecule (duplicates and unreadable ones too) is a false positive
    tp = (Counter(named.values()) & Counter(wanted.values())).total()
    metrics = measures(tp, len(predictions), len(wanted))
    metrics["reason"] = reason
    return Outcome(
        tp == len(wanted) and tp == len(predictions),
        metrics,
        {"pred": extracted.value, "gold": gold},
        found=extracted.found,
        vote=max(2, vote & _VOTE_MASK) if extracted.found else None,
    )
