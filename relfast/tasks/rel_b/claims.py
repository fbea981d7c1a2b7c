"""Claims of taxa that the kernel has read, held against gold for rewards: what `score` says, with no record.

Gold comes with many rollouts, and rollouts of a group make the same claims: what these come to is remembered.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

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
    label, written = answer.get("label"), answer.get("taxa")
    if type(label) is not str or type(written) is not list or not NAMES.issuperset(map(type, written)):
        return None
    claimed, pred, vote, text = _claim(number, taxa) if len(taxa) <= _FEW else _made(number, taxa)
    label = label.lower()
    if label == "no":
        return Judged(False, {**NO_SCORE, "reason": None}, vote, text)
    if label != "yes" or not written:
        return None
    gold = gold_names(written, question, answer.get("taxa_as"))
    metrics, correct = _row(claimed, len(pred & gold), len(pred), len(gold), options.b1_min_f1)
    return Judged(correct, metrics.copy(), vote, text)


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
