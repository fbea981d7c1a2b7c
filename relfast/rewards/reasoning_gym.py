"""reasoning-gym: ``score_answer(answer, entry)``, partial credit included.

``entry`` is a data set's entry: ``answer`` holds gold (a dict or its JSON text; ``metadata["answer"]`` takes
precedence), ``metadata["task"]`` the task.

`register` registers the tasks that have a generator as data sets of reasoning-gym: after it
``reasoning_gym.create_dataset("rel_c2", size=100, seed=1)`` and ``get_score_answer_fn("rel_c2")`` work.

reasoning-gym cannot leave an answer out: an answer without a score raises `UnscoredError`, unless
``on_error`` is a number.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as default
from typing import Any, ClassVar, Unpack

from relfast.engine.job import ScorerKeywords
from relfast.rewards.problems import SEEDS, generated
from relfast.rewards.shared import Adapter, mapping, read_sample
from relfast.tasks import TASKS, find_task
from relfast.tasks.base import Task

__all__ = ["DatasetConfig", "ScoreAnswer", "make_reward", "register", "score_answer"]


class ScoreAnswer(Adapter):
    """reasoning-gym's scoring function. Thread-safe and picklable.

    Options: ``on_error``, and those of `relfast.Scorer`.
    """

    __name__ = "score_answer"
    question_at: ClassVar[str] = "as the entry's 'question'"
    wants_number: ClassVar[str | None] = (
        "reasoning-gym's callers compare and add scores: None is a TypeError there"
    )

    def __call__(self, answer: object, entry: Mapping[str, Any]) -> float:
        """The reward of an answer, partial credit included.

        Raises
        ------
        UnscoredError
            The answer has no score, and ``on_error`` has no number for it.
        """
        about = mapping(entry)
        metadata = mapping(about.get("metadata"))
        label = about.get("answer") if metadata.get("answer") is None else metadata["answer"]
        task, gold, question = read_sample(label, None, metadata, about)
        if task is None and find_task(source := metadata.get("source_dataset")) is not None:
            task = source
        return self.number(self.score(task, gold, answer, question))


score_answer: ScoreAnswer = ScoreAnswer.default()
"""The scoring function with the default options."""


make_reward = ScoreAnswer


@dataclass
class DatasetConfig:
    """reasoning-gym's configuration of one of the registered data sets.

    Attributes
    ----------
    seed, size
        As for all data sets of reasoning-gym: entry i of a seed is the same on every machine.
    parameters
        Parameters of the task's generator (``relfast generate TASK --help``).
    """

    seed: int = 0
    size: int = 500
    parameters: dict[str, Any] = default(default_factory=dict)

    def validate(self) -> None:
        """Check the values; reasoning-gym calls this before it makes a data set.

        Raises
        ------
        ValueError
            ``size`` or ``seed`` is negative, or ``size`` is more than the problems of a seed.
        """
        if self.size < 0 or self.seed < 0:
            raise ValueError(f"size and seed must be 0 or more, not {self.size} and {self.seed}")
        if self.size > SEEDS:
            raise ValueError(f"a seed has {SEEDS:,} problems, not {self.size:,}")


def register(**options: Unpack[ScorerKeywords]) -> list[str]:
    """Register a data set for each task that has a generator, under its name in snake case (``rel_c2``).

    It can be called again: data sets that are registered already stay as they are.

    Parameters
    ----------
    **options
        Options of the data sets' ``score_answer``: ``on_error``, and those of `relfast.Scorer`.

    Returns
    -------
    list of str
        The names of the data sets.
    """
    factory = importlib.import_module("reasoning_gym.factory")
    generated = {_name_of(task): task for task in TASKS.values() if task.parameters is not None}
    function = make_reward(**options) if generated.keys() - factory.DATASETS.keys() else None
    for name, task in generated.items():
        if name not in factory.DATASETS and function is not None:
            factory.register_dataset(name, _dataset_class(task, function), DatasetConfig)
    return list(generated)


def _name_of(task: Task) -> str:
    return task.name.lower().replace("-", "_")


def _dataset_class(task: Task, function: ScoreAnswer) -> type:
    """A class of reasoning-gym's data sets with a task's generated problems, scored by ``function``."""
    base: Any = importlib.import_module("reasoning_gym.dataset").ProceduralDataset

    class Dataset(base):  # type: ignore[misc]
        """A task's generated problems as entries of reasoning-gym."""

        def __init__(self, config: DatasetConfig) -> None:
            super().__init__(config=config, seed=config.seed, size=config.size)

        @property
        def category(self) -> str:
            return "relfast"

        def __getitem__(self, idx: int) -> dict[str, Any]:
            if not 0 <= idx < self.size:
                raise IndexError(idx)  # ends iteration by index
            config: DatasetConfig = self.config
            problem = generated(task.name, idx, config.seed, **config.parameters)
            about = {"source_dataset": _name_of(task), "source_index": idx, "task": task.name}
            return {
                "question": problem.prompt,
                "answer": json.dumps(problem.answer),
                "metadata": {**about, "question": problem.question, "difficulty": dict(config.parameters)},
            }

        def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
            return function(answer, entry)

    Dataset.__name__ = f"{_name_of(task)}_dataset"
    return Dataset
