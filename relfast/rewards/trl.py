"""TRL (1.9 and later): reward functions for ``GRPOTrainer`` and every trainer that calls rewards alike.

>>> from relfast.rewards.trl import reward
>>> GRPOTrainer(..., reward_funcs=reward, train_dataset=dataset)           # doctest: +SKIP

The data set has the columns ``prompt``, ``answer`` (gold: a dict or its JSON text) and, where tasks are
mixed, ``task``. `reward_async` is the same as a coroutine function, and `make_rewards` gives a function for
each component of the score, as ``multi_objective_aggregation="normalize_then_sum"`` takes them.

In several processes metrics are logged from TRL 1.14 on. Older releases gather the names that each process
has logged in an order of its own, and wait for ever where these differ; they do, since tasks have different
metrics.
"""

from __future__ import annotations

import logging
import operator
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final, Unpack

from relfast.engine.calls.incoming import Columns
from relfast.engine.job import ScorerKeywords
from relfast.errors import UsageError
from relfast.formats.stored import gold_of, held
from relfast.records import Score
from relfast.rewards.shared import (
    Adapter,
    awaited,
    checked_components,
    component_of,
    metric_of,
    question_of,
    reason_of,
)

__all__ = ["AsyncReward", "Reward", "make_reward", "make_rewards", "reward", "reward_async"]

_log: Final = logging.getLogger("relfast")

LOGS_IN_SEVERAL_PROCESSES: Final = (1, 14)
"""The first release of TRL that gathers the union of what processes log (its issue 7310)."""


class RewardKeywords(ScorerKeywords, total=False):
    """The keywords of `Reward`."""

    name: str
    task_column: str
    answer_column: str
    question_column: str
    log: bool
    component: str


class _Function(Adapter):
    """What both reward functions are. Thread-safe and picklable.

    A response without a score gets None, which TRL leaves out of the group's mean. The tasks' metrics are
    logged by ``log_metric`` (``relfast/correct``, ``relfast/REL-C3/f1``, …), a value for each completion that
    has one, so that TRL's means are means over completions; each completion's status, the answer that was
    read and the strict policy's reason go to TRL's table of completions by ``log_extra``.

    Parameters
    ----------
    name
        The function's name in TRL's logs; two functions of one run need two names.
    task_column, answer_column, question_column
        Names of the data set's columns.
    log
        Whether metrics go to TRL's log.
    component
        What a completion earns: ``reward``, ``correct``, ``answered``, or a metric such as ``f1``. A
        completion whose task has no such metric gets None.
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
        component: str = "reward",
        **options: Unpack[ScorerKeywords],
    ) -> None:
        super().__init__(**options)
        self.__name__ = self._logged_as = name
        self._columns = (task_column, answer_column, question_column)
        self._log = log
        (self._component,) = checked_components([component])

    def _read(
        self, prompts: Sequence[Any] | None, completions: Sequence[Any], columns: dict[str, Any]
    ) -> Columns:
        """The columns of a call, as the scorer takes them.

        Raises
        ------
        UsageError
            The data set has no column of gold.
        """
        task_column, answer_column, question_column = self._columns
        tasks, answers = columns.get(task_column), columns.get(answer_column)
        questions = columns.get(question_column)
        if questions is None and prompts is not None:
            questions = [*map(question_of, prompts)]
        if answers is None:
            raise UsageError(
                f"the data set has no column {answer_column!r}, where gold is looked for; it has"
                f" {', '.join(map(repr, columns)) or 'none'}: rename it, or say"
                " reward_funcs=make_reward(answer_column=...)"
            )
        names = [None] * len(completions) if tasks is None else [*map(held, tasks)]
        asked = None if questions is None else [*map(held, questions)]
        return names, [*map(gold_of, answers)], list(completions), asked

    def _given(
        self,
        scores: list[Score],
        log_extra: Callable[[str, list[Any]], None] | None,
        log_metric: Callable[[str, float], None] | None,
    ) -> list[float | None]:
        """Log what scores say; a call's rewards."""
        if self._log and (log_metric is not None or log_extra is not None) and _may_log():
            if log_metric is not None:
                for score in scores:
                    for metric, value in _measured(score):
                        log_metric(f"{self._logged_as}/{metric}", value)
            if log_extra is not None:
                log_extra(f"{self._logged_as}_status", [score.status for score in scores])
                log_extra(f"{self._logged_as}_pred", [score.pred or "" for score in scores])
                log_extra(f"{self._logged_as}_reason", [*map(reason_of, scores)])
        if self._component == "reward":
            return [*map(self.value, scores)]
        return [
            self.value(score) if score.reward is None else component_of(score, self._component)
            for score in scores
        ]


class Reward(_Function):
    __doc__ = f"A TRL reward function.{(_Function.__doc__ or '').partition('.')[2]}"

    _shared: _LastBatch | None = None

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
        if not len(completions):
            return []
        asked = self._read(prompts, completions, columns)
        scores = self.scores(*asked) if self._shared is None else self._shared.scores(asked, self.scores)
        return self._given(scores, log_extra, log_metric)


@awaited
class AsyncReward(_Function):
    __doc__ = f"A TRL reward function that is awaited.{(_Function.__doc__ or '').partition('.')[2]}"

    async def __call__(
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
        """`Reward`, with the event loop free while workers score."""
        if not len(completions):
            return []
        scores = await self.ascores(*self._read(prompts, completions, columns))
        return self._given(scores, log_extra, log_metric)


class _LastBatch:
    """The scores of the last call to one of several functions that TRL gives the same batch, one after the
    other."""

    def __init__(self) -> None:
        self._last: tuple[Columns, list[Score]] | None = None

    def scores(self, asked: Columns, score: Callable[..., list[Score]]) -> list[Score]:
        """The scores of a batch: of the last call, if that had these very completions, else of ``score``."""
        if self._last is not None:
            (*others, responses, questions), scores = self._last
            same = len(responses) == len(asked[2]) and all(map(operator.is_, responses, asked[2]))
            if same and [*others, questions] == [*asked[:2], asked[3]]:
                return scores
        self._last = asked, score(*asked)
        return self._last[1]

    def __getstate__(self) -> dict[str, Any]:
        return {"_last": None}


def make_reward(*, asynchronous: bool = False, **options: Unpack[RewardKeywords]) -> Reward | AsyncReward:
    """A reward function with options: those of `Reward`. With ``asynchronous`` TRL awaits it.

    Raises
    ------
    UsageError, UnknownTaskError
        An option that is unknown, or cannot be used.
    """
    return AsyncReward(**options) if asynchronous else Reward(**options)


def make_rewards(components: Sequence[str], **options: Unpack[RewardKeywords]) -> list[Reward]:
    """A reward function for each component of the score, named ``NAME_COMPONENT``. They score a batch once,
    and the first of them logs.

    >>> functions = make_rewards(["correct", "f1"])
    >>> GRPOConfig(multi_objective_aggregation="normalize_then_sum")         # doctest: +SKIP
    >>> [function.__name__ for function in functions]
    ['relfast_correct', 'relfast_f1']

    Raises
    ------
    UsageError
        No task has such a metric, or it is not one to be raised; or see `make_reward`.
    """
    shared = _LastBatch()
    made = []
    for component in checked_components(components):
        options["component"] = component
        function = Reward(**options)
        function.__name__, function._shared = f"{function.__name__}_{component}", shared
        options["log"] = False
        made.append(function)
    return made


def _measured(score: Score) -> Iterator[tuple[str, float]]:
    """What a completion adds to the means of TRL's log: names and finite numbers."""
    yield "answered", float(score.status == "ok")
    yield "unscored", float(score.correct is None)
    if score.correct is not None:
        yield "correct", float(score.correct)
        for name in score.metrics:
            value = metric_of(score, name)
            if value is not None:
                yield f"{score.task}/{name}", value


_told: Final[set[str]] = set()


def _may_log() -> bool:
    """Whether what processes log may differ; where it may not, that is said once."""
    processes = _processes()
    if processes < 2:
        return True
    release = _release()
    if release is not None and release >= LOGS_IN_SEVERAL_PROCESSES:
        return True
    if "old" not in _told:
        _told.add("old")
        wanted = ".".join(map(str, LOGS_IN_SEVERAL_PROCESSES))
        _log.warning(
            "relfast: nothing is logged: this run has %d processes, and TRL %s would wait for ever where they"
            " log different names (its issue 7310, mended in %s). Rewards are what they are. (Said once.)",
            processes,
            "of an unknown release" if release is None else ".".join(map(str, release)),
            wanted,
        )
    return False


def _processes() -> int:
    """The number of the run's processes."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_world_size())
    told = os.environ.get("WORLD_SIZE", "")
    return int(told) if told.isdecimal() else 1


def _release() -> tuple[int, ...] | None:
    """TRL's major and minor release; None where it is not loaded."""
    found = re.match(r"(\d+)\.(\d+)", str(getattr(sys.modules.get("trl"), "__version__", "")))
    return None if found is None else (int(found[1]), int(found[2]))


reward: Reward = Reward()
"""The reward function with the default options."""

reward_async: AsyncReward = AsyncReward()
"""The same as a coroutine function: while workers score, the event loop serves other reward functions."""
