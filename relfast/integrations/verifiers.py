"""verifiers 0.4 (v1), and with it prime-rl: a taskset of records of files, or of new ones without end.

Its loader finds tasksets by the name of a package: ``examples/verifiers_relfast`` makes one of this module,
in the form of its hub. A response without a score raises, which verifiers records as an error of the rollout,
not as 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from relfast.rewards.problems import SEEDS, Problem, from_file, generated
from relfast.rewards.verifiers import make_trace_reward

__all__ = ["RelfastConfig", "RelfastData", "RelfastTask", "RelfastTaskset"]


class RelfastTaskConfig(vf.TaskConfig):
    """How responses are scored."""

    options: dict[str, Any] = Field(default_factory=dict)
    """``on_error``, and the options of `relfast.Scorer`; strict unless ``policy`` says otherwise."""


class RelfastConfig(vf.TasksetConfig):
    """Which problems."""

    benchmark: str = "REL-C2"
    """Task of new problems."""
    file: str | None = None
    """File of records, which are then the problems."""
    seed: int = 0
    """Problems of another seed are other ones."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Of the generator (``relfast generate TASK --help``); larger ones make a curriculum."""
    task: RelfastTaskConfig = RelfastTaskConfig()


class RelfastData(vf.TaskData):
    """A problem as it stands in traces."""

    benchmark: str
    question: str
    answer: Any


class RelfastTask(vf.Task[RelfastData, vf.State, RelfastTaskConfig]):
    """One problem; its reward is relfast's."""

    def __init__(self, data: RelfastData, config: RelfastTaskConfig | None = None) -> None:
        super().__init__(data, config)
        self._reward = make_trace_reward(**self.config.options)

    @vf.reward(weight=1.0)
    async def relfast(self, task: RelfastData, trace: vf.Trace) -> float:
        return await self._reward(task, trace)


class RelfastTaskset(vf.Taskset[RelfastTask, RelfastConfig]):
    """The problems of a file, or those of a generator: the first million of a seed."""

    def __init__(self, config: RelfastConfig) -> None:
        super().__init__(config)
        self.INFINITE = config.file is None

    def load(self) -> Iterable[RelfastTask]:
        config = self.config
        if config.file is not None:
            problems: Iterable[Problem] = from_file(config.file)
        else:
            seeds = itertools.count(config.seed)
            problems = (
                generated(config.benchmark, at, seed, **config.parameters)
                for seed in seeds
                for at in range(SEEDS)
            )
        for problem in problems:
            data = RelfastData(
                id=problem.id or None,
                name=problem.id or None,
                prompt=problem.prompt,
                benchmark=problem.task,
                question=problem.question,
                answer=problem.answer,
            )
            yield RelfastTask(data, config.task)
