"""relfast as an environment of Tinker's cookbook (0.6): a question, its response, a reward.

    problem = RelfastProblem(renderer, {"task": "REL-C1", "answer": '{"label": "Yes"}', "question": "…"})
    ProblemGroupBuilder(env_thunk=lambda: problem, num_envs=16)

The cookbook subtracts ``format_coef`` from what `check_answer` gives where `check_format` is false. Under
strict a response without a documented form earns nothing already, so that the coefficient here is 0. It
needs a number: a response without a score whose own fault it is not is worth 0.
"""

import json
from typing import Any

from tinker_cookbook.rl.problem_env import ProblemEnv

from relfast.rewards.verl import make_compute_score

_score = make_compute_score(on_error=0.0)


class RelfastProblem(ProblemEnv):
    def __init__(self, renderer: Any, row: dict[str, Any], **options: Any) -> None:
        super().__init__(renderer, **{"format_coef": 0.0, **options})
        self._row = row

    def get_question(self) -> str:
        return str(self._row.get("prompt") or self._row["question"])

    def check_answer(self, sample_str: str) -> float:
        """The reward, from 0 to 1."""
        return float(self._found(sample_str)["score"])

    def check_format(self, sample_str: str) -> bool:
        """Whether strict found an answer."""
        return bool(self._found(sample_str)["answered"])

    def get_reference_answer(self) -> str:
        gold = self._row["answer"]
        return gold if isinstance(gold, str) else json.dumps(gold)

    def _found(self, response: str) -> dict[str, Any]:
        found: dict[str, Any] = _score(self._row.get("task"), response, self._row["answer"], self._row)
        return found
