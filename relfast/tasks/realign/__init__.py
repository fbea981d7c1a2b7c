"""ReAlign: how closely the steps of a solution follow a reference solution.

Both texts are cut into steps, the steps embedded, and aligned by Needleman-Wunsch on their cosine
similarities; the boxed answers are compared beside it.
"""

from __future__ import annotations

from typing import Final

from relfast.tasks.base import Task
from relfast.tasks.realign.options import RealignOptions

TASK: Final = Task(
    name="ReAlign",
    summary="alignment of a math solution's steps with the reference's",
    metrics=(
        "alignment_score",
        "weighted_score",
        "coverage",
        "symbolic_correct",
        "first_divergence",
        "quadrant",
        "n_benchmark_steps",
        "n_llm_steps",
        "n_matches",
    ),
    reward_metric="alignment_score",
    strict_reward_metric="weighted_score",
    revision=2,
    module="relfast.tasks.realign.score",
    engine="embed",
    options=RealignOptions,
    kernels=("align",),
)
