"""Generated problems without end, whose parameters follow a schedule, for environments and data sets.

>>> from relfast.rewards.curriculum import Problems
>>> problems = Problems("SeqBench", curriculum=[(0, {"L": 8, "B": 0}), (2_000, {"L": 16, "B": 1})])
>>> problems[2_000].id
'seqbench-0-2000'

The schedule depends on a problem's number, not on rewards so far. So every process of a run sees the same
problems (the groups of a GRPO step are spread over processes), and a resumed run continues with them.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from relfast.errors import UsageError
from relfast.parameters import declared
from relfast.rewards.problems import SEEDS, Problem, generated
from relfast.tasks import get_task

__all__ = ["Level", "Problems"]

Level = tuple[int, Mapping[str, Any]]
"""(number of the first problem of the level, parameters of the generator from there on)."""

_FIRST: Final[Level] = (0, {})


class Problems:
    """The problems of a generator, by number: ``problems[7]``. Equal arguments give equal problems.

    Parameters
    ----------
    task
        A task that has a generator.
    seed
        Each seed has different problems.
    curriculum
        Levels in order, the first from problem 0. ``relfast generate TASK --help`` lists the parameters (L, B
        and N of SeqBench, sizes of formulas and molecules of REL). Empty: the generator's defaults.
    start
        Number of the problem at which iteration begins, to continue a run.

    Raises
    ------
    UsageError
        The task has no generator, the generator has no such parameter, or levels are not in order.
    """

    def __init__(self, task: str, *, seed: int = 0, curriculum: Sequence[Level] = (), start: int = 0) -> None:
        resolved = get_task(task)
        self.task, self.seed, self.start = resolved.name, seed, start
        self.curriculum: list[Level] = [(at, dict(given)) for at, given in curriculum] or [_FIRST]
        self._begins = [at for at, _ in self.curriculum]
        if self._begins[0] != 0 or self._begins != sorted(set(self._begins)):
            raise UsageError(f"curriculum: levels begin at 0 and go up, not at {self._begins}")
        if start < 0 or seed < 0:
            raise UsageError(f"seed and start must be 0 or more, not {seed} and {start}")
        if resolved.parameters is None:
            generated(self.task, 0)  # raises: the task has no generator
        for at, parameters in self.curriculum:
            try:
                declared(cast("type", resolved.parameters), parameters)
            except UsageError as error:
                raise UsageError(f"curriculum, level from {at}: {error}") from None

    def parameters_of(self, at: int) -> Mapping[str, Any]:
        """The generator's parameters for problem ``at``."""
        return self.curriculum[bisect_right(self._begins, at) - 1][1]

    def __getitem__(self, at: int) -> Problem:
        """Problem number ``at``, from 0, made without the problems before it."""
        if at < 0:
            raise IndexError(at)
        problem = generated(self.task, at % SEEDS, self.seed + at // SEEDS, **self.parameters_of(at))
        return problem._replace(id=f"{self.task.lower()}-{self.seed}-{at}")

    def __iter__(self) -> Iterator[Problem]:
        at = self.start
        while True:
            yield self[at]
            at += 1

    def rows(self, n: int | None = None) -> Iterator[dict[str, Any]]:
        """``n`` problems (None: without end) as rows of a data set for a trainer.

        The columns are those that adapters look for: ``prompt`` (chat messages), ``task``, ``answer`` (gold
        as JSON text), ``question`` and ``id``. ``datasets.IterableDataset.from_generator(problems.rows)``
        makes a data set of them.
        """
        for left, problem in enumerate(self):
            if left == n:
                return
            yield {
                "prompt": [{"role": "user", "content": problem.prompt}],
                "task": problem.task,
                "answer": json.dumps(problem.answer),
                "question": problem.question,
                "id": problem.id,
            }
