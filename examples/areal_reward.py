"""relfast as the reward function of AReaL's RLVR workflow (1.0).

    RLVRWorkflow(reward_fn="areal_reward.relfast_reward", …)

Rows have ``messages``, ``task``, ``answer`` (gold as JSON text) and ``question``; AReaL hands their other
columns over by name. It calls rewards in processes of its own, with text that has the tokens which end a
turn, and needs a number.
"""

from typing import Any

from relfast.rewards.queries import response_in
from relfast.rewards.reasoning_gym import make_reward

_score = make_reward(on_error=0.0)


def relfast_reward(
    prompt: str, completions: str, prompt_ids: list[int], completion_ids: list[int], **row: Any
) -> float:
    return _score(response_in(completions, ""), row)
