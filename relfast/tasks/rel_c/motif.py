"""Scoring REL-C2: is the molecule the motif, and how much of it do they share?"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Any, Final
from zlib import crc32

from relfast.memo import memo
from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.rel_c.extract import extract_molecule


def extract(record: Record, options: Options) -> Extracted:
    return extract_molecule(record.response, options)


def score_without_toolkit(batch: Batch, options: Options) -> list[Outcome | None]:
    """The outcomes of pairs met before, and of simple molecules that are the same; None for the others."""
    outcomes: list[Outcome | None] = [None] * len(batch)
    if options.strict:
        return outcomes
    from relfast.chem.simple import plain_table

    left = []
    for at, (record, extracted) in enumerate(batch):
        gold = _gold(record.answer)
        if isinstance(gold, str) and isinstance(extracted.value, str):
            outcome = _recall(gold, extracted.value, options)
            if outcome is not None:
                outcomes[at] = _complete(outcome, gold, extracted)
            else:
                left.append((at, gold, extracted))
    table = plain_table() if left else None
    if table is not None:
        matches = table.match([([gold], [extracted.value]) for _, gold, extracted in left])
        for (at, gold, extracted), match in zip(left, matches, strict=True):
            if match.true_positives:
                same = Outcome(True, _metrics(True, True, 1.0), vote=_RIGHT)
                outcomes[at] = _complete(same, gold, extracted)
    return outcomes


def score(batch: Batch, options: Options) -> list[Outcome]:
    return [_judge(record.answer, extracted, options) for record, extracted in batch]


def _gold(answer: Any) -> Any:
    return answer.get("smiles") if isinstance(answer, Mapping) else None


_MEASURES: Final = (
    "response_is_substructure_of_correct",
    "correct_is_substructure_of_response",
    "overlap_metric",
)


def _metrics(in_gold: bool, in_response: bool, overlap: float) -> dict[str, Any]:
    return dict(zip(_MEASURES, (in_gold, in_response, overlap), strict=True))


def _judge(answer: Any, extracted: Extracted, options: Options) -> Outcome:
    gold = _gold(answer)
    if gold is None:
        details = {"pred": extracted.value, "gold": gold}
        return Outcome(
            False, _metrics(False, False, 0.0), details, found=False, error="Missing smiles in answer"
        )
    judge = _judge_strict if options.strict else _judge_reference
    return _complete(judge(gold, extracted, options), gold, extracted)


def _complete(outcome: Outcome, gold: Any, extracted: Extracted) -> Outcome:
    outcome.details = {"pred": extracted.value, "gold": gold}
    outcome.found = extracted.found
    return outcome


_RIGHT: Final = 1
"""The vote of every response that names the motif, however it is written."""


def _vote(text: str) -> int:
    return max(_RIGHT + 1, crc32(text.encode("utf-8", "surrogatepass")))


_REMEMBERED: Final = Struct("<dIB")


def _memo_text(gold: str, response: str, options: Options) -> str:
    return f"REL-C2 {options.mcs_timeout} {len(gold)} {gold}{response}"


def _remember(gold: Any, response: Any, options: Options, outcome: Outcome) -> None:
    if not (isinstance(gold, str) and isinstance(response, str) and isinstance(outcome.vote, int)):
        return
    in_gold, in_response, overlap = (outcome.metrics[name] for name in _MEASURES)
    bits = outcome.correct | in_gold << 1 | in_response << 2
    memo().put(_memo_text(gold, response, options), _REMEMBERED.pack(overlap, outcome.vote, bits))


def _recall(gold: str, response: str, options: Options) -> Outcome | None:
    value = memo().get(_memo_text(gold, response, options))
    if value is None:
        return None
    overlap, vote, bits = _REMEMBERED.unpack_from(value)
    return Outcome(bool(bits & 1), _metrics(bool(bits & 2), bool(bits & 4), overlap), vote=vote)


def _judge_reference(gold: Any, extracted: Extracted, options: Options) -> Outcome:
    from relfast.chem.matching import contains, same_molecule
    from relfast.chem.mcs import common_substructure
    from relfast.chem.molecule import parse

    if isinstance(gold, str) and isinstance(extracted.value, str):
        remembered = _recall(gold, extracted.value, options)
        if remembered is not None:
            return remembered
    ours, theirs = parse(extracted.value), parse(gold)
    if ours is None or theirs is None:
        vote = _vote(extracted.value) if extracted.found else None
        outcome = Outcome(False, _metrics(False, False, 0.0), vote=vote)
        _remember(gold, extracted.value, options, outcome)
        return outcome
    correct = same_molecule(ours, theirs)
    in_gold, in_response = contains(theirs, ours), contains(ours, theirs)
    heavy = (ours.heavy_atoms, theirs.heavy_atoms)
    canceled = False
    if in_gold or in_response:
        common = min(heavy)
    else:
        common, canceled = common_substructure(ours, theirs, options.mcs_timeout)
    metrics = _metrics(in_gold, in_response, common / max(heavy) if max(heavy) else 0.0)
    outcome = Outcome(correct, metrics, vote=_RIGHT if correct else _vote(ours.key))
    if canceled:
        # how far it came depends on the machine's load: not for others to repeat
        metrics["mcs_canceled"] = True
    else:
        _remember(gold, extracted.value, options, outcome)
    return outcome


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
