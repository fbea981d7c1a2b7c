"""slime: ``--custom-rm-path relfast.rewards.slime.custom_rm``.

``sample.label`` holds gold, or ``{"task": …, "answer": gold}``, as JSON text or dict; ``sample.metadata``
may hold ``task``, ``answer`` and ``question`` too. If neither has a question, ``sample.prompt`` is used. For
``--rm-type remote_rm`` see ``relfast serve``, whose ``/get_reward`` speaks slime's protocol; its token goes
into the URL, ``--rm-url http://relfast:TOKEN@HOST:PORT/get_reward``.

slime cannot leave a sample out: None is a TypeError in its rollout. A sample without a score raises
`UnscoredError`, unless ``on_error`` is a number: to set one, pass ``--custom-rm-path`` a module of your own
that has ``custom_rm = make_reward(on_error=0.0)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from relfast.rewards.shared import Adapter, Row, columns_of_rows, read_sample

__all__ = ["CustomRM", "custom_rm", "make_reward"]


class CustomRM(Adapter):
    """slime's reward function, a coroutine function for one sample or a list of samples. Picklable.

    Options: ``on_error``, and those of `relfast.Scorer`.
    """

    __name__ = "custom_rm"
    question_at: ClassVar[str] = "as sample.prompt, or as 'question' in sample.metadata or in the label"
    wants_number: ClassVar[str | None] = "slime adds rewards up: None is a TypeError in its rollout"

    async def __call__(self, args: object, sample: object, **kwargs: object) -> Any:
        """The reward of a sample, or the list of rewards of a list of samples, in order.

        The event loop is not blocked while workers score.

        Raises
        ------
        UnscoredError
            A sample has no score, and ``on_error`` has no number for it.
        """
        if not hasattr(sample, "response") and isinstance(sample, Sequence) and not isinstance(sample, str):
            scores = await self.ascores(*columns_of_rows(map(_read, sample)))
            return [*map(self.number, scores)]
        return self.number(await self.ascore(*_read(sample)))


def _read(sample: object) -> Row:
    """Task, gold, response and question of a sample."""
    task, gold, question = read_sample(
        getattr(sample, "label", None), getattr(sample, "prompt", None), getattr(sample, "metadata", None)
    )
    return task, gold, getattr(sample, "response", None), question


_default = CustomRM.default()


async def custom_rm(args: object, sample: object, **kwargs: object) -> Any:
    """The reward of a sample (or, in batch mode, of a list of samples)."""
    return await _default(args, sample, **kwargs)


make_reward = CustomRM
