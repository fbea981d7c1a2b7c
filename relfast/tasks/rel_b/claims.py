"""Claims of taxa that the kernel has read, held against gold for rewards: what `score` says, with no record.

Gold comes with many rollouts, and rollouts of a group make the same claims: what these come to is remembered.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from relfast.records import Judged
from relfast.tasks.base import MAX_SAID
from relfast.tasks.rel_b.claim import vote_of
from relfast.tasks.rel_b.kernel_rows import LABELS
from relfast.tasks.rel_b.names import NAMES, gold_names
from relfast.tasks.rel_b.options import RelBOptions
from relfast.tasks.rel_b.score import NO_SCORE, against, as_text


def judged(
    answer: object, question: object, number: int, taxa: tuple[int, ...], options: RelBOptions
) -> Judged | None:
    """What `score` says under ``strict`` of a claim with taxa; None: gold is not as it should be."""
    if type(answer) is not dict:
        return None
    gold = _names(answer, question)
    if gold is None:
        return None
    label, pred, vote, text = _claim(number, taxa) if len(taxa) <= _FEW else _made(number, taxa)
    if not gold:
        return False, {**NO_SCORE, "reason": None}, vote, text
    metrics, correct = _row(label, len(pred & gold), len(pred), len(gold), options.b1_min_f1)
    return correct, metrics.copy(), vote, text


def _names(answer: dict[Any, Any], question: object) -> frozenset[str] | None:
    """The names of gold's taxa; none where its label is no. None: gold is not as it should be."""
    label, written, taxa_as = answer.get("label"), answer.get("taxa"), answer.get("taxa_as")
    if (
        type(label) is not str
        or type(written) is not list
        or (question is not None and type(question) is not str)
    ):
        return None
    # what comes with rollout after rollout is the same objects; those remembered live, and keep their ids
    about = hash(question), [*map(id, written)]
    known = _known.get(id(answer))
    if (
        known is not None
        and known.answer is answer
        and known.label is label
        and known.taxa_as is taxa_as
        and known.about == about
    ):
        return known.names
    names = _read(label, written, taxa_as, question)
    if names is not None:
        if len(_known) >= _MOST_GOLDS:
            _known.clear()
        _known[id(answer)] = _Gold(answer, label, taxa_as, about, [*written], names)
    return names


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
    about: tuple[int, list[int]]
    """The question's hash, and whose taxa these are, by their ids."""
    written: list[Any]
    names: frozenset[str]


_known: Final[dict[int, _Gold]] = {}
_MOST_GOLDS: Final = 1 << 11
"""Golds that are remembered: those of a few steps, at 1 kB each."""

_FEW: Final = 16
_MOST: Final = 1 << 12
"""Taxa of a claim that is remembered, and how many are: 1 kB each at most."""


def _made(number: int, taxa: tuple[int, ...]) -> tuple[str, frozenset[str], int, str]:
    """A claim's label, its taxa as names, its vote and its text."""
    label = LABELS[number]
    assert label is not None
    pred = frozenset(map(str, taxa))
    return label, pred, vote_of(label, pred), as_text(label, pred)[:MAX_SAID]


_claim: Final = lru_cache(maxsize=_MOST)(_made)


@lru_cache(maxsize=_MOST)
def _row(label: str, n_common: int, n_pred: int, n_gold: int, least: float) -> tuple[dict[str, Any], bool]:
    """Metrics of a claim, not to be changed, and whether it is right."""
    metrics, correct, guessed = against(label, n_common, n_pred, n_gold, least)
    return {**metrics, "reason": "guessed_taxa" if guessed else None}, correct
