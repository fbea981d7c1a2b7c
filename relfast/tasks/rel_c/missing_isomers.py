"""Scoring REL-C3: which of the missing isomers did the response name?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from relfast_kernels.smiles.layouts import FINGERPRINT_MASK, INVALID_VOTE

from relfast.interrupts import uninterrupted
from relfast.records import Batch, Extracted, Outcome, Record
from relfast.tasks.rel_c.extract import extract_molecules
from relfast.tasks.rel_c.options import RelCOptions

if TYPE_CHECKING:
    from relfast.chem.smiles_table import SmilesTable


_TEXT: Final = frozenset((str,))


def extract(record: Record, options: RelCOptions) -> Extracted[list[str]]:
    return extract_molecules(record.response, options)


def score_without_rdkit(batch: Batch, options: RelCOptions) -> list[Outcome | None]:
    """The outcomes of records whose molecules are all simple, at once; None for the others."""
    outcomes: list[Outcome | None] = [None] * len(batch)
    from relfast.chem.smiles_table import simple_table

    table = simple_table()
    if table is None:
        return outcomes
    if options.strict:
        return _strict_without_rdkit(table, batch, options)
    golds = [gold_of(record.answer) for record, _ in batch]
    places = [at for at, gold in enumerate(golds) if isinstance(gold, list)]
    matches = table.match([(golds[at], batch[at][1].value) for at in places])
    for at, match in zip(places, matches, strict=True):
        if not match.unknown:
            outcomes[at] = _outcome(golds[at], batch[at][1], match.true_positives, match.vote)
    return outcomes


def _strict_without_rdkit(table: SmilesTable, batch: Batch, options: RelCOptions) -> list[Outcome | None]:
    outcomes: list[Outcome | None] = [None] * len(batch)
    if options.tautomers != "apart":
        return outcomes
    golds = [gold_of(record.answer) for record, _ in batch]
    places = [at for at, gold in enumerate(golds) if isinstance(gold, list) and gold]
    verdicts = table.judge([(golds[at], batch[at][1].value, given_of(batch[at][0].answer)) for at in places])
    for at, verdict in zip(places, verdicts, strict=True):
        if verdict is not None:
            outcomes[at] = _strict_outcome(golds[at], batch[at][1], *verdict)
    return outcomes


def score(batch: Batch, options: RelCOptions) -> list[Outcome]:
    with uninterrupted():
        return [_judge(record.answer, extracted, options) for record, extracted in batch]


def gold_of(answer: object) -> Any:
    return answer.get("missing_smiles", []) if type(answer) is dict or isinstance(answer, Mapping) else None


def given_of(answer: Any) -> list[str]:
    """The question's molecules as gold repeats them; empty where it does not.

    Not the question's text: a door that has no question must give the same reward.
    """
    given = answer.get("molecules") if isinstance(answer, Mapping) else None
    if not isinstance(given, list):
        return []
    return given if set(map(type, given)) <= _TEXT or all(isinstance(one, str) for one in given) else []


def measures(tp: int, n_pred: int, n_gold: int) -> dict[str, Any]:
    """Counts, precision, recall and F1 (0 where undefined)."""
    fp, fn = n_pred - tp, n_gold - tp
    precision = tp / n_pred if n_pred else 0.0
    recall = tp / n_gold if n_gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if tp else 0.0
    return {"tp": tp, "fp": fp, "fn": fn, "precision": precision, "recall": recall, "f1": f1}


def _judge(answer: object, extracted: Extracted[list[str]], options: RelCOptions) -> Outcome:
    gold = gold_of(answer)
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
        return _judge_strict(gold, given_of(answer), extracted, options)
    return _outcome(gold, extracted, *_match_reference(pred, gold))


def _outcome(gold: Sequence[object], extracted: Extracted[list[str]], tp: int, vote: int) -> Outcome:
    outcome = published_outcome(tp, vote, len(extracted.value), len(gold), found=extracted.found)
    outcome.details = {"pred": extracted.value, "gold": gold}
    return outcome


def published_outcome(tp: int, vote: int, n_pred: int, n_gold: int, *, found: bool) -> Outcome:
    """What predictions are worth of which ``tp`` found a gold of their own; without details."""
    return Outcome(
        tp == n_gold and tp == n_pred,
        measures(tp, n_pred, n_gold),
        found=found,
        vote=vote or 1 if found else None,
    )


def _match_reference(pred: Sequence[str], gold: Sequence[object]) -> tuple[int, int]:
    """True positives of the published greedy matching, and the vote.

    Each prediction takes the first gold not taken yet that is the same molecule. Identity is not
    transitive where ``~`` or ``*`` occur, so the order matters and is kept.
    """
    from relfast.chem.matching import flat_molecule, same, teach
    from relfast.chem.smiles_table import simple_table, vote_of_place

    table = simple_table()
    if table is not None:
        # most often what it does not know is no molecule, or one that it can take from RDKit
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
                # RDKit reads it but cannot write it: only a comparison may fail for that
                vote += crc32(smiles.encode("utf-8", "surrogatepass"))
            else:
                vote += INVALID_VOTE if molecule is None else molecule.fingerprint
    return tp, vote & FINGERPRINT_MASK


def _judge_strict(
    gold: Sequence[Any], given: Sequence[str], extracted: Extracted[list[str]], options: RelCOptions
) -> Outcome:
    from relfast.chem.clean import NO_ISOMER, clean_key, ordinary_formula, parse_clean, vote_of

    details = {"pred": extracted.value, "gold": gold}
    wanted: dict[object, object] = {}
    for smiles in gold:
        molecule, flaw = parse_clean(smiles)
        if molecule is None:
            return Outcome(False, details=details, error=f"missing_smiles has an unclean molecule: {flaw}")
        wanted[clean_key(molecule, "apart")] = clean_key(molecule, options.tautomers)
    if not wanted:
        return Outcome(False, details=details, error="missing_smiles is empty")
    named: dict[object, object] = {}
    texts: dict[object, str] = {}
    vote = neutral = 0
    first_flaw: str | None = None
    for smiles in extracted.value:
        molecule, flaw = parse_clean(smiles)
        key = None if molecule is None else clean_key(molecule, "apart")
        if molecule is None:
            first_flaw = first_flaw or flaw
        elif key in named:
            neutral += 1  # a set: repeats are nothing
        else:
            named[key] = clean_key(molecule, options.tautomers)
            texts[key] = smiles
            vote += vote_of(molecule)
    # tautomers, where they are joined, are found once for each that is wanted
    tp = (Counter(named.values()) & Counter(wanted.values())).total()
    taken = set(wanted.values())
    other = [key for key in named if named[key] not in taken]
    formulas = {*map(ordinary_formula, gold)} if other and given else set()
    formula = formulas.pop() if len(formulas) == 1 else NO_ISOMER
    if formula:
        parsed = (parse_clean(smiles)[0] for smiles in given)
        shown = {clean_key(molecule, options.tautomers) for molecule in parsed if molecule is not None}
        neutral += sum(named[key] not in shown and ordinary_formula(texts[key]) == formula for key in other)
    return _strict_outcome(gold, extracted, tp, len(wanted), neutral, first_flaw, vote)


def _strict_outcome(
    gold: Sequence[object],
    extracted: Extracted[list[str]],
    tp: int,
    n_wanted: int,
    neutral: int,
    flaw: str | None,
    vote: int,
) -> Outcome:
    n_predictions = len(extracted.value) - neutral
    outcome = strict_outcome(
        tp, n_wanted, n_predictions, extracted.reason or flaw, vote, found=extracted.found
    )
    outcome.details = {"pred": extracted.value, "gold": gold}
    return outcome


def strict_outcome(
    tp: int, n_wanted: int, n_predictions: int, reason: str | None, vote: int, *, found: bool
) -> Outcome:
    """What predictions are worth of which ``tp`` are right; without details. Isomers that gold does not know
    of and repeats are not among them; what is neither (given molecules, unreadable ones) is a false
    positive."""
    metrics = measures(tp, n_predictions, n_wanted)
    metrics["reason"] = reason
    return Outcome(
        tp == n_wanted and tp == n_predictions,
        metrics,
        found=found,
        vote=max(2, vote & FINGERPRINT_MASK) if found else None,
    )


def said(details: Mapping[str, Any]) -> str:
    """The molecules as they were written, in alphabetical order."""
    return ", ".join(sorted(details["pred"]))
