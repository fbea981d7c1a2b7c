"""What a comparison of runs is: plain data, made by `relfast.comparison.compare`, shown by `tables`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from relfast.stats.intervals import Interval
from relfast.stats.paired import DifferenceMethod, TestMethod


@dataclass(frozen=True, slots=True)
class Run:
    """One side: scored rows of one model.

    Attributes
    ----------
    name
        What it is called in tables.
    path
        File of its rows; None for rows in memory.
    signature
        Of the summary beside the rows, or None where there is none.
    rows, scored
        Rows, and those with a score.
    """

    name: str
    path: str | None
    signature: str | None
    rows: int
    scored: int


@dataclass(frozen=True, slots=True)
class Side:
    """A run's mean over the pairs of one task, with its interval (None where it has none)."""

    mean: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Samples of a task that are no pair: they stand in one run only, or one of the two has no score."""

    only_a: int = 0
    only_b: int = 0
    unscored_a: int = 0
    unscored_b: int = 0
    unscored_both: int = 0

    @property
    def total(self) -> int:
        return sum((self.only_a, self.only_b, self.unscored_a, self.unscored_b, self.unscored_both))


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """Run ``a`` against run ``b`` on what they have in common of a task.

    Attributes
    ----------
    task, a, b
        The task's name and the names of the runs.
    prompts, pairs
        Common prompts, and pairs of samples with a score on both sides.
    side_a, side_b
        The metric's means over these pairs.
    difference
        ``side_a.mean - side_b.mean``.
    error
        Its standard error, clustered by prompt; None with a single prompt.
    interval, interval_method
        Its interval; None with a single prompt.
    p, p_method
        Two-sided p of no difference.
    p_holm
        The same, corrected by Holm over all tasks and pairs of runs that were compared.
    wins, losses, ties
        Pairs in which ``a`` has the higher, the lower, the same value.
    gained, lost
        Pairs that only ``a`` has right, only ``b`` has right: whatever the metric.
    left_out
        What is not compared.
    """

    task: str
    a: str
    b: str
    prompts: int
    pairs: int
    side_a: Side
    side_b: Side
    difference: float
    error: float | None
    interval: Interval | None
    interval_method: DifferenceMethod
    p: float
    p_method: TestMethod
    p_holm: float
    wins: int
    losses: int
    ties: int
    gained: int
    lost: int
    left_out: LeftOut

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; keys are the fields'."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Flip:
    """A pair that one run has right and the other wrong.

    ``index_a`` and ``index_b`` are the rows' ``index`` in their runs; ``right`` is the name of the run that
    is right.
    """

    task: str
    id: Any
    sample: int
    a: str
    b: str
    right: str
    index_a: int
    index_b: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Comparison:
    """Runs held against each other, task by task.

    Attributes
    ----------
    metric
        ``correct``, ``reward`` or a metric of the rows.
    level
        Confidence level of all intervals.
    runs
        The runs in the order in which they were given.
    tasks
        A `TaskComparison` per pair of runs and common task.
    flips
        The first pairs that changed, at most as many as were asked for; ``n_flips`` counts all.
    notes
        What a reader of the numbers must know: differing signatures, records left out.
    """

    metric: str
    level: float
    runs: tuple[Run, ...]
    tasks: tuple[TaskComparison, ...]
    n_flips: int = 0
    flips: tuple[Flip, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[TaskComparison]:
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: what ``relfast compare --json`` writes."""
        return asdict(self)


PairsOf = Literal["all", "first"]
"""Which runs meet: every one with every later one, or the first with each other one."""
