"""OpenRLHF: ``reward_func``, imported by the file that ``--reward.remote_url`` names.

::

    # reward.py
    from relfast.rewards.openrlhf import reward_func

``labels`` hold gold, or ``{"task": …, "answer": gold}``, as JSON text or dict. ``queries`` are prompt and
response in one; the prompt is cut off. For rewards over HTTP see ``relfast serve``, whose token
goes into ``--reward.remote_url http://relfast:TOKEN@HOST:PORT/get_reward``. Strict by default:
what a policy is rewarded for must not be cheaper to fake than to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Unpack

from relfast.keywords import ScorerKeywords
from relfast.rewards.shared import Adapter, question_of, read_label, tallies, tensor

__all__ = ["RewardFunc", "make_reward", "reward_func"]

_ENDS: Final = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "</s>",
    "<eos>",
    "<end_of_turn>",
)
"""End-of-text tokens of current chat models: OpenRLHF decodes queries with special tokens in them."""


class RewardFunc(Adapter):
    """OpenRLHF's reward function. Thread-safe and picklable."""

    __name__ = "reward_func"

    def __call__(
        self, queries: Sequence[object], prompts: Sequence[object], labels: Sequence[object], **kwargs: object
    ) -> dict[str, Any]:
        """Rewards of a batch (of one, as OpenRLHF calls it).

        Returns
        -------
        dict
            ``rewards`` and ``scores`` (1 if correct; for dynamic filtering), tensors where torch is
            loaded, with NaN for a response without a score, else lists with None; and ``extra_logs``.
        """
        n = len(queries)
        prompts = prompts if prompts is not None else [None] * n
        read = [read_label(label) for label in (labels if labels is not None else [None] * n)]
        scores = self.score_all(
            [task for task, _, _ in read],
            [answer for _, answer, _ in read],
            [response_in(*pair) for pair in zip(queries, prompts, strict=True)],
            [
                question if question is not None else question_of(prompt)
                for (_, _, question), prompt in zip(read, prompts, strict=True)
            ],
        )
        correct = [None if score.correct is None else float(score.correct) for score in scores]
        if self.on_error is not None:
            correct = [0.0 if value is None else value for value in correct]
        logs = tallies(scores)
        return {
            "rewards": tensor([self.value(score) for score in scores]),
            "scores": tensor(correct),
            "extra_logs": {name: tensor([logs[name]] * n) for name in ("answered", "unscored") if n},
        }


def response_in(query: object, prompt: object) -> Any:
    """The response in a query: what follows the prompt, without the end-of-text tokens.

    Where the query does not begin with the prompt (a tokenizer that does not give back what it was given,
    a prompt cut short) its last occurrence counts; without one the whole query does.
    """
    if not isinstance(query, str):
        return query
    if isinstance(prompt, str) and prompt:
        at = 0 if query.startswith(prompt) else query.rfind(prompt)
        if at >= 0:
            query = query[at + len(prompt) :]
    stripped = query.rstrip()
    while True:
        end = next((end for end in _ENDS if stripped.endswith(end)), None)
        if end is None:
            return stripped
        stripped = stripped[: -len(end)].rstrip()


def make_reward(**options: Unpack[ScorerKeywords]) -> RewardFunc:
    """A ``reward_func`` with other options: ``on_error``, and those of `relfast.Scorer`."""
    return RewardFunc(**options)


reward_func = RewardFunc()
"""The reward function with the default options."""
