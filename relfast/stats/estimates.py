"""Estimates from samples: means with clustered errors, pass@k, majority votes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from relfast.stats.intervals import LEVEL, Interval, effective_share_interval

PASS_AT: Final = (1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1000, 1024)
"""The k for which pass@k is reported, as far as any prompt has k samples."""


class AtK(NamedTuple):
    """pass@k, avg@k or maj@k: its value, and the number of prompts that it is a mean over."""

    value: float
    prompts: int


def winners(votes: Sequence[int], correct: Sequence[int]) -> tuple[int, int]:
    """How many answers are the most frequent, and how many of them are right; (0, 0) without votes."""
    counts = Counter(vote for vote in votes if vote)
    if not counts:
        return 0, 0
    most = max(counts.values())
    is_right = dict(zip(votes, correct, strict=True))
    chosen = [vote for vote, n in counts.items() if n == most]
    return len(chosen), sum(is_right[vote] for vote in chosen)


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
    # exact sums: the same whatever order the prompts were counted in
    squares = math.fsum(count * (right - n * mean) ** 2 for (n, right), count in histogram.items())
    return mean, math.sqrt(squares * groups / (groups - 1)) / total


def pass_at_k(histogram: Mapping[tuple[int, int], int]) -> dict[int, AtK]:
    """Unbiased pass@k (Chen et al. 2021, arXiv 2107.03374), each over the prompts that have k samples or
    more: a prompt that lost a sample must neither hide the others' pass@k nor count as a failure."""
    result = {}
    for k in PASS_AT:
        enough = {key: count for key, count in histogram.items() if key[0] >= k}
        prompts = sum(enough.values())
        if not prompts:
            break
        passed = math.fsum(
            count * (1 - math.comb(n - right, k) / math.comb(n, k)) for (n, right), count in enough.items()
        )
        result[k] = AtK(passed / prompts, prompts)
    return result


def pass_at_k_intervals(
    histogram: Mapping[tuple[int, int], int], level: float = LEVEL
) -> dict[int, Interval]:
    """The intervals of `pass_at_k`: each prompt's unbiased estimate is a draw, and prompts are
    independent."""
    result = {}
    for k in PASS_AT:
        estimates = [
            (1 - math.comb(n - right, k) / math.comb(n, k), count)
            for (n, right), count in sorted(histogram.items())
            if n >= k
        ]
        prompts = sum(count for _, count in estimates)
        if not prompts:
            break
        mean = math.fsum(value * count for value, count in estimates) / prompts
        squares = math.fsum(count * (value - mean) ** 2 for value, count in estimates)
        most = sum(count * n for (n, _), count in histogram.items() if n >= k)
        result[k] = effective_share_interval(mean, squares / prompts**2, prompts, most, level)
    return result


def avg_at_k(histogram: Mapping[tuple[int, int], int]) -> dict[int, AtK]:
    """avg@k: the mean share of right samples over the prompts that have exactly k samples, by each such k >
    1."""
    right: dict[int, int] = defaultdict(int)
    prompts: dict[int, int] = defaultdict(int)
    for (n, n_right), count in histogram.items():
        prompts[n] += count
        right[n] += n_right * count
    return {k: AtK(right[k] / (k * prompts[k]), prompts[k]) for k in sorted(prompts) if k > 1}
