"""relfast as the evaluator of an rLLM agent flow (0.3).

    AgentTrainer(agent_flow=…, evaluator=relfast_evaluator, train_dataset=…)

Tasks are rows with ``task``, ``answer`` (gold as JSON text) and ``question``; what the model said last
is scored. rLLM needs a number.
"""

from typing import Any

import rllm
from rllm.eval.types import EvalOutput, Signal

from relfast.rewards.reasoning_gym import make_reward

_score = make_reward(on_error=0.0)


@rllm.evaluator
def relfast_evaluator(task: dict[str, Any], episode: Any) -> EvalOutput:
    steps = [step for trajectory in episode.trajectories for step in trajectory.steps]
    reward = _score(steps[-1].model_response if steps else "", task)
    return EvalOutput(reward=reward, is_correct=reward == 1.0, signals=[Signal(name="relfast", value=reward)])
