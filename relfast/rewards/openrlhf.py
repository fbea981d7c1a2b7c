"""OpenRLHF: ``reward_func``, imported by the file that ``--reward.remote_url`` names.

::

    # reward.py
    from relfast.rewards.openrlhf import reward_func

``labels`` hold gold, or ``{"task": …, "answer": gold}``, as JSON text or dict. ``queries`` are prompt and
response in one text; the prompt is cut off. Without ``prompts`` the label's ``"question"`` is searched in the
query, bare or in a chat template; without both the call is an error. For rewards over HTTP see ``relfast
serve``; its token goes into ``--reward.remote_url http://relfast:TOKEN@HOST:PORT/get_reward``.

OpenRLHF cannot leave a sample out: a NaN reaches the advantages, and errors that a reward function raises are
caught and ignored (so ``on_error="raise"`` is refused). Set the reward of a response without a score:
``reward_func = make_reward(on_error=0.0)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

from relfast.engine.job import AdapterKeywords, OnError
from relfast.errors import UsageError
from relfast.records import Score
from relfast.rewards.queries import samples_of, with_unreadable
from relfast.rewards.shared import Adapter, columns_of_rows, shares, tensor

__all__ = ["RewardFunc", "make_reward", "reward_func"]


class RewardFunc(Adapter):
    """OpenRLHF's reward function. Thread-safe and picklable.

    Options: ``on_error`` (a number or None), and those of `relfast.Scorer`.
    """

    __name__ = "reward_func"
    question_at: ClassVar[str] = "as prompts, or as 'question' in the label"
    wants_number: ClassVar[str | None] = (
        "OpenRLHF filters a NaN nowhere: it spoils the advantages of its batch"
    )

    def __init__(self, *, on_error: OnError = None, **options: Unpack[AdapterKeywords]) -> None:
        worths = on_error.values() if isinstance(on_error, Mapping) else (on_error,)
        if any(isinstance(worth, str) and worth == "raise" for worth in worths):
            raise UsageError(
                "on_error='raise' does nothing in OpenRLHF, which catches what a reward function raises and"
                " goes on without a reward; say on_error=0.0 or another number"
            )
        super().__init__(on_error=on_error, **options)

    def __call__(
        self,
        queries: Sequence[object],
        prompts: Sequence[object] | None = None,
        labels: Sequence[object] | None = None,
        **kwargs: object,
    ) -> dict[str, Any]:
        """Rewards of a batch (OpenRLHF calls with one response at a time).

        Returns
        -------
        dict
            ``rewards``, ``scores`` (1 if correct; for dynamic filtering) and ``extra_logs``. If torch is
            loaded, values are tensors with NaN for a response without a score; else lists with None.

        Raises
        ------
        UsageError
            A query has no prompt, and its label no question: the start of its response is unknown.
        """
        samples = samples_of(queries, prompts, labels)
        whole = (sample for sample in samples if sample is not None)
        scores = with_unreadable(samples, self.scores(*columns_of_rows(whole)))
        rewards = [*map(self.value, scores)]
        corrects = [*map(correct_of, scores, rewards)]
        logs = {name: [share] * len(scores) for name, share in shares(scores).items()} if scores else {}
        return {
            "rewards": tensor(rewards),
            "scores": tensor(corrects),
            "extra_logs": {name: tensor(column) for name, column in logs.items()},
        }


def correct_of(score: Score, reward: float | None) -> float | None:
    """1 if correct, else 0; None for a response that has neither a score nor a reward."""
    if score.correct is None:
        return None if reward is None else 0.0
    return 1.0 if score.correct else 0.0


make_reward = RewardFunc

reward_func: RewardFunc = RewardFunc.default()
"""The reward function with the default options."""
