"""verifiers: reward functions for tasks of its v1 API (from 0.3.1 on) and for a ``Rubric`` (0.1.11 to 0.3.1).

v1 calls ``async (task, trace)``: use `trace_reward`, or `relfast.integrations.verifiers` for whole tasksets::

    --env.taskset.task.rewards.relfast.fn relfast.rewards.verifiers:trace_reward

``task`` is a ``TaskData`` with the fields ``answer`` (gold), ``question`` and ``benchmark`` (the task's
name), or with these keys in ``info``. A response without a score raises, which v1 records as the rollout's
error and not as 0, unless ``on_error`` is a number.

Up to 0.3.1 there is ``Rubric``, which 0.4 has removed:

>>> from relfast.rewards.verifiers import reward
>>> rubric = vf.Rubric(funcs=[reward])                                      # doctest: +SKIP

Gold is the data set's ``answer`` column (JSON text) or ``info["answer"]``; the task's name is
``info["benchmark"]``. (verifiers keeps ``info["task"]`` and the column ``task`` for itself: from 0.1.14 on it
raises for a name there.)

A ``Rubric`` needs numbers: it logs None as an error and makes it 0. Set the reward of a response without a
score with ``on_error``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from relfast.engine.job import ScorerKeywords
from relfast.formats.failure import from_error
from relfast.formats.stored import gold_of
from relfast.rewards.shared import Adapter, Row, field, mapping, read_sample
from relfast.tasks import find_task

__all__ = [
    "Reward",
    "TraceReward",
    "make_reward",
    "make_trace_reward",
    "reward",
    "reward_async",
    "trace_reward",
]


class Reward(Adapter):
    """A reward function for a ``Rubric``. Picklable.

    Parameters
    ----------
    name
        The function's name among the rubric's metrics.
    asynchronous
        Whether a call returns an awaitable, so that rollouts that end together are scored in parallel.
    **options
        ``on_error``, and those of `relfast.Scorer`.
    """

    question_at: ClassVar[str] = "in the prompt, or as info['question']"
    wants_number: ClassVar[str | None] = "verifiers' Rubric logs None as an error, and makes it 0.0"

    def __init__(
        self, *, name: str = "reward", asynchronous: bool = False, **options: Unpack[ScorerKeywords]
    ) -> None:
        super().__init__(**options)
        self.__name__ = name
        self._asynchronous = asynchronous

    def __call__(
        self,
        prompt: object = None,
        completion: object = None,
        answer: object = None,
        info: object = None,
        state: object = None,
        task: object = None,
        **kwargs: object,
    ) -> Any:
        about = mapping(gold_of(info))  # data sets of the hub store it as JSON text
        named, gold, question = read_sample(None, prompt, {"answer": answer}, about)
        for name in (field(about, "benchmark"), task, field(state, "task")):
            if named is None and find_task(name) is not None:
                named = name
        error = field(state, "error")  # of the rollout, which then has no completion
        failed = from_error(repr(error) if isinstance(error, BaseException) else error)
        row = named, gold, failed or completion, question
        return self._later(row) if self._asynchronous else self.value(self.score(*row))

    async def _later(self, row: Row) -> float | None:
        return self.value(await self.ascore(*row))


class TraceReward(Adapter):
    """A reward function of v1: a coroutine function of a task's data and a trace. Picklable.

    Options: ``on_error``, and those of `relfast.Scorer`.
    """

    __name__ = "relfast"
    question_at: ClassVar[str] = "as 'question' in the task's data"

    async def __call__(self, task: object, trace: object) -> float:
        """The reward of the trace's last reply.

        Raises
        ------
        UnscoredError
            The reply has no score, and ``on_error`` has no number for it.
        """
        info = gold_of(getattr(task, "info", None))
        data = {
            "task": getattr(task, "benchmark", None) or field(info, "benchmark"),
            "answer": getattr(task, "answer", None),
            "question": getattr(task, "question", None) or None,
        }
        name, gold, question = read_sample(None, getattr(task, "prompt", None), data, info)
        return self.number(await self.ascore(name, gold, _reply(trace), question))


def _reply(trace: object) -> object:
    """The text of a trace's last reply; where there is none, its last message, which may only call a tool."""
    said = getattr(trace, "last_reply", None)
    return said or list(getattr(trace, "assistant_messages", ()))[-1:] or said


reward: Reward = Reward.default()
"""The reward of one rollout. A rubric passes arguments by name; further ones are ignored."""

reward_async: Reward = Reward.default(name="reward_async", asynchronous=True)
"""`reward` as a coroutine function: the event loop is free while workers score molecules."""

make_reward = Reward
make_trace_reward = TraceReward

_default_trace = TraceReward.default()


async def trace_reward(task: object, trace: object) -> float:
    """The reward of a trace's last reply, with the arguments that v1 passes."""
    return await _default_trace(task, trace)
