"""relfast as a reward of ms-swift's GRPO (4.x): a plugin with an outcome reward model named ``relfast``.

    swift rlhf --rlhf_type grpo --external_plugins examples/ms_swift_reward.py --reward_funcs relfast …

Rows have ``messages``, ``task``, ``answer`` (gold as JSON text) and, where the user's last message is not the
question itself, ``question``. A completion without a score is None: ms-swift leaves that out of the sum of
its reward functions, so that it is 0 where this is the only one.
"""

from typing import Any

from swift.rewards import ORM, orms

from relfast.rewards.trl import make_reward


class Relfast(ORM):
    """Called with completions, and a list for each column."""

    def __init__(self, args: Any = None, **kwargs: Any) -> None:
        super().__init__(args)
        self._reward = make_reward()

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float | None]:
        return self._reward(prompts=kwargs.pop("messages", None), completions=completions, **kwargs)


orms["relfast"] = Relfast
