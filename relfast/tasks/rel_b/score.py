"""Scoring REL-B1: read the label and the taxa that a response claims, under either policy, and compare them
with gold: the right label and, for a yes, the right taxa.

Under ``strict``, `gold_names` first decides whether gold's taxa are names in the question or places in the
sorted list of names. The published generator writes places, although its question shows names and asks for
the taxa; relfast's generator writes names. The decision depends on the record alone, never on a response.
If gold can be read only one way, that way counts; if both readings fit, the alignment shows which one
joins taxa that share motifs. If there is no alignment, or it does not decide, gold is taken as written. A
record's ``answer.taxa_as`` overrides all this.

The module also checks the form of gold and says what the text kernel's codes mean in rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from relfast_kernels.compiled import native

from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.base import Problem, agreement, check_label, is_int, kind_of, shown
from relfast.tasks.reasoning import read_final, strip_reasoning, utf8
from relfast.tasks.rel_b import UNDEFINED, RelBOptions

FASTA: Final = re.compile(r"^[ \t]*>[ \t]*(\S+)[^\n]*\n[ \t]*([A-Za-z-]+)[ \t]*$", re.MULTILINE)

WINDOW: Final = 4
"""Columns of a shared stretch in `_evidence`; planted motifs have at least as many."""

MARGIN: Final = 2.0
"""Evidence that places need, and by how much it must exceed that for names; see `_evidence`."""


def plain_name(taxon: object) -> str:
    """A taxon's name under strict: ``taxon_015``, ``15`` and 15 are the same. (Published: text equality.)"""
    if type(taxon) is int and taxon >= 0:
        return str(taxon)
    text = taxon if type(taxon) is str else str(taxon)
    return _known_name(text) if len(text) <= _SHORT_NAME else _plain(text)


def _plain(text: str) -> str:
    data = utf8(text)
    name = data[published().name_start(data, 0, len(data)) :].decode("utf-8", "surrogatepass").lower()
    return (name.lstrip("0") or "0") if name.isascii() and name.isdigit() else name


_SHORT_NAME: Final = 32
_known_name: Final = lru_cache(maxsize=1 << 12)(_plain)


def gold_names(taxa: Sequence[object], question: object, taxa_as: object = None) -> frozenset[str]:
    """Gold's taxa as the names that a right answer lists; places are turned into names.

    Parameters
    ----------
    taxa, taxa_as
        Fields of gold; ``taxa_as`` is ``name`` or ``index`` if the record says how its taxa are written.
    question
        The question's text, if it is known.
    """
    written = tuple(map(plain_name, taxa))
    if not isinstance(question, str) or ">" not in question:
        return frozenset(written)
    return _named(written, question, taxa_as if isinstance(taxa_as, str) else None)


@lru_cache(maxsize=512)
def _named(written: tuple[str, ...], question: str, taxa_as: str | None) -> frozenset[str]:
    """`gold_names`, cached: worked out once for all rollouts of a question, whose text is 15 kB."""
    as_written = frozenset(written)
    if taxa_as == "name" or not all(name.isdigit() and len(name) < 10 for name in written):
        return as_written
    shown = FASTA.findall(question)
    rows = {plain_name(name): sequence.upper() for name, sequence in shown}
    order = sorted(name for name, _ in shown)
    if len(rows) != len(shown) or any(int(place) >= len(order) for place in written):
        return as_written
    by_place = frozenset(plain_name(order[int(place)]) for place in written)
    if taxa_as == "index" or not all(name in rows for name in written):
        return by_place
    if by_place == as_written:
        return as_written
    here, there = _evidence(as_written, rows), _evidence(by_place, rows)
    return by_place if there >= MARGIN and there >= here + MARGIN else as_written


def _evidence(taxa: frozenset[str], rows: Mapping[str, str]) -> float:
    """How much more often all taxa share `WINDOW` columns in a row than their similarity predicts.

    The log likelihood ratio of the observed to the expected number of shared stretches, as if stretches were
    independent. Close relatives share many stretches, but no more than their similarity predicts; 5 blocks
    of 5 columns in two taxa give 10 or more.
    """
    columns = bytes(
        len(set(column)) == 1 and column[0] != "-" for column in zip(*(rows[t] for t in taxa), strict=False)
    )
    windows = len(columns) - WINDOW + 1
    if windows < 1:
        return 0.0
    run = b"\1" * WINDOW
    seen, at = 0, columns.find(run)
    while at >= 0:
        seen += 1
        at = columns.find(run, at + 1)
    expected = windows * (sum(columns) / len(columns)) ** WINDOW
    return seen * math.log(seen / expected) - (seen - expected) if seen > expected else 0.0


class Homoplasy(NamedTuple):
    """A response's claim: its label (yes, no or None) and taxa as written, in order."""

    label: str | None
    taxa: list[str]


NOTHING: Final = Homoplasy(None, [])


LABELS: Final = (None, "no", "yes")
"""Labels by the kernel's codes 0, 1 and 2."""


def vote(claim: Homoplasy) -> int:
    """The kernel's vote for a claim, by its label and the set of its taxa (for maj@k)."""
    return int(published().vote_of(claim.label == "yes", [*map(utf8, set(claim.taxa))]))


def published() -> Any:
    """The kernel source that reads a claim as the published scorer does."""
    with native.uncharged():
        from relfast_kernels.text import rel_b

    return rel_b


def extract(response: object, options: Options) -> Extracted[Homoplasy]:
    """The `Homoplasy` that a response claims, by the options' policy; ``reason`` is `read_final`'s, or
    ``no_taxa`` of a yes whose taxa cannot be read."""
    if options.strict:
        number, taxa_said, reason = read_final("CLAIM", response, options.reasoning)
        if number is None:
            return Extracted(NOTHING, found=False, reason=reason)
        reason = "no_taxa" if LABELS[number] == "yes" and not taxa_said else None
        return Extracted(Homoplasy(LABELS[number], [*map(str, taxa_said)]), reason=reason)
    if not isinstance(response, str):
        return Extracted(NOTHING, found=False, error=f"response is {type(response).__name__}, not text")
    data = utf8(strip_reasoning(response, options.reasoning) if options.strip_reasoning else response)
    label = LABELS[published().read_label(data, 0, len(data)) + 1]
    taxa = _taxa(data, named=True) or _taxa(data, named=False)
    return Extracted(Homoplasy(label, taxa), found=label is not None)


def _taxa(data: bytes, *, named: bool) -> list[str]:
    next_taxon, found, at = published().next_taxon, [], 0
    while at < len(data):
        start, at = next_taxon(data, at, 0, len(data), named)
        if start < at:
            found.append(data[start:at].decode())
    return found


NO_SCORE: Final = {"precision": UNDEFINED, "recall": UNDEFINED, "f1": UNDEFINED}


def score(batch: Batch, options: RelBOptions) -> list[Outcome]:
    """See `relfast.tasks.base.TaskScorer`."""
    return [_score_one(record, extracted, options) for record, extracted in batch]


def _score_one(record: Record, extracted: Extracted[Homoplasy], options: RelBOptions) -> Outcome:
    answer, strict = record.answer, options.strict
    if type(answer) is not dict and not isinstance(answer, Mapping):
        answer = {}
    label = answer.get("label")
    taxa = answer.get("taxa", [])
    if label is None:
        return _unusable_gold(label, taxa, "Missing label in answer")
    if not isinstance(label, str):
        return Outcome(False, found=False, error=f"label must be text, got {type(label).__name__}")
    label = label.lower()
    if label not in ("yes", "no"):
        return _unusable_gold(answer["label"], taxa, f"Invalid label in answer: {answer['label']}")
    claim: Homoplasy = extracted.value
    if type(taxa) is not list and not hasattr(taxa, "__iter__") and _needs_taxa(label, taxa, claim, options):
        return Outcome(False, found=False, error=f"taxa must be a list, got {type(taxa).__name__}")
    if strict and label == "yes" and not len(taxa):
        return _unusable_gold(label, taxa, "taxa is empty although label is yes")
    if extracted.error is not None:
        return Outcome(False, found=False, error=extracted.error, error_type="InvalidResponse")
    metrics: dict[str, Any]
    correct, reason = False, extracted.reason
    if label == "no":
        metrics = dict(NO_SCORE)
        correct = claim.label == "no" and not claim.taxa
    else:
        gold = gold_names(taxa or (), record.question, answer.get("taxa_as")) if strict else _names(taxa)
        pred = set(claim.taxa)
        counts = len(pred & gold), len(pred), len(gold)
        metrics = agreement(*counts) if gold else dict(NO_SCORE)
        if claim.label == "yes":
            correct = not gold or metrics["f1"] > 0
            if strict:
                close = not gold or metrics["f1"] >= options.b1_min_f1
                correct = close and published().proven(*counts)
                reason = "guessed_taxa" if close and not correct else reason
    if strict:
        metrics["reason"] = reason
    return Outcome(
        correct,
        metrics,
        {
            "pred_label": claim.label,
            "gold_label": label,
            # copied, since many responses may share a claim without taxa
            "pred_taxa": claim.taxa.copy(),
            "gold_taxa": taxa,
        },
        extracted.found,
        vote=vote(claim) if extracted.found else None,
    )


def metrics_of_counts(gold_is_yes: bool, n_common: int, n_pred: int, n_gold: int) -> dict[str, Any]:
    """A row's metrics from the kernel's counts."""
    return agreement(n_common, n_pred, n_gold) if gold_is_yes else dict(NO_SCORE)


def _needs_taxa(label: str, taxa: object, claim: Homoplasy, options: RelBOptions) -> bool:
    """Whether gold taxa that are not a list (null, a number, a bool) make the record unusable.

    The published scorer never looks at the taxa of a no. For a yes it iterates over truthy taxa, and takes
    the length of falsy ones only if the response says yes.
    """
    if options.strict:
        # a `datasets` column fills absent fields with None
        return label == "yes" or taxa is not None
    return label == "yes" and (bool(taxa) or claim.label == "yes")


def _names(taxa: object) -> set[str]:
    """Gold taxa as the published scorer compares them: as texts, in lower case like the response."""
    return {str(taxon).lower() for taxon in taxa} if hasattr(taxa, "__iter__") else set()


def _unusable_gold(label: object, taxa: object, message: str) -> Outcome:
    details = {"pred_label": None, "gold_label": label, "pred_taxa": [], "gold_taxa": taxa}
    return Outcome(False, dict(NO_SCORE), details, found=False, error=message)


def said(details: Mapping[str, Any]) -> str | None:
    """The claim as text, with its taxa in alphabetical order: ``yes: a, b``."""
    label, taxa = details["pred_label"], details["pred_taxa"]
    if label is None:
        return None
    return f"{label}: {', '.join(sorted(set(taxa)))}" if taxa else str(label)


def details(pred: int, gold: int) -> dict[str, Any]:
    """A row's texts from the kernel's codes of labels; the kernel itself fills the lists of taxa."""
    return {"pred_label": LABELS[pred], "gold_label": LABELS[gold], "pred_taxa": [], "gold_taxa": []}


def strict_gold(answer: Mapping[str, Any], question: object) -> Mapping[str, Any]:
    """Gold with its taxa written as names; the same object if ``strict`` compares them as written."""
    label, taxa = answer.get("label"), answer.get("taxa")
    if not isinstance(label, str) or label.lower() != "yes" or not isinstance(taxa, list):
        return answer
    names = gold_names(taxa, question, answer.get("taxa_as"))
    return answer if names == frozenset(map(plain_name, taxa)) else {**answer, "taxa": sorted(names)}


def check(answer: Mapping[str, Any]) -> Iterator[Problem]:
    """Check gold's label and taxa: a yes has taxa, a no has none."""
    label, taxa = answer.get("label"), answer.get("taxa")
    yield from check_label(answer, ("yes", "no"))
    if "taxa" not in answer:
        yield Problem("answer.taxa", "missing")
    elif not isinstance(taxa, list):
        yield Problem("answer.taxa", f"must be a list of integers, not {kind_of(taxa)}")
    else:
        for i, taxon in enumerate(taxa):
            if not is_int(taxon):
                yield Problem(f"answer.taxa[{i}]", f"must be an integer, not {shown(taxon)}")
        if label == "yes" and not taxa:
            yield Problem("answer.taxa", "must not be empty where the label is yes")
        if label == "no" and taxa:
            yield Problem("answer.taxa", "must be empty where the label is no")
