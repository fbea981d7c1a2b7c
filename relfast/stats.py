"""Rows to numbers: means with clustered errors, pass@k, maj@k, and summaries that merge.

A `Tally` is what has been counted so far. Per prompt only a few bytes are kept (hash of the id, hash of
the vote, right or wrong), and at the end they collapse into a histogram of (samples, right samples) per
prompt, which is all that the clustered error and pass@k need.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import orjson

from relfast.records import SCORED, STATUSES, Score
from relfast.tasks import TASKS

if TYPE_CHECKING:
    import numpy.typing as npt

PASS_AT: Final = (1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128)
"""The k for which pass@k and maj@k are reported, as far as every prompt has k samples."""

SAMPLE: Final = Struct("<BQIB")
"""One scored sample in 14 bytes: number of its task, hash of its prompt's id, vote (0 = none), 0 or 1 for
wrong or right. Workers collect them without numpy, `relfast_kernels.text` writes them itself."""

_SAMPLE_FIELDS: Final = [("task", "u1"), ("prompt", "<u8"), ("vote", "<u4"), ("correct", "u1")]

TASK_NUMBERS: Final = {name: number for number, name in enumerate(TASKS)}

_METRICS: Final = {name: frozenset(task.metrics) for name, task in TASKS.items()}
_MASK: Final = 0xFFFF_FFFF_FFFF_FFFF
_MULTIPLIER: Final = 0x9E37_79B9_7F4A_7C15


def hash_id(json_text: bytes) -> int:
    """A 64-bit hash of an id's JSON text: multiply and fold, eight bytes at a time.

    The same in every process and in the kernel that reads lines without decoding them.
    """
    value = len(json_text)
    for at in range(0, len(json_text), 8):
        value = ((value ^ int.from_bytes(json_text[at : at + 8], "little")) * _MULTIPLIER) & _MASK
        value ^= value >> 29
    return value


def hash_vote(vote: str | int | None) -> int:
    """A 32-bit hash of a vote, 0 for none; a number stands for itself."""
    if vote is None:
        return 0
    if isinstance(vote, int):
        return vote
    return crc32(vote.encode("utf-8", "surrogatepass")) or 1


@dataclass(slots=True)
class TaskTally:
    """Counts of one task.

    ``rewards`` and the values of ``sums`` are (number of rows that have it, sum).
    """

    statuses: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    found: int = 0
    rewards: list[float] = field(default_factory=lambda: [0.0, 0.0])
    sums: dict[str, list[float]] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, score: Score, times: int = 1) -> None:
        """Count a row, or as many rows like it."""
        self.statuses[score.status] += times
        if score.status not in SCORED:
            return
        if score.status == "ok":
            self.found += times
        if score.reward is not None:
            self.rewards[0] += times
            self.rewards[1] += score.reward * times
        _add_metrics(self, score.task or "", score.metrics, times)

    def merge(self, other: TaskTally) -> None:
        for status, n in other.statuses.items():
            self.statuses[status] += n
        self.found += other.found
        self.rewards = [a + b for a, b in zip(self.rewards, other.rewards, strict=True)]
        for name, (n_rows, total) in other.sums.items():
            mine = self.sums.setdefault(name, [0, 0.0])
            mine[0] += n_rows
            mine[1] += total
        for name, counts in other.labels.items():
            mine_counts = self.labels.setdefault(name, {})
            for label, n in counts.items():
                mine_counts[label] = mine_counts.get(label, 0) + n


UNKNOWN_TASK: Final = "(unknown)"


@dataclass(slots=True)
class Tally:
    """Counts of a run so far, per task; rows whose task is unknown count under ``(unknown)``.

    ``samples`` holds the scored rows in order, as `SAMPLE` records one after the other.
    """

    tasks: dict[str, TaskTally] = field(default_factory=dict)
    samples: list[bytes] = field(default_factory=list)

    @classmethod
    def of(cls, scores: Iterable[Score]) -> Tally:
        """The tally of some scores."""
        tally = cls()
        tally.samples.append(b"".join([tally.add(score) for score in scores]))
        return tally

    def add(self, score: Score, times: int = 1) -> bytes:
        """Count a row (or as many rows like it); its `SAMPLE` record, empty if it is not scored."""
        name = score.task or UNKNOWN_TASK
        task = self.tasks.get(name)
        if task is None:
            task = self.tasks[name] = TaskTally()
        task.add(score, times)
        if score.status not in SCORED:
            return b""
        key = orjson.dumps(score.index) if score.id is None else _id_text(score.id)
        return SAMPLE.pack(TASK_NUMBERS[name], hash_id(key), hash_vote(score.vote), bool(score.correct))

    def merge(self, other: Tally) -> None:
        for name, task in other.tasks.items():
            self.tasks.setdefault(name, TaskTally()).merge(task)
        self.samples += other.samples

    @property
    def rows(self) -> int:
        return sum(sum(task.statuses.values()) for task in self.tasks.values())

    def count(self, *statuses: str) -> int:
        return sum(task.statuses[status] for task in self.tasks.values() for status in statuses)


def _id_text(record_id: Any) -> bytes:
    try:
        return orjson.dumps(record_id)
    except (TypeError, ValueError):
        return repr(record_id).encode("utf-8", "surrogatepass")


LABELS: Final = frozenset({"reason", "violation", "maze", "quadrant"})
"""Metrics that are words; their values are counted, not averaged."""

FLAGS: Final = frozenset({"mcs_canceled"})
"""Metrics that only some rows have."""


UNDEFINED_BELOW_0: Final = frozenset({"precision", "recall", "f1"})


def _add_metrics(task: TaskTally, name: str, metrics: Mapping[str, Any], times: int) -> None:
    """Add a row's metrics; the texts of ``--details`` stand beside them and are no metrics."""
    for metric, value in metrics.items():
        if metric in LABELS:
            if value is not None:
                counts = task.labels.setdefault(metric, {})
                counts[value] = counts.get(value, 0) + times
        elif metric in UNDEFINED_BELOW_0 and value < 0:
            continue  # the published scorer's -1 says that there is nothing to average
        elif isinstance(value, int | float) and (metric in FLAGS or metric in _METRICS.get(name, ())):
            mine = task.sums.get(metric)
            if mine is None:
                mine = task.sums[metric] = [0, 0.0]
            mine[0] += times
            mine[1] += value * times


@dataclass(slots=True)
class TaskSummary:
    """What is reported of one task.

    ``histogram`` counts prompts by (samples, right samples); ``majority`` maps a number of samples to
    (prompts, sum of majority scores). Both add up over shards that share no prompt.
    """

    rows: int
    prompts: int
    statuses: dict[str, int]
    found: int
    rewards: list[float]
    sums: dict[str, list[float]]
    labels: dict[str, dict[str, int]]
    histogram: dict[tuple[int, int], int]
    majority: dict[int, list[float]]

    @classmethod
    def of(cls, tally: TaskTally, samples: npt.NDArray[Any]) -> TaskSummary:
        """From counts and the task's samples (structured, fields prompt, vote, correct)."""
        histogram, majority = _collapse(samples)
        return cls(
            sum(tally.statuses.values()),
            sum(histogram.values()),
            dict(tally.statuses),
            tally.found,
            list(tally.rewards),
            {name: list(value) for name, value in tally.sums.items()},
            {name: dict(value) for name, value in tally.labels.items()},
            histogram,
            majority,
        )

    def merge(self, other: TaskSummary) -> None:
        """Add a shard's summary; prompts are taken to lie in one shard each."""
        mine, theirs = self._as_tally(), other._as_tally()
        mine.merge(theirs)
        self.rows += other.rows
        self.prompts += other.prompts
        self.statuses, self.found, self.rewards = mine.statuses, mine.found, mine.rewards
        self.sums, self.labels = mine.sums, mine.labels
        for key, n in other.histogram.items():
            self.histogram[key] = self.histogram.get(key, 0) + n
        for k, (n_prompts, total) in other.majority.items():
            entry = self.majority.setdefault(k, [0, 0.0])
            entry[0] += n_prompts
            entry[1] += total

    def _as_tally(self) -> TaskTally:
        return TaskTally(self.statuses, self.found, self.rewards, self.sums, self.labels)

    @property
    def scored(self) -> int:
        return sum(self.statuses[status] for status in SCORED)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: the reported numbers, and under ``merge`` what merging needs."""
        mean, error = clustered_mean(self.histogram)
        samples = sorted({n for n, _ in self.histogram})
        parsed = self.found / self.scored if self.scored else None
        result: dict[str, Any] = {
            "records": self.rows,
            "prompts": self.prompts,
            "samples_per_prompt": {"min": samples[0], "max": samples[-1]} if samples else None,
            "correct": _shown(mean),
            "correct_se": _shown(error),
            "reward": _shown(self.rewards[1] / self.rewards[0]) if self.rewards[0] else None,
            "parsed": _shown(parsed),
            "metrics": {name: _shown(total / n) for name, (n, total) in self.sums.items() if n},
            "labels": self.labels,
            "statuses": self.statuses,
        }
        if samples and samples[-1] > 1:
            result["pass@k"] = pass_at_k(self.histogram)
            result["maj@k"] = {str(k): total / n for k, (n, total) in sorted(self.majority.items()) if k > 1}
        result["merge"] = {
            "histogram": [[n, right, count] for (n, right), count in sorted(self.histogram.items())],
            "majority": [[k, *value] for k, value in sorted(self.majority.items())],
            "rewards": [self.rewards[0], _shown(self.rewards[1])],
            "found": self.found,
            "sums": {name: [n, _shown(total)] for name, (n, total) in self.sums.items()},
        }
        return result

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TaskSummary:
        merge = data["merge"]
        return cls(
            data["records"],
            data["prompts"],
            dict(data["statuses"]),
            merge["found"],
            list(merge["rewards"]),
            {name: list(value) for name, value in merge["sums"].items()},
            {name: dict(value) for name, value in data["labels"].items()},
            {(n, right): count for n, right, count in merge["histogram"]},
            {k: [n, total] for k, n, total in merge["majority"]},
        )


def _shown(value: float | None) -> float | None:
    """Rounded to where the order of summation, and so the number of workers, no longer shows."""
    return None if value is None else float(f"{value:.12g}")


def _collapse(
    samples: npt.NDArray[Any],
) -> tuple[dict[tuple[int, int], int], dict[int, list[float]]]:
    """Samples in order → prompts by (samples, right samples), and majority votes by number of samples."""
    import numpy as np

    if not len(samples):
        return {}, {}
    prompts = np.sort(samples["prompt"])
    if (prompts[1:] != prompts[:-1]).all():
        # one sample a prompt, the usual case: nothing to group, and sorting keys alone is 20 times quicker
        n_right = int(samples["correct"].sum())
        return {(1, c): n for c, n in ((0, len(samples) - n_right), (1, n_right)) if n}, {}
    samples = samples[np.argsort(samples["prompt"], kind="stable")]
    starts = np.flatnonzero(np.r_[True, samples["prompt"][1:] != samples["prompt"][:-1]])
    sizes = np.diff(np.r_[starts, len(samples)])
    right = np.add.reduceat(samples["correct"].astype(np.int64), starts)
    pairs, counts = np.unique(np.stack([sizes, right], 1), axis=0, return_counts=True)
    histogram = {(int(n), int(c)): int(k) for (n, c), k in zip(pairs, counts, strict=True)}
    majority: dict[int, list[float]] = {}
    for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
        group = samples[start : start + size]
        entry = majority.setdefault(int(size), [0, 0.0])
        entry[0] += 1
        entry[1] += majority_score(group["vote"].tolist(), group["correct"].tolist())
    return histogram, majority


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
        missed = sum(
            count * math.comb(n - right, k) / math.comb(n, k) for (n, right), count in histogram.items()
        )
        result[str(k)] = 1 - missed / prompts
    return result


@dataclass(slots=True)
class Summary:
    """What a run came to: per task the numbers, and the signature that says how they were made.

    ``output`` is where the rows went, ``seconds`` the wall time of this run.
    """

    tasks: dict[str, TaskSummary]
    signature: str
    output: str | None = None
    seconds: float | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(task.rows for task in self.tasks.values())

    def count(self, *statuses: str) -> int:
        """Rows with one of these statuses."""
        return sum(task.statuses[status] for task in self.tasks.values() for status in statuses)

    def to_dict(self) -> dict[str, Any]:
        return {
            "signature": self.signature,
            "records": self.rows,
            "output": self.output,
            "seconds": self.seconds,
            "notes": self.notes,
            "tasks": {name: task.to_dict() for name, task in self.tasks.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        return cls(
            {name: TaskSummary.from_dict(task) for name, task in data["tasks"].items()},
            data["signature"],
            data.get("output"),
            data.get("seconds"),
            list(data.get("notes", ())),
        )

    def merge(self, other: Summary) -> None:
        """Add the summary of another shard. Different signatures are noted, not hidden."""
        if other.signature != self.signature:
            self.notes.append(f"merged with a summary signed {other.signature}")
        for name, task in other.tasks.items():
            if name in self.tasks:
                self.tasks[name].merge(task)
            else:
                self.tasks[name] = task


def summarize(tally: Tally, signature: str) -> Summary:
    """The summary of a tally, tasks in the order of the task table."""
    import numpy as np

    samples = np.frombuffer(b"".join(tally.samples), np.dtype(_SAMPLE_FIELDS))
    names = sorted(tally.tasks, key=lambda name: TASK_NUMBERS.get(name, len(TASK_NUMBERS)))
    parts = {name: samples[samples["task"] == TASK_NUMBERS.get(name, 255)] for name in names}
    return Summary({name: TaskSummary.of(tally.tasks[name], parts[name]) for name in names}, signature)


def votes_of(samples: bytes) -> bytes:
    """The votes of some `SAMPLE` records: all their lowest bytes, then the next ones, … (4 n bytes)."""
    return b"".join([samples[at :: SAMPLE.size] for at in _VOTE_BYTES])


def with_votes(samples: bytes, votes: bytes) -> bytes:
    """The records with other votes; unchanged if their numbers differ."""
    n = len(samples) // SAMPLE.size
    if len(votes) != 4 * n:
        return samples
    changed = bytearray(samples)
    for plane, at in enumerate(_VOTE_BYTES):
        changed[at :: SAMPLE.size] = votes[plane * n : (plane + 1) * n]
    return bytes(changed)


_VOTE_BYTES: Final = range(9, 13)
