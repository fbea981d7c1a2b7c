"""verifiers 0.4 (v1), and with it prime-rl: a taskset of a file's records, or of a seed's generated ones.

verifiers' loader finds tasksets by the name of a package: ``examples/verifiers_relfast`` makes this module
such a package, in the form of verifiers' hub. A response without a score raises, which verifiers records as
an error of the rollout, not as 0.
"""

from __future__ import annotations

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
    """``on_error``, and the options of `relfast.Scorer`; the default ``policy`` is ``"strict"``."""


class RelfastConfig(vf.TasksetConfig):
    """Which problems the taskset has."""

    benchmark: str = "REL-C2"
    """relfast's name of the task whose problems are generated."""
    file: str | None = None
    """File whose records are the problems; None: problems are generated."""
    seed: int = 0
    """The generator's seed; each has different problems."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Parameters of the generator (``relfast generate TASK --help``), for instance for a curriculum."""
    task: RelfastTaskConfig = RelfastTaskConfig()


class RelfastData(vf.TaskData):
    """A problem as traces record it."""

    benchmark: str
    question: str
    answer: Any


class RelfastTask(vf.Task[RelfastData, vf.State, RelfastTaskConfig]):
    """One problem, rewarded by relfast."""

    def __init__(self, data: RelfastData, config: RelfastTaskConfig | None = None) -> None:
        super().__init__(data, config)
        self._reward = make_trace_reward(**self.config.options)

    @vf.reward(weight=1.0)
    async def relfast(self, task: RelfastData, trace: vf.Trace) -> float:
        return await self._reward(task, trace)


class RelfastTaskset(vf.Taskset[RelfastTask, RelfastConfig]):
    """The problems of a file, or generated ones: the million of ``seed``, none of which another seed has."""

    def __init__(self, config: RelfastConfig) -> None:
        super().__init__(config)
        # it ends with its seed, but nobody should read a million problems to shuffle them
        self.INFINITE = config.file is None

    def load(self) -> Iterable[RelfastTask]:
        config = self.config
        if config.file is not None:
            problems: Iterable[Problem] = from_file(config.file)
        else:
            problems = (
                generated(config.benchmark, at, config.seed, **config.parameters) for at in range(SEEDS)
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
