"""ReAlign: how closely the steps of a solution follow a reference solution.

Both texts are cut into steps, the steps embedded, and aligned by Needleman-Wunsch on their cosine
similarities; the boxed answers are compared beside it.
"""

from __future__ import annotations

from typing import Final

from relfast.tasks.base import Task
from relfast.tasks.facts import Gold, Metric
from relfast.tasks.prompting import Prompt
from relfast.tasks.realign.options import RealignOptions

TASK: Final = Task(
    name="ReAlign",
    summary="alignment of a math solution's steps with the reference's",
    metric_objects=(
        Metric("alignment_score"),
        Metric("weighted_score"),
        Metric("coverage"),
        Metric("symbolic_correct", "flag"),
        Metric("first_divergence"),
        Metric("quadrant", "label", None, labels=("robust", "lucky", "hallucination", "failure")),
        Metric("n_benchmark_steps", higher_is_better=None),
        Metric("n_llm_steps", higher_is_better=None),
        Metric("n_matches"),
        Metric("gated_score", strict_only=True),
        Metric("step_f1", optional=True),
    ),
    reward_metric="alignment_score",
    strict_reward_metric="gated_score",
    revision=4,  # strict: the last box, tag or label
    row_fields=("llm_correct", "final_correct", "subset"),
    blind="relfast.tasks.realign.blind:STRATEGIES",
    module="relfast.tasks.realign.score",
    gold=Gold(keys=(("benchmark_solution",), ("benchmark_steps",), ("solution",))),
    strict_needs=("question",),
    embeds=True,
    options=RealignOptions,
    kernels=("align",),
    prompts=(Prompt("realign", 1, "relfast.tasks.realign.prompt:steps_and_box"),),
    forms="a box, a tag or a label with the final answer",
    mock="relfast.tasks.realign.mock:answer",
    shown="relfast.tasks.realign.display:DISPLAY",
)
