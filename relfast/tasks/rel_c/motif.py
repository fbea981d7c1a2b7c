"""Scoring REL-C2: is the molecule the motif, and how much of it do they share?

Kernels compare the two if they can read both, which is so for most answers; the rest is RDKit's, each pair
once a process.

Under ``strict`` the motif pays, and what is sure to be common to all molecules pays for what it has beyond a
constant. What lies in gold lies in every molecule of the question, however it was found; what does not is no
common motif or no large one, be it a given molecule, which has gold in it, or half of gold with half of
another. So ``overlap_skill`` is

- 1 for the motif itself,
- ``(n / N - b) / (1 - b)``, if that is positive, for n atoms that lie in the N of gold, rings in rings, where
  b is the share that the best of some hundred constants has (`relfast.chem.common_substructure`),
- 0 for anything else.

No clock decides it. Only ``overlap_metric`` needs a search that can take long: it is for reading, not for
rewards. It is the true optimum where a kernel decides, which depends on the two texts only; RDKit, asked for
the rest, can miss it by an atom or two, and where it does not come to its end either the metric is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from relfast_kernels.mcs.layouts import Pair

from relfast.chem.common_substructure import Compared, Prepared, constant_in, is_compiled, prepared
from relfast.chem.common_substructure import judge as judge_pair
from relfast.chem.smiles_table import has_isotope, same_clean_molecule
from relfast.interrupts import uninterrupted
from relfast.records import Batch, Extracted, Outcome, Record
from relfast.tasks.rel_c import RelCOptions
from relfast.tasks.rel_c.extract import extract_molecule

if TYPE_CHECKING:
    from relfast.chem.molecule import Molecule

RIGHT: Final = 1
"""The vote of every response that names the motif, however it is written."""

MAX_KNOWN: Final = 20_000
MAX_KNOWN_CHARS: Final = 1_000
"""Pairs whose outcome a process keeps, and the longest of them: models give the same wrong answer again and
again, and finding out what it is worth can take RDKit milliseconds."""

MAX_SEARCHED: Final = 60
"""Atoms of a response that is searched for a common substructure. The longest published gold has 49; of two
grids of 100 atoms RDKit reads no clock for seconds."""

MAX_SEARCH_SECONDS: Final = 1
"""Time for that search, well within any deadline. Of 1,000 wrong answers none needs a tenth of it."""


def extract(record: Record, options: RelCOptions) -> Extracted[str | None]:
    return extract_molecule(record.response, options)


def gold_of(answer: object) -> Any:
    return answer.get("smiles") if type(answer) is dict or isinstance(answer, Mapping) else None


# What kernels decide


def decide(found: Compared, gold: Prepared, response: str, *, strict: bool) -> Outcome | None:
    """The outcome of a response that the kernel has compared with gold; None where only RDKit can say. Under
    ``strict`` the response must be of plain letters."""
    return _decide_strictly(found, gold, response) if strict else _decide(found, response)


def no_answer(strict: bool, reason: str | None = None) -> Outcome:
    """The outcome of a response without a tag, or, as published, with an empty one."""
    if strict:
        outcome = nothing(None, reason)
        outcome.found = False
        return outcome
    return Outcome(False, metrics_of(False, False, 0.0), found=False)


def metrics_of(in_gold: bool, in_response: bool, overlap: float) -> dict[str, Any]:
    """The published measures by name."""
    return {
        "response_is_substructure_of_correct": in_gold,
        "correct_is_substructure_of_response": in_response,
        "overlap_metric": overlap,
    }


def _decide(found: Compared, response: str) -> Outcome | None:
    if found is None or found == "unfinished":
        return None
    if found == "invalid":
        return Outcome(False, metrics_of(False, False, 0.0), vote=_vote_of_text(response))
    _, common, _, in_gold, in_response, _, n_gold, n, fingerprint, _ = found
    less, most = (n, n_gold) if n < n_gold else (n_gold, n)
    overlap = (less if in_gold or in_response else common) / most
    # each in the other: then neither has an atom or a bond more
    correct = bool(in_gold and in_response)
    vote = RIGHT if correct else max(RIGHT + 1, fingerprint)
    return Outcome(correct, metrics_of(in_gold == 1, in_response == 1, overlap), {}, vote=vote)


def _decide_strictly(found: Compared, gold: Prepared, response: str) -> Outcome | None:
    if has_isotope(response):
        return None
    if found == "invalid":
        return nothing(response, "invalid_smiles")
    if not isinstance(found, Pair):
        return None
    _, common, _, in_gold, in_response, is_part, n_gold, n, fingerprint, settled = found
    if in_gold and in_response:
        # without RDKit it is only known for certain that two are one molecule
        same = (settled and gold.settled) or same_clean_molecule(gold.text, response)
        metrics = {**metrics_of(True, True, 1.0), "overlap_skill": 1.0, "reason": None}
        return Outcome(True, metrics, vote=RIGHT) if same else None
    skill = 0.0
    if is_part:
        constant = constant_in(gold)
        if constant is None:
            return None
        skill = _skill(n, n_gold, constant)
    metrics = {
        **metrics_of(in_gold == 1, in_response == 1, _share(common, n, n_gold)),
        "overlap_skill": skill,
        "reason": None,
    }
    return Outcome(False, metrics, {}, vote=max(RIGHT + 1, fingerprint))


def nothing(response: str | None, reason: str | None) -> Outcome:
    """The outcome of a response without a clean molecule under ``strict``."""
    metrics = {**metrics_of(False, False, 0.0), "overlap_skill": 0.0, "reason": reason}
    return Outcome(False, metrics, vote=response)


def _skill(n: int, most: int, constant: int) -> float:
    """What a part of n atoms is worth, of a gold of ``most``."""
    # with all atoms and another charge or bond it is still another molecule
    return max(0.0, (min(n, most - 1) - constant) / (most - constant)) if constant < most else 0.0


def _share(common: int, n: int, n_gold: int) -> float:
    """The share of atoms in common. Tautomers share every atom and bond and are still two molecules: 1.0 is
    for the same one only."""
    most = n if n > n_gold else n_gold
    return (common if common < most else most - 1) / most


# What is left to RDKit


def score(batch: Batch, options: RelCOptions) -> list[Outcome]:
    with uninterrupted():
        return [_score_one(record.answer, extracted, options) for record, extracted in batch]


def _score_one(answer: object, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    gold = gold_of(answer)
    if gold is None:
        details = {"pred": extracted.value, "gold": gold}
        return Outcome(
            False, metrics_of(False, False, 0.0), details, found=False, error="Missing smiles in answer"
        )
    outcome = (judge_strictly if options.strict else judge_as_published)(gold, extracted, options)
    outcome.details = {"pred": extracted.value, "gold": gold}
    outcome.found = extracted.found
    return outcome


def judge_as_published(gold: object, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    """The outcome of a pair, found out once."""
    pair = gold, extracted.value, options.mcs_timeout
    # a record just before this one may have had the same pair
    outcome = _known.get(pair) if isinstance(gold, str) else None
    if outcome is None:
        outcome = _judge_as_published(gold, extracted, options)
        # how far a search that was cut short came depends on the machine's load: not for others to repeat
        is_settled = "mcs_canceled" not in outcome.metrics and isinstance(outcome.vote, int)
        if is_settled and isinstance(gold, str) and len(f"{gold}{extracted.value}") <= MAX_KNOWN_CHARS:
            if len(_known) >= MAX_KNOWN:
                _known.clear()
            _known[pair] = outcome
    return replace(outcome, metrics=dict(outcome.metrics))


_known: Final[dict[tuple[object, object, int], Outcome]] = {}


def _compare(gold: object, response: object, *, whole_rings: bool = False) -> Compared:
    """What the kernel says of two texts, compiled or not."""
    if not (isinstance(gold, str) and isinstance(response, str)):
        return None
    theirs = prepared(gold)
    if not isinstance(theirs, Prepared):
        return theirs
    return judge_pair(theirs, response, whole_rings=whole_rings)


def _judge_as_published(gold: object, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    if not is_compiled():
        # RDKit is quicker then, and says the same if nothing cuts it short
        outcome = _by_rdkit(gold, extracted, None, MAX_SEARCH_SECONDS, alone=True)
        if "mcs_canceled" not in outcome.metrics:
            return outcome
    found = _compare(gold, extracted.value)
    decided = _decide(found, str(extracted.value))
    return _by_rdkit(gold, extracted, found, options.mcs_timeout) if decided is None else decided


def _by_rdkit(
    gold: object, extracted: Extracted[str | None], found: Compared, seconds: int, *, alone: bool = False
) -> Outcome:
    """The outcome of a pair of which the kernel has ``found`` nothing, or that it takes long. ``alone``: it
    is not asked again for what they have in common, as RDKit writes them."""
    from relfast.chem.matching import common_substructure, contains, exact_common_substructure, same_molecule
    from relfast.chem.molecule import parse

    response = extracted.value
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
    elif not alone and (exact := exact_common_substructure(ours, theirs)) is not None:
        common = exact
    else:
        common, canceled = common_substructure(ours, theirs, seconds)
    metrics = metrics_of(in_gold, in_response, common / max(heavy) if max(heavy) else 0.0)
    if canceled:
        metrics["mcs_canceled"] = True
    return Outcome(correct, metrics, vote=RIGHT if correct else max(RIGHT + 1, ours.fingerprint))


def _vote_of_text(text: str) -> int:
    return max(RIGHT + 1, crc32(text.encode("utf-8", "surrogatepass")))


def judge_strictly(gold: Any, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    """The outcome of a pair."""
    from relfast.chem import clean
    from relfast.chem.matching import best_constant, contains, shared_part

    theirs, flaw = clean.parse_clean(gold)
    if theirs is None:
        return Outcome(False, error=f"gold smiles is no clean molecule: {flaw}")
    ours = None
    if extracted.found:
        ours, flaw = clean.parse_clean(extracted.value)
    if ours is None:
        return nothing(extracted.value, extracted.reason or flaw)
    # RDKit's search with whole rings can miss an atom or two
    found = _compare(gold, extracted.value, whole_rings=True)
    right = clean.same_clean_molecule(ours, theirs, options.tautomers)
    vote = RIGHT if right else max(RIGHT + 1, clean.vote_of(ours))
    if not right and ours.heavy_atoms > MAX_SEARCHED and ours.heavy_atoms > theirs.heavy_atoms:
        outcome = nothing(None, "too_large")
        outcome.vote = vote
        return outcome
    if isinstance(found, Pair):
        in_gold, in_response = found.in_first == 1, found.in_second == 1
    else:
        # a molecule contains itself; a tautomer need not contain the other
        equal = ours.key == theirs.key
        in_gold, in_response = equal or contains(theirs, ours), equal or contains(ours, theirs)
    overlap, canceled, skill = 1.0, False, 1.0
    if not right:
        overlap, canceled = _overlap(found, ours, theirs, options)
        skill = _skill(ours.heavy_atoms, theirs.heavy_atoms, best_constant(theirs.key))
        skill = skill if skill and shared_part(theirs, ours) else 0.0
    metrics = metrics_of(in_gold, in_response, overlap)
    metrics |= {"overlap_skill": skill, "reason": extracted.reason}
    if canceled:
        metrics["mcs_canceled"] = True
    return Outcome(right, metrics, vote=vote)


def _overlap(found: Compared, ours: Molecule, theirs: Molecule, options: RelCOptions) -> tuple[float, bool]:
    """The share of atoms in common, and whether the search for them was cut short, which makes it 0."""
    from relfast.chem.matching import exact_common_substructure, strict_common_substructure

    common, canceled = None, False
    if isinstance(found, Pair) and not (found.in_first and found.in_second):
        common = found.atoms
    else:
        common = exact_common_substructure(ours, theirs, whole_rings=True)
    if common is None:
        seconds = min(options.mcs_timeout or MAX_SEARCH_SECONDS, MAX_SEARCH_SECONDS)
        common, canceled = strict_common_substructure(ours, theirs, seconds)
    return (0.0 if canceled else _share(common, ours.heavy_atoms, theirs.heavy_atoms)), canceled
