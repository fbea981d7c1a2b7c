"""REL-C2 under ``strict``: the motif pays, and what is sure to be common to all molecules pays for what it
has beyond a constant.

What lies in gold lies in every molecule of the question, however it was found; what does not is no common
motif or no large one, be it a given molecule, which has gold in it, or half of gold with half of another.
So ``overlap_skill`` is

- 1 for the motif itself,
- ``(n / N - b) / (1 - b)``, if that is positive, for n atoms that lie in the N of gold, rings in rings, where
  b is the share that the best of some hundred constants has (`relfast.chem.common_motifs`),
- 0 for anything else.

No clock decides it. Only ``overlap_metric`` needs a search that can take long: it is for reading, not for
rewards. It is the true optimum where a kernel decides, which depends on the two texts only; RDKit, asked for
the rest, can miss it by an atom or two, and where it does not come to its end either the metric is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from relfast.chem.clean_text import flaw_of_text, has_isotope
from relfast.chem.common_motifs import constant_in
from relfast.chem.common_substructure import MAX_STEPS, SHORT_STEPS, Compared, Pair, Prepared, prepared
from relfast.chem.common_substructure import judge as judge_pair
from relfast.chem.simple import same_clean_molecule
from relfast.records import Extracted, Outcome
from relfast.tasks.rel_c.motif_reference import RIGHT, compare, metrics_of
from relfast.tasks.rel_c.options import RelCOptions

if TYPE_CHECKING:
    from relfast.chem.molecule import Molecule

MAX_SEARCHED: Final = 60
"""Atoms of a response that is searched for a common substructure. The longest published gold has 49; of two
grids of 100 atoms RDKit reads no clock for seconds."""

MAX_SEARCH_SECONDS: Final = 1
"""Time for that search, well within any deadline. Of 1,000 wrong answers none needs a tenth of it."""


def recall(gold: object, extracted: Extracted[str | None], options: RelCOptions) -> Outcome | None:
    """The outcome of a pair, if it can be had without RDKit."""
    if options.tautomers != "apart" or not isinstance(gold, str):
        return None
    theirs = prepared(gold)
    if not isinstance(theirs, Prepared) or not theirs.is_clean:
        return None
    response = extracted.value
    if not extracted.found or response is None:
        return nothing(response, extracted.reason)
    flaw = flaw_of_text(response)
    if flaw is not None:
        return nothing(response, extracted.reason or flaw)
    found = judge_pair(theirs, response, whole_rings=True)
    if found == "unfinished":
        found = judge_pair(theirs, response, whole_rings=True, steps=MAX_STEPS)
    return of_pair(found, gold, theirs, response, extracted.reason)


def of_pair(
    found: Compared, gold: str, theirs: Prepared, response: str, reason: str | None
) -> Outcome | None:
    """The outcome of a text of plain letters that the kernel has compared with gold; None where only RDKit
    can say."""
    if has_isotope(response):
        return None
    if found == "invalid":
        return nothing(response, reason or "invalid_smiles")
    if not isinstance(found, Pair):
        return None
    if found.in_first and found.in_second:
        # without RDKit it is only known for certain that two are one molecule
        same = (found.settled and theirs.settled) or same_clean_molecule(gold, response)
        return right(reason) if same else None
    return decide(found, theirs, reason)


def nothing(response: str | None, reason: str | None) -> Outcome:
    """The outcome of a response without a clean molecule."""
    metrics = {**metrics_of(False, False, 0.0), "overlap_skill": 0.0, "reason": reason}
    return Outcome(False, metrics, vote=response)


def decide(found: Pair, theirs: Prepared, reason: str | None) -> Outcome | None:
    """The outcome of two clean molecules that are not the same; None where only RDKit can say."""
    in_gold, in_response, is_part, common, n_gold, n, fingerprint, _ = found
    skill = 0.0
    if is_part:
        constant = constant_in(theirs)
        if constant is None:
            return None
        skill = _skill(n, n_gold, constant)
    metrics = {
        "response_is_substructure_of_correct": in_gold,
        "correct_is_substructure_of_response": in_response,
        "overlap_metric": _share(common, n, n_gold),
        "overlap_skill": skill,
        "reason": reason,
    }
    return Outcome(False, metrics, {}, vote=fingerprint if fingerprint > RIGHT else RIGHT + 1)


def right(reason: str | None) -> Outcome:
    """The outcome of the motif itself."""
    metrics = {
        "response_is_substructure_of_correct": True,
        "correct_is_substructure_of_response": True,
        "overlap_metric": 1.0,
        "overlap_skill": 1.0,
        "reason": reason,
    }
    return Outcome(True, metrics, {}, vote=RIGHT)


def judge(gold: Any, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    """The outcome of a pair."""
    from relfast.chem import clean

    theirs, flaw = clean.parse_clean(gold)
    if theirs is None:
        return Outcome(False, error=f"gold smiles is no clean molecule: {flaw}")
    ours = None
    if extracted.found:
        ours, flaw = clean.parse_clean(extracted.value)
    if ours is None:
        return nothing(extracted.value, extracted.reason or flaw)
    if clean.same_clean_molecule(ours, theirs, options.tautomers):
        outcome = right(extracted.reason)
        outcome.metrics.update(metrics_of(*_containment(gold, extracted.value, ours, theirs), 1.0))
        return outcome
    if ours.heavy_atoms > MAX_SEARCHED and ours.heavy_atoms > theirs.heavy_atoms:
        metrics = {**metrics_of(False, False, 0.0), "overlap_skill": 0.0, "reason": "too_large"}
        return Outcome(False, metrics, vote=_vote(ours))
    overlap, canceled = _overlap(ours, theirs, options)
    metrics = metrics_of(*_containment(gold, extracted.value, ours, theirs), overlap)
    metrics |= {"overlap_skill": overlap_skill(ours, theirs), "reason": extracted.reason}
    if canceled:
        metrics["mcs_canceled"] = True
    return Outcome(False, metrics, vote=_vote(ours))


def overlap_skill(ours: Molecule, theirs: Molecule) -> float:
    """What a molecule that is not gold is worth, from 0 to less than 1."""
    from relfast.chem.shared_part import best_constant, shared_part

    skill = _skill(ours.heavy_atoms, theirs.heavy_atoms, best_constant(theirs.key))
    return skill if skill and shared_part(theirs, ours) else 0.0


def _skill(n: int, most: int, constant: int) -> float:
    """What a part of n atoms is worth, of a gold of ``most``."""
    # with all atoms and another charge or bond it is still another molecule
    return max(0.0, (min(n, most - 1) - constant) / (most - constant)) if constant < most else 0.0


def _share(common: int, n: int, n_gold: int) -> float:
    """The share of atoms in common. Tautomers share every atom and bond and are still two molecules: 1.0 is
    for the same one only."""
    most = n if n > n_gold else n_gold
    return (common if common < most else most - 1) / most


def _vote(molecule: Molecule) -> int:
    from relfast.chem.clean import vote_of

    return max(RIGHT + 1, vote_of(molecule))


def _containment(gold: str, response: str | None, ours: Molecule, theirs: Molecule) -> tuple[bool, bool]:
    """Whether the response lies in gold, and gold in the response."""
    from relfast.chem.matching import contains

    found = compare(gold, response, SHORT_STEPS)
    if isinstance(found, Pair):
        return found.in_first, found.in_second
    # a molecule contains itself; a tautomer need not contain the other
    equal = ours.key == theirs.key
    return equal or contains(theirs, ours), equal or contains(ours, theirs)


def _overlap(ours: Molecule, theirs: Molecule, options: RelCOptions) -> tuple[float, bool]:
    """The share of atoms in common, and whether the search for them was cut short, which makes it 0."""
    from relfast.chem.mcs import exact_common_substructure, strict_common_substructure

    common, canceled = exact_common_substructure(ours, theirs, whole_rings=True), False
    if common is None:
        seconds = min(options.mcs_timeout or MAX_SEARCH_SECONDS, MAX_SEARCH_SECONDS)
        common, canceled = strict_common_substructure(ours, theirs, seconds)
    return (0.0 if canceled else _share(common, ours.heavy_atoms, theirs.heavy_atoms)), canceled
