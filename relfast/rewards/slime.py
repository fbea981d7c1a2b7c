"""slime: ``--custom-rm-path relfast.rewards.slime.custom_rm``.

``sample.label`` holds gold, or ``{"task": …, "answer": gold}``, as JSON text or dict; ``sample.metadata``
may hold ``task``, ``answer`` and ``question`` too; without a question ``sample.prompt`` is it. For
``--rm-type remote_rm`` see ``relfast serve``, whose ``/get_reward`` speaks slime's protocol; its token goes
into the URL, ``--rm-url http://relfast:TOKEN@HOST:PORT/get_reward``. Strict by default: what a policy is
rewarded for must not be cheaper to fake than to do.

slime cannot leave a sample out: None is a TypeError in its rollout. A sample without a score raises
`UnscoredError`, unless ``on_error`` is a number: name a file with ``custom_rm = make_reward(on_error=0.0)``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from relfast.rewards.shared import (
    Adapter,
    Row,
    field,
    gold_of,
    is_empty,
    mapping,
    question_of,
    read_label,
    response_of,
)

__all__ = ["CustomRM", "custom_rm", "make_reward"]


class CustomRM(Adapter):
    """slime's reward function: awaited, for one sample or a list of them. Picklable.

    Options: ``on_error``, and those of `relfast.Scorer`.
    """

    __name__ = "custom_rm"
    question_at: ClassVar[str] = "as sample.prompt, or as 'question' in sample.metadata or in the label"
    wants_number: ClassVar[str | None] = "slime adds rewards up: None is a TypeError in its rollout"

    async def __call__(self, args: object, sample: object, **kwargs: object) -> Any:
        """The reward of a sample, or the list of rewards of a list of samples, in order.

        The event loop is not held up while workers score.

        Raises
        ------
        UnscoredError
            A sample has no score, and ``on_error`` has no number for it.
        """
        if not hasattr(sample, "response") and isinstance(sample, Sequence) and not isinstance(sample, str):
            return await self._all([_read(item) for item in sample])
        row = _read(sample)
        score = self.score_here(*row)
        if score is None:
            score = await self.score_on_workers(*row)
        return self.number(score) if score.reward is None else score.reward

    async def _all(self, rows: Sequence[Row]) -> list[float]:
        scores = [self.score_here(*row) for row in rows]
        waiting = [at for at, score in enumerate(scores) if score is None]
        if waiting:
            later = await asyncio.gather(*(self.score_on_workers(*rows[at]) for at in waiting))
            for at, score in zip(waiting, later, strict=True):
                scores[at] = score
        return [self.number(score) for score in scores if score is not None]


def _read(sample: object) -> Row:
    """Task, gold, response and question of a sample."""
    task, answer, question = read_label(getattr(sample, "label", None))
    metadata = getattr(sample, "metadata", None)
    if task is None:
        task = field(metadata, "task")
    if answer is None or (type(answer) is not dict and is_empty(answer)):
        answer = gold_of(field(metadata, "answer"))
    if question is None:
        about = metadata if type(metadata) is dict else mapping(metadata)
        question = about.get("question")
    if question is None:
        question = question_of(getattr(sample, "prompt", None))
    return task, answer, response_of(getattr(sample, "response", None)), question


_default = CustomRM.default()


async def custom_rm(args: object, sample: object, **kwargs: object) -> Any:
    """The reward of a sample (or, in batch mode, of a list of samples)."""
    return await _default(args, sample, **kwargs)


make_reward = CustomRM
