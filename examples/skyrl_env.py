"""relfast as an environment of SkyRL-Gym (0.4): a response is the one step of an episode.

    from skyrl_gym.envs import register
    register(id="relfast", entry_point="skyrl_env:RelfastEnv")

Rows have ``env_class: relfast``, ``reward_spec: {"ground_truth": …}`` (gold as JSON text), ``task`` and
``question``. SkyRL needs a number, so a response without a score whose own fault it is not is worth 0; the
share of these is logged as ``unscored``, and is in no other mean.
"""

from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
from skyrl_gym.metrics import default_aggregate_metrics

from relfast.rewards.verl import make_compute_score

_score = make_compute_score(on_error=0.0)


class RelfastEnv(BaseTextEnv):
    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        self._row = extras or {}
        self._found: dict[str, Any] = {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        gold = self._row["reward_spec"]["ground_truth"]
        self._found = _score(self._row.get("task"), action, gold, self._row)
        about = {"reason": self._found["reason"]}
        return BaseTextEnvStepOutput(observations=[], reward=self._found["score"], done=True, metadata=about)

    def get_metrics(self) -> dict[str, Any]:
        found = self._found
        if not found:
            return {}
        if found["unscored"]:
            return {"unscored": 1.0}
        return {"correct": found["acc"], "answered": found["answered"], "unscored": 0.0}

    @staticmethod
    def aggregate_metrics(metrics: list[dict[str, Any]]) -> dict[str, Any]:
        """Means over the episodes that have a value."""
        names = dict.fromkeys(name for episode in metrics for name in episode)
        means = [
            default_aggregate_metrics([{name: episode[name]} for episode in metrics if name in episode])
            for name in names
        ]
        return {name: value for mean in means for name, value in mean.items()}
