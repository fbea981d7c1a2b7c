"""Scoring REL-B1: read the label and the taxa that a response claims, under either policy, and compare them
with gold: the right label and, for a yes, the right taxa.

Under ``strict``, `gold_names` first decides whether gold's taxa are names in the question or places in the
sorted list of names.

The module also checks the form of gold and says what the text kernel's codes mean in rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final, NamedTuple

from relfast_kernels.compiled import native
from relfast_kernels.text.layouts import BY_NAME, BY_PLACE, UNSAID, Response

from relfast.records import Batch, Extracted, Options, Outcome, Record
from relfast.tasks.base import Problem, agreement, check_label, is_int, kind_of, shown
from relfast.tasks.reasoning import read_final, strip_reasoning, utf8
from relfast.tasks.rel_b import UNDEFINED, RelBOptions


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
    """Gold's taxa as the names that a right answer lists; places are turned into names, as
    `relfast_kernels.text.alignment` says.

    Parameters
    ----------
    taxa, taxa_as
        Fields of gold; ``taxa_as`` is ``name`` or ``index`` if the record says how its taxa are written.
    question
        The question's text, if it is known.
    """
    written = frozenset(map(plain_name, taxa))
    is_shown = isinstance(question, str) and ">" in question
    if not is_shown or not all(_PLACE.fullmatch(name) for name in written):
        return written
    places = tuple(map(int, written))
    how = _WRITTEN.get(taxa_as, UNSAID) if isinstance(taxa_as, str) else UNSAID
    names = _sorted_names(places, str(question), how)
    if len({*names}) < len(names) or not names:
        return written
    return frozenset(names[place] for place in places)


_PLACE: Final = re.compile("[0-9]{1,9}")
_WRITTEN: Final = {"name": BY_NAME, "index": BY_PLACE}


@lru_cache(maxsize=512)
def _sorted_names(places: tuple[int, ...], question: str, how: int) -> list[str]:
    """The names of the question's alignment, if gold's numbers are places in this list; else none. Cached:
    worked out once for all rollouts of a question."""
    rule = _rule()
    import numpy as np  # which the rule has loaded, at nobody's charge

    text, most = utf8(question), question.count(">")
    gold = [b"%d" % place for place in places]
    spans = np.array(
        [[end - len(name), end] for name, end in zip(gold, accumulate(map(len, gold)), strict=True)]
    )
    taxa = rule.Taxa(b"".join(gold), spans, len(gold), how)
    space = rule.Alignment(np.zeros((most, 2), np.int64), [0] * ((2 << most.bit_length()) + 1))
    numbers, columns = [0] * (rule.GOLD + 2 * len(places)), bytearray(len(text))
    asked = Response(text, 0, len(text))  # type: ignore[arg-type]
    read, n_rows = rule.find_places(asked, taxa, space, numbers, columns, 0)
    if read != rule.AS_PLACES:
        return []
    rows = space.rows[:n_rows].tolist()
    return [plain_name(text[start:end].decode("utf-8", "surrogatepass")) for start, end in rows]


def alignment_in(question: str) -> list[tuple[str, str]]:
    """Names and sequences of the alignment that a question shows."""
    rule, text, rows = _rule(), utf8(question), []
    at, end = rule.next_row(text, 0, 0, len(text))
    while at < end:
        start, stop = rule.sequence_of(text, end, len(text))
        rows.append((text[at:end].decode("utf-8", "surrogatepass"), text[start:stop].decode()))
        at, end = rule.next_row(text, 0, stop, len(text))
    return rows


def _rule() -> Any:
    """The kernel source that reads alignments."""
    with native.uncharged():
        from relfast_kernels.text import alignment

    return alignment


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
