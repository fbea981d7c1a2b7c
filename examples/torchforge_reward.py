"""relfast as a reward function of torchforge's GRPO, as commit 033fa60 has it (PyPI's package is empty).

    RewardActor.options(**cfg.actors.reward_actor).as_actor(reward_functions=[Relfast()])

torchforge calls ``(prompt, response, target)`` and adds up numbers. ``target`` is gold, or ``{"task": …,
"answer": gold, "question": …}``, as JSON text; the question is the label's, else the prompt. A response
without a score whose own fault it is not is worth 0.
"""

from typing import Any

from relfast.rewards.shared import read_label
from relfast.rewards.verl import make_compute_score


class Relfast:
    __name__ = "relfast"

    def __init__(self, **options: Any) -> None:
        self._score = make_compute_score(**{"metrics": False, "on_error": 0.0, **options})

    def __call__(self, prompt: str, response: str, target: Any) -> float:
        task, gold, question = read_label(target)
        return float(self._score(task, response, gold, {"question": question or prompt}))
