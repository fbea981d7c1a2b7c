"""REL-C2 as published: what a pair (gold, response) is worth, found out once.

Kernels compare the two if they can read both, which is so for most answers; the rest is RDKit's. What takes
long, by either, is looked up first in the memo that the workers share.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Final
from zlib import crc32

from relfast.chem.common_substructure import MAX_STEPS, SHORT_STEPS, Compared, Pair, Prepared, prepared
from relfast.chem.common_substructure import judge as judge_pair
from relfast.memo import memo
from relfast.records import Extracted, Outcome
from relfast.tasks.rel_c.options import RelCOptions

RIGHT: Final = 1
"""The vote of every response that names the motif, however it is written."""

_OUTCOME: Final = Struct("<dIB")


def metrics_of(in_gold: bool, in_response: bool, overlap: float) -> dict[str, Any]:
    """The published measures by name."""
    return {
        "response_is_substructure_of_correct": in_gold,
        "correct_is_substructure_of_response": in_response,
        "overlap_metric": overlap,
    }


def recall(gold: object, extracted: Extracted[str | None], options: RelCOptions) -> Outcome | None:
    """The outcome of a pair, if it can be had without RDKit."""
    response = extracted.value
    if gold is not None and not extracted.found:
        return no_answer()
    if not isinstance(gold, str) or not isinstance(response, str):
        return None
    key = _by_text(gold, response, options)
    value = memo().get_near(key)
    if value is not None:
        return _unpack(value)
    found = compare(gold, response, SHORT_STEPS)
    if isinstance(found, Pair) or found == "invalid":
        return decide(found, response)
    # what follows may take milliseconds: another process may have done it
    value = memo().get(key)
    if value is not None:
        return _unpack(value)
    if found is None:
        return None
    outcome = decide(compare(gold, response, MAX_STEPS), response)
    if outcome is not None:
        _remember(key, outcome)
    return outcome


def no_answer() -> Outcome:
    """The outcome of a response without a tag, or with an empty one."""
    return Outcome(False, metrics_of(False, False, 0.0), found=False)


def compare(gold: object, response: object, steps: int) -> Compared:
    """What the kernel says of two texts."""
    if not (isinstance(gold, str) and isinstance(response, str)):
        return None
    theirs = prepared(gold)
    return judge_pair(theirs, response, steps=steps) if isinstance(theirs, Prepared) else theirs


def decide(found: Compared, response: str) -> Outcome | None:
    """The outcome of two molecules that the kernel reads, or of what is no molecule; None where only RDKit
    can say."""
    if found is None or found == "unfinished":
        return None
    if found == "invalid":
        return Outcome(False, metrics_of(False, False, 0.0), vote=_vote_of_text(response))
    in_gold, in_response, _, common, n_gold, n, fingerprint, _ = found
    less, most = (n, n_gold) if n < n_gold else (n_gold, n)
    metrics = {
        "response_is_substructure_of_correct": in_gold,
        "correct_is_substructure_of_response": in_response,
        "overlap_metric": (less if in_gold or in_response else common) / most,
    }
    # each in the other: then neither has an atom or a bond more
    correct = in_gold and in_response
    return Outcome(correct, metrics, {}, vote=RIGHT if correct else _vote_of_fingerprint(fingerprint))


def judge(gold: object, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    """The outcome of a pair."""
    response = extracted.value
    pair = (gold, response) if isinstance(gold, str) and isinstance(response, str) else None
    if pair is not None:
        # a record just before this one may have had the same pair
        value = memo().get_near(_by_text(*pair, options))
        if value is not None:
            return _unpack(value)
    outcome = _judge(gold, extracted, options)
    # how far a search that was cut short came depends on the machine's load: not for others to repeat
    if pair is not None and "mcs_canceled" not in outcome.metrics:
        _remember(_by_text(*pair, options), outcome)
    return outcome


def _remember(key: bytes, outcome: Outcome) -> None:
    if isinstance(outcome.vote, int):
        in_gold, in_response, overlap = outcome.metrics.values()
        bits = outcome.correct | in_gold << 1 | in_response << 2
        memo().put(key, _OUTCOME.pack(overlap, outcome.vote, bits))


def _judge(gold: object, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    from relfast.chem.matching import contains, same_molecule
    from relfast.chem.mcs import common_substructure, exact_common_substructure
    from relfast.chem.molecule import parse

    response = extracted.value
    found = compare(gold, response, MAX_STEPS)
    outcome = decide(found, str(response))
    if outcome is not None:
        return outcome
    ours, theirs = parse(response), parse(gold)
    if ours is None or theirs is None:
        vote = _vote_of_text(response) if extracted.found and response is not None else None
        return Outcome(False, metrics_of(False, False, 0.0), vote=vote)
    if found == "unfinished":
        # neither lies in the other: two searches less, and two canonical SMILES
        correct = in_gold = in_response = False
    else:
        correct = same_molecule(ours, theirs)
        in_gold, in_response = contains(theirs, ours), contains(ours, theirs)
    heavy = (ours.heavy_atoms, theirs.heavy_atoms)
    canceled = False
    if in_gold or in_response:
        common = min(heavy)
    elif (exact := exact_common_substructure(ours, theirs)) is not None:
        common = exact
    else:
        common, canceled = common_substructure(ours, theirs, options.mcs_timeout)
    metrics = metrics_of(in_gold, in_response, common / max(heavy) if max(heavy) else 0.0)
    if canceled:
        metrics["mcs_canceled"] = True
    return Outcome(correct, metrics, vote=RIGHT if correct else _vote_of_fingerprint(ours.fingerprint))


def _by_text(gold: str, response: str, options: RelCOptions) -> bytes:
    text = f"REL-C2 texts {options.mcs_timeout} {len(gold)} {gold}{response}"
    return text.encode("utf-8", "surrogatepass")


def _unpack(value: bytes) -> Outcome:
    overlap, vote, bits = _OUTCOME.unpack_from(value)
    return Outcome(bool(bits & 1), metrics_of(bool(bits & 2), bool(bits & 4), overlap), vote=vote)


def _vote_of_text(text: str) -> int:
    return max(RIGHT + 1, crc32(text.encode("utf-8", "surrogatepass")))


def _vote_of_fingerprint(fingerprint: int) -> int:
    return max(RIGHT + 1, fingerprint)
