"""TRL (1.9 and later): a reward function for ``GRPOTrainer`` and every trainer that calls rewards alike.

>>> from relfast.rewards.trl import reward
>>> GRPOTrainer(..., reward_funcs=reward, train_dataset=dataset)           # doctest: +SKIP

The data set has the columns ``prompt``, ``answer`` (gold: a dict or its JSON text) and, where tasks are
mixed, ``task``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Unpack

from relfast.errors import UsageError
from relfast.keywords import AdapterKeywords, OnError
from relfast.rewards.shared import Adapter, gold_of, question_of, reason_of, response_of, tallies

__all__ = ["Reward", "make_reward", "reward"]


class Reward(Adapter):
    """A TRL reward function. Thread-safe and picklable.

    A response without a score gets None, which TRL leaves out of the group's mean. Means of the tasks'
    metrics are logged by ``log_metric`` (``relfast/correct``, ``relfast/REL-C3/f1``, …); each completion's
    status and the strict policy's reason go to TRL's table of completions by ``log_extra``.

    Parameters
    ----------
    name
        The function's name in TRL's logs; two functions of one run need two names.
    task_column, answer_column, question_column
        Names of the data set's columns.
    log
        Whether metrics go to TRL's log.
    on_error
        Reward of a response without a score: None (left out), a number, or ``"raise"``.
    **options
        Options of `relfast.Scorer`: ``policy``, ``task`` (for rows without a task), ``rewards``, ``timeout``,
        ``workers``, …
    """

    question_at: ClassVar[str] = "in the column 'prompt' or 'question' of the data set"

    def __init__(
        self,
        *,
        name: str = "relfast",
        task_column: str = "task",
        answer_column: str = "answer",
        question_column: str = "question",
        log: bool = True,
        on_error: OnError = None,
        **options: Unpack[AdapterKeywords],
    ) -> None:
        super().__init__(on_error=on_error, **options)
        self.__name__ = name
        self._columns = (task_column, answer_column, question_column)
        self._log = log

    def __call__(
        self,
        prompts: Sequence[Any] | None = None,
        completions: Sequence[Any] = (),
        completion_ids: Sequence[Any] | None = None,
        *,
        trainer_state: Any = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """One reward per completion, in order; ``on_error`` (None by default) for one without a score.

        Raises
        ------
        UnscoredError
            ``on_error`` is ``"raise"`` and a completion has no score.
        UsageError
            The data set has no column of gold.
        """
        n = len(completions)
        task_column, answer_column, question_column = self._columns
        tasks, answers = columns.get(task_column), columns.get(answer_column)
        questions = columns.get(question_column)
        if questions is None and prompts is not None:
            questions = [*map(question_of, prompts)]
        if tasks is None:
            tasks = [None] * n
        if not n:
            return []
        if answers is None:
            raise UsageError(
                f"the data set has no column {answer_column!r}, where gold is looked for; it has"
                f" {', '.join(map(repr, columns)) or 'none'}: rename it, or say"
                " reward_funcs=make_reward(answer_column=...)"
            )
        scores = self.scores(tasks, [*map(gold_of, answers)], [*map(response_of, completions)], questions)
        if self._log and log_metric is not None:
            for metric, value in tallies(scores).items():
                log_metric(f"{self.__name__}/{metric}", value)
        if self._log and log_extra is not None:
            log_extra(f"{self.__name__}_status", [score.status for score in scores])
            log_extra(f"{self.__name__}_reason", [*map(reason_of, scores)])
        return [*map(self.value, scores)]


make_reward = Reward

reward: Reward = Reward()
"""The reward function with the default options."""
