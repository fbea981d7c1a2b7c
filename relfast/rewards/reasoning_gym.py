"""reasoning-gym: ``score_answer(answer, entry)``, partial credit included.

``entry`` is a data set's entry: ``answer`` holds gold (a dict or its JSON text; ``metadata["answer"]`` wins
where both are there), ``metadata["task"]`` the task. Strict by default: what a policy is rewarded for must
not be cheaper to fake than to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from relfast.keywords import ScorerKeywords
from relfast.rewards.shared import Adapter, field, read_label
from relfast.tasks import find_task

__all__ = ["ScoreAnswer", "make_reward", "score_answer"]


class ScoreAnswer(Adapter):
    """reasoning-gym's scoring function. Thread-safe and picklable."""

    __name__ = "score_answer"
    question_at = "as the entry's 'question'"

    def __call__(self, answer: object, entry: Mapping[str, Any]) -> float | None:
        """The reward of an answer, partial credit included."""
        metadata = field(entry, "metadata")
        gold = field(metadata, "answer")
        task, gold, question = read_label(gold if gold is not None else field(entry, "answer"))
        if task is None:
            task = field(metadata, "task") or field(entry, "task")
        if task is None:
            source = field(metadata, "source_dataset")
            task = source if find_task(source) is not None else None
        if question is None:
            question = field(entry, "question")
        return self.value(self.score_one(task, gold, answer, question))


score_answer = ScoreAnswer()
"""The scoring function with the default options."""


def make_reward(**options: Unpack[ScorerKeywords]) -> ScoreAnswer:
    """A ``score_answer`` with other options: ``on_error``, and those of `relfast.Scorer`."""
    return ScoreAnswer(**options)
