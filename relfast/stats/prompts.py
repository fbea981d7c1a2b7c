"""Scored samples, 14 bytes each, counted by prompt: (samples, right samples), which is all that clustered
errors and pass@k need, and majority votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from struct import Struct
from typing import Final, NamedTuple

from relfast_kernels.layouts import SAMPLE_FURTHER

from relfast.stats.estimates import winners
from relfast.stats.sums import ExactSum, units_of

SAMPLE: Final = Struct("<BQIB")
"""One scored sample: number of its task (plus `FURTHER` unless it is the first of its line), hash of its
prompt's id, vote (0 = none), 0 or 1 for wrong or right."""

FURTHER: Final = SAMPLE_FURTHER

FIELDS: Final = [("task", "u1"), ("prompt", "<u8"), ("vote", "<u4"), ("correct", "u1")]


class Prompts(NamedTuple):
    """A task's prompts.

    Attributes
    ----------
    histogram
        Prompts by (samples, right samples).
    majority
        Number of samples → (prompts, sum of majority scores), for prompts with several.
    """

    histogram: dict[tuple[int, int], int]
    majority: dict[int, list[float]]


class Kind(NamedTuple):
    """What is counted of a prompt: its samples, how many are right; of several samples also how many answers
    are the most frequent ones, and how many of those are right."""

    samples: int
    right: int
    winners: int = 0
    winners_right: int = 0


def prompts_of(kinds: Mapping[Kind, int]) -> Prompts:
    """A task's prompts from their numbers by kind: the same sums to the last bit in any order."""
    histogram: dict[tuple[int, int], int] = {}
    majority: dict[int, list[int]] = {}
    for kind in sorted(kinds):
        samples, right, winners, winners_right = kind
        key, times = (samples, right), kinds[kind]
        histogram[key] = histogram.get(key, 0) + times
        if samples > 1:
            entry = majority.setdefault(samples, [0, 0])
            entry[0] += times
            if winners:
                entry[1] += times * (units_of(winners_right / winners) or 0)
    return Prompts(histogram, {n: [count, ExactSum.of(units)] for n, (count, units) in majority.items()})


Counts = dict[int, Counter[Kind]]
"""Prompts by kind, by the number of their task."""


def count_few(samples: bytes | bytearray) -> tuple[Counts, Counter[int]]:
    """Prompts by kind, and how many stand on several lines, by task number: without numpy, whose import takes
    as long as this does with some 20,000 samples."""
    groups: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for task, prompt, vote, correct in SAMPLE.iter_unpack(samples):
        key = task & (FURTHER - 1), prompt
        groups.setdefault(key, []).append((task, vote, correct))
    counts: Counts = {}
    several: Counter[int] = Counter()
    for (task, _), group in groups.items():
        n, right = len(group), sum(correct for _, _, correct in group)
        elected = (0, 0)
        if n > 1:
            elected = winners([vote for _, vote, _ in group], [correct for _, _, correct in group])
            several[task] += sum(number < FURTHER for number, _, _ in group) > 1
        counts.setdefault(task, Counter())[Kind(n, right, *elected)] += 1
    return counts, +several


def count_many(samples: bytes | bytearray | memoryview) -> tuple[Counts, Counter[int]]:
    """The same by sorting."""
    import numpy as np

    table = np.frombuffer(samples, np.dtype(FIELDS))
    tasks, prompts = table["task"] & (FURTHER - 1), table["prompt"]
    order = np.lexsort((prompts, tasks))  # samples of a prompt stay in their order
    tasks, prompts = tasks[order], prompts[order]
    starts = np.flatnonzero(np.r_[True, (prompts[1:] != prompts[:-1]) | (tasks[1:] != tasks[:-1])])
    sizes = np.diff(np.r_[starts, len(table)])
    correct = table["correct"][order].astype(np.int64)
    right = np.add.reduceat(correct, starts)
    tasks = tasks[starts].astype(np.int64)
    counts: Counts = {}
    for kind, n in enumerate(np.bincount((2 * tasks + right)[sizes == 1]).tolist()):
        if n:
            counts.setdefault(kind >> 1, Counter())[Kind(1, kind & 1)] = n
    many = sizes > 1
    if not many.any():
        return counts, Counter()
    of = np.repeat(np.arange(len(starts)), sizes)
    votes = table["vote"][order]
    voting = np.flatnonzero(many[of] & (votes != 0))
    voting = voting[np.lexsort((votes[voting], of[voting]))]
    votes, of, correct = votes[voting], of[voting], correct[voting]
    ends = np.flatnonzero(np.r_[(votes[1:] != votes[:-1]) | (of[1:] != of[:-1]), True][: len(votes)])
    times, of = np.diff(np.r_[-1, ends]), of[ends]
    most = np.zeros(len(starts), np.int64)
    np.maximum.at(most, of, times)
    best = times == most[of]
    chosen = np.bincount(of[best], minlength=len(starts))
    # an answer is as right as its last sample
    chosen_right = np.bincount(of[best], correct[ends][best], len(starts)).astype(np.int64)
    columns = (column[many].tolist() for column in (tasks, sizes, right, chosen, chosen_right))
    for (task, *numbers), n in Counter(zip(*columns, strict=True)).items():
        counts.setdefault(task, Counter())[Kind(*numbers)] = n
    lines = np.add.reduceat((table["task"][order] < FURTHER).astype(np.int64), starts)
    return counts, Counter(tasks[many & (lines > 1)].tolist())


def divided(samples: bytes | bytearray, shares: int) -> tuple[bytes, list[int]]:
    """Samples in so many shares (at most 256), all of a prompt in one, in their order; and where each share
    begins and the last one ends."""
    import numpy as np

    table = np.frombuffer(samples, np.dtype(FIELDS))
    share = (table["prompt"] % shares).astype(np.uint8)
    ends = np.cumsum(np.bincount(share, minlength=shares)) * SAMPLE.size
    return table[np.argsort(share, kind="stable")].tobytes(), [0, *ends.tolist()]
