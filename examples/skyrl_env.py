"""relfast as an environment of SkyRL-Gym (0.4): a response is the one step of an episode.

    from skyrl_gym.envs import register
    register(id="relfast", entry_point="skyrl_env:RelfastEnv")

Rows have ``env_class: relfast``, ``reward_spec: {"ground_truth": …}`` (gold as JSON text), ``task`` and
``question``. SkyRL needs a number, so a response without a score whose own fault it is not is worth 0.
"""

from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from relfast.rewards.reasoning_gym import make_reward

_score = make_reward(on_error=0.0)


class RelfastEnv(BaseTextEnv):
    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        self._row = extras or {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        entry = {**self._row, "answer": self._row["reward_spec"]["ground_truth"]}
        return BaseTextEnvStepOutput(observations=[], reward=_score(action, entry), done=True, metadata={})
