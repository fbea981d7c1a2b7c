"""Scoring REL-C2: is the response's molecule the motif (gold), and how many atoms do the two share?

Kernels compare the two if they can read both, as is mostly so; RDKit compares the rest, each pair once.

Under ``strict`` a response earns reward for the motif itself, or for a part of it that is larger than the
part which the best constant answer names. A substructure of gold is in every molecule of the question,
however the response found it. Anything else is not a common motif: for example a given molecule, which
contains gold, or half of gold joined to half of something else. So ``overlap_skill`` is

- 1 for the motif itself,
- ``(n / N - b) / (1 - b)``, if positive, for a substructure of n of gold's N atoms, where b is the share
  that the best of some hundred constants has (`relfast.chem.common_substructure`); as in the question, a
  part of a ring is a substructure too,
- 0 for anything else.

No time limit affects ``overlap_skill``. Only ``overlap_metric`` needs a search that can take long; it is
for reading, not for rewards. If a kernel decides, it is the true optimum and depends only on the two
texts. RDKit, which does the rest, can miss the optimum by an atom or two; the metric is 0 if RDKit's
search does not finish either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from relfast.chem.common_substructure import Compared, Pair, Prepared, constant_in, prepared
from relfast.chem.common_substructure import judge as judge_pair
from relfast.chem.smiles_table import has_isotope, same_clean_molecule
from relfast.records import Batch, Extracted, Outcome
from relfast.support.system import uninterrupted
from relfast.tasks.rel_c import RelCOptions
from relfast.tasks.rel_c.extract import extract_molecule

if TYPE_CHECKING:
    from relfast.chem.molecule import Molecule

RIGHT: Final = 1
"""The vote of every response that names the motif, however its SMILES is written."""

MAX_KNOWN: Final = 20_000
MAX_PAIR_CHARS: Final = 1_000
"""Maximum pairs whose outcome a process caches, and maximum characters of a cached pair. Models repeat the
same wrong answers, and scoring one can take RDKit milliseconds."""

MAX_SEARCHED: Final = 60
"""A response with more atoms than this and than gold is not searched under ``strict``: it is worth nothing
(``too_large``). The largest published gold has 49 atoms;
two grids of 100 atoms take RDKit seconds a candidate."""


extract = extract_molecule


def gold_of(answer: object) -> Any:
    """Gold's SMILES, unchecked; None if there is none."""
    return answer.get("smiles") if type(answer) is dict or isinstance(answer, Mapping) else None


# What kernels decide


def decide(found: Compared, gold: Prepared, response: str, *, strict: bool) -> Outcome | None:
    """The outcome of a response that the kernel has compared with gold; None if RDKit must decide. Under
    ``strict`` the response must have no flaw by `flaw_of_text`."""
    return _decide_strictly(found, gold, response) if strict else _decide(found, response)


def no_answer(strict: bool, reason: str | None = None) -> Outcome:
    """The outcome of a response without a tag, or (under ``reference``) with an empty one."""
    if strict:
        outcome = nothing(None, reason)
        outcome.found = False
        return outcome
    return Outcome(False, metrics_of(False, False, 0.0), found=False)


def metrics_of(in_gold: bool, in_response: bool, overlap: float) -> dict[str, Any]:
    """The published metrics of a row."""
    return {
        "response_is_substructure_of_correct": in_gold,
        "correct_is_substructure_of_response": in_response,
        "overlap_metric": overlap,
    }


def _decide(found: Compared, response: str) -> Outcome | None:
    """`decide` under ``reference``."""
    if found is None or found == "unfinished":
        return None
    if found == "invalid":
        return Outcome(False, metrics_of(False, False, 0.0), vote=_vote_of_text(response))
    _, common, _, in_gold, in_response, n_gold, n, fingerprint, _ = found
    less, most = (n, n_gold) if n < n_gold else (n_gold, n)
    overlap = (less if in_gold or in_response else common) / most
    # each is a substructure of the other, so neither has an additional atom or bond
    correct = bool(in_gold and in_response)
    vote = RIGHT if correct else max(RIGHT + 1, fingerprint)
    return Outcome(correct, metrics_of(in_gold == 1, in_response == 1, overlap), {}, vote=vote)


def _decide_strictly(found: Compared, gold: Prepared, response: str) -> Outcome | None:
    """`decide` under ``strict``."""
    if has_isotope(response):
        return None
    if found == "invalid":
        return nothing(response, "invalid_smiles")
    if not isinstance(found, Pair):
        return None
    _, common, _, in_gold, in_response, n_gold, n, fingerprint, settled = found
    if in_gold and in_response:
        # without RDKit it can be certain that two are the same molecule, but not that they differ
        same = (settled and gold.settled) or same_clean_molecule(gold.text, response)
        metrics = {**metrics_of(True, True, 1.0), "overlap_skill": 1.0, "reason": None}
        return Outcome(True, metrics, vote=RIGHT) if same else None
    skill = 0.0
    if in_gold:
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
    """The outcome under ``strict`` of a response without a clean molecule."""
    metrics = {**metrics_of(False, False, 0.0), "overlap_skill": 0.0, "reason": reason}
    return Outcome(False, metrics, vote=response)


def _skill(n: int, most: int, constant: int) -> float:
    """``overlap_skill`` of a part with n of gold's ``most`` atoms; the best constant has ``constant``."""
    # a part with all atoms of gold still differs from it in a charge or a bond, and must earn less than 1
    return max(0.0, (min(n, most - 1) - constant) / (most - constant)) if constant < most else 0.0


def _share(common: int, n: int, n_gold: int) -> float:
    """``overlap_metric`` of different molecules: the share of common atoms, always below 1.0. Tautomers share
    every atom and bond, but 1.0 is for the same molecule only."""
    most = n if n > n_gold else n_gold
    return (common if common < most else most - 1) / most


# What RDKit decides


def score(batch: Batch, options: RelCOptions) -> list[Outcome]:
    """See `relfast.tasks.base.TaskScorer`."""
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
    """The outcome of a pair of gold and response under ``reference``, cached."""
    pair = gold, extracted.value, options.mcs_timeout
    outcome = _known.get(pair) if isinstance(gold, str) else None
    if outcome is None:
        outcome = _judge_as_published(gold, extracted, options)
        # how far a search got before its time limit depends on the machine's load: do not cache that
        is_settled = "mcs_canceled" not in outcome.metrics and isinstance(outcome.vote, int)
        if is_settled and isinstance(gold, str) and len(f"{gold}{extracted.value}") <= MAX_PAIR_CHARS:
            if len(_known) >= MAX_KNOWN:
                _known.clear()
            _known[pair] = outcome
    return replace(outcome, metrics=dict(outcome.metrics))


_known: Final[dict[tuple[object, object, int], Outcome]] = {}


def _compare(gold: object, response: object, *, whole_rings: bool = False) -> Compared:
    """Compare two SMILES with the kernel, which runs as plain Python if it is not compiled."""
    if not (isinstance(gold, str) and isinstance(response, str)):
        return None
    gold_mol = prepared(gold)
    if not isinstance(gold_mol, Prepared):
        return gold_mol
    return judge_pair(gold_mol, response, whole_rings=whole_rings)


def _judge_as_published(gold: object, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    """`judge_as_published` without its cache: by the kernel if it can decide, else by RDKit."""
    found = _compare(gold, extracted.value)
    decided = _decide(found, str(extracted.value))
    return _by_rdkit(gold, extracted, found, options.mcs_timeout) if decided is None else decided


def _by_rdkit(gold: object, extracted: Extracted[str | None], found: Compared, seconds: int) -> Outcome:
    """The outcome of a pair by RDKit; ``found`` is the kernel's result (None or ``unfinished``). The kernel
    may still compare the two SMILES as RDKit writes them."""
    from relfast.chem.matching import common_substructure, contains, exact_common_substructure, same_molecule
    from relfast.chem.molecule import parse

    response = extracted.value
    pred_mol, gold_mol = parse(response), parse(gold)
    if pred_mol is None or gold_mol is None:
        vote = _vote_of_text(response) if extracted.found and response is not None else None
        return Outcome(False, metrics_of(False, False, 0.0), vote=vote)
    if found == "unfinished":
        # neither contains the other (`judge` returns before its search otherwise; whole rings are not asked
        # for here): that saves two searches and two canonical SMILES
        correct = in_gold = in_response = False
    else:
        correct = same_molecule(pred_mol, gold_mol)
        in_gold, in_response = contains(gold_mol, pred_mol), contains(pred_mol, gold_mol)
    heavy = (pred_mol.heavy_atoms, gold_mol.heavy_atoms)
    canceled = False
    if in_gold or in_response:
        common = min(heavy)
    elif (exact := exact_common_substructure(pred_mol, gold_mol)) is not None:
        common = exact
    else:
        common, canceled = common_substructure(pred_mol, gold_mol, seconds)
    metrics = metrics_of(in_gold, in_response, common / max(heavy) if max(heavy) else 0.0)
    if canceled:
        metrics["mcs_canceled"] = True
    return Outcome(correct, metrics, vote=RIGHT if correct else max(RIGHT + 1, pred_mol.fingerprint))


def _vote_of_text(text: str) -> int:
    return max(RIGHT + 1, crc32(text.encode("utf-8", "surrogatepass")))


def judge_strictly(gold: Any, extracted: Extracted[str | None], options: RelCOptions) -> Outcome:
    """The outcome of a pair of gold and response under ``strict``."""
    from relfast.chem import clean
    from relfast.chem.matching import best_constant, contains

    gold_mol, flaw = clean.parse_clean(gold)
    if gold_mol is None:
        return Outcome(False, error=f"gold smiles is no clean molecule: {flaw}")
    pred_mol = None
    if extracted.found:
        pred_mol, flaw = clean.parse_clean(extracted.value)
    if pred_mol is None:
        return nothing(extracted.value, extracted.reason or flaw)
    # RDKit's search with whole rings can miss an atom or two
    found = _compare(gold, extracted.value, whole_rings=True)
    right = clean.same_clean_molecule(pred_mol, gold_mol, options.tautomers)
    vote = RIGHT if right else max(RIGHT + 1, clean.vote_of(pred_mol))
    if not right and pred_mol.heavy_atoms > MAX_SEARCHED and pred_mol.heavy_atoms > gold_mol.heavy_atoms:
        outcome = nothing(None, "too_large")
        outcome.vote = vote
        return outcome
    if isinstance(found, Pair):
        in_gold, in_response = found.in_first == 1, found.in_second == 1
    else:
        # a molecule contains itself; a tautomer need not contain the other
        equal = pred_mol.key == gold_mol.key
        in_gold, in_response = equal or contains(gold_mol, pred_mol), equal or contains(pred_mol, gold_mol)
    overlap, canceled, skill = 1.0, False, 1.0
    if not right:
        overlap, canceled = _overlap(found, pred_mol, gold_mol)
        constant = best_constant(gold_mol.key) if in_gold else gold_mol.heavy_atoms
        skill = _skill(pred_mol.heavy_atoms, gold_mol.heavy_atoms, constant)
    metrics = metrics_of(in_gold, in_response, overlap)
    metrics |= {"overlap_skill": skill, "reason": extracted.reason}
    if canceled:
        metrics["mcs_canceled"] = True
    return Outcome(right, metrics, vote=vote)


def _overlap(found: Compared, pred_mol: Molecule, gold_mol: Molecule) -> tuple[float, bool]:
    """``overlap_metric`` of different molecules, and whether the search was given up, which makes it 0."""
    from relfast.chem.matching import exact_common_substructure, strict_common_substructure

    common, canceled = None, False
    if isinstance(found, Pair) and not (found.in_first and found.in_second):
        common = found.atoms
    else:
        common = exact_common_substructure(pred_mol, gold_mol, whole_rings=True)
    if common is None:
        common, canceled = strict_common_substructure(pred_mol, gold_mol)
    return (0.0 if canceled else _share(common, pred_mol.heavy_atoms, gold_mol.heavy_atoms)), canceled
