"""The reward under ``strict``: the final answer first, then how the working follows the reference.

The similarity of two sets of sentences is BERTScore's (Zhang et al. 2020): greedy matching, F1 of
precision and recall, rescaled by the embedding model's baseline. Greedy, because right solutions cut
their steps differently; one-to-one matches of lines (``coverage``) cost them more than copying the
problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from relfast.deadlines import Deadlines
from relfast.tasks.realign.alignment import Encoder, cosines
from relfast.tasks.realign.working import Working

BASE: Final = 0.5
"""What a right answer earns alone. Working that follows the reference earns the rest."""

LEAST: Final = 0.3
MOST: Final = 0.7
"""Step F1 from which working earns, and at which it earns everything. A right answer below a solution of
another problem has 0.1 to 0.4, below filler 0.1 to 0.25, below its own working 0.5 to 0.9. The upper one
is ReAlign's threshold of a good match."""

IDLE: Final = 0.25
"""What a character that says nothing new counts in the precision. Copies and repeats lower it; but right
solutions restate what they use, and ToRA's quote the whole problem: at 1 they would earn no more than the
bare answer."""

_UNRELATED: Final = (
    "The recipe asks for two cups of flour and a pinch of salt.",
    "Photosynthesis turns light into chemical energy.",
    "Her flight to Lisbon was cancelled because of the storm.",
    "The orchestra tuned their instruments before the concert.",
    "Parliament voted on the new fishing quotas yesterday.",
    "Solve the inequality by adding $7$ to both sides.",
    "A kernel driver handles interrupts from the network card.",
    "The painting was restored by experts in Florence.",
)
"""Sentences of different matters: their mean cosine is the model's baseline (MiniLM near 0, BGE near 0.5)."""


def gated_score(correct: bool, step_f1: float | None) -> float:
    """0 without the right answer, else `BASE` and what the working adds to it."""
    if not correct:
        return 0.0
    if step_f1 is None:
        return BASE
    graded = (step_f1 - LEAST) / (MOST - LEAST)
    return BASE + (1 - BASE) * min(1.0, max(0.0, graded))


def step_f1s(
    pairs: Sequence[tuple[Working, Working] | None], encoder: Encoder, deadlines: Deadlines
) -> list[float | None]:
    """The F1 of (reference, response); None for None and for records whose time is up.

    Of a reference without working it is 1.0: nothing is left to show.
    """
    results = [None if pair is None else 0.0 if pair[0].own else 1.0 for pair in pairs]
    chosen = [
        (k, *pair)
        for k, pair in enumerate(pairs)
        if pair is not None and pair[0].own and pair[1].own and not deadlines.passed(k)
    ]
    if not chosen:
        return results
    texts = [text for _, *sides in chosen for side in sides for text in side.own]
    owners = np.repeat([k for k, *_ in chosen], [len(a.own) + len(b.own) for _, a, b in chosen])
    vectors, places = encoder.encode_distinct(texts, owners, deadlines)
    baseline = _baseline(encoder, deadlines)
    at = 0
    for k, reference, response in chosen:
        middle, end = at + len(reference.own), at + len(reference.own) + len(response.own)
        if not deadlines.passed(k):
            with deadlines.step({k: 1}):
                similarity = cosines(vectors, places[at:middle], places[middle:end])
                results[k] = _f1(similarity, reference, response, baseline)
        at = end
    return results


def _f1(similarity: NDArray[np.float32], reference: Working, response: Working, baseline: float) -> float:
    scaled = np.maximum((similarity.astype(np.float64) - baseline) / (1.0 - baseline), 0.0)
    # weighted by length: a display of three signs is no step as a sentence is one
    recall = float(np.average(scaled.max(axis=1), weights=reference.weights))
    weights = np.array(response.weights, np.float64)
    precision = float((scaled.max(axis=0) * weights).sum() / (weights.sum() + IDLE * response.idle))
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


_baselines: dict[Any, float] = {}


def _baseline(encoder: Encoder, deadlines: Deadlines) -> float:
    """The mean cosine of `_UNRELATED` under a model; worked out once, nobody's time."""
    key = getattr(getattr(encoder, "model", None), "hash", None) or id(encoder)
    if key not in _baselines:
        deadlines.before_loading()
        vectors, places = encoder.encode_distinct(_UNRELATED)
        n = len(_UNRELATED)
        similarity = cosines(vectors, places, places).astype(np.float64)
        mean = float((similarity.sum() - np.trace(similarity)) / (n * (n - 1)))
        _baselines[key] = min(0.9, max(0.0, mean))
    return _baselines[key]
