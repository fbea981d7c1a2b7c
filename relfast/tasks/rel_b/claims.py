"""Claims of taxa that the kernel has read, held against gold for rewards: what `score` says, with no record.

Gold comes with many rollouts: what its taxa are called is remembered.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from relfast.records import Judged
from relfast.tasks.base import MAX_SAID
from relfast.tasks.rel_b.claim import vote_of
from relfast.tasks.rel_b.kernel_rows import LABELS
from relfast.tasks.rel_b.names import NAMES, gold_names
from relfast.tasks.rel_b.options import RelBOptions
from relfast.tasks.rel_b.score import NO_SCORE, against, as_text


def judged(gold: frozenset[str], number: int, taxa: tuple[int, ...], options: RelBOptions) -> Judged:
    """What `score` says under ``strict`` of a claim with taxa, against gold as `names_of` has it."""
    label = LABELS[number]
    assert label is not None
    pred = frozenset(map(str, taxa))
    if not gold:
        metrics, correct, reason = dict(NO_SCORE), False, None
    else:
        counts = len(pred & gold), len(pred), len(gold)
        metrics, correct, guessed = against(label, *counts, options.b1_min_f1)
        reason = "guessed_taxa" if guessed else None
    return correct, {**metrics, "reason": reason}, vote_of(label, pred), as_text(label, pred)[:MAX_SAID]


def names_of(answer: object, question: object) -> frozenset[str] | None:
    """The names of gold's taxa, none where its label is no; None: gold is not as it should be."""
    if type(answer) is not dict:
        return None
    read = answer.get
    written = read("taxa")
    if type(written) is not list:
        return None
    # what comes with rollout after rollout is the same objects; those remembered live, and keep their ids
    known = _known.get(id(answer))
    if known is not None:
        gold, its_label, its_taxa_as, asked, taxa, names = known
        if (
            gold is answer
            and (asked is question or (type(question) is str and asked == question))
            and its_label is read("label")
            and its_taxa_as is read("taxa_as")
            and taxa == written
            and NAMES.issuperset(map(type, written))  # 1 is no True, which equals it
        ):
            return names
    label, taxa_as = read("label"), read("taxa_as")
    if type(label) is not str or (type(question) is not str and question is not None):
        return None
    found = _read(label, written, taxa_as, question)
    if found is not None and (question is None or len(question) <= _LONGEST):
        if len(_known) >= _MOST_GOLDS:
            _known.clear()
        _known[id(answer)] = _Gold(answer, label, taxa_as, question, [*written], found)
    return found


def _read(label: str, written: list[Any], taxa_as: object, question: str | None) -> frozenset[str] | None:
    if not NAMES.issuperset(map(type, written)):
        return None
    if label.lower() == "no":
        return frozenset()
    return gold_names(written, question, taxa_as) if label.lower() == "yes" and written else None


class _Gold(NamedTuple):
    answer: dict[Any, Any]
    label: str
    taxa_as: object
    question: str | None
    """Itself: to compare a text that comes anew takes a tenth of what its hash takes."""
    taxa: list[Any]
    names: frozenset[str]


_known: Final[dict[int, _Gold]] = {}
_MOST_GOLDS: Final = 1 << 9
_LONGEST: Final = 1 << 15
"""Golds that are remembered, and the longest questions (in characters) that are: those of a step, 16 MB at
most in questions of ASCII that nobody else holds."""
