"""Samples, `SAMPLE_BYTES` each, counted by prompt without sorting them.

A table of prompts by hash, and for each prompt the chain of its samples from the last to the first. What is
counted of a prompt (its kind: see `KIND_TASK`) is few different numbers, however many prompts there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    KIND_COUNT,
    KIND_RIGHT,
    KIND_SAMPLES,
    KIND_TASK,
    KIND_WINNERS,
    KIND_WINNERS_RIGHT,
    SAMPLE_BYTES,
    SAMPLE_FURTHER,
)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_PROMPT, _VOTE, _CORRECT = 1, 9, 13

_FEW_FURTHER = 1 << 17
"""So few samples of prompts that have one already that nobody need know how many a single prompt has."""


@kernel
def _task_of(samples: Any, k: Any) -> Any:
    return np.int64(samples[k * SAMPLE_BYTES]) & (SAMPLE_FURTHER - 1)


@kernel
def _prompt_of(samples: Any, k: Any) -> Any:
    at = np.uint64(k * SAMPLE_BYTES + _PROMPT)
    word = np.uint64(0)
    for byte in range(8):
        word |= np.uint64(samples[at + np.uint64(byte)]) << np.uint64(8 * byte)
    return word


@kernel
def _vote_of(samples: Any, k: Any) -> Any:
    at = k * SAMPLE_BYTES + _VOTE
    vote: Any = 0
    for byte in range(4):
        vote |= np.int64(samples[at + byte]) << (8 * byte)
    return vote


@kernel
def _place(key: Any, size: int) -> Any:
    return np.int64((key * _FACTOR) >> np.uint64(20)) & (size - 1)


@kernel
def divide_samples(samples: Any, n: int, divided: Any, ends: Any) -> int:
    """Put samples of one prompt into one share, in their order.

    Parameters
    ----------
    samples : uint8, shape (SAMPLE_BYTES * n,)
    divided : uint8, the same shape
        Filled: the shares one after the other.
    ends : int64, shape (a power of two + 1,)
        Zeros; filled: where each share begins in ``divided``, and where the last one ends.

    Returns
    -------
    int
        Bytes in ``divided``.
    """
    shares = len(ends) - 1
    for k in range(n):
        ends[_share(_prompt_of(samples, k), shares) + 1] += SAMPLE_BYTES
    for share in range(shares):
        ends[share + 1] += ends[share]
    for k in range(n):
        share = _share(_prompt_of(samples, k), shares)
        at, to = k * SAMPLE_BYTES, ends[share]
        for byte in range(SAMPLE_BYTES):
            divided[to + byte] = samples[at + byte]
        ends[share] = to + SAMPLE_BYTES
    # each now stands where the next one begins
    for share in range(shares, 0, -1):
        ends[share] = ends[share - 1]
    ends[0] = 0
    return SAMPLE_BYTES * n


@kernel
def _share(prompt: Any, shares: int) -> Any:
    # bits that have no part in a prompt's place among its share's
    return np.int64((prompt * _FACTOR) >> np.uint64(52)) & (shares - 1)


@kernel
def chain_samples(samples: Any, n: int, heads: Any, before: Any) -> Any:
    """Group samples by task and prompt.

    Parameters
    ----------
    samples : uint8, shape (SAMPLE_BYTES * n,)
    heads : int32, shape (a power of two above n,)
        Zeros; filled: one more than a prompt's last sample, 0 where there is none.
    before : int32, shape (n,)
        Filled: one more than the sample of the same prompt before, or 0.

    Returns
    -------
    int
        Samples of the prompt that has most, or a few more than that.
    """
    size = len(heads)
    further = 0
    for k in range(n):
        task, prompt = _task_of(samples, k), _prompt_of(samples, k)
        at = _place(prompt + np.uint64(task), size)
        while heads[at] != 0:
            other = heads[at] - 1
            if _prompt_of(samples, other) == prompt and _task_of(samples, other) == task:
                break
            at = (at + 1) & (size - 1)
        before[k] = heads[at]
        further += 1 if heads[at] != 0 else 0
        heads[at] = k + 1
    if further < _FEW_FURTHER:
        return further + 1
    most: Any = 0
    for at in range(size):
        length: Any = 0
        last: Any = np.int64(heads[at])
        while last != 0:
            length += 1
            last = np.int64(before[last - 1])
        most = max(most, length)
    return most


@kernel
def _elect(samples: Any, last: Any, before: Any, votes: Any, mask: int) -> Any:
    """How many votes a prompt's samples have most often, and how many of those are right (as the last sample
    with that vote is); 0 and 0 where nobody votes. ``votes[:mask + 1]`` is work space."""
    for at in range(mask + 1):
        votes[at, 0] = 0
    most: Any = 0
    k: Any = np.int64(last)
    while k != 0:
        vote = _vote_of(samples, k - 1)
        if vote != 0:
            at = _place(np.uint64(vote), mask + 1)
            while votes[at, 0] != 0 and votes[at, 0] != vote:
                at = (at + 1) & mask
            if votes[at, 0] == 0:
                votes[at, 0], votes[at, 1] = vote, 0
                votes[at, 2] = np.int64(samples[(k - 1) * SAMPLE_BYTES + _CORRECT])
            votes[at, 1] += 1
            most = max(most, votes[at, 1])
        k = np.int64(before[k - 1])
    winners = right = 0
    if most:
        for at in range(mask + 1):
            if votes[at, 0] != 0 and votes[at, 1] == most:
                winners += 1
                right += votes[at, 2]
    return winners, right


@kernel
def count_kinds(samples: Any, heads: Any, before: Any, votes: Any, kinds: Any, repeated: Any) -> int:
    """Count prompts by what is to be known of them.

    Parameters
    ----------
    samples, heads, before
        As `chain_samples` left them; the heads are put one after the other.
    votes : int64, shape (a power of two above the samples of any prompt, VOTE_COLUMNS)
        Work space.
    kinds : int64, shape (m, KIND_COLUMNS)
        Zeros, or what other prompts came to, m a power of two; added to: a row for each kind of prompts, in
        any place.
    repeated : int64, shape (SAMPLE_FURTHER,)
        The same; added to: by task, the prompts that stand on several lines.

    Returns
    -------
    int
        How many kinds, or -1: there is room for fewer, and not all is counted.
    """
    found = 0
    m = kinds.shape[0]
    for at in range(m):
        found += 1 if kinds[at, KIND_COUNT] != 0 else 0
    # two in three places are empty, and nobody could foretell which: no branch here
    prompts = 0
    for head in range(len(heads)):
        taken = heads[head]
        heads[prompts] = taken
        prompts += 1 if taken != 0 else 0
    for head in range(prompts, len(heads)):
        heads[head] = 0
    for head in range(prompts):
        last: Any = np.int64(heads[head])
        task = _task_of(samples, last - 1)
        n: Any = 0
        right: Any = 0
        lines: Any = 0
        k = last
        while k != 0:
            first = (k - 1) * SAMPLE_BYTES
            n += 1
            right += np.int64(samples[first + _CORRECT])
            lines += 1 if samples[first] < SAMPLE_FURTHER else 0
            k = np.int64(before[k - 1])
        winners: Any = 0
        winners_right: Any = 0
        if n > 1:
            size: Any = 4
            while size < 2 * n:
                size *= 2
            winners, winners_right = _elect(samples, last, before, votes, size - 1)
            if lines > 1:
                repeated[task] += 1
        key = np.uint64(n) * _FACTOR ^ np.uint64(right)
        key = key * _FACTOR ^ np.uint64(winners)
        key = key * _FACTOR ^ np.uint64(winners_right * SAMPLE_FURTHER + task)
        at = _place(key, m)
        while kinds[at, KIND_COUNT] != 0:
            if (
                kinds[at, KIND_TASK] == task
                and kinds[at, KIND_SAMPLES] == n
                and kinds[at, KIND_RIGHT] == right
                and kinds[at, KIND_WINNERS] == winners
                and kinds[at, KIND_WINNERS_RIGHT] == winners_right
            ):
                break
            at = (at + 1) & (m - 1)
        row = kinds[at]
        if row[KIND_COUNT] == 0:
            if 2 * (found + 1) > m:
                return -1
            found += 1
            row[KIND_TASK], row[KIND_SAMPLES], row[KIND_RIGHT] = task, n, right
            row[KIND_WINNERS], row[KIND_WINNERS_RIGHT] = winners, winners_right
        row[KIND_COUNT] += 1
    return found
