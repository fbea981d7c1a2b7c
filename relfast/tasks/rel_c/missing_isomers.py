"""Scoring REL-C3: compare the molecules that a response names with the missing isomers of gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final
from zlib import crc32

from relfast_kernels.compiled import native
from relfast_kernels.smiles.layouts import FINGERPRINT_MASK, INVALID_VOTE

from relfast.chem.smiles_table import Match
from relfast.records import Batch, Extracted, Outcome
from relfast.support.system import uninterrupted
from relfast.tasks.base import agreement
from relfast.tasks.rel_c import RelCOptions
from relfast.tasks.rel_c.extract import extract_molecules

_TEXT: Final = frozenset((str,))


extract = extract_molecules


def score(batch: Batch, options: RelCOptions) -> list[Outcome]:
    """See `relfast.tasks.base.TaskScorer`."""
    with uninterrupted():
        return [_score_one(record.answer, extracted, options) for record, extracted in batch]


def gold_of(answer: object) -> Any:
    """Gold's missing isomers, unchecked; None if the answer is not an object."""
    return answer.get("missing_smiles", []) if type(answer) is dict or isinstance(answer, Mapping) else None


def given_of(answer: Any) -> list[str]:
    """The question's molecules as gold repeats them; empty if gold does not.

    They are not read from the question: callers that have no question must get the same reward.
    """
    given = answer.get("molecules") if isinstance(answer, Mapping) else None
    if not isinstance(given, list):
        return []
    return given if set(map(type, given)) <= _TEXT or all(isinstance(one, str) for one in given) else []


def measures(tp: int, n_pred: int, n_gold: int) -> dict[str, Any]:
    """A row's metrics from counts: true and false positives, precision, recall and F1 (0 if undefined)."""
    return {"tp": tp, "fp": n_pred - tp, "fn": n_gold - tp, **agreement(tp, n_pred, n_gold)}


def _score_one(answer: object, extracted: Extracted[list[str]], options: RelCOptions) -> Outcome:
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
    flaw = None
    if options.strict:
        match, flaw = _match_strictly(gold, given_of(answer), pred, options)
        if match is None:
            return Outcome(False, details={"pred": pred, "gold": gold}, error=flaw)
    else:
        match = _match_reference(pred, gold)
    reason = extracted.reason or flaw
    outcome = outcome_of(match, len(pred), len(gold), reason, found=extracted.found, strict=options.strict)
    outcome.details = {"pred": pred, "gold": gold}
    return outcome


def outcome_of(
    match: Match, n_pred: int, n_gold: int, reason: str | None, *, found: bool, strict: bool
) -> Outcome:
    """The outcome of matched predictions, without details.

    Under ``strict``, repeats and isomers that gold does not list do not count as predictions. Other wrong
    predictions (given molecules, unreadable ones) are false positives.
    """
    if strict:
        n_pred, n_gold = n_pred - match.n_neutral, match.n_wanted
    tp = match.true_positives
    metrics = measures(tp, n_pred, n_gold)
    vote = None
    if strict:
        metrics["reason"] = reason
    if found:
        vote = max(2, match.vote & FINGERPRINT_MASK) if strict else match.vote or 1
    return Outcome(tp == n_gold and tp == n_pred, metrics, found=found, vote=vote)


def _match_reference(pred: Sequence[str], gold: Sequence[object]) -> Match:
    """The published greedy matching.

    Each prediction takes the first gold molecule that is the same molecule and not yet taken. Identity is not
    transitive if ``~`` or ``*`` occur, so the order matters and is kept.
    """
    from relfast.chem.matching import flat_molecule, same, teach
    from relfast.chem.smiles_table import simple_table

    table = simple_table()
    if table is not None:
        # most unknown texts are invalid, or molecules whose code the table can learn from RDKit
        for smiles in table.match(gold, pred).unknown:
            teach(table, smiles)
        match = table.match(gold, pred)
        if match.decided:
            return match
    with native.uncharged():  # it loads numpy
        from relfast_kernels.smiles.table import vote_of_place

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
                # RDKit parses this SMILES but cannot write it; only comparisons may fail for that
                vote += crc32(smiles.encode("utf-8", "surrogatepass"))
            else:
                vote += INVALID_VOTE if molecule is None else molecule.fingerprint
    return Match(1, tp, vote & FINGERPRINT_MASK)


def _match_strictly(
    gold: Sequence[Any], given: Sequence[str], pred: Sequence[str], options: RelCOptions
) -> tuple[Match | None, str | None]:
    """Match predictions as a set with gold. Returns the match and the flaw of the first prediction that is
    not a molecule (or None); if gold is unusable, None and the error."""
    from relfast.chem.clean import NO_ISOMER, clean_key, ordinary_formula, parse_clean, vote_of

    wanted: dict[object, object] = {}
    for smiles in gold:
        molecule, flaw = parse_clean(smiles)
        if molecule is None:
            return None, f"missing_smiles has an unclean molecule: {flaw}"
        wanted[clean_key(molecule, "apart")] = clean_key(molecule, options.tautomers)
    if not wanted:
        return None, "missing_smiles is empty"
    named: dict[object, object] = {}
    texts: dict[object, str] = {}
    vote = neutral = 0
    first_flaw: str | None = None
    for smiles in pred:
        molecule, flaw = parse_clean(smiles)
        key = None if molecule is None else clean_key(molecule, "apart")
        if molecule is None:
            first_flaw = first_flaw or flaw
        elif key in named:
            neutral += 1  # predictions are a set: repeats do not count
        else:
            named[key] = clean_key(molecule, options.tautomers)
            texts[key] = smiles
            vote += vote_of(molecule)
    # if tautomers are joined, each gold molecule can be matched only once
    tp = (Counter(named.values()) & Counter(wanted.values())).total()
    taken = set(wanted.values())
    other = [key for key in named if named[key] not in taken]
    formulas = {*map(ordinary_formula, gold)} if other and given else set()
    formula = formulas.pop() if len(formulas) == 1 else NO_ISOMER
    if formula:
        parsed = (parse_clean(smiles)[0] for smiles in given)
        shown = {clean_key(molecule, options.tautomers) for molecule in parsed if molecule is not None}
        neutral += sum(named[key] not in shown and ordinary_formula(texts[key]) == formula for key in other)
    return Match(1, tp, vote, len(wanted), neutral), first_flaw


def said(details: Mapping[str, Any]) -> str:
    """The predicted molecules as text, as the response writes them, in alphabetical order."""
    return ", ".join(sorted(details["pred"]))
