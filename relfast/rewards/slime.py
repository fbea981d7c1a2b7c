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
from typing import Any, ClassVar, Unpack

from relfast.keywords import ScorerKeywords
from relfast.rewards.shared import Adapter, field, question_of, read_label, response_of

__all__ = ["CustomRM", "custom_rm", "make_reward"]


class CustomRM(Adapter):
    """slime's reward function: awaited, for one sample or a list of them. Picklable."""

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
        if isinstance(sample, Sequence) and not isinstance(sample, str):
            return list(await asyncio.gather(*(self._one(item) for item in sample)))
        return await self._one(sample)

    async def _one(self, sample: object) -> float:
        task, answer, question = read_label(getattr(sample, "label", None))
        metadata = getattr(sample, "metadata", None)
        task = task if task is not None else field(metadata, "task")
        answer = answer if answer not in (None, "") else field(metadata, "answer")
        question = question if question is not None else field(metadata, "question")
        if question is None:
            question = question_of(getattr(sample, "prompt", None))
        response = response_of(getattr(sample, "response", None))
        return self.number(await self.score_later(task, answer, response, question))


_default = CustomRM.default()


async def custom_rm(args: object, sample: object, **kwargs: object) -> Any:
    """The reward of a sample (or, in batch mode, of a list of samples)."""
    return await _default(args, sample, **kwargs)


def make_reward(**options: Unpack[ScorerKeywords]) -> CustomRM:
    """A ``custom_rm`` with other options: ``on_error``, and those of `relfast.Scorer`."""
    return CustomRM(**options)
