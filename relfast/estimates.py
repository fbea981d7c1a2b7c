"""Estimates from samples: means with clustered errors, pass@k, majority votes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

PASS_AT: Final = (1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128)
"""The k for which pass@k and maj@k are reported, as far as every prompt has k samples."""


def majority_score(votes: Sequence[int], correct: Sequence[int]) -> float:
    """1 where the most frequent answer is right, 0 where it is wrong; ties share.

    Samples without an answer (vote 0) do not vote; where nobody votes, the score is 0.
    """
    counts = Counter(vote for vote in votes if vote)
    if not counts:
        return 0.0
    most = max(counts.values())
    winners = {vote for vote, n in counts.items() if n == most}
    is_right = dict(zip(votes, correct, strict=True))
    return sum(is_right[vote] for vote in winners) / len(winners)


def clustered_mean(histogram: Mapping[tuple[int, int], int]) -> tuple[float | None, float | None]:
    """Mean of ``correct`` over samples and its standard error clustered by prompt.

    Samples of one prompt are not independent: the squared sums of each prompt's deviations are added,
    with the small-sample factor G / (G − 1) for G prompts (Miller 2024, arXiv 2411.00640, eq. 4). One
    prompt has no error.
    """
    groups = sum(histogram.values())
    total = sum(n * count for (n, _), count in histogram.items())
    if not total:
        return None, None
    mean = sum(right * count for (_, right), count in histogram.items()) / total
    if groups < 2:
        return mean, None
    squares = sum(count * (right - n * mean) ** 2 for (n, right), count in histogram.items())
    return mean, math.sqrt(squares * groups / (groups - 1)) / total


def pass_at_k(histogram: Mapping[tuple[int, int], int]) -> dict[str, float]:
    """Unbiased pass@k (Chen et al. 2021, arXiv 2107.03374) for each k that every prompt has samples for."""
    least = min(n for n, _ in histogram)
    prompts = sum(histogram.values())
    result = {}
    for k in PASS_AT:
        if k > least:
            break
        passed = sum(
            count * (1 - math.comb(n - right, k) / math.comb(n, k)) for (n, right), count in histogram.items()
        )
        result[str(k)] = passed / prompts
    return result
