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
rewards, and is 0 where the search did not come to its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from relfast.chem.smiles_table import Comparison
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


def right(reason: str | None) -> Outcome:
    """The outcome of the motif itself."""
    metrics = {**metrics_of(True, True, 1.0), "overlap_skill": 1.0, "reason": reason}
    return Outcome(True, metrics, vote=RIGHT)


def judge(gold: Any, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    """The outcome of a pair."""
    from relfast.chem.clean import parse_clean, same_clean_molecule

    theirs, flaw = parse_clean(gold)
    if theirs is None:
        return Outcome(False, error=f"gold smiles is no clean molecule: {flaw}")
    ours = None
    if extracted.found:
        ours, flaw = parse_clean(extracted.value)
    metrics = {**metrics_of(False, False, 0.0), "overlap_skill": 0.0}
    metrics["reason"] = extracted.reason or (flaw if ours is None else None)
    if ours is None:
        return Outcome(False, metrics, vote=extracted.value)
    if same_clean_molecule(ours, theirs, options.tautomers):
        outcome = right(extracted.reason)
        outcome.metrics.update(metrics_of(*_containment(gold, extracted.value, ours, theirs), 1.0))
        return outcome
    if ours.heavy_atoms > MAX_SEARCHED and ours.heavy_atoms > theirs.heavy_atoms:
        metrics["reason"] = "too_large"
        return Outcome(False, metrics, vote=ours.key)
    metrics["overlap_skill"] = overlap_skill(ours, theirs)
    overlap, canceled = _overlap(ours, theirs, options)
    metrics.update(metrics_of(*_containment(gold, extracted.value, ours, theirs), overlap))
    if canceled:
        metrics["mcs_canceled"] = True
    return Outcome(False, metrics, vote=ours.key)


def overlap_skill(ours: Molecule, theirs: Molecule) -> float:
    """What a molecule that is not gold is worth, from 0 to less than 1."""
    from relfast.chem.common_motifs import best_constant, shared_part

    most = theirs.heavy_atoms
    # with all atoms and another charge or bond it is still another molecule
    n = min(ours.heavy_atoms, most - 1)
    constant = best_constant(theirs.key)
    if n <= constant or not shared_part(theirs, ours):
        return 0.0
    return (n - constant) / (most - constant)


def _containment(gold: str, response: str | None, ours: Molecule, theirs: Molecule) -> tuple[bool, bool]:
    """Whether the response lies in gold, and gold in the response."""
    from relfast.chem.matching import contains

    found = compare(gold, response)
    if isinstance(found, Comparison):
        return found.second_in_first, found.first_in_second
    # a molecule contains itself; a tautomer need not contain the other
    equal = ours.key == theirs.key
    return equal or contains(theirs, ours), equal or contains(ours, theirs)


def _overlap(ours: Molecule, theirs: Molecule, options: RelCOptions) -> tuple[float, bool]:
    """The share of atoms in common, and whether the search for them was cut short, which makes it 0."""
    from relfast.chem.mcs import strict_common_substructure

    most = max(ours.heavy_atoms, theirs.heavy_atoms)
    seconds = min(options.mcs_timeout or MAX_SEARCH_SECONDS, MAX_SEARCH_SECONDS)
    common, canceled = strict_common_substructure(ours, theirs, seconds)
    # tautomers share every atom and bond and are still two molecules: 1.0 is for the same one only
    return (0.0 if canceled else min(common, most - 1) / most), canceled
