"""relfast as a reward function of Atropos (atroposlib 0.4), in its registry under the name ``relfast``.

    reward = registry.create("relfast")
    scores = reward(completions, task=tasks, answer=answers, question=questions)   # in collect_trajectories

Columns are lists, one value a completion; completions are texts or chat messages. Atropos makes 0 of a
function that raises, for the whole group, so a response without a score whose own fault it is not is worth
0 by itself, not its group.
"""

from typing import Any

from atroposlib.envs.reward_fns.registry import registry
from atroposlib.envs.reward_fns.reward_function import RewardFunction

from relfast.rewards.trl import make_reward


@registry.register
class Relfast(RewardFunction):
    def __init__(self, weight: float = 1.0, name: str | None = "relfast", **options: Any) -> None:
        super().__init__(weight=weight, name=name, **options)
        self._reward = make_reward(**{"on_error": 0.0, "log": False, **options})

    def compute(self, completions: list[Any], **columns: Any) -> list[float]:
        return [float(reward or 0.0) for reward in self._reward(completions=completions, **columns)]
