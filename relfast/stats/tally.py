"""What is counted of a run's rows as they come: adds up over blocks and workers, in any order.

Per row only a few bytes are kept (`relfast.stats.samples`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from relfast.plain import Plain
from relfast.records import SCORED, Score
from relfast.stats.prompts import FURTHER, SAMPLE
from relfast.stats.samples import TASK_NUMBERS, group_of, hash_id, hash_vote, id_text
from relfast.stats.task_tally import TaskTally


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

    def merge(self, other: Tally) -> None:
        for name, task in other.tasks.items():
            self.tasks.setdefault(name, TaskTally()).merge(task)
        self.samples += other.samples

    def take_samples(self) -> bytearray:
        """The samples, which are not in the tally any more: who counts millions of rows keeps them elsewhere
        (`relfast.stats.samples`)."""
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
