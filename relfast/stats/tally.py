"""What is counted of a run's rows as they come: adds up over blocks and workers, in any order.

Per row only a few bytes are kept (`relfast.stats.samples`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from relfast.plain import Plain
from relfast.records import SCORED, Score
from relfast.stats.samples import FURTHER, SAMPLE, TASK_NUMBERS, group_of, hash_id, hash_vote, id_text
from relfast.stats.task_tally import METRICS, Firsts, TaskTally, tally_of_written

if TYPE_CHECKING:
    from relfast.tasks.block_rows import Counted


@dataclass(slots=True, repr=False, eq=False)
class Tally(Plain):
    """Counts of a run so far, per group of rows (`relfast.stats.samples.group_of`).

    ``samples`` holds the scored rows in order, as `SAMPLE` records one after the other.
    """

    tasks: dict[str, TaskTally] = field(default_factory=dict)
    samples: bytearray = field(default_factory=bytearray)

    @classmethod
    def of(cls, scores: Iterable[Score]) -> Tally:
        """The tally of some scores."""
        tally = cls()
        groups: dict[str, list[Score]] = {}
        samples = []
        for score in scores:
            groups.setdefault(group_of(score.task), []).append(score)
            samples.append(sample_of(score))
        for name, group in groups.items():
            tally.tasks[name] = TaskTally()
            tally.tasks[name].add_all(group)
        tally.samples += b"".join(samples)
        return tally

    def __reduce__(self) -> tuple[Any, ...]:
        """As `TaskTally` does."""
        return Tally, (self.tasks, self.samples)

    def add(self, score: Score, times: int = 1) -> None:
        """Count a row, or as many rows like it, but for their samples."""
        name = group_of(score.task)
        task = self.tasks.get(name)
        if task is None:
            task = self.tasks[name] = TaskTally()
        task.add(score, times)

    def count_written(
        self,
        name: str,
        counted: Counted,
        lines: Sequence[int] | None = None,
        others: Sequence[Score] = (),
        first_index: int = 0,
    ) -> None:
        """Count rows of a task that its kernels have written; their samples are left to the caller.

        ``lines`` says on which line each of them stands, where ``others`` of the task, counted already, stand
        between them: ``first_index`` is that of the first line.
        """
        firsts = Firsts(METRICS[name])
        made = tally_of_written(name, counted, firsts, lines)
        mine = self.tasks.get(name)
        if mine is None:
            self.tasks[name] = made
            return
        for score in others:
            firsts.look(score, score.index - first_index)
        mine.merge(made)
        mine.sums = {metric: mine.sums[metric] for metric in firsts.metrics() if metric in mine.sums}
        mine.labels = {
            metric: {label: mine.labels[metric][label] for label in firsts.labels(metric)}
            for metric in firsts.metrics()
            if metric in mine.labels
        }

    def merge(self, other: Tally) -> None:
        for name, task in other.tasks.items():
            self.tasks.setdefault(name, TaskTally()).merge(task)
        self.samples += other.samples

    def take_samples(self) -> bytearray:
        """The samples, which are not in the tally any more: who counts millions of rows keeps them elsewhere
        (`relfast.stats.sample_store`)."""
        samples, self.samples = self.samples, bytearray()
        return samples

    @property
    def rows(self) -> int:
        return sum(sum(task.statuses.values()) for task in self.tasks.values())

    def count(self, *statuses: str) -> int:
        return sum(self.statuses(*statuses))

    def statuses(self, *statuses: str) -> list[int]:
        """How many rows have each of some statuses."""
        counts = [task.statuses for task in self.tasks.values()]
        return [sum([each[status] for each in counts]) for status in statuses]


def sample_of(score: Score) -> bytes:
    """The `SAMPLE` record of a row; empty if it is not scored."""
    if score.status not in SCORED:
        return b""
    key = orjson.dumps(score.index) if score.id is None else id_text(score.id)
    number = TASK_NUMBERS[group_of(score.task)] + (FURTHER if score.sample else 0)
    return SAMPLE.pack(number, hash_id(key), hash_vote(score.vote), bool(score.correct))
